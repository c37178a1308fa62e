"""HippoRAG as data: files, records, rules."""
