"""How much does a search cost above what it cannot do without? And how much memory does the server keep?

`search_memory` over MCP, end to end, against its floor: embedding the query, one bare nearest-neighbour statement that
fetches the texts, and a tool call that does nothing. Limit: 1.3 times the floor. After 1,000 searches the web process
may hold at most 400 MB.

    bin/run python -m benchmarks.search
"""

import sys

from benchmarks.common import milliseconds, quantiles, scratch_database, server, verdict
from benchmarks.data import demo_key, fill_space
from benchmarks.texts import questions, sentences

MEMORIES = 1_000
SEARCHES = 200
FOR_MEMORY = 1_000
LIMIT = 1.3
MEGABYTES = 400

_BARE = """
SELECT m.id, m.text, 1 - nearest.distance
FROM (SELECT memory_id, embedding::halfvec({dimensions}) <=> %s::halfvec({dimensions}) AS distance
      FROM memories_embedding WHERE space_id = %s AND model_id = %s ORDER BY distance LIMIT 10) nearest
JOIN memories_memory m ON m.id = nearest.memory_id ORDER BY nearest.distance
"""


def main() -> bool:
    from django.db import connection
    from pgvector import HalfVector

    from memories.embedding.base import Vector
    from memories.services.searched_model import active_model

    key, access = demo_key()
    fill_space(access, sentences(MEMORIES))
    model = active_model()
    if model is None:
        raise SystemExit("EMBEDDINGS_PROVIDER is none: there is nothing to compare.")
    space = access.space(None)
    asked = questions(SEARCHES * 2 + FOR_MEMORY)
    statement = _BARE.format(dimensions=model.embedder.spec.dimensions)

    def bare(vector: Vector) -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement, [HalfVector(vector).to_text(), space.id, model.row_id])
            cursor.fetchall()

    embedding, statements, empty, whole = [], [], [], []
    with server("benchmarks.empty_tool:application") as running:
        caller = running.caller(key)
        for question in asked[:20]:
            caller.call("search_memory", query=f"warm up {question}", includeProfile=False)
            caller.call("empty")
        # Interleaved, so that what else the machine does falls on all of them alike.
        for first, second in zip(asked[:SEARCHES], asked[SEARCHES : SEARCHES * 2], strict=True):
            # First, and so as cold as in a server that was asked something else before.
            embedding.append(milliseconds(model.embedder.embed_query, first))
            vector = model.embedder.embed_query(second)
            statements.append(milliseconds(bare, vector))
            empty.append(milliseconds(caller.call, "empty"))
            whole.append(milliseconds(caller.call, "search_memory", query=second, includeProfile=False))
        for question in asked[SEARCHES * 2 :]:
            caller.call("search_memory", query=question)
        resident = running.resident_megabytes()
    floor = sum(quantiles(times)[0] for times in (embedding, statements, empty))
    for name, times in (("query embedding", embedding), ("bare SQL", statements), ("empty tool call", empty)):
        print(f"{name}: p50 {quantiles(times)[0]:.1f} ms")
    print(f"search_memory: p50 {quantiles(whole)[0]:.1f} ms, p95 {quantiles(whole)[1]:.1f} ms, {MEMORIES} memories")
    fast = verdict("search / floor", quantiles(whole)[0] / floor, LIMIT)
    small = verdict(f"resident MB after {FOR_MEMORY} searches", resident, MEGABYTES)
    return fast and small


if __name__ == "__main__":
    with scratch_database():
        held = main()
    sys.exit(0 if held else 1)
