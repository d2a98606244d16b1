"""The description of the API: open to all, complete, loading nothing from elsewhere, and the same as the manual."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

MANUAL = Path(__file__).resolve().parents[2] / "docs/rest.md"
BODIES = (
    "NewMemory", "ForgetRequest", "SearchRequest", "NewDocument", "ActiveSpace", "NewProject", "ProjectChange",
    "NoteText", "NoteChange", "NoteRestore", "NoteSearch", "NewLink", "Merge", "SourceQuestion", "SimilarQuestion",
)  # fmt: skip


@pytest.fixture
def described(db):
    return Client().get("/api/v1/openapi.json").json()


def operations(described) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    }


def test_the_page_needs_no_key_and_nothing_from_elsewhere(db):
    page = Client().get("/api/v1/docs")
    text = page.content.decode()
    assert page.status_code == 200
    assert not re.search(r"(https?:)?//", text)
    (settings,) = re.findall(r'id="swagger-settings">(.*?)</script>', text, re.S)
    # Unless told so, Swagger UI asks a validator on the internet.
    assert json.loads(settings)["validatorUrl"] is None
    for address in re.findall(r'(?:src|href)="([^"]+)"', text):
        assert Client().get(address).status_code == 200, address


def test_every_answer_that_is_an_error_is_described_as_a_problem(described):
    assert "detail" in described["components"]["schemas"]["Problem"]["required"]
    for name, operation in operations(described).items():
        assert "application/problem+json" in operation["responses"]["default"]["content"], name


def test_every_route_takes_the_key_in_either_header(described):
    schemes = described["components"]["securitySchemes"]
    for name, operation in operations(described).items():
        offered = [schemes[scheme] for requirement in operation["security"] for scheme in requirement]
        assert {"type": "apiKey", "in": "header", "name": "X-Api-Key"} in offered, name
        assert {"type": "http", "scheme": "bearer"} in offered, name


def test_names_on_the_wire_are_camel_case(described):
    for name, schema in described["components"]["schemas"].items():
        for field in schema.get("properties", {}):
            assert re.fullmatch(r"[a-z][A-Za-z]*", field), (name, field)


def test_references_lead_somewhere(described):
    targets = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(described)))
    assert targets <= set(described["components"]["schemas"])


def test_the_manual_lists_the_routes_that_are_there(described):
    listed = re.findall(r"^\| `(GET|POST|PUT|PATCH|DELETE) (/\S+)`", MANUAL.read_text(), re.M)
    there = {re.sub(r"\{\w+\}", "{}", name.replace("/api/v1", "")) for name in operations(described)}
    assert {f"{method} {re.sub(r'{.*?}', '{}', path)}" for method, path in listed} == there


def test_the_manual_names_every_field_and_parameter(described):
    manual = MANUAL.read_text()
    sent = {field for schema in BODIES for field in described["components"]["schemas"][schema]["properties"]}
    asked = {
        parameter["name"]
        for operation in operations(described).values()
        for parameter in operation["parameters"]
        if parameter["in"] == "query"
    }
    assert [name for name in sorted(sent | asked) if f"`{name}`" not in manual] == []
