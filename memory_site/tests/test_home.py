"""The front page."""

import re

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_the_front_page_says_how_to_connect_and_where_to_look():
    text = Client().get("/", headers={"Host": "localhost:8123"}).content.decode()
    assert "http://localhost:8123/mcp" in text
    for address in ("/admin/", "/api/v1/docs", "/readyz"):
        assert f'href="{address}"' in text


def test_the_front_page_loads_nothing_from_elsewhere():
    text = Client().get("/").content.decode()
    addresses = re.findall(r'(?:src|href)="([^"]+)"', text)
    assert addresses
    for address in addresses:
        assert address.startswith("/")
        assert Client().get(address).status_code in (200, 302), address


@pytest.mark.parametrize(("language", "said"), [("en", "Connect an agent"), ("de", "Einen Agenten verbinden")])
def test_the_front_page_is_in_the_language_it_declares(language, said):
    text = Client().get("/", headers={"Accept-Language": language}).content.decode()
    assert f'<html lang="{language}">' in text
    assert said in text


def test_every_sentence_of_the_front_page_is_translated():
    pages = [Client().get("/", headers={"Accept-Language": tag}).content.decode() for tag in ("en", "de")]
    english, german = (re.findall(r"<(?:h\d|p[^>]*|a[^>]*)>([^<]+)<", page) for page in pages)
    assert len(english) == len(german) >= 8
    assert {a for a, b in zip(english, german, strict=True) if a == b} <= {"Memory"}
