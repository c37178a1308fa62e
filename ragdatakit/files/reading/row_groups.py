"""Rows of a table that are to be joined with those of another one; they wait in a temporary database, not in memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import msgspec


class _Database:
    """A database that SQLite keeps in memory while it is small, else in a file that nobody else sees."""

    def __init__(self) -> None:
        import sqlite3

        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=OFF")
        self._encode = msgspec.json.Encoder().encode
        self._decode = msgspec.json.Decoder().decode

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Forget everything."""
        self._db.close()


class RowGroups(_Database):
    """Rows by the number of their group: put in in any order, given back group by group, in a group as they came."""

    def __init__(self) -> None:
        super().__init__()
        self._db.execute("CREATE TABLE rows (number INTEGER, row BLOB)")

    def add(self, number: int, row: Any) -> None:
        """Put a row (JSON values) into a group."""
        self._db.execute("INSERT INTO rows VALUES (?, ?)", (number, self._encode(row)))

    def __iter__(self) -> Iterator[tuple[int, list[Any]]]:
        found = self._db.execute("SELECT number, row FROM rows ORDER BY number, rowid")
        for number, rows in groupby(found, key=lambda pair: pair[0]):
            yield number, [self._decode(row) for _, row in rows]


class TextsById(_Database):
    """Texts, each with a title or without, by id; of two with the same id the first counts."""

    def __init__(self) -> None:
        super().__init__()
        self._db.execute("CREATE TABLE texts (id TEXT PRIMARY KEY, text TEXT, title TEXT) WITHOUT ROWID")

    def add(self, text_id: str, text: str, title: str | None) -> None:
        """Keep a text."""
        self._db.execute("INSERT OR IGNORE INTO texts VALUES (?, ?, ?)", (text_id, text, title))

    def get(self, text_id: str) -> tuple[str, str | None] | None:
        """Text and title; None for an unknown id."""
        found: tuple[str, str | None] | None = self._db.execute(
            "SELECT text, title FROM texts WHERE id = ?", (text_id,)
        ).fetchone()
        return found
