"""Contextual Retrieval as data: files, records, rules."""
