"""BEIR as data: files, records, rules."""
