"""A dataset in DuckDB: views of its files, canonical tables, queries that can do no harm."""
