"""GFM-RAG as data: files, records, rules."""
