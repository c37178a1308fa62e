"""Names, texts and paths as DuckDB's and SQLite's SQL writes them."""

from __future__ import annotations

from pathlib import Path


def sql_name(name: str) -> str:
    """A name of a table, column or schema, whatever letters are in it."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(value: str | None) -> str:
    """A text, or that there is none."""
    return "null::varchar" if value is None else "'" + value.replace("'", "''") + "'"


def is_sql_path(path: Path) -> bool:
    """Whether DuckDB can be given a path: its texts are UTF-8, names of files may be any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def unglobbed(path: Path) -> str:
    """A path in which DuckDB sees no pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))


def hash_expression(column: str, before: str = "abcd") -> str:
    """A code of 64 bits of a text, in SQL; another one with another text ``before`` it."""
    # DuckDB's hash takes texts for equal that differ only at the ends of two 8-byte words, once in 256 times; with the
    # same text moved by half a word as a second argument, what is weak in one is strong in the other.
    return f"hash({column}, '{before}' || {column})"
