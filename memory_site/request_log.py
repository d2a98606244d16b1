"""One line in the log for each request of the REST API: never a parameter, a body or a key."""

import json
import logging
from urllib.parse import quote

from spaces.access import AccessContext

logger = logging.getLogger("memory_site.requests")

# Longer addresses are none of ours.
_LONGEST_PATH = 200


def log_request(method: str, path: str, status: int, seconds: float, access: AccessContext | None = None) -> None:
    """Method, path without its query, status, milliseconds, and who called: the person's id and the key's label."""
    logger.info(
        "method=%s path=%s status=%d ms=%.0f user=%s credential=%s",
        quote(method[:20]),
        quote(path.encode("utf-8", "replace")[:_LONGEST_PATH], safe="/:@-._~"),
        status,
        seconds * 1000,
        access.user_id if access else "-",
        json.dumps(access.credential.label) if access else "-",
    )
