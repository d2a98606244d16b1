"""Keeping a secret unreadable where it has to rest for a moment, such as in a session row."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

# A secret that was not fetched by then is gone.
SECONDS = 600


def seal(secret: str) -> str:
    """`secret` encrypted with a key derived from SECRET_KEY."""
    return _fernet().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str | None:
    """What was sealed within the last ten minutes; None for anything else."""
    try:
        return _fernet().decrypt(sealed.encode(), ttl=SECONDS).decode()
    except InvalidToken:
        return None


def _fernet() -> Fernet:
    key = hashlib.sha256(b"accounts.sealing:" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
