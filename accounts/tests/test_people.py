import pytest
from django.db import IntegrityError, transaction
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import Role, User, normalise_email
from accounts.services.users import create_user, get_user, parse_email, parse_role, set_active
from core.errors import Conflict, Invalid, NotFound


@given(st.emails(), st.sampled_from(["", " ", "\t "]))
def test_an_address_has_one_spelling(address, blank):
    assert normalise_email(f"{blank}{address.upper()}{blank}") == normalise_email(address.upper())
    assert normalise_email(normalise_email(address)) == normalise_email(address)


@pytest.mark.parametrize(
    "wrong", [None, 7, "", "  ", "nobody", "a@b@c.de", "a b@c.de", "\ud800@c.de", "a@" + "b" * 400]
)
def test_what_is_no_address_is_told(wrong):
    with pytest.raises(Invalid):
        parse_email(wrong)


@pytest.mark.parametrize("wrong", [None, 1, "", "Admin", "Writers"])
def test_what_is_no_role_is_told(wrong):
    with pytest.raises(Invalid, match="Writer or Reader"):
        parse_role(wrong)


@pytest.mark.django_db
def test_a_person_without_a_name_is_called_by_their_address():
    assert create_user(email="ADA@Example.org", display_name="  ").display_name == "ada@example.org"
    assert create_user(email="bob@example.org", display_name=" Bob\n").display_name == "Bob"


@pytest.mark.django_db
def test_a_taken_address_conflicts_in_any_case():
    create_user(email="ada@example.org")
    with pytest.raises(Conflict, match=r"ada@example\.org exists already"):
        create_user(email="ADA@EXAMPLE.ORG")
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_the_database_itself_refuses_another_spelling_and_another_role():
    create_user(email="ada@example.org")
    for wrong in ({"email": "Ada@example.org"}, {"role": "Admin"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            User.objects.update(**wrong)


@pytest.mark.django_db
def test_people_are_found_in_any_case_and_unknown_ones_are_told():
    user = create_user(email="ada@example.org", role=Role.READER)
    assert get_user(" ADA@example.org ") == user
    with pytest.raises(NotFound, match="no person"):
        get_user("bob@example.org")


@pytest.mark.django_db
def test_a_new_person_cannot_sign_in_with_a_password():
    assert not create_user(email="ada@example.org").has_usable_password()


@pytest.mark.django_db
def test_deactivating_says_whether_it_changed_anything():
    user = create_user(email="ada@example.org")
    before = user.updated_at
    assert [set_active(user, False), set_active(user, False), set_active(user, True)] == [True, False, True]
    user.refresh_from_db()
    assert user.updated_at > before
