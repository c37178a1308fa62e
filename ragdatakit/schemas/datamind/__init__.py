"""DataMind as data: files, records, rules."""
