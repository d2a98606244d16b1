import pytest

from memories.embedding import service
from memories.search.tests.doubles import WordVectors, use_embedder


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> WordVectors:
    """A foreseeable model in place of the real one."""
    service._queries.clear()
    stand_in = WordVectors()
    use_embedder(monkeypatch, stand_in)
    return stand_in


@pytest.fixture
def without_embeddings(monkeypatch: pytest.MonkeyPatch) -> None:
    """EMBEDDINGS_PROVIDER=none."""
    use_embedder(monkeypatch, None)
