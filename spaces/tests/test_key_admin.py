"""The key's pages: shown once, never again, and every change through the one service."""

import re
import uuid
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.models import ApiKey, Role, User
from accounts.services.keys import revoke_key
from accounts.services.users import set_active
from accounts.tests.admin import rows, staff, superuser
from memories.tests.factories import make_key, make_person, make_space
from spaces.access import access_for_key, member_levels
from spaces.models import SpaceGrant
from spaces.services.members import remove_member

pytestmark = pytest.mark.django_db
ADD = "admin:accounts_apikey_add"
LIST = "admin:accounts_apikey_changelist"


def change_page(key: ApiKey) -> str:
    return reverse("admin:accounts_apikey_change", args=[key.pk])


def shown_key(page: object) -> str | None:
    found = re.search(r"mmcp_[0-9a-f]{32}", page.content.decode())
    return found[0] if found else None


def add(client: Client, **fields: object) -> str:
    """The address the form leads to."""
    answer = client.post(reverse(ADD), {"user": str(make_person().pk), "label": "", **rows("grants"), **fields})
    assert answer.status_code == 302, answer.context["errors"]
    return answer.url


def test_two_keys_made_one_after_the_other_are_both_shown():
    client = superuser()
    first, second = add(client), add(client)
    keys = {shown_key(client.get(first)), shown_key(client.get(second))}
    assert len(keys) == 2
    assert None not in keys
    assert {shown_key(client.get(first)), shown_key(client.get(second))} == {None}


def test_another_session_of_the_same_administrator_does_not_see_the_key():
    client = superuser()
    page = add(client)
    other = Client()
    other.force_login(User.objects.get(email="admin@example.org"))
    assert shown_key(other.get(page)) is None
    assert shown_key(client.get(page)) is not None


def test_the_page_of_a_key_is_for_those_who_signed_in():
    page = add(superuser())
    assert "/login/" in Client().get(page).url
    client, _ = staff("view_apikey", "add_apikey")
    assert client.get(page).status_code == 403


def test_there_is_no_page_for_a_key_that_is_none():
    assert superuser().get(reverse("admin:accounts_apikey_secret", args=[uuid.uuid4()])).status_code == 404


def test_a_key_rests_nowhere_in_clear():
    client = superuser()
    page = add(client)
    at_rest = [str(session.get_decoded()) for session in Session.objects.all()]
    secret = shown_key(client.get(page))
    at_rest += [str(session.get_decoded()) for session in Session.objects.all()]
    at_rest += [str(vars(row)) for row in (*ApiKey.objects.all(), *LogEntry.objects.all())]
    at_rest += [page, *(cookie.value for cookie in client.cookies.values())]
    assert not any(secret in text for text in at_rest)


def test_forms_need_the_token_of_the_page_they_came_from():
    client = superuser(enforce_csrf_checks=True)
    data = {"user": str(make_person().pk), "label": "", **rows("grants")}
    assert client.post(reverse(ADD), data).status_code == 403
    token = client.get(reverse(ADD)).context["csrf_token"]
    assert client.post(reverse(ADD), {**data, "csrfmiddlewaretoken": str(token)}).status_code == 302


@pytest.mark.parametrize("day", ["2020-01-01", "9999-12-31"])
def test_an_expiry_that_makes_no_sense_is_told_at_its_field(day):
    answer = superuser().post(
        reverse(ADD),
        {"user": str(make_person().pk), "expires_at_0": day, "expires_at_1": "10:00", **rows("grants")},
    )
    assert answer.status_code == 200
    assert "The expiry must lie" in answer.content.decode()
    assert not ApiKey.objects.exists()


def test_an_expired_key_keeps_its_expiry_when_its_label_is_changed():
    client, key = superuser(), make_key(make_person()).key
    past = timezone.now().replace(microsecond=0) - timedelta(days=2)
    ApiKey.objects.update(expires_at=past)
    moment = {"expires_at_0": f"{past:%Y-%m-%d}", "expires_at_1": f"{past:%H:%M:%S}"}
    answer = client.post(change_page(key), {"label": "old laptop", **moment, **rows("grants")})
    assert answer.status_code == 302, answer.context["errors"]
    key.refresh_from_db()
    assert (key.label, key.expires_at) == ("old laptop", past)


def test_a_label_of_control_characters_and_an_overlong_one_do_no_harm():
    client = superuser()
    for label in ("a\x00b", "x" * 300):
        answer = client.post(reverse(ADD), {"user": str(make_person().pk), "label": label, **rows("grants")})
        assert answer.status_code == 200
    add(client, label="two\nlines")
    assert ApiKey.objects.get().label == "two lines"


def test_a_page_leads_to_revoking_and_asks():
    client, new = superuser(), make_key(make_person("Ada"))
    address = reverse("admin:accounts_apikey_revoke", args=[new.key.pk])
    assert address in client.get(change_page(new.key)).content.decode()
    asked = client.get(address).content.decode()
    assert "cannot be undone" in asked
    assert access_for_key(new.secret) is not None


def test_a_revoked_key_is_only_looked_at():
    client, new = superuser(), make_key(make_person(), make_space())
    revoke_key(new.key)
    page = client.get(change_page(new.key))
    assert page.status_code == 200
    assert b'name="_save"' not in page.content
    assert b"/revoke/" not in page.content
    answer = client.post(change_page(new.key), {"label": "changed", **rows("grants")})
    assert answer.status_code == 403
    assert access_for_key(new.secret) is None


