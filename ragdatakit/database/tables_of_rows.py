"""Tables that are filled at once, as the rows of all of them come of the same records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import Kind, PackedColumn
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.row_batches import schema_of
from ragdatakit.database.text_facts import FactsWanted, TextFacts
from ragdatakit.scanner.library import library
from ragdatakit.schemas.conversions import Losses

if TYPE_CHECKING:
    import duckdb


class FilledTable:
    """One of them. Of a report the rows are ``held`` where they are few enough (``most`` bytes); all others the
    database gets as they come. ``losses`` are its own, until it is known that all tables can be read."""

    def __init__(
        self, table: str, connect: Callable[[], duckdb.DuckDBPyConnection], wanted: FactsWanted | None, most: int
    ) -> None:
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
            self.facts.add(columns)
            if not self.held.add(self.held.without_apart(columns)):
                self.held.give(self._connect())
                self.held.begin()
                self._start = f'insert into main."{self._table}"'
                self._insert(given)

    def _insert(self, batches: Iterable[Sequence[PackedColumn]]) -> None:
        def watched() -> Iterable[Sequence[PackedColumn]]:
            for columns in batches:
                self.facts.add(columns)
                yield columns

        with incoming(connection := self._connect(), "incoming_rows", self._schema, watched()):
            connection.execute(f"{self._start} select * from incoming_rows")
        self._start = f'insert into main."{self._table}"'

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
