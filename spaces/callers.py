"""Who calls, before anything else is done for them: the rate limit, then the key."""

from accounts.rate_limit import note_failure, seconds_to_wait
from spaces.access import AccessContext, access_for_key


def admit(key: str | None, address: str, surface: str) -> tuple[int | None, AccessContext | None]:
    """The seconds to wait, or who calls; the limit comes first, and a key that is none counts against its address."""
    wait = seconds_to_wait(key or address, address)
    if wait is not None or key is None:
        return wait, None
    access = access_for_key(key, surface)
    if access is None:
        note_failure(address)
    return None, access
