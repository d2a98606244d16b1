"""Languages for word search: all text search configurations that the database has, its own and installed ones."""

from collections.abc import Sequence

from django.db import connection

from spaces.models import Language

_INSTALLED = "SELECT cfgname::text FROM pg_ts_config WHERE pg_ts_config_is_visible(oid) ORDER BY 1"


def installed_languages() -> Sequence[tuple[str, str]]:
    """Each configuration with its name for people; the one that stems nothing comes first. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_INSTALLED)
        names = [name for (name,) in cursor.fetchall()]
    known = {language.value: str(language.label) for language in Language}
    ordered = sorted(names, key=lambda name: (name != Language.SIMPLE, name))
    return [(name, known.get(name, name.replace("_", " ").capitalize())) for name in ordered]
