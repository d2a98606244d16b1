"""Do slow calls run side by side?

Sixteen callers at once ask for a tool that waits half a second in the database; that takes as long as one call where
nobody waits for the others, and sixteen times as long where they run one after the other. Meanwhile a call that is
refused for its key must not wait either.

    bin/run python -m benchmarks.concurrency
"""

import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from benchmarks.common import Caller, milliseconds, scratch_database, server, verdict
from benchmarks.data import demo_key

CALLERS = 16
ROUNDS = 5
# One call at a time would be 16; the rest above 1 is what sixteen requests cost a machine with few cores.
LIMIT = 1.5
# A refused call takes milliseconds; one that waited for the slow ones would take hundreds.
REFUSED_MILLISECONDS = 100


def _refused(caller: Caller) -> float:
    started = time.perf_counter()
    try:
        caller.call("slow")
    except RuntimeError:
        return (time.perf_counter() - started) * 1000
    raise SystemExit("A wrong key was served.")


def main() -> bool:
    key, _ = demo_key()
    one, many, refused = [], [], []
    with server("benchmarks.slow_tool:application") as running, ThreadPoolExecutor(CALLERS) as pool:
        callers = [running.caller(key) for _ in range(CALLERS)]
        stranger = running.caller("mmcp_wrong")
        list(pool.map(lambda caller: caller.call("slow"), callers))
        # Interleaved, so that what else the machine does falls on all of them alike.
        for _ in range(ROUNDS):
            one.append(milliseconds(callers[0].call, "slow"))
            started = time.perf_counter()
            calls = [pool.submit(caller.call, "slow") for caller in callers]
            time.sleep(0.1)
            refused.append(_refused(stranger))
            for call in calls:
                call.result()
            many.append((time.perf_counter() - started) * 1000)
    print(f"1 call: {statistics.median(one):.0f} ms, {CALLERS} at once: {statistics.median(many):.0f} ms")
    together = verdict(f"{CALLERS} at once / 1", statistics.median(many) / statistics.median(one), LIMIT)
    free = verdict("refused meanwhile, ms", statistics.median(refused), REFUSED_MILLISECONDS)
    return together and free


if __name__ == "__main__":
    with scratch_database():
        held = main()
    sys.exit(0 if held else 1)
