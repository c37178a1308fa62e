"""Rows of a table as packed columns, which DuckDB gets when SQL asks for them: of a report often nobody does."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from ragdatakit.database.apart_rows import ColumnFacts, CountedObjects
from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import (
    ITEMS,
    Kind,
    PackedColumn,
    bits_of,
    bounds_of_lists,
    packed_same,
    put_together,
    size_of_column,
    texts_of,
    value_at,
    values_in,
)
from ragdatakit.database.conditions import Condition
from ragdatakit.database.id_tables import IdValues, integers_in, may_begin_integers, number_of_integers
from ragdatakit.database.row_batches import schema_of
from ragdatakit.database.text_facts import COLUMN, known_of, without_texts
from ragdatakit.schemas.canonical import TABLES

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.arrays.codes import Codes
    from ragdatakit.database.text_places import KnownTexts

_SMALL, _FEW = 1 << 8, 1 << 8
"""Rows of a batch that is put together with others, and different values up to which each is counted."""
OBJECTS = frozenset({"metadata", "attributes"})
"""Columns of JSON objects: an empty one has no members."""


class HeldRows:
    """The rows of a table of texts, numbers and lists of texts, where they were held (``known``): up to ``most`` bytes
    of them are."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._schema = schema_of(table)
        self.known = False
        self.most = 0
        self._clear()

    def _clear(self) -> None:
        self.rows = self._size = 0
        self._apart = False
        self._firsts: list[int] = []
        self._batches: list[Sequence[PackedColumn]] = []
        self._columns: dict[str, ColumnFacts] = {}
        self._ids: dict[str, IdValues | None] = {}
        self._codes: dict[str, tuple[Codes, npt.NDArray[np.bool_]]] = {}
        self._places: dict[str, dict[str, int]] = {}
        self._lengths: dict[str, npt.NDArray[np.int64]] = {}
        self._has_integers: dict[str, bool] = {}

    def take(self, batches: Iterable[Sequence[PackedColumn]]) -> Iterator[Sequence[PackedColumn]] | None:
        """Hold the rows of these batches; all of them, where they are too many to be held."""
        self.begin()
        given = _fewer(map(self.without_apart, batches))
        for columns in given:
            if not self.add(columns):
                held = self._batches
                self.begin()
                return chain(held, given)
        self.known = True
        return None

    def begin(self) -> None:
        """There are no rows; an attempt before this one may have failed."""
        self.known = False
        self._clear()

    def add(self, columns: Sequence[PackedColumn]) -> bool:
        """Hold some more rows; whether all together are few enough for that."""
        self._firsts.append(self.rows)
        self._batches.append(columns)
        self.rows += columns[0].length
        self._size += sum(map(size_of_column, columns))
        return self._size <= self.most

    def without_apart(self, columns: Sequence[PackedColumn]) -> Sequence[PackedColumn]:
        """The columns without texts that need not be held, and without what is known of those, which keeps a sample of
        them."""
        if all(column.apart is None and (column.known is None or not column.known.places) for column in columns):
            return columns
        self._apart = True
        return [
            without_texts(column, column.known.places)
            if column.known is not None and column.known.places
            else replace(column, apart=None)
            if column.apart is not None
            else column
            for column in columns
        ]

    def column(self, name: str) -> ColumnFacts | None:
        """What is known of a column; None where that is nothing, as of texts that may be apart."""
        if self._schema.get(name, Kind.BYTES) is Kind.BYTES or name == COLUMN:
            return None
        if name not in self._columns:
            self._columns[name] = self._facts(name)
        return self._columns[name]

    def _parts(self, name: str) -> Iterator[PackedColumn]:
        place = list(self._schema).index(name)
        return (columns[place] for columns in self._batches)

    def _facts(self, name: str) -> ColumnFacts:
        from ragdatakit.arrays.codes import codes_of, number_of_distinct

        kind = self._schema[name]
        if kind in ITEMS:
            return ColumnFacts(int((self.sizes(name) <= 0).sum()))
        if kind in (Kind.INTEGER, Kind.NUMBER):
            return self._of_numbers(name)
        if name in OBJECTS:
            facts = ColumnFacts(objects=CountedObjects())
            for column in self._parts(name):
                facts.add_objects(column)
            return facts
        if (ids := self.ids(name)) is not None:
            return ids.facts
        read = self._read(name)
        self._lengths[name], there = read.lengths, read.lengths >= 0
        self._codes[name] = read.codes, there
        facts = ColumnFacts(self.rows - int(there.sum()), read.empty)
        facts.distinct = number_of_distinct(codes_of(read.codes, there))
        if facts.distinct <= _FEW:
            firsts, counts = self._values(name)
            places = there.nonzero()[0][firsts].tolist()
            rows = self.rows_at(places, (name,))
            self._places[name] = {rows[place][name]: place for place in places}
            facts.counts = dict(zip(self._places[name], counts.tolist(), strict=True))
        return facts

    def _of_numbers(self, name: str) -> ColumnFacts:
        import numpy as np

        from ragdatakit.arrays.codes import counted, number_of_distinct

        numbers, has_one = self.numbers(name)
        there = numbers[has_one]
        if self._schema[name] is Kind.NUMBER:
            plain = there + 0.0  # of -0.0, too
            plain[np.isnan(plain)] = np.nan
            return ColumnFacts(self.rows - len(there), 0, number_of_distinct(plain.view(np.uint64)))
        facts = ColumnFacts(self.rows - len(there), 0, number_of_integers(there))
        if facts.distinct is not None and facts.distinct <= _FEW:
            different, counts = counted(there)
            facts.counts = dict(zip(map(str, different.tolist()), counts.tolist(), strict=True))
        return facts

    def numbers(self, name: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """The numbers in a column of such, and which rows have one."""
        import numpy as np

        kind = np.int64 if self._schema[name] is Kind.INTEGER else np.float64
        values, there = [np.empty(0, kind)], [np.empty(0, np.bool_)]
        for column in self._parts(name):
            values.append(np.frombuffer(column.buffers[1], kind, column.length))  # type: ignore[arg-type]
            there.append(bits_of(column) != 0)
        return np.concatenate(values), np.concatenate(there)

    def sizes(self, name: str) -> npt.NDArray[np.int64]:
        """The characters of texts, or the items of lists, in a column, -1 of those that are not there; not of texts
        that may be apart."""
        import numpy as np

        if self._schema[name] in ITEMS:
            found = [np.where(bits_of(one) != 0, np.diff(bounds_of_lists(one)), -1) for one in self._parts(name)]
            return np.concatenate([np.empty(0, np.int64), *found])
        self.column(name)
        if name not in self._lengths:
            self._lengths[name] = self._read(name).lengths
        return self._lengths[name]

    def chosen(self, condition: Condition) -> npt.NDArray[np.bool_] | None:
        """Which rows a condition chooses; None where the values of its column are not known."""
        import numpy as np

        from ragdatakit.arrays.codes import are_one, distinct

        facts = self.column(condition.column)
        if facts is None:
            return None
        if condition.test == "is not null" and not facts.missing:
            return np.ones(self.rows, np.bool_)
        if self._schema[condition.column] is Kind.INTEGER:
            numbers, there = self.numbers(condition.column)
            different = distinct(numbers)
            holds = np.array([condition.holds(number) for number in different.tolist()], np.bool_)
            return there & holds[np.searchsorted(different, numbers)]
        if condition.column not in self._places:
            return None
        codes, there = self._codes[condition.column]
        found = np.zeros(self.rows, np.bool_)
        for value, place in self._places[condition.column].items():
            if condition.holds(value):
                found |= are_one(codes, codes[place])
        return found & there

    def _read(self, name: str) -> KnownTexts:
        """What is known of the texts in a column."""
        from ragdatakit.database.text_places import KnownTexts

        nothing = known_of(packed_same(Kind.TEXT, None, 0))
        return KnownTexts.together([nothing, *map(known_of, self._parts(name))])

    def rows_per_value(self, name: str) -> npt.NDArray[np.int64] | None:
        """How many rows have each of the texts in a column; None where they are not known."""
        if self.column(name) is None or name not in self._codes:
            return None
        return self._values(name)[1]

    def _values(self, name: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Of rows that have a text: the first row of each different one, and how many rows have it."""
        import numpy as np

        from ragdatakit.arrays.code_tables import HashTable
        from ragdatakit.arrays.codes import begin_runs, codes_of

        given = codes_of(*self._codes[name])
        starts = np.flatnonzero(begin_runs(given))
        own = given[starts]
        first_of = HashTable(own).positions(own)
        counts = np.bincount(first_of, np.diff(starts, append=len(given))).astype(np.int64)
        places = np.flatnonzero(counts)
        return starts[places], counts[places]

    def ids(self, name: str) -> IdValues | None:
        """The ids of a column, where each row has one and nearly all are integers; None otherwise."""
        if name not in self._ids:
            self._ids[name] = None if name == COLUMN else integers_in([*self._parts(name)], self.rows)
        return self._ids[name]

    def codes(self, name: str) -> tuple[Codes, npt.NDArray[np.bool_]] | None:
        """Codes of the texts in a column, and which rows have one; None where a text may be an integer."""
        if self.column(name) is None or name not in self._codes:
            return None
        if name not in self._has_integers:
            self._has_integers[name] = any(map(_has_integers, self._parts(name)))
        return self._codes[name] if not self._has_integers[name] else None

    def texts(self, name: str) -> list[PackedColumn] | None:
        """The texts in a column, some rows after the others; None where they are apart."""
        return None if name == COLUMN and self._apart else [*self._parts(name)]

    def rows_at(self, places: Sequence[int], names: Iterable[str] = ()) -> dict[int, dict[str, Any]]:
        """Rows by their places, with these columns (none: all)."""
        columns = {name: number for number, name in enumerate(self._schema)}
        wanted = [(name, columns[name]) for name in names or columns]
        found = {}
        for place in places:
            number = bisect_right(self._firsts, place) - 1
            row, batch = place - self._firsts[number], self._batches[number]
            found[place] = {name: value_at(batch[column], row) for name, column in wanted}
        return found

    def rows_at_hand(self) -> Iterator[Any]:
        """All rows, as named tuples."""
        make = TABLES[self._table].row._make
        for columns in self._batches:
            yield from map(make, zip(*map(values_in, columns), strict=True))

    def rows_having(self, name: str, values: Collection[str]) -> Iterator[Any]:
        """The rows with one of these texts in a column, as named tuples."""
        make, place = TABLES[self._table].row._make, list(self._schema).index(name)
        for columns in self._batches:
            rows = [row for row, value in enumerate(values_in(columns[place])) if value in values]
            yield from (make(value_at(column, row) for column in columns) for row in rows)

    def give(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Have the database hold them."""
        with incoming(connection, "held_rows", self._schema, self._batches):
            connection.execute(f'create table main."{self._table}" as select * from held_rows')


def _fewer(batches: Iterable[Sequence[PackedColumn]]) -> Iterator[Sequence[PackedColumn]]:
    """The same rows with small batches put together."""
    for is_small, some in groupby(batches, lambda columns: columns[0].length < _SMALL):
        if is_small:
            yield from put_together(some)
        else:
            yield from some


def _has_integers(column: PackedColumn) -> bool:
    """Whether a text may be one: it has nothing but digits and minus signs."""
    import numpy as np

    if not may_begin_integers(column).any():
        return False
    data, offsets = texts_of(column)
    data = data[offsets[0] : offsets[-1]]
    others = np.cumsum(np.concatenate(([0], ((data < ord("0")) | (data > ord("9"))) & (data != ord("-")))))
    return bool(((np.diff(others[offsets - offsets[0]]) == 0) & (np.diff(offsets) > 0)).any())
