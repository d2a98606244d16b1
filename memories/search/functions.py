"""Statements of search as functions in the database, which reach one space with the rights of the tables' owner.

    NEAR = DatabaseFunction("near_terms", parameters={"space": "uuid", …}, columns={"term": "text", …}, statement="…")
    NEAR.call(cursor, values)

Row-level security keeps operators that are not leakproof (`ILIKE`, trigrams) from using their indexes, which takes 24
times as long for a keyword among 100,000 memories, and adds checks to every table of a plan. So these statements are
checked once: a function answers nothing unless its space is bound to the transaction, and names that space for every
table it reads. Plans are kept by each connection, except where one plan for all values would be a bad one.

`migrate` installs what the code holds (`install`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper

from spaces.isolation import EVERY_SPACE, SPACES

PREFIX = "memories_search_"
_PARAMETER = re.compile(r"%\((\w+)\)s")
# What no statement holds otherwise.
_WIDTH = "«width»"
_FUNCTIONS: dict[str, "DatabaseFunction"] = {}

# The path is fixed, and temporary objects come last: nothing that a caller made stands in for a table or an operator.
_HEAD = """
CREATE FUNCTION {name}({parameters}) RETURNS TABLE({columns})
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, {schemas}, pg_temp AS $function$
#variable_conflict use_column
BEGIN
    IF current_setting('{every}', true) IS DISTINCT FROM 'on'
        AND (p_space = ANY (nullif(current_setting('{spaces}', true), '')::uuid[])) IS NOT TRUE
    THEN RETURN; END IF;
    {query};
END $function$;
REVOKE ALL ON FUNCTION {name} FROM PUBLIC;
"""
_GRANT = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = %(role)s) THEN
        EXECUTE format('GRANT EXECUTE ON FUNCTION %%s TO %%I', %(function)s, %(role)s);
    END IF;
END $$
"""
# Where our tables are, and where the operators of the extensions are, which administrators may have put elsewhere.
_SCHEMAS = """
SELECT string_agg(DISTINCT quote_ident(nspname), ', ') FROM pg_namespace
WHERE nspname = current_schema OR oid IN (SELECT extnamespace FROM pg_extension WHERE extname IN ('vector', 'pg_trgm'))
"""
_OURS = (
    "SELECT oid::regprocedure::text FROM pg_proc WHERE proname LIKE %s AND pronamespace = current_schema::regnamespace"
)


@dataclass(frozen=True)
class DatabaseFunction:
    """One statement; its parameters stand in it as `%(name)s`, and one of them is `space`.

    `width` names a parameter that must be a number in the text itself, as types want it. With it, or when
    `is_planned_each_time`, the values are known to the planner.
    """

    name: str
    parameters: Mapping[str, str]
    columns: Mapping[str, str]
    statement: str
    is_planned_each_time: bool = False
    width: str | None = None

    def __post_init__(self) -> None:
        used = set(_PARAMETER.findall(self.statement)) - {self.width}
        if not used <= set(self.parameters) or "space" not in used:
            raise ValueError(f"{self.name} uses {sorted(used)} and declares {sorted(self.parameters)}")
        _FUNCTIONS[self.name] = self

    def definition(self, schemas: str) -> str:
        """The statements that make the function."""
        return _HEAD.format(
            name=PREFIX + self.name,
            parameters=", ".join(f"p_{name} {type_name}" for name, type_name in self.parameters.items()),
            columns=", ".join(f"{name} {type_name}" for name, type_name in self.columns.items()),
            schemas=schemas,
            every=EVERY_SPACE,
            spaces=SPACES,
            query=self._query(),
        )

    def call(self, cursor: CursorWrapper, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """The rows of one call. `values` holds all parameters, and may hold more."""
        cursor.execute(self.call_text(), values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows

    def call_text(self) -> str:
        arguments = ", ".join(f"%({name})s::{type_name}" for name, type_name in self.parameters.items())
        return f"SELECT * FROM {PREFIX}{self.name}({arguments})"  # noqa: S608 - names of this package

    def _query(self) -> str:
        if not self.is_planned_each_time and self.width is None:
            return "RETURN QUERY " + _PARAMETER.sub(lambda found: f"p_{found.group(1)}", self.statement)
        places = {name: f"${number}" for number, name in enumerate(self.parameters, 1)}
        if self.width is not None:
            places[self.width] = _WIDTH
        text = _PARAMETER.sub(lambda found: places[found.group(1)], self.statement)
        quoted = f"$statement${text}$statement$"
        if self.width is not None:
            quoted = f"replace({quoted}, '{_WIDTH}', p_{self.width}::int::text)"
        return f"RETURN QUERY EXECUTE {quoted} USING {', '.join(f'p_{name}' for name in self.parameters)}"


def install(**kwargs: object) -> None:
    """After a migration: replace what is installed by the functions of the code."""
    with connection.cursor() as cursor:
        cursor.execute(_SCHEMAS)
        ((schemas,),) = cursor.fetchall()
        cursor.execute(_OURS, [PREFIX.replace("_", r"\_") + "%"])
        for (signature,) in cursor.fetchall():
            cursor.execute(f"DROP FUNCTION {signature}")
        for function in _FUNCTIONS.values():
            cursor.execute(function.definition(schemas))
            cursor.execute(_GRANT, {"role": settings.DATABASE_ROLE, "function": PREFIX + function.name})
