"""Whatever stands in the address of an admin list: the list, or its beginning again; never an error of ours."""

import string
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from accounts.models import User
from memories.tests.factories import link, make_access, remember

pytestmark = pytest.mark.django_db

MODELS = list(admin.site._registry)
PARTS = ("exact", "iexact", "contains", "in", "gt", "gte", "lt", "lte", "startswith", "range", "isnull", "regex",
         "year", "month", "day", "week", "quarter", "iso_year", "week_day", "date", "time", "hour", "search",
         "trigram_similar", "contained_by", "has_key", "len", "unaccent", "nothing", "id", "pk", "key")  # fmt: skip
VALUES = ("", "0", "1", "-1", "2", "99999", "9" * 40, "1e400", "NaN", "\x00", "a\x00", "\ud800", "None", "null", "(",
          "2026", "2026-02-30", "0000-00-00", "2026-01-01 25:00", "10000-01-01", "a,b", ",", "%", "[]", "{}", "true",
          "00000000-0000-0000-0000-000000000000")  # fmt: skip


@pytest.fixture
def administrator() -> Client:
    access = make_access("a-space")
    link(remember(access, "One."), remember(access, "Two."))
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.create_superuser("admin@example.org", "a long password"))
    return client


def names(model: type[models.Model]) -> list[str]:
    """Everything of a model that can stand in an address, and what its lists read themselves."""
    fields = [field.name for field in model._meta.get_fields()]
    fields += [field.attname for field in model._meta.concrete_fields]
    filters = []
    for item in admin.site._registry[model].list_filter:
        path = item[0] if isinstance(item, tuple) else getattr(item, "parameter_name", item)
        filters += [str(path), f"{path}__id__exact"]
    return [*fields, *filters, "o", "p", "q", "all", "e", "_facets", "_popup", "_to_field", "nothing"]


@st.composite
def addresses(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    model = draw(st.sampled_from(MODELS))
    lookup = st.lists(st.sampled_from(PARTS), max_size=2).map(lambda parts: "".join(f"__{part}" for part in parts))
    name = st.builds(lambda first, rest: first + rest, st.sampled_from(names(model)), lookup)
    value = st.sampled_from(VALUES) | st.text(string.printable + "\x00é漢", max_size=12)
    parameters = draw(st.dictionaries(name, value, min_size=1, max_size=3))
    return f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist", parameters


def open_list(client: Client, page: str, parameters: dict[str, Any]) -> None:
    sent = {name: value.encode("utf-8", "replace").decode() for name, value in parameters.items()}
    answer = client.get(reverse(page), sent)
    assert answer.status_code in (200, 302, 400), (page, parameters)
    if answer.status_code == 302:
        assert answer.url.endswith("?e=1")
        assert client.get(answer.url).status_code == 200


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(addresses())
@example(("admin:memories_memory_changelist", {"created_at__year": "99999"}))
@example(("admin:accounts_user_changelist", {"updated_at__year": "0"}))
@example(("admin:accounts_user_changelist", {"role__exact": "\x00"}))
@example(("admin:documents_document_changelist", {"doc_type": "\x00"}))
@example(("admin:memories_memory_changelist", {"created_at__year": "9999", "created_at__month": "12"}))
@example(("admin:memories_memory_changelist", {"created_at__day": "5"}))
@example(("admin:memories_memory_changelist", {"e": "1", "created_at__year": "99999"}))
def test_no_address_of_a_list_breaks_it(administrator, address):
    open_list(administrator, *address)


@pytest.mark.parametrize("term", ["\x00", "a\x00b", "%", "\\"])
def test_no_term_breaks_a_field_that_completes_itself(administrator, term):
    answer = administrator.get(
        reverse("admin:autocomplete"),
        {"app_label": "accounts", "model_name": "apikey", "field_name": "user", "term": term},
    )
    assert answer.status_code == 200
    assert answer.json() == {"results": [], "pagination": {"more": False}}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("identifier", ["%00", "9" * 40, "-1", "None", "a", "_5F"])
def test_no_address_of_a_row_breaks_it(administrator, model, identifier):
    page = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    for action in ("change", "delete", "history"):
        assert administrator.get(f"{page}{identifier}/{action}/").status_code in (302, 403, 404)


@pytest.mark.parametrize("identifier", ["1", "x", "%00", "00000000-0000-0000-0000-000000000000"])
def test_no_address_of_a_row_on_the_site_breaks_it(administrator, identifier):
    for kind in ("x", "9" * 40, *(str(pk) for pk in ContentType.objects.values_list("pk", flat=True))):
        assert administrator.get(f"/admin/r/{kind}/{identifier}/").status_code == 404, kind


def test_an_error_of_ours_on_a_plain_list_is_not_hidden(administrator, monkeypatch):
    from memories.admin import MemoryAdmin

    def broken(self, request):
        raise ValueError("a bug")

    monkeypatch.setattr(MemoryAdmin, "get_queryset", broken)
    assert administrator.get(reverse("admin:memories_memory_changelist")).status_code == 500
    assert administrator.get(reverse("admin:memories_memory_changelist"), {"e": "1"}).status_code == 500
