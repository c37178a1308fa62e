"""The rows of small tables, read once and held: a question to the database takes longer than to look at them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ragdatakit.files.containers.parquet_tables import expanded_size, opened_parquet
from ragdatakit.files.graphrag.tables import HeldRows, StoredTable
from ragdatakit.schemas.errors import RagdataError

_MOST = 1 << 25
"""Bytes that the values of all tables together may take, and the cells of all rows as they are padded."""
_SHORT = 64
"""Bytes that a value takes at least."""


def hold_rows(tables: Iterable[StoredTable]) -> bool:
    """Hold the rows of these tables, as far as they are read without a fault and take little memory; say whether any
    are."""
    tables, room = list(tables), _Room()
    parquet = [table for table in tables if not table.is_csv and _is_parquet(table)]
    try:
        if parquet and expanded_size([table.file.path for table in parquet]) > _MOST:
            return False
    except RagdataError:  # one is damaged: which, and how, is found where they are opened
        return False
    for table in tables:
        if table.is_csv or table in parquet:
            try:
                table.held = _of_csv(table, room) if table.is_csv else _of_parquet(table, room)
            except (RagdataError, OSError, ValueError):
                continue
    return any(table.held is not None for table in tables)


def _is_parquet(table: StoredTable) -> bool:
    """Whether a file may be opened by its path: a pipe would never end."""
    try:
        with table.file.boundary.open(table.file.path) as file:
            return file.read(4) == b"PAR1"
    except OSError:
        return False


class _Room:
    """The bytes that are left for values; a table that does not fit gives back what it took."""

    def __init__(self) -> None:
        self._left = _MOST

    def held(self, rows: Iterable[Sequence[Any]]) -> list[Sequence[Any]] | None:
        """The rows, read as long as they fit; None where they do not."""
        left, found = self._left, []
        for row in rows:
            left -= _SHORT + sum(map(_size, row))
            if left < 0:
                return None
            found.append(row)
        self._left = left
        return found


def _size(value: Any) -> int:
    """The bytes that a value takes, about, with its members."""
    if isinstance(value, (str, bytes)):
        return max(len(value), _SHORT)
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return _SHORT
    return _SHORT + sum(map(_size, value))


def _of_csv(table: StoredTable, room: _Room) -> HeldRows | None:
    names, lines = table.columns, []
    places = table.places(names)

    def padded() -> Iterator[list[str | None]]:
        for line, cells in table.cells():
            lines.append(line)
            yield [cells[place] if place < len(cells) else None for place in places.values()]

    rows = room.held(padded())
    if rows is None:
        return None
    return HeldRows(dict.fromkeys(names, "VARCHAR"), _by_column(places, rows), tuple(lines), len(rows))


def _of_parquet(table: StoredTable, room: _Room) -> HeldRows | None:
    with opened_parquet(table.file.path, table.file.boundary) as parquet:
        types, each = parquet.whole()
        places = table.places(types)
        rows = room.held([row[place] for place in places.values()] for row in each)
    return None if rows is None else HeldRows(types, _by_column(places, rows), None, len(rows))


def _by_column(names: Iterable[str], rows: list[Sequence[Any]]) -> dict[str, tuple[Any, ...]]:
    columns = zip(*rows, strict=True) if rows else (() for _ in names)
    return dict(zip(names, columns, strict=False))
