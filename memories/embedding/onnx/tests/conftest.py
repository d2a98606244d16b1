import pytest

from tests.providers.fixtures import embedding_server, remote_embeddings, second_model

pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")

__all__ = ["embedding_server", "remote_embeddings", "second_model"]


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A MEMORY_HOME for the whole run: the export takes seconds."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def exporting(home, settings):
    """Settings with the exported model as the default one."""
    settings.MEMORY_HOME = home
    settings.EMBEDDINGS_PROVIDER = "onnx"
    settings.EMBEDDINGS_MODEL = ""
    return home
