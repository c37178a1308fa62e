"""LightRAG as data: files, records, rules."""
