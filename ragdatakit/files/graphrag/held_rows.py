"""The rows of small tables, read once and held: a question to the database takes longer than to look at them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragdatakit.files.containers.parquet_tables import expanded_size, opened_parquet
from ragdatakit.files.graphrag.tables import HeldRows, StoredTable
from ragdatakit.schemas.errors import RagdataError

_MOST = 1 << 25
"""Bytes that the values of all tables together may take, and those of one that was read."""
_SHORT = 64
"""Bytes that a value takes at least."""


def hold_rows(tables: Iterable[StoredTable]) -> bool:
    """Hold the rows of these tables, as far as they are read without a fault and take little memory; say whether any
    are."""
    tables = list(tables)
    parquet = [table for table in tables if not table.is_csv and _is_parquet(table)]
    try:
        if parquet and expanded_size([table.file.path for table in parquet]) > _MOST:
            return False
    except RagdataError:  # one is damaged: which, and how, is found where they are opened
        return False
    for table in tables:
        if table.is_csv or table in parquet:
            try:
                table.held = _of_csv(table) if table.is_csv else _of_parquet(table)
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


def _of_csv(table: StoredTable) -> HeldRows:
    names = table.columns
    lines: list[int] = []
    rows: list[list[Any]] = []
    for line, cells in table.cells():
        lines.append(line)
        rows.append([*cells[: len(names)], *[None] * (len(names) - len(cells))])
    return HeldRows(dict.fromkeys(names, "VARCHAR"), _by_column(names, rows), tuple(lines), len(rows))


def _of_parquet(table: StoredTable) -> HeldRows | None:
    left, rows = _MOST, []
    with opened_parquet(table.file.path, table.file.boundary) as parquet:
        types, each = parquet.whole()
        for row in each:
            rows.append(row)
            left -= sum(max(len(value), _SHORT) for value in row if isinstance(value, (str, bytes)))
            if left < 0:
                return None
    return HeldRows(types, _by_column(types, rows), None, len(rows))


def _by_column(names: Iterable[str], rows: list[Any]) -> dict[str, tuple[Any, ...]]:
    columns = zip(*rows, strict=True) if rows else (() for _ in names)
    return dict(zip(names, columns, strict=False))
