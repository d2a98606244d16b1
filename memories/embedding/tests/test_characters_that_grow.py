"""Characters that become many more when they are normalised. The engine is asked in a process that may die of it."""

import subprocess
import sys

import pytest

from memories.embedding.local import _normalised

PROGRAM = """
import sys
from memories.embedding.local import LocalEmbedder
embedder = LocalEmbedder()
text = sys.argv[1] * int(sys.argv[2])
for _ in range(3):
    embedder.embed_query(text)
    embedder.embed_passages([text])
print("alive")
"""


@pytest.mark.parametrize("character", ["\ufdfa", "\ufdfb", "\u3300", "\u33af", "\u0390", "\ufb03", "a\u0301\u0323"])
@pytest.mark.parametrize("number", [1, 10, 300])
def test_no_text_harms_the_process(character, number):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, character, str(number)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "alive"), done.stderr[-500:]


def test_growth_is_bounded_and_ordinary_text_is_kept_whole():
    assert _normalised("\ufdfa") == "صلى الله عليه وسلم"
    assert len(_normalised("\ufdfa" * 1000)) == 4000
    assert _normalised("plain text " * 500) == "plain text " * 500
