"""SAGE as data: files, records, rules."""
