"""A person with a key and a space to measure in."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # models can only be imported once the scratch database is there
    from spaces.access import AccessContext


def demo_key(space_key: str = "benchmark") -> "tuple[str, AccessContext]":
    """A Writer's key with one new space as its default, and the access it gives."""
    from accounts.services.users import create_user
    from spaces.access import access_for_key
    from spaces.services.provisioning import RequestedGrant, create_api_key, create_space

    user = create_user(email=f"{space_key}@example.org", display_name="Benchmark")
    secret = create_api_key(user, grants=[RequestedGrant(create_space(key=space_key))]).secret
    access = access_for_key(secret)
    assert access is not None
    return secret, access


def fill_space(access: "AccessContext", texts: Sequence[str]) -> None:
    """Save each text as a memory, embedded."""
    from memories.services.save import save_memory

    for text in texts:
        save_memory(access, content=text)
