"""What the settings of every provider have in common when a process starts."""

from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured


def check_endpoint(prefix: str, endpoint: str) -> None:
    """Raises `ImproperlyConfigured`, naming `prefix`_ENDPOINT, unless it is a plain http or https address."""
    try:
        parts = urlsplit(endpoint)
        absolute = parts.scheme in ("http", "https") and bool(parts.hostname)
        # Reading the port is what finds a wrong one.
        absolute = absolute and (parts.port is None or parts.port > 0)
    except ValueError:
        absolute = False
    if not absolute:
        raise ImproperlyConfigured(
            f"{prefix}_ENDPOINT must be an absolute http or https URL, such as http://localhost:11434/v1."
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ImproperlyConfigured(
            f"{prefix}_ENDPOINT must hold no user name, password, query or fragment; a key belongs into "
            f"{prefix}_API_KEY."
        )
