"""The pages that people see are German for those who read German: no text of ours is the same as in English."""

import re
from html.parser import HTMLParser

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from guardian.shortcuts import assign_perm

from accounts.models import ApiKey, User
from memories.tests.factories import make_space
from tests.test_admin_pages import PAGES, fill

pytestmark = pytest.mark.django_db

# Words that both languages share.
SHARED = {
    "Filter", "Hindi", "Index", "MCP", "Memory", "Name", "Person", "Problem", "REST", "Status", "Text", "Version",
    "Web", "git push",
}  # fmt: skip
# What Django says and does not translate.
OF_DJANGO = {"True", "False", "Search", "After you’ve created a user, you’ll be able to edit more user options."}
# What the rows hold.
OF_ROWS = re.compile(
    r"@example\.org|space-|mmcp_|model-|local:|[0-9a-f]{8}-|\b(Person|Team|one|two) \d|^(note|test|default|Both\.)$"
)
SPOKEN_ATTRIBUTES = ("aria-label", "placeholder", "title", "alt")


class Texts(HTMLParser):
    """Collects what a page shows or reads out."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self._inside: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "style", "textarea", "pre"):
            self._inside.append(tag)
        values = dict(attrs)
        spoken = [values.get(name) for name in SPOKEN_ATTRIBUTES]
        if tag == "input" and values.get("type") in ("submit", "button"):
            spoken.append(values.get("value"))
        self.found |= {" ".join(text.split()) for text in spoken if text}

    def handle_endtag(self, tag):
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data):
        if not self._inside:
            self.found.add(" ".join(data.split()))


def texts(page: str) -> set[str]:
    parser = Texts()
    parser.feed(page)
    return {text for text in parser.found if re.search(r"[^\W\d_]{2}", text)}


def english(same: set[str]) -> list[str]:
    """Of the texts that are the same in both languages, those that should not be."""
    return sorted(text for text in same if text.strip(":› ") not in SHARED | OF_DJANGO and not OF_ROWS.search(text))


@pytest.fixture
def administrator() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("admin@example.org", "a long password"))
    return client


def same_in_both(client: Client, address: str, **data: object) -> set[str]:
    shown = []
    for language in ("en", "de"):
        headers = {"Accept-Language": language}
        answer = client.post(address, data, headers=headers) if data else client.get(address, headers=headers)
        assert answer.status_code == 200, address
        assert f'lang="{language}"' in answer.content.decode()
        shown.append(texts(answer.content.decode()))
    return shown[0] & shown[1]


@pytest.mark.parametrize("page", PAGES)
def test_lists_forms_and_histories_say_nothing_in_english(administrator, page):
    fill(1)
    model = next(m for m in admin.site._registry if f"admin:{m._meta.app_label}_{m._meta.model_name}" == page)
    row = model.objects.first()
    same = same_in_both(administrator, reverse(f"{page}_changelist"))
    for name in ("change", "history"):
        same |= same_in_both(administrator, reverse(f"{page}_{name}", args=[row.pk]))
    assert english(same) == []


@pytest.mark.parametrize(
    "name", ["index", "accounts_user_add", "accounts_apikey_add", "spaces_space_add", "password_change"]
)
def test_the_first_page_and_empty_forms_say_nothing_in_english(administrator, name):
    assert english(same_in_both(administrator, reverse(f"admin:{name}"))) == []


def test_pages_between_say_nothing_in_english(administrator):
    fill(1)
    key = ApiKey.objects.get()
    same = same_in_both(administrator, reverse("admin:memories_embeddingmodel_configured"))
    same |= same_in_both(administrator, reverse("admin:accounts_apikey_revoke", args=[key.pk]))
    same |= same_in_both(administrator, reverse("admin:accounts_apikey_secret", args=[key.pk]))
    same |= same_in_both(administrator, reverse("admin:accounts_user_delete", args=[key.user_id]))
    deactivation = {"action": "deactivate", "_selected_action": str(key.user_id)}
    same |= same_in_both(administrator, reverse("admin:accounts_user_changelist"), **deactivation)
    assert english(same) == []


def test_the_pages_without_signing_in_say_nothing_in_english():
    same = same_in_both(Client(), reverse("admin:login")) | same_in_both(Client(), "/")
    assert english(same) == []


def test_a_manager_reads_german_words():
    user = User.objects.create_user("manager@example.org", "a long password", is_staff=True)
    assign_perm("manage_space", user, make_space("managed"))
    client = Client(headers={"Accept-Language": "de-AT,de;q=0.9,en;q=0.8"})
    client.force_login(user)
    said = client.get(reverse("admin:index")).content.decode()
    for word in ("Erinnerungen", "Bereiche", "Dokumente", "Kanten", "Strittige Paare", "Ausstehende Einbettungen"):
        assert word in said
