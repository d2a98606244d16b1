"""What does row-level security cost?

The same services, once as the owner of the tables, whom no policy holds, and once as the application's role, one after
the other in the same run: search by question, search by keyword, a page of a list, and a save, in spaces of 100, 5,000
and 100,000 memories of one database. Limits: searches 1.3 times the owner's, lists 1.2, saves 1.1.

    bin/run python -m benchmarks.isolation
"""

import sys
import uuid
from collections.abc import Callable

from benchmarks.common import milliseconds, quantiles, scratch_database, verdict
from benchmarks.tenants import add_tenant, question

SIZES = (100, 5_000, 100_000)
ROUNDS = 60
LIMITS = {"query": 1.3, "keyword": 1.3, "list": 1.2, "save": 1.1}


def main() -> bool:

    from django.conf import settings
    from django.db import connection

    from core.database import as_owner
    from memories.queries import list_memories_after
    from memories.search.index import maintain_indexes
    from memories.search.service import search
    from memories.services.embeddings import active_model
    from memories.services.save import save_memory
    from memories.tests.factories import make_access, make_space

    model = active_model()
    if model is None:
        raise SystemExit("EMBEDDINGS_PROVIDER is none: there is nothing to search by.")
    accesses = {}
    for number, size in enumerate(SIZES):
        space = make_space(f"tenant-{size}")
        accesses[size] = make_access(space)
        add_tenant(space.id, size, seed=number + 1, model_id=model.row_id, with_words=True)
    maintain_indexes()
    with as_owner(), connection.cursor() as cursor:
        cursor.execute("SELECT session_user::text")
        ((owner,),) = cursor.fetchall()
        cursor.execute("VACUUM ANALYZE")
    application = settings.DATABASE_ROLE
    held = True
    for size, access in accesses.items():
        actions: dict[str, Callable[[int], object]] = {
            "query": lambda i, access=access: search(access, query=question(i), include_profile=False),
            "keyword": lambda i, access=access: search(access, keyword=question(i, 1), include_profile=False),
            "list": lambda i, access=access: list_memories_after(access, limit=50),
            "save": lambda i, access=access: save_memory(access, content=f"{uuid.uuid4()} {question(i)}"),
        }
        for name, action in actions.items():
            times: dict[str, list[float]] = {owner: [], application: []}
            for i in range(ROUNDS):
                for role in (owner, application) if i % 2 else (application, owner):
                    settings.DATABASE_ROLE = role
                    if name != "save":
                        action(i)  # the question is embedded and the pages are read
                    times[role].append(milliseconds(action, i))
            settings.DATABASE_ROLE = application
            ratio = quantiles(times[application])[0] / quantiles(times[owner])[0]
            text = f"{name} among {size:,} (owner {quantiles(times[owner])[0]:.1f} ms)"
            held = verdict(text, ratio, LIMITS[name]) and held
    return held


if __name__ == "__main__":
    with scratch_database():
        held = main()
    sys.exit(0 if held else 1)
