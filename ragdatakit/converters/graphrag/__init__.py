"""GraphRAG to canonical tables and back."""
