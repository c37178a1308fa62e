"""A-RAG as data: files, records, rules."""
