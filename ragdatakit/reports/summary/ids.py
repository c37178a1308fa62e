"""Ids as numbers, so that millions of them are counted in arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from ragdatakit.database.conditions import Condition
from ragdatakit.database.id_tables import MOST_SPREAD, far_from_most, integer_of
from ragdatakit.quick_values import NamedTuple
from ragdatakit.scanner.keys import distinct_per_owner
from ragdatakit.scanner.library import library

if TYPE_CHECKING:
    import duckdb
    import numpy.typing as npt

    from ragdatakit.arrays.codes import Codes
    from ragdatakit.database.dataset_database import DatasetDatabase

    Numbers = npt.NDArray[np.int64]
    Marks = npt.NDArray[np.bool_]

_MOST_ODD = 0.01
"""Of a column with a larger share of ids that are no integers all are taken as texts."""
_MOST_CODES = 1 << 21
"""Rows up to which codes of their ids take no more memory than DuckDB does for joining them."""


class IdColumn(NamedTuple):
    """A column of ids; ``where`` chooses rows (None: all)."""

    table: str
    column: str
    where: Condition | None = None

    @property
    def chosen(self) -> str:
        """What chooses them, in SQL."""
        return "true" if self.where is None else self.where.sql


class IdNumbers:
    """Numbers the ids of a database's columns; what was read of a column is kept.

    It has a connection of its own, so that it may work in another thread; the tables have to be read. Use it in a
    ``with`` block.
    """

    def __init__(self, database: DatasetDatabase) -> None:
        self._database = database
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._known: dict[IdColumn, _Integers | None] = {}
        self._by_codes: dict[tuple[IdColumn, ...], tuple[list[Numbers], int]] = {}
        self._named: dict[tuple[IdColumn, ...], Marks] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is not None:
            self._connection.close()

    def load(self, *tables: str) -> duckdb.DuckDBPyConnection:
        """Have the database hold these tables; the connection."""
        connection = self._database.load(*tables)
        if self._connection is None:
            self._connection = connection.cursor()
        return self._connection

    def of(self, *columns: IdColumn) -> tuple[list[Numbers], int]:
        """The ids of columns as numbers from 0, equal ids as equal numbers, missing ones as -1; how many there may be.

        The columns are in the order of their rows. Integers that lie close together are their own numbers, less the
        least of them; other ids among them have the numbers behind.
        """
        if (group := self._together(columns)) is not None:
            return [*map(group.numbers, group.columns)], group.room
        return self._otherwise(columns)

    def _otherwise(self, columns: tuple[IdColumn, ...]) -> tuple[list[Numbers], int]:
        """The same of ids that are texts, or integers that are far from each other."""
        rows = sum(self._database.count(source.table) for source in columns)
        if library() is not None and rows <= _MOST_CODES:
            if columns not in self._by_codes:
                self._by_codes[columns] = self._of_codes(columns)
            return self._by_codes[columns]
        return _by_names(self.load(*(source.table for source in columns)), columns)

    def _together(self, columns: Sequence[IdColumn]) -> _Together | None:
        """The ids of columns that are integers which lie close together, except for a few."""
        for source in columns:
            if source not in self._known:
                self._known[source] = self._read(source)
        integers = _gathered([found for source in columns if (found := self._known[source]) is not None])
        if len(integers) < len(columns):
            return None
        given = [found for found in integers if found.number]
        least, most = min((f.least for f in given), default=0), max((f.most for f in given), default=-1)
        number = sum(f.number for f in given)
        if least >= 0 and most < number:
            least = 0  # so that nothing is to be taken from them
        if most - least >= MOST_SPREAD * max(number, 1):
            return None
        odd = dict.fromkeys(text for found in integers for text in found.odd)
        return _Together(integers, least, most - least + 1 + len(odd), _places(odd, least, most))

    def named(self, source: IdColumn, *others: IdColumn) -> Marks:
        """Which rows of a column have an id that any of the others has, too."""
        key = source, *others
        if key not in self._named:
            known = [found for column in key if (found := self._known_codes(column)) is not None]
            if library() is None or len(known) < len(key):
                if (group := self._together(key)) is not None:
                    return group.marks(group.columns[1:])[group.numbers(group.columns[0])]
                (own, *numbers), count = self._otherwise(key)
                return marked(count, *numbers)[own]
            from ragdatakit.arrays.codes import codes_of, together

            (codes, missing), *rest = known
            theirs, absent = together([each for each, _ in rest]), np.concatenate([each for _, each in rest])
            marks, back = _among_each_other(codes_of(codes, ~missing), codes_of(theirs, ~absent))
            self._named[key] = _in_rows(marks, ~missing)
            if len(others) == 1:
                self._named[key[::-1]] = _in_rows(back, ~absent)
        return self._named[key]

    def _read(self, source: IdColumn) -> _Integers | None:
        place = source.table, source.column
        if (found := self._database.ids(*place)) is not None:
            if source.where is None or source.where == Condition(source.column, "is not null"):
                return _of_values(*found)
            if (chosen := self._database.chosen(source.table, source.where)) is not None:
                return _of_values(*(found if chosen.all() else found.of(chosen)))
        elif self._known_codes(source) is not None:
            return None
        read = _integers(self.load(source.table), source, place in self._database.integer_columns)
        return _without(read, far_from_most(read.values)) if read is not None else None

    def _known_codes(self, source: IdColumn) -> tuple[Codes, Marks] | None:
        """The codes of ids, and which of them are missing, as far as they are known outside of the database."""
        if (known := self._known_runs(source)) is None or known[2] is None:
            return known and known[:2]
        return np.repeat(known[0], known[2]), np.repeat(known[1], known[2])

    def _known_runs(self, source: IdColumn) -> tuple[Codes, Marks, Numbers | None] | None:
        """The same of ids each of which is in so many rows one after the other (None: in one)."""
        known = self._database.text_codes(source.table, source.column)
        if known is None:
            return None
        codes, there, counts = known
        if source.where is None:
            return codes, ~there, counts
        chosen = self._database.chosen(source.table, source.where)
        if chosen is None:
            return None
        if counts is not None:
            codes, there = np.repeat(codes, counts), np.repeat(there, counts)
        return codes[chosen], ~there[chosen], None

    def _of_codes(self, columns: Sequence[IdColumn]) -> tuple[list[Numbers], int]:
        """Ids are numbered by the place at which the first one like it is; the compiled library tells them by codes."""
        from ragdatakit.arrays.code_tables import HashTable
        from ragdatakit.arrays.codes import WIDE, begin_runs, together

        codes, missing, counts = [], [], []
        for source in columns:
            if (known := self._known_runs(source)) is not None:
                codes.append(known[0])
                missing.append(known[1])
                counts.append(known[2])
                continue
            from ragdatakit.database.text_batches import text_batches
            from ragdatakit.scanner.blocks import text_codes

            own, absent = [np.empty(0, WIDE)], [np.empty(0, np.bool_)]
            query = f'select "{source.column}" from main."{source.table}" where {source.chosen}'
            for batch in text_batches(self.load(source.table), query):
                own.append(text_codes(batch.data, batch.offsets))
                absent.append(np.zeros(len(own[-1]), np.bool_) if batch.missing is None else batch.missing)
            codes.append(together(own))
            missing.append(np.concatenate(absent))
            counts.append(None)
        every = together(codes)
        starts = np.flatnonzero(begin_runs(every))  # ids of questions often stand side by side
        firsts = starts[HashTable(every[starts]).positions(every[starts])]
        places = np.repeat(firsts, np.diff(starts, append=len(every)))
        of_columns = np.split(places, np.cumsum([*map(len, codes)])[:-1])
        found = [np.where(rows, -1, own).astype(np.int64) for rows, own in zip(missing, of_columns, strict=True)]
        in_rows = zip(found, counts, strict=True)
        return [own if repeats is None else np.repeat(own, repeats) for own, repeats in in_rows], len(every)

    def integer_ids(self, source: IdColumn) -> tuple[int, int, int, int, int, int] | None:
        """Of a column that is known, or read, most of whose ids are integers: how many there are, distinct ones, those
        that are integers, the least and the greatest of these, gaps between them."""
        place = source.table, source.column
        is_known = source in self._known or place in self._database.integer_columns
        if not is_known and self._database.ids(*place) is None:
            return None
        if source not in self._known:
            self._known[source] = self._read(source)
        found = self._known[source]
        if found is None or len(found.odd) >= found.number:
            return None
        (numbers,), count = self.of(source)
        values = [(text, integer_of(text)) for text in found.odd]
        far = [value for _, value in values if value is not None]
        least, most = min([found.least, *far]), max([found.most, *far])
        different = distinct(numbers, count)
        texts = [text for text, value in values if value is None]
        gaps = most - least + 1 - (different - len({*texts}))
        return found.number, different, found.number - len(texts), least, most, gaps


class _Integers(NamedTuple):
    """Ids that are integers: ``missing`` marks the rows without one, where there are any. In ``odd_rows`` there are
    the ``odd`` ones, which are not."""

    values: Numbers
    missing: npt.NDArray[np.bool_] | None
    least: int
    most: int
    number: int
    odd_rows: Numbers | None = None
    odd: tuple[str, ...] = ()


class _Together(NamedTuple):
    """Columns of such ids, which are numbered together: integers by themselves, less the ``least`` of all, others
    by what ``odd`` has for them; ``room`` is how many there may be."""

    columns: list[_Integers]
    least: int
    room: int
    odd: Mapping[str, int]

    def numbers(self, found: _Integers) -> Numbers:
        """Those of one of the columns; -1 for a missing id."""
        if not self.least and found.missing is None and found.odd_rows is None:
            return found.values
        numbers = found.values - self.least
        if found.missing is not None:
            numbers[found.missing] = -1
        if found.odd_rows is not None:
            numbers[found.odd_rows] = [self.odd[text] for text in found.odd]
        return numbers

    def marks(self, columns: Iterable[_Integers]) -> Marks:
        """Which numbers some of the columns have, as `marked` says it."""
        marks = np.zeros(self.room + 1, np.bool_)
        for found in columns:
            if self.least or found.missing is not None or found.odd_rows is None:
                marks[self.numbers(found)] = True
                continue
            first, *others = np.split(found.values, found.odd_rows)  # each of the others begins with an odd one
            for values in (first, *(some[1:] for some in others)):
                marks[values] = True
            marks[[self.odd[text] for text in found.odd]] = True
        marks[self.room] = False
        return marks


def _of_values(values: Numbers, odd: Mapping[int, str] = MappingProxyType({})) -> _Integers:
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    odd_rows = np.array([*odd], np.int64) if odd else None
    return _Integers(values, None, least, most, len(values), odd_rows, tuple(odd.values()))


def _integers(connection: duckdb.DuckDBPyConnection, source: IdColumn, known: bool) -> _Integers | None:
    """None unless ids are integers as they are usually written, except for a few; ``known``: all are."""
    column = f'"{source.column}"'
    if known:
        query = f'select {column}::bigint as number from main."{source.table}" where {source.chosen}'
        return _of_values(np.asarray(connection.execute(query).fetchnumpy()["number"]))
    number = as_integer(column)
    of_rows = f'from (select {column} as id, {number} as number from main."{source.table}" where {source.chosen})'
    query = f"select min(number), max(number), count(id), count(number), count(*) {of_rows}"
    least, most, count, integers, rows = connection.execute(query).fetchall()[0]
    if count - integers > _MOST_ODD * count:
        return None
    least, most = least or 0, most or 0
    if integers == rows:
        query = f'select {column}::bigint as number from main."{source.table}" where {source.chosen}'
        return _Integers(np.asarray(connection.execute(query).fetchnumpy()["number"]), None, least, most, count)
    is_odd = "id is not null and number is null"
    query = f"select coalesce(number, 0) as number, id is null as missing, {is_odd} as odd {of_rows}"
    found = connection.execute(query).fetchnumpy()
    missing = np.asarray(found["missing"], np.bool_) if count < rows else None
    texts = tuple(text for (text,) in connection.execute(f"select id {of_rows} where {is_odd}").fetchall())
    return _Integers(np.asarray(found["number"]), missing, least, most, count, np.flatnonzero(found["odd"]), texts)


def as_integer(column: str) -> str:
    """The expression for the integer that a text is, as it is usually written; NULL for others, most of which cost no
    attempt."""
    looks = f"{column} >= '-' and {column} < ':'"
    return (
        f"case when {looks} and try_cast({column} as bigint)::varchar = {column} then try_cast({column} as bigint) end"
    )


def _gathered(columns: list[_Integers]) -> list[_Integers]:
    """The same, where a few integers are far from those of all columns with these among the odd ones."""
    least, most = min((f.least for f in columns), default=0), max((f.most for f in columns), default=0)
    if most - least < MOST_SPREAD * max(sum(f.number for f in columns), 1):
        return columns
    far = far_from_most(np.concatenate([found.values for found in columns]))
    ends = np.cumsum([len(found.values) for found in columns])
    rows = np.split(far, np.searchsorted(far, ends[:-1]))
    return [
        _without(found, own - (end - len(found.values)))
        for found, own, end in zip(columns, rows, ends.tolist(), strict=True)
    ]


def _without(found: _Integers, rows: Numbers) -> _Integers:
    """The ids with those of some rows among the odd ones."""
    if not len(rows):
        return found
    taken = np.zeros(len(found.values), np.bool_)
    taken[rows] = True
    for other in (found.missing, found.odd_rows):
        if other is not None:
            taken[other] = True
    near = found.values[~taken]
    if not len(near):
        return found
    odd = dict(zip(found.odd_rows.tolist() if found.odd_rows is not None else (), found.odd, strict=True))
    missing = found.missing
    odd |= {
        row: str(value)
        for row, value in zip(rows.tolist(), found.values[rows].tolist(), strict=True)
        if row not in odd and (missing is None or not missing[row])
    }
    values = found.values.copy()
    values[taken] = near[0]
    places = np.array(sorted(odd), np.int64)
    texts = tuple(odd[row] for row in places.tolist())
    return _Integers(values, missing, int(near.min()), int(near.max()), found.number, places, texts)


def _places(odd: Iterable[str], least: int, most: int) -> dict[str, int]:
    """The numbers of odd ids: those of integers among the others are as of these, all else comes behind them."""
    values = ((text, integer_of(text)) for text in odd)
    return {
        text: value - least if value is not None and least <= value <= most else most - least + place
        for place, (text, value) in enumerate(values, 1)
    }


def _by_names(connection: duckdb.DuckDBPyConnection, columns: Sequence[IdColumn]) -> tuple[list[Numbers], int]:
    union = " union all ".join(
        f'select "{p.column}" as id from main."{p.table}" where "{p.column}" is not null and {p.chosen}'
        for p in columns
    )
    connection.execute(
        f"create or replace temp table id_numbers as select id, row_number() over () - 1 as number "
        f"from (select distinct id from ({union}))"
    )
    numbers = []
    for source in columns:
        query = (
            f'select coalesce(n.number, -1) as number from main."{source.table}" t left join id_numbers n '
            f'on n.id = t."{source.column}" where {source.chosen} order by t.rowid'
        )
        numbers.append(np.asarray(connection.execute(query).fetchnumpy()["number"], np.int64))
    count = connection.execute("select count(*) from id_numbers").fetchall()[0][0]
    connection.execute("drop table id_numbers")
    return numbers, count


def _among_each_other(one: Codes, other: Codes) -> tuple[Marks, Marks]:
    """Which of the codes are among the other ones, and the other way round."""
    from ragdatakit.arrays.code_tables import HashTable

    if len(other) < len(one):
        found, of_one = _among_each_other(other, one)
        return of_one, found
    table = HashTable(one)
    places = table.positions(other)
    there, met = places >= 0, np.zeros(len(one), np.bool_)
    met[places[there]] = True
    return met[table.positions(one)], there


def _in_rows(marks: Marks, rows: Marks) -> Marks:
    """The marks of these rows, among all."""
    found = np.zeros(len(rows), np.bool_)
    found[rows] = marks
    return found


def marked(count: int, *columns: Numbers) -> Marks:
    """Which of so many ids are in columns of their numbers; the last one, for ids that are missing, is not."""
    marks = np.zeros(count + 1, np.bool_)
    for numbers in columns:
        marks[numbers] = True
    marks[count] = False
    return marks


def distinct(numbers: Numbers, count: int) -> int:
    """How many different ids there are among the numbers."""
    return len(used(numbers, count))


def used(numbers: Numbers, count: int) -> Numbers:
    """The numbers that occur, in order."""
    marks = np.zeros(count + 1, np.bool_)
    marks[numbers] = True
    return np.flatnonzero(marks[:count])


def per_id(numbers: Numbers, count: int) -> Numbers:
    """How often each number that occurs does."""
    there = numbers >= 0
    counts = np.bincount(numbers if there.all() else numbers[there], minlength=count)
    return counts[counts > 0]


def distinct_per_id(owners: Numbers, numbers: Numbers, owner_count: int, count: int) -> Numbers:
    """How many different numbers each owner that occurs has."""
    if count <= 1 << 32 and (counted := distinct_per_owner(owners, numbers, owner_count)) is not None:
        return counted[counted > 0]
    there = (owners >= 0) & (numbers >= 0)
    pairs = owners * count + numbers
    pairs = pairs if there.all() else pairs[there]
    pairs.sort()
    if not len(pairs):
        return pairs
    fresh = np.empty(len(pairs), np.bool_)
    fresh[0] = True
    np.not_equal(pairs[1:], pairs[:-1], out=fresh[1:])
    return per_id(pairs[fresh] // count, owner_count)
