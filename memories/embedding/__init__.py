"""Turning text into vectors: one protocol, local and remote engines behind it.

embedder = get_embedder()                      # None when EMBEDDINGS_PROVIDER=none
vector = embed_query_cached(embedder, "Who signs off releases?")
"""
