"""Retrieval in LightRAG's own manner: entities by words, relations by words, the chunks that both name."""
