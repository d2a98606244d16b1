import re

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import ApiKey, User
from memories.tests.factories import make_key, make_person, make_space
from spaces.access import access_for_key, member_levels
from spaces.models import AccessLevel, Space, SpaceGrant

pytestmark = pytest.mark.django_db


@pytest.fixture
def administrator() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("admin@example.org", "a long password"))
    return client


def grants(*rows: dict[str, object], initial: int = 0) -> dict[str, object]:
    data: dict[str, object] = {"grants-TOTAL_FORMS": len(rows), "grants-INITIAL_FORMS": initial}
    for number, row in enumerate(rows):
        data |= {f"grants-{number}-{name}": value for name, value in row.items()}
    return data


def members(**rows: object) -> dict[str, object]:
    data: dict[str, object] = {}
    for prefix in ("user_permissions", "group_permissions", "grants"):
        data |= {f"{prefix}-TOTAL_FORMS": 0, f"{prefix}-INITIAL_FORMS": 0}
    return data | rows


def create_key(client: Client, person: User, *rows: dict[str, object]) -> tuple[str, str, str]:
    """The key's text, the address of the page that showed it, and that page."""
    answer = client.post(
        reverse("admin:accounts_apikey_add"), {"user": str(person.pk), "label": "laptop", **grants(*rows)}
    )
    assert answer.status_code == 302, answer.context["errors"]
    page = client.get(answer.url)
    assert page["Cache-Control"].find("no-store") >= 0
    found = re.search(r'value="(mmcp_[0-9a-f]{32})"', page.content.decode())
    assert found
    return found[1], answer.url, page.content.decode()


def test_a_person_a_space_and_a_key_are_brought_together_without_leaving_the_admin(administrator):
    answer = administrator.post(
        reverse("admin:accounts_user_add"),
        {"email": "Ada@Example.org", "display_name": "Ada", "role": "Writer", "_save": "Save"},
    )
    assert answer.status_code == 302
    ada = User.objects.get(email="ada@example.org")
    assert not ada.has_usable_password()

    answer = administrator.post(
        reverse("admin:spaces_space_add"),
        {
            "key": "research",
            "name": "Research",
            "language": "english",
            "sensitivity": "medium",
            **members(
                **{
                    "user_permissions-TOTAL_FORMS": 1,
                    "user_permissions-0-user": str(ada.pk),
                    "user_permissions-0-level": "write_space",
                }
            ),
        },
    )
    assert answer.status_code == 302, answer.context["errors"]
    space = Space.objects.get(key="research")
    assert member_levels(ada) == {space.id: AccessLevel.READ_WRITE}

    secret, _, _ = create_key(administrator, ada, {"space": str(space.pk), "access_level": 1, "is_default": "on"})
    access = access_for_key(secret)
    assert access is not None
    assert (access.display_name, access.space(None).key, access.space(None).level.wire) == (
        "Ada",
        "research",
        "ReadWrite",
    )


def test_a_key_is_shown_once_and_rests_nowhere_in_clear(administrator):
    secret, address, _ = create_key(administrator, make_person())
    assert secret not in administrator.get(address).content.decode()
    assert "cannot be shown again" in administrator.get(address).content.decode()
    key = ApiKey.objects.get()
    assert secret not in administrator.get(reverse("admin:accounts_apikey_change", args=[key.pk])).content.decode()
    assert str(administrator.session.items()).find(secret) < 0


def test_granting_a_space_makes_its_person_a_member_and_says_so(administrator):
    ada, space = make_person("Ada"), make_space("team")
    _, _, page = create_key(administrator, ada, {"space": str(space.pk), "access_level": 0})
    assert member_levels(ada) == {space.id: AccessLevel.READ}
    assert "Ada became a member of team (Read)." in page


def test_the_active_space_moves_from_one_grant_to_another_in_one_save(administrator):
    one, two = make_space("one"), make_space("two")
    key = make_key(make_person(), one, two).key
    first, second = SpaceGrant.objects.filter(api_key=key).order_by("-is_default")
    answer = administrator.post(
        reverse("admin:accounts_apikey_change", args=[key.pk]),
        {
            "label": "test",
            **grants(
                {"id": str(first.pk), "space": str(one.pk), "access_level": 1},
                {"id": str(second.pk), "space": str(two.pk), "access_level": 1, "is_default": "on"},
                initial=2,
            ),
        },
    )
    assert answer.status_code == 302, answer.context["errors"]
    assert SpaceGrant.objects.get(api_key=key, is_default=True).space_id == two.id


def test_two_active_spaces_are_refused_in_words(administrator):
    one, two = make_space("one"), make_space("two")
    rows = [{"space": str(space.pk), "access_level": 1, "is_default": "on"} for space in (one, two)]
    answer = administrator.post(
        reverse("admin:accounts_apikey_add"), {"user": str(make_person().pk), "label": "", **grants(*rows)}
    )
    assert answer.status_code == 200
    assert "Only one space of a key can be its active space" in answer.content.decode()
    assert not ApiKey.objects.exists()


def test_a_taken_address_is_told_whatever_its_case(administrator):
    make_person()
    taken = User.objects.exclude(is_superuser=True).get().email.upper()
    answer = administrator.post(
        reverse("admin:accounts_user_add"), {"email": taken, "display_name": "Two", "role": "Writer"}
    )
    assert answer.status_code == 200
    assert "already exists" in answer.content.decode()


def test_a_bad_space_key_is_told_in_words(administrator):
    answer = administrator.post(
        reverse("admin:spaces_space_add"),
        {"key": "a b/c", "name": "", "language": "english", "sensitivity": "medium", **members()},
    )
    assert "A space key is made of letters" in answer.content.decode()


def test_revoking_asks_first_and_then_ends_the_key(administrator):
    new = make_key(make_person(), make_space())
    form = {"action": "revoke", "_selected_action": [str(new.key.pk)]}
    page = administrator.post(reverse("admin:accounts_apikey_changelist"), form)
    assert "cannot be undone" in page.content.decode()
    assert access_for_key(new.secret) is not None
    administrator.post(reverse("admin:accounts_apikey_changelist"), {**form, "confirmed": "yes"})
    assert access_for_key(new.secret) is None


def test_deactivating_a_person_ends_all_their_keys_and_reactivating_brings_them_back(administrator):
    person = make_person()
    new = make_key(person, make_space())
    for action, works in (("deactivate", False), ("reactivate", True)):
        administrator.post(
            reverse("admin:accounts_user_changelist"),
            {"action": action, "_selected_action": [str(person.pk)], "confirmed": "yes"},
        )
        assert (access_for_key(new.secret) is not None) is works


def test_one_cannot_deactivate_oneself(administrator):
    own = User.objects.get()
    administrator.post(
        reverse("admin:accounts_user_changelist"), {"action": "deactivate", "_selected_action": [str(own.pk)]}
    )
    own.refresh_from_db()
    assert own.is_active
