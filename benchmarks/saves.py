"""Do saves run at the speed of the embedding?

Saves per second over MCP at 1 and 16 clients, against embedding the same texts alone with as many threads.

    bin/run python -m benchmarks.saves
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from benchmarks.common import Caller, scratch_database, server
from benchmarks.data import demo_key
from benchmarks.texts import sentences

SAVES = 200


def per_second(clients: int, texts: list[str], action: Callable[[int, str], object]) -> float:
    """Texts worked off a second by `clients` threads; `action` gets the client's number and a text."""
    shares = [texts[number::clients] for number in range(clients)]

    def work(number: int) -> None:
        for text in shares[number]:
            action(number, text)

    started = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(work, range(clients)))
    return len(texts) / (time.perf_counter() - started)


def _save(callers: Sequence[Caller], number: int, text: str) -> None:
    callers[number].call("add_memory", content=text)


def main() -> None:
    from memories.services.searched_model import active_model

    key, _ = demo_key()
    model = active_model()
    if model is None:
        raise SystemExit("EMBEDDINGS_PROVIDER is none: there is nothing to compare.")
    embedder = model.embedder
    embedder.embed_passages(["warm up"])
    with server() as running:
        for clients in (1, 16):
            alone = per_second(clients, sentences(SAVES, seed=clients), lambda _, text: embedder.embed_passages([text]))
            # Made now: a connection that waited for the embeddings would have been closed.
            callers = [running.caller(key) for _ in range(clients)]
            callers[0].call("add_memory", content=f"warm up {clients}")
            saved = per_second(clients, sentences(SAVES, seed=100 + clients), partial(_save, callers))
            ratio = f"ratio {saved / alone:.2f}"
            print(f"{clients} clients: {saved:.1f} saves a second, {alone:.1f} embeddings a second, {ratio}")


if __name__ == "__main__":
    with scratch_database():
        main()
