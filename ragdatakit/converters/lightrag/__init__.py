"""LightRAG into the canonical tables and out of them."""
