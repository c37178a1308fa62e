"""RAPTOR as data: files, records, rules."""
