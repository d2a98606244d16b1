"""API keys as text: making, hashing, and finding one in a request's headers.

key = generate_key()           # "mmcp_" and 32 hex digits, 128 random bits
ApiKey(key_hash=hash_key(key), key_prefix=key[:PREFIX_LENGTH])
"""

import hashlib
import secrets

PREFIX = "mmcp_"
PREFIX_LENGTH = 12


def generate_key() -> str:
    return PREFIX + secrets.token_hex(16)


def hash_key(key: str) -> str:
    """SHA-256 as hex. No salt and no stretching: a key is 128 random bits, there is nothing to guess."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def presented_key(x_api_key: str | None, authorization: str | None) -> str | None:
    """The key a caller presents, or None.

    `X-Api-Key` wins when it is not blank, and a wrong one is not rescued by a right `Authorization: Bearer`.
    """
    if x_api_key and x_api_key.strip():
        return x_api_key.strip()
    scheme, _, value = (authorization or "").strip().partition(" ")
    if scheme.lower() == "bearer" and value.strip():
        return value.strip()
    return None
