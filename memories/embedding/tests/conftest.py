from tests.providers.fixtures import embedding_server, remote_embeddings

__all__ = ["embedding_server", "remote_embeddings"]
