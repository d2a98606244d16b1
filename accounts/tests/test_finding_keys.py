import uuid

import pytest

from accounts.models import ApiKey
from accounts.services.keys import find_key, revoke_key
from core.errors import Conflict, Invalid, NotFound
from memories.tests.factories import make_key, make_person

pytestmark = pytest.mark.django_db


def test_a_key_is_found_by_id_by_prefix_as_lists_show_it_and_by_itself():
    new = make_key(make_person())
    prefix = new.key.key_prefix
    for reference in (str(new.key.id), prefix, f" {prefix} ", f"{prefix}…", f"{prefix}...", new.secret):
        assert find_key(reference) == new.key


@pytest.mark.parametrize("reference", ["mmcp_00", "team", "…", "%", "_____", str(uuid.uuid4()), "mmcp_" + "0" * 32])
def test_what_names_no_key_is_told(reference):
    make_key(make_person())
    with pytest.raises(NotFound):
        find_key(reference)


@pytest.mark.parametrize("reference", ["", "  ", "x" * 500, "\ud800"])
def test_what_can_name_no_key_is_told(reference):
    with pytest.raises(Invalid):
        find_key(reference)


def test_a_message_never_repeats_a_whole_key():
    secret = make_key(make_person()).secret[:-1] + "x"
    with pytest.raises(NotFound) as caught:
        find_key(secret)
    assert secret not in caught.value.message


def test_a_prefix_of_several_keys_lists_them():
    keys = [make_key(make_person()).key for _ in range(2)]
    with pytest.raises(Conflict) as caught:
        find_key("mmcp_")
    assert all(str(key.id) in caught.value.message for key in keys)


def test_revoking_again_keeps_the_first_time():
    key = make_key(make_person()).key
    assert revoke_key(key)
    first = ApiKey.objects.get().revoked_at
    assert not revoke_key(key)
    assert ApiKey.objects.get().revoked_at == first == key.revoked_at
