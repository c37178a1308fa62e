"""Rows of a table as packed columns, which DuckDB gets when SQL asks for them: of a report often nobody does."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from ragdatakit.database.apart_rows import ColumnFacts, CountedObjects
from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import Kind, PackedColumn, bits_of, put_together, size_of_column, texts_of
from ragdatakit.database.row_batches import schema_of
from ragdatakit.database.text_facts import COLUMN

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.arrays.codes import Codes

_SMALL = 1 << 8
OBJECTS = frozenset({"metadata", "attributes"})
"""Columns of JSON objects: an empty one has no members."""


class HeldRows:
    """The rows of a table whose columns are texts (or lists, of which nothing is known), where they were held
    (``known``): up to ``most`` bytes of them are."""

    def __init__(self, table: str) -> None:
        self._table = table
        self.known = False
        self.most = 0
        self._clear()

    def _clear(self) -> None:
        self.rows = 0
        self._firsts: list[int] = []
        self._batches: list[Sequence[PackedColumn]] = []
        self._columns: dict[str, ColumnFacts] = {}
        self._codes: dict[str, tuple[Codes, npt.NDArray[np.bool_]]] = {}

    def take(self, batches: Iterable[Sequence[PackedColumn]]) -> Iterator[Sequence[PackedColumn]] | None:
        """Hold the rows of these batches; all of them, where they are too many to be held."""
        self.known = False
        self._clear()
        size, given = 0, _fewer(batches)
        for columns in given:
            self._firsts.append(self.rows)
            columns = [replace(column, apart=None) for column in columns]  # which would keep a sample of the texts
            self._batches.append(columns)
            self.rows += columns[0].length
            size += sum(map(size_of_column, columns))
            if size > self.most:
                held = self._batches
                self._clear()
                return chain(held, given)
        self.known = True
        return None

    def column(self, name: str) -> ColumnFacts | None:
        """What is known of a column; None where that is nothing, as of texts that may be apart."""
        if self._kind(name) is not Kind.TEXT or name == COLUMN:
            return None
        if name not in self._columns:
            self._columns[name] = self._facts(name)
        return self._columns[name]

    def _kind(self, name: str) -> Kind:
        return schema_of(self._table)[name]

    def _parts(self, name: str) -> Iterator[PackedColumn]:
        place = list(schema_of(self._table)).index(name)
        return (columns[place] for columns in self._batches)

    def _facts(self, name: str) -> ColumnFacts:
        import numpy as np

        from ragdatakit.arrays.codes import WIDE, number_of_distinct
        from ragdatakit.scanner.texts import lengths_and_codes

        facts = ColumnFacts(objects=CountedObjects() if name in OBJECTS else None)
        codes, there = [np.empty(0, WIDE)], [np.empty(0, np.bool_)]
        for column in self._parts(name):
            if facts.objects is not None:
                facts.add_objects(column)
                continue
            own = bits_of(column) != 0
            there.append(own)
            facts.missing += column.length - int(own.sum())
            _, of_texts, empty = lengths_and_codes(*texts_of(column))
            codes.append(of_texts)
            facts.empty += empty - int((~own).sum())
        if facts.objects is None:
            self._codes[name] = np.concatenate(codes), np.concatenate(there)
            of_rows, is_there = self._codes[name]
            facts.distinct = number_of_distinct(of_rows if is_there.all() else of_rows[is_there])
        return facts

    def codes(self, name: str) -> tuple[Codes, npt.NDArray[np.bool_]] | None:
        """Codes of the texts in a column, and which rows have one; None where a text may be an integer."""
        if self.column(name) is None or name in OBJECTS or any(map(_has_integers, self._parts(name))):
            return None
        return self._codes[name]

    def rows_at(self, places: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Rows by their places; without lists."""
        found = {}
        for place in places:
            number = bisect_right(self._firsts, place) - 1
            row = place - self._firsts[number]
            columns = zip(schema_of(self._table), self._batches[number], strict=True)
            found[place] = {name: _text_at(column, row) for name, column in columns}
        return found

    def give(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Have the database hold them."""
        with incoming(connection, "held_rows", schema_of(self._table), self._batches):
            connection.execute(f'create table main."{self._table}" as select * from held_rows')


def _fewer(batches: Iterable[Sequence[PackedColumn]]) -> Iterator[Sequence[PackedColumn]]:
    """The same rows with small batches put together."""
    for is_small, some in groupby(batches, lambda columns: columns[0].length < _SMALL):
        if is_small:
            yield from put_together(some)
        else:
            yield from some


def _has_integers(column: PackedColumn) -> bool:
    """Whether a text begins as one does."""
    import numpy as np

    data, offsets = texts_of(column)
    firsts = data[offsets[:-1][np.diff(offsets) > 0]]
    return bool(((firsts >= ord("-")) & (firsts <= ord("9"))).any())


def _text_at(column: PackedColumn, row: int) -> str | None:
    if column.kind is not Kind.TEXT:
        return None
    data, offsets = texts_of(column)
    return data[offsets[row] : offsets[row + 1]].tobytes().decode() if bits_of(column)[row] else None
