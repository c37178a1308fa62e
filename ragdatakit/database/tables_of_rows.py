"""Tables that are filled at once, as the rows of all of them come of the same records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import Kind, PackedColumn, RepeatedTexts, value_at
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.row_batches import schema_of
from ragdatakit.database.text_facts import FactsWanted, TextFacts
from ragdatakit.files.machine import machine_fault
from ragdatakit.files.reading.file_sources import source_of
from ragdatakit.scanner.library import library
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import MachineError, RagdataError
from ragdatakit.schemas.texts import many, quoted, size

if TYPE_CHECKING:
    import duckdb

    from ragdatakit.files.datasets import DataFile

_LARGE = 1 << 25
"""Bytes of the ids of a batch of rows from which they may be why memory does not suffice."""


class LongIds:
    """Ids that are long and that many rows have: DuckDB reads 2,048 rows at once, with an id for each of them. Of the
    batch of rows whose ids are the largest the one that takes most is known."""

    def __init__(self) -> None:
        self._size = 0
        self._found = ("", "", 0)

    def look_at(self, table: str, columns: Sequence[PackedColumn]) -> None:
        """Some more rows."""
        for name, column in zip(schema_of(table), columns, strict=True):
            if not isinstance(column, RepeatedTexts) or column.size <= max(_LARGE, self._size):
                continue
            texts = [str(value_at(column.values, place)) for place in range(column.values.length)]
            text, count = max(zip(texts, column.rows_each.tolist(), strict=True), key=lambda one: len(one[0]) * one[1])
            self._size, self._found = column.size, (f"{table}.{name}", text, count)

    def explain(self, error: BaseException, files: Iterable[DataFile]) -> None:
        """Raise `MachineError` with what takes the memory, where an error says that there is not enough of it."""
        fault = machine_fault(error)
        if not self._size or "memory" not in fault:
            return
        column, text, rows = self._found
        where = next(filter(None, (_place(file, text) for file in files)), "")
        words = f"{column} {quoted(text)} has {many(len(text), 'character')} in {many(rows, 'row')}"
        raise MachineError(f"{where}{words}, {size(self._size)} in all; shorten it: {fault}") from error


def _place(file: DataFile, text: str) -> str:
    """The file and line where a text is first, as JSON has it; empty where it is not in the file."""
    written = {json.dumps(text).encode()[1:-1], json.dumps(text, ensure_ascii=False).encode(errors="replace")[1:-1]}
    line = 1
    with suppress(OSError, RagdataError):
        for block in source_of(file).blocks():
            if places := [at for one in written if (at := block.data.find(one)) >= 0]:
                line += block.data.count(b"\n", 0, min(places))
                return f"{file.display}:{line}: "
            line += 1 if block.skipped else block.data.count(b"\n")
    return ""


class FilledTable:
    """One of them. Of a report the rows are ``held`` where they are few enough (``most`` bytes); all others the
    database gets as they come. ``losses`` are its own, until it is known that all tables can be read."""

    def __init__(
        self,
        table: str,
        connect: Callable[[], duckdb.DuckDBPyConnection],
        wanted: FactsWanted | None,
        most: int,
        long_ids: LongIds,
    ) -> None:
        self._long_ids = long_ids
        self._table, self._connect, self._schema = table, connect, schema_of(table)
        self.losses, self.facts, self.held = Losses(), TextFacts(), HeldRows(table)
        self.facts.wanted, self.held.most = wanted, most
        has_bytes = Kind.BYTES in self._schema.values()
        is_apart = wanted is not None and wanted.apart and library() is not None
        self.is_held = bool(most) and is_apart and not has_bytes
        self._start = ""

    def begin(self) -> None:
        """There are no rows; an attempt before this one may have failed."""
        self.losses = Losses()
        self.facts.begin(self._schema)
        self.held.begin()
        self._start = "" if self.is_held else f'create table main."{self._table}" as'

    def add(self, batches: Iterable[Sequence[PackedColumn]]) -> None:
        """Some more rows."""
        if self._start:
            self._insert(batches)
            return
        given = iter(batches)
        for columns in given:
            self._look_at(columns)
            if not self.held.add(self.held.without_apart(columns)):
                self.held.give(self._connect())
                self.held.begin()
                self._start = f'insert into main."{self._table}"'
                self._insert(given)

    def _insert(self, batches: Iterable[Sequence[PackedColumn]]) -> None:
        def watched() -> Iterable[Sequence[PackedColumn]]:
            for columns in batches:
                self._look_at(columns)
                yield columns

        with incoming(connection := self._connect(), "incoming_rows", self._schema, watched()):
            connection.execute(f"{self._start} select * from incoming_rows")
        self._start = f'insert into main."{self._table}"'

    def _look_at(self, columns: Sequence[PackedColumn]) -> None:
        self.facts.add(columns)
        self._long_ids.look_at(self._table, columns)

    def end(self) -> None:
        """There are no more rows."""
        if self._start:
            self._insert(())
        else:
            self.held.known = True

    def drop(self) -> None:
        """What came is not to be."""
        self.held.begin()
        if self._start:  # there may be a table
            self._connect().execute(f'drop table if exists main."{self._table}"')
