"""Rows of a table as packed columns, which DuckDB gets when SQL asks for them: of a report often nobody does.

A long module, because what is known of the rows is kept in one place for all that a report asks of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, TypeVar

from ragdatakit.database.apart_rows import BLANK, ColumnFacts, CountedObjects
from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import (
    ITEMS,
    Kind,
    PackedColumn,
    RepeatedTexts,
    bits_of,
    bounds_of_lists,
    put_together,
    size_of_column,
    value_at,
    values_in,
)
from ragdatakit.database.conditions import Condition
from ragdatakit.database.id_tables import IdValues, integers_in, number_of_integers
from ragdatakit.database.row_batches import schema_of
from ragdatakit.database.text_facts import COLUMN, known_of, known_together, without_texts
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import TABLES

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.arrays.codes import Codes

    A = TypeVar("A", bound=np.generic)
    Numbers = npt.NDArray[np.int64]
    Marks = npt.NDArray[np.bool_]
    TextCodes = tuple[Codes, Marks, Numbers | None]

_SMALL, _FEW = 1 << 8, 1 << 8
"""Rows of a batch that is put together with others, and different values up to which each is counted."""
OBJECTS = frozenset({"metadata", "attributes"})
"""Columns of JSON objects: an empty one has no members."""


@dataclass(frozen=True, slots=True)
class _TextRuns:
    """Texts of a column: their ``codes`` and characters, -1 where there is none; how many are ``empty``, and may be
    ``integers`` (NaN: not counted); in how many rows, one after the other, each is (None: in one)."""

    codes: Codes
    lengths: Numbers
    empty: int
    integers: float
    counts: Numbers | None = None

    @classmethod
    def of(cls, columns: Sequence[PackedColumn]) -> _TextRuns:
        """Those of several columns, one behind the other."""
        import numpy as np

        from ragdatakit.arrays.codes import together

        runs = [*map(cls._of_few, columns)]
        if not any(runs):
            return cls._of_rows(columns)
        every = [one or cls._of_rows([column]) for one, column in zip(runs, columns, strict=True)]
        alone = (np.ones(len(one.codes), np.int64) if one.counts is None else one.counts for one in every)
        found = cls(
            together([one.codes for one in every]),
            np.concatenate([one.lengths for one in every]),
            sum(one.empty for one in every),
            sum(one.integers for one in every),
            np.concatenate([*alone]),
        )
        lengths = found.in_rows(found.lengths)
        is_worth = 2 * len(found.lengths) <= len(lengths)
        return found if is_worth else replace(found, codes=found.in_rows(found.codes), lengths=lengths, counts=None)

    @classmethod
    def _of_few(cls, column: PackedColumn) -> _TextRuns | None:
        """Those of a column of few texts, or of none; None of another one."""
        import numpy as np

        from ragdatakit.arrays.codes import WIDE

        if isinstance(column, RepeatedTexts):
            known, some = known_of(column.values), np.flatnonzero(column.counts)
            places = some % column.values.length
            texts = zip(values_in(column.values), column.rows_each.tolist(), strict=True) if known.empty else ()
            empty = sum(rows for text, rows in texts if not text.strip(BLANK))
            return cls(known.codes[places], known.lengths[places], empty, known.integers, column.counts[some])
        if column.length and column.known is None and not bits_of(column).any():
            return cls(np.zeros(1, WIDE), np.array([-1]), 0, 0, np.array([column.length]))
        return None

    @classmethod
    def _of_rows(cls, columns: Sequence[PackedColumn]) -> _TextRuns:
        known = known_together(columns)
        return cls(known.codes, known.lengths, known.empty, known.integers)

    @property
    def there(self) -> Marks:
        """Which there are."""
        found: Marks = self.lengths >= 0
        return found

    def in_rows(self, of_texts: npt.NDArray[A]) -> npt.NDArray[A]:
        """What each text has, for each row."""
        import numpy as np

        return of_texts if self.counts is None else np.repeat(of_texts, self.counts)


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
        self._texts: dict[str, _TextRuns] = {}
        self._numbers: dict[str, tuple[npt.NDArray[Any], Marks]] = {}
        self._places: dict[str, dict[str, int]] = {}

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
        self._size += sum(size_of_column(column, written=False) for column in columns)
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
        read = self._texts[name] = self._read(name)
        there = read.there
        facts = ColumnFacts(int((~read.in_rows(there)).sum()), read.empty)
        facts.distinct = number_of_distinct(codes_of(read.codes, there))
        if facts.distinct <= _FEW:
            firsts, counts = self._values(name)
            places = there.nonzero()[0][firsts]
            rows = places if read.counts is None else (read.counts.cumsum() - read.counts)[places]
            found = self.rows_at(rows.tolist(), (name,))
            self._places[name] = {
                found[row][name]: place for row, place in zip(rows.tolist(), places.tolist(), strict=True)
            }
            facts.counts = dict(zip(self._places[name], counts.tolist(), strict=True))
        return facts

    def _of_numbers(self, name: str) -> ColumnFacts:
        import numpy as np

        from ragdatakit.arrays.codes import begin_runs, codes_of, counted, number_of_distinct

        there = codes_of(*self.numbers(name))
        if self._schema[name] is Kind.NUMBER:
            plain = there + 0.0  # of -0.0, too
            plain[np.isnan(plain)] = np.nan
            words = plain.view(np.uint64)
            return ColumnFacts(self.rows - len(there), 0, number_of_distinct(words[begin_runs(words)]))
        facts = ColumnFacts(self.rows - len(there), 0, number_of_integers(there))
        if facts.distinct is not None and facts.distinct <= _FEW:
            different, counts = counted(there)
            facts.counts = dict(zip(map(str, different.tolist()), counts.tolist(), strict=True))
        return facts

    def numbers(self, name: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """The numbers in a column of such, and which rows have one."""
        import numpy as np

        if name not in self._numbers:
            kind = np.int64 if self._schema[name] is Kind.INTEGER else np.float64
            values, there = [np.empty(0, kind)], [np.empty(0, np.bool_)]
            for column in self._parts(name):
                values.append(np.frombuffer(column.buffers[1], kind, column.length))  # type: ignore[arg-type]
                there.append(bits_of(column) != 0)
            self._numbers[name] = np.concatenate(values), np.concatenate(there)
        return self._numbers[name]

    def sizes(self, name: str) -> npt.NDArray[np.int64]:
        """The characters of texts, or the items of lists, in a column, -1 of those that are not there; not of texts
        that may be apart."""
        import numpy as np

        if self._schema[name] in ITEMS:
            found = [np.where(bits_of(one) != 0, np.diff(bounds_of_lists(one)), -1) for one in self._parts(name)]
            return np.concatenate([np.empty(0, np.int64), *found])
        self.column(name)
        read = self._texts.get(name) or self._read(name)
        return read.in_rows(read.lengths)

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
        read = self._texts[condition.column]
        found = np.zeros(len(read.codes), np.bool_)
        for value, place in self._places[condition.column].items():
            if condition.holds(value):
                found |= are_one(read.codes, read.codes[place])
        return read.in_rows(found & read.there)

    def _read(self, name: str) -> _TextRuns:
        """What is known of the texts in a column."""
        return _TextRuns.of([*self._parts(name)])

    def rows_per_value(self, name: str) -> npt.NDArray[np.int64] | None:
        """How many rows have each of the texts in a column; None where they are not known."""
        if self.column(name) is None or name not in self._texts:
            return None
        return self._values(name)[1]

    def _values(self, name: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Of the texts that are there: the place of the first of each different one, and how many rows have it."""
        import numpy as np

        from ragdatakit.arrays.code_tables import HashTable
        from ragdatakit.arrays.codes import begin_runs, codes_of

        read = self._texts[name]
        given = codes_of(read.codes, read.there)
        starts = np.flatnonzero(begin_runs(given))
        own = given[starts]
        first_of = HashTable(own).positions(own)
        repeats = None if read.counts is None else read.counts[read.there]
        rows = np.diff(starts, append=len(given)) if repeats is None else np.add.reduceat(repeats, starts)
        counts = np.bincount(first_of, rows).astype(np.int64)
        places = np.flatnonzero(counts)
        return starts[places], counts[places]

    def ids(self, name: str) -> IdValues | None:
        """The ids of a column, where each row has one and nearly all are integers; None otherwise."""
        if name not in self._ids:
            self._ids[name] = None if name == COLUMN else integers_in([*self._parts(name)], self.rows)
        return self._ids[name]

    def codes(self, name: str) -> TextCodes | None:
        """Codes of the texts in a column, which of these are there, and in how many rows one after the other each is
        (None: in one); None where a text may be an integer."""
        if self.column(name) is None or name not in self._texts:
            return None
        read = self._texts[name]
        return (read.codes, read.there, read.counts) if read.integers == 0 else None

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
