"""A process of the site that ends with SIGKILL at a given point: `python -m tests.faults.process POINT ACTION …`.

save SECRET TEXT      saves, as the web process does
process               works on the document whose turn it is, as the worker does
embed                 works off owed embeddings, as the worker does
"""

import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

# Where it ends: just before the named function is called there.
POINTS = {
    "never": None,
    "before anything is stored": "memories.services.save._store_pending",
    "after the text is stored": "memories.services.save.hand_over",
    "while it waits for the worker": "memories.services.handover._await_worker",
    "after the document is claimed": "memories.services.pipeline.read_job",
    "after the extractor answered": "memories.services.pipeline._embed",
    "after the facts are embedded": "memories.services.pipeline.store_facts",
    "within the transaction": "memories.services.facts.settle",
    "after the facts are stored": "memories.services.pipeline.announce",
    "after the memory is stored": "memories.services.save.embed_now_or_later",
    "after the memory is embedded": "memories.services.embeddings.store_embedding",
}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    import django

    django.setup()
    point, action, *arguments = sys.argv[1:]
    _end_before(POINTS[point])
    from memories.services import claims, embeddings, pipeline, save
    from spaces.access import access_for_key

    claims.LEASE = timedelta(seconds=2)
    if action == "save":
        secret, text, wait = arguments
        access = access_for_key(secret)
        assert access is not None
        saved = save.save_memory(access, content=text, wait=int(wait))
        _say(saved.status.wire, *(str(memory.id) for memory in saved.memories))
    elif action == "process":
        _say(str(pipeline.process_next()))
    else:
        _say(str(embeddings.embed_pending()))


def _say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def _end_before(place: str | None) -> None:
    if place is None:
        return
    from importlib import import_module

    module_name, _, function = place.rpartition(".")
    setattr(import_module(module_name), function, _killer())


def _killer() -> Callable[..., Any]:
    def kill(*arguments: Any, **named: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    return kill


if __name__ == "__main__":
    main()
