"""light-splade as data: files, records, rules."""
