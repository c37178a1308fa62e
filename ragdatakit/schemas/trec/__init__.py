"""TREC as data: files, records, rules."""
