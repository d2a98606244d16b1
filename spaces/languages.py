"""Languages for word search: all text search configurations that the database has, its own and installed ones."""

from collections.abc import Sequence

from django.db import connection
from django.utils.translation import gettext_lazy as _

from spaces.models import Language

# Those of PostgreSQL that a space was never offered before.
_FURTHER = {
    "armenian": _("Armenian"),
    "basque": _("Basque"),
    "catalan": _("Catalan"),
    "estonian": _("Estonian"),
    "indonesian": _("Indonesian"),
    "irish": _("Irish"),
    "lithuanian": _("Lithuanian"),
    "nepali": _("Nepali"),
    "polish": _("Polish"),
    "serbian": _("Serbian"),
    "tamil": _("Tamil"),
    "yiddish": _("Yiddish"),
}
_INSTALLED = "SELECT cfgname::text FROM pg_ts_config WHERE pg_ts_config_is_visible(oid) ORDER BY 1"


def installed_languages() -> Sequence[tuple[str, str]]:
    """Each configuration with its name for people; the one that stems nothing comes first. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_INSTALLED)
        names = [name for (name,) in cursor.fetchall()]
    ordered = sorted(names, key=lambda name: (name != Language.SIMPLE, name))
    return [(name, language_name(name)) for name in ordered]


def language_name(name: str) -> str:
    """What people call a configuration. Asks no database."""
    if name in Language.values:
        return str(Language(name).label)
    return str(_FURTHER.get(name, name.replace("_", " ").capitalize()))