def test_a_key_that_is_revoked_while_its_form_is_saved_stays_revoked(monkeypatch):
    client, new = superuser(), make_key(make_person())
    from spaces.admin.keys import ApiKeyAdmin

    save = ApiKeyAdmin.save_model

    def revoked_meanwhile(self, request, obj, form, change):
        ApiKey.objects.update(revoked_at=timezone.now())
        save(self, request, obj, form, change)

    monkeypatch.setattr(ApiKeyAdmin, "save_model", revoked_meanwhile)
    client.post(change_page(new.key), {"label": "changed", **rows("grants")})
    assert access_for_key(new.secret) is None


def test_keys_are_never_deleted():
    client, key = superuser(), make_key(make_person()).key
    assert client.post(reverse("admin:accounts_apikey_delete", args=[key.pk]), {"post": "yes"}).status_code == 403
    client.post(reverse(LIST), {"action": "delete_selected", "_selected_action": [str(key.pk)], "post": "yes"})
    assert ApiKey.objects.exists()


def test_states_are_listed_and_filtered():
    client = superuser()
    keys = {state: make_key(make_person()).key for state in ("usable", "revoked", "expired", "inactive")}
    revoke_key(keys["revoked"])
    ApiKey.objects.filter(pk=keys["expired"].pk).update(expires_at=timezone.now() - timedelta(days=1))
    set_active(keys["inactive"].user, False)
    for state, key in keys.items():
        listed = client.get(reverse(LIST), {"state": state}).content.decode()
        assert [other.key_prefix in listed for other in keys.values()] == [other == key for other in keys.values()]
        assert ("person inactive" if state == "inactive" else state) in listed


def test_a_grant_on_an_existing_key_makes_its_person_a_member_and_says_so():
    client, ada, space = superuser(), make_person("Ada"), make_space("team")
    key = make_key(ada).key
    answer = client.post(
        change_page(key),
        {"label": "", **rows("grants", {"space": str(space.pk), "access_level": 1, "is_default": "on"})},
        follow=True,
    )
    assert "Ada became a member of team (Read and write)." in answer.content.decode()
    assert list(member_levels(ada)) == [space.id]


def test_a_grant_is_withdrawn_and_the_active_space_moves_on():
    client, one, two = superuser(), make_space("one"), make_space("two")
    new = make_key(make_person(), one, two)
    first, second = SpaceGrant.objects.filter(api_key=new.key).order_by("-is_default")
    answer = client.post(
        change_page(new.key),
        {
            "label": "",
            **rows(
                "grants",
                {"id": str(first.pk), "space": str(one.pk), "access_level": 1, "is_default": "on", "DELETE": "on"},
                {"id": str(second.pk), "space": str(two.pk), "access_level": 0},
                initial=2,
            ),
        },
    )
    assert answer.status_code == 302, answer.context["errors"]
    (space,) = access_for_key(new.secret).spaces
    assert (space.key, space.level.wire, space.is_default) == ("two", "Read", True)


def test_a_space_twice_is_refused_in_words():
    client, key, space = superuser(), make_key(make_person()).key, make_space()
    row = {"space": str(space.pk), "access_level": 1}
    answer = client.post(change_page(key), {"label": "", **rows("grants", row, row)})
    assert "A space is in the list twice" in answer.content.decode()
    assert not SpaceGrant.objects.exists()


def test_a_page_says_what_is_in_effect_and_why():
    client, space = superuser(), make_space()
    reader, gone, writer = make_person(role=Role.READER), make_person(), make_person()
    keys = [make_key(person, space).key for person in (reader, gone, writer)]
    remove_member(space, gone)
    pages = [client.get(change_page(key)).content.decode() for key in keys]
    assert "Read, capped by the role Reader" in pages[0]
    assert "None: its person is no member of this space" in pages[1]
    assert "capped" not in pages[2]


def test_a_page_costs_one_query_a_grant_for_the_space_its_field_shows_and_no_more():
    client = superuser()
    counts = []
    for number in (1, 12):
        key = make_key(make_person(), *(make_space() for _ in range(number))).key
        with CaptureQueriesContext(connection) as queries:
            client.get(change_page(key))
        counts.append(len(queries))
    assert counts[1] - counts[0] == 11


def test_staff_see_only_their_own_keys_and_make_none():
    client, user = staff("view_apikey", "add_apikey", "change_apikey", "delete_apikey", "add_spacegrant")
    own, other = make_key(user).key, make_key(make_person()).key
    listed = client.get(reverse(LIST)).content.decode()
    assert own.key_prefix in listed
    assert other.key_prefix not in listed
    assert client.get(change_page(other)).status_code == 302
    assert client.get(reverse("admin:accounts_apikey_revoke", args=[other.pk])).status_code == 404
    assert client.get(reverse("admin:accounts_apikey_revoke", args=[own.pk])).status_code == 404
    client.post(reverse(ADD), {"user": str(user.pk), "label": "", **rows("grants")})
    client.post(reverse(LIST), {"action": "revoke", "_selected_action": [str(own.pk)], "confirmed": "yes"})
    assert ApiKey.objects.count() == 2
    assert not ApiKey.objects.exclude(revoked_at=None).exists()
