from tests.providers.fixtures import embedding_server, remote_embeddings, second_model

__all__ = ["embedding_server", "remote_embeddings", "second_model"]
