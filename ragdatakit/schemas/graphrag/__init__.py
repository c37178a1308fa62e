"""The GraphRAG format, declared."""
