"""Tables of ids as arrays of integers, which DuckDB gets when SQL asks for them: of a report often nobody does."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from ragdatakit.database.apart_rows import BLANK, ColumnFacts
from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import Kind, PackedColumn, RepeatedTexts, bits_of, packed, packed_numbers, texts_of
from ragdatakit.database.conditions import Condition
from ragdatakit.database.row_batches import canonical_columns
from ragdatakit.files.paths.sql_text import sql_text
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.canonical import TABLES

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import numpy.typing as npt

    A = TypeVar("A", bound=np.generic)
    Numbers = npt.NDArray[np.int64]

_AT_ONCE = 1 << 16
_FEW, _MOST_ODD = 1 << 10, 0.01
"""Ids of a column, and their share, that may be no integers."""
_MOST_DIGITS = 18
"""Digits of integers that 64 bits hold for certain."""
MOST_SPREAD = 64
"""Integers are taken as they are where their range is at most this many times as large as their number."""
_REACH, _SAMPLE = 8, 1 << 16
"""Integers are far from the others where they are further from the middle one (of so many of them) than so many times
their number."""


class IdValues(NamedTuple):
    """The ids of a column, in the order of the rows: integers as they are usually written, except for ``odd`` ones by
    row, in order, among them integers that are far from all others; the ``numbers`` there are those of other rows."""

    numbers: Numbers
    odd: Mapping[int, str]

    def of(self, chosen: npt.NDArray[np.bool_]) -> IdValues:
        """Those of some rows."""
        import numpy as np

        places = (np.cumsum(chosen) - 1).tolist() if self.odd else []
        return IdValues(self.numbers[chosen], {places[row]: odd for row, odd in self.odd.items() if chosen[row]})

    @property
    def empty(self) -> int:
        """How many of them are nothing but blanks."""
        return sum(not text.strip(BLANK) for text in self.odd.values())

    @property
    def facts(self) -> ColumnFacts:
        """What is known of the column."""
        usual = number_of_integers(self.numbers) if len(self.odd) < len(self.numbers) else 0
        return ColumnFacts(0, self.empty, usual + len({*self.odd.values()}))


class IdTable:
    """The rows of a canonical table that has columns of ids (``names``), none of which is missing, perhaps a split, and
    else what rows usually have."""

    def __init__(self, table: str, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._table, self._row = table, TABLES[table].row
        self._finishing = Lock()
        self.begin()

    def begin(self, most: int = 0) -> None:
        """There are no rows; an attempt before this one may have failed. Of up to ``most`` rows the columns need not be
        moved."""
        self._room = most
        self.rows = 0
        self._splits: list[tuple[str | None, int]] = []
        self._columns: list[Numbers] = []
        self._odd: list[dict[int, str]] = [{} for _ in self.names]
        self._finished = set[str]()

    def add(self, split: str | None, columns: Sequence[Numbers], odd: Mapping[int, Sequence[str | None]]) -> None:
        """The next rows; ``odd`` has, by row among these, the ids that are no integers."""
        import numpy as np

        until = self.rows + len(columns[0])
        if not self._columns or until > self._room:
            self._room = max(self._room, 2 * until if self._columns else until)
            held, self._columns = self._columns, [np.empty(self._room, np.int64) for _ in columns]
            for column, before in zip(self._columns, held, strict=False):
                column[: self.rows] = before[: self.rows]
        for column, values in zip(self._columns, columns, strict=True):
            column[self.rows : until] = values
        for row, texts in odd.items():
            for known, text in zip(self._odd, texts, strict=True):
                if text is not None:
                    known[self.rows + row] = text
        rows, self.rows = until - self.rows, until
        if self._splits and self._splits[-1][0] == split:
            rows += self._splits.pop()[1]
        self._splits.append((split, rows))

    @property
    def has_many_odd(self) -> bool:
        """Whether so many ids are no integers that nothing is gained by telling them apart."""
        return max(map(len, self._odd)) > max(_MOST_ODD * self.rows, _FEW)

    @property
    def integers(self) -> list[str]:
        """The columns that have integers only."""
        return [name for name, odd in zip(self.names, self._odd, strict=True) if not odd]

    def ids(self, name: str) -> IdValues:
        """The ids of a column. Several threads may ask."""
        with self._finishing:
            return self._finished_ids(name)

    def _finished_ids(self, name: str) -> IdValues:
        import numpy as np

        place = self.names.index(name)
        odd = self._odd[place]
        numbers = self._columns[place][: self.rows] if self._columns else np.empty(0, np.int64)
        if name not in self._finished and self.rows:
            self._finished.add(name)
            self._odd[place] = odd = _finished(numbers, odd)
        return IdValues(numbers, odd)

    def empty(self, name: str) -> int:
        """How many ids of a column are nothing but blanks."""
        return self.ids(name).empty

    @property
    def splits(self) -> dict[str | None, int]:
        """How many rows each split has, if any."""
        found: dict[str | None, int] = {}
        for split, rows in self._splits:
            if rows:
                found[split] = found.get(split, 0) + rows
        return found

    def chosen(self, condition: Condition) -> npt.NDArray[np.bool_] | None:
        """Which rows a condition chooses; None of one that asks what ids are."""
        import numpy as np

        column = condition.column
        if column == "split":
            of_splits = [condition.holds(split) for split, _ in self._splits]
            return np.repeat(np.array(of_splits, np.bool_), [rows for _, rows in self._splits])
        if column in self.names:
            return np.ones(self.rows, np.bool_) if condition.test == "is not null" else None
        return np.full(self.rows, condition.holds(self._row._field_defaults[column]))

    def column(self, name: str) -> ColumnFacts | None:
        """What is known of a column; None of the splits."""
        if name in self.names:
            return self.ids(name).facts
        if name == "split":
            return None
        value = self._row._field_defaults[name]
        return ColumnFacts(self.rows, 0, 0, {}) if value is None else ColumnFacts(0, 0, 1, {str(value): self.rows})

    def rows_at(self, places: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Some rows, by their places."""
        columns = {name: self.ids(name) for name in self.names}
        ends = list(accumulate(rows for _, rows in self._splits))
        found = {}
        for place in places:
            cells: dict[str, Any] = {n: odd.get(place, str(of_rows[place])) for n, (of_rows, odd) in columns.items()}
            found[place] = self._row(**cells, split=self._splits[bisect_right(ends, place)][0])._asdict()
        return found

    def give(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make the table in a database."""
        columns = [self.ids(name) for name in self.names]
        schema = dict.fromkeys(self.names, Kind.INTEGER)
        cells = {name: f"{name}::varchar" for name in self.names}
        for name, (_, odd) in zip(self.names, columns, strict=True):
            if odd:
                schema[f"odd_{name}"] = Kind.TEXT
                cells[name] = f"coalesce(odd_{name}, {cells[name]})"
        statement, first = f'create table main."{self._table}" as', 0
        for split, rows in self._splits or [(None, 0)]:
            cells["split"] = sql_text(split)
            given = ", ".join(f"{cell} as {name}" for name, cell in cells.items())
            rows_of = f"select {canonical_columns(self._table, cells)} from (select {given} from held_ids)"
            with incoming(connection, "held_ids", schema, _batches(columns, first, first + rows)):
                connection.execute(f"{statement} {rows_of}")
            statement, first = f'insert into main."{self._table}"', first + rows


def _finished(numbers: Numbers, odd: dict[int, str]) -> dict[int, str]:
    """The odd ids of a column in order, with the integers that are far from all others; in place of these the column
    has the number of another row."""
    far = far_from_most(numbers)
    given = zip(far.tolist(), numbers[far].tolist(), strict=True)
    odd |= {row: str(number) for row, number in given if row not in odd}
    usual = next((row for row in range(len(numbers)) if row not in odd), 0)
    if odd:
        numbers[[*odd]] = numbers[usual]
    return dict(sorted(odd.items()))


def integers_in(columns: Sequence[PackedColumn], rows: int) -> IdValues | None:
    """The ids in columns of texts of so many rows, where each has one and nearly all are integers; None otherwise."""
    import numpy as np

    if any(column.kind is not Kind.TEXT or not _is_whole(column) for column in columns) or _most_odd(columns, rows):
        return None
    numbers, odd, first = np.empty(rows, np.int64), dict[int, str](), 0
    for column in columns:
        values = column.values if isinstance(column, RepeatedTexts) else column
        data, offsets = texts_of(values)
        of_rows = numbers[first : first + column.length]
        own = of_rows if values is column else np.empty(values.length, np.int64)
        left = _put_integers(data, offsets, own)
        is_left = np.zeros(values.length, np.bool_)
        is_left[left] = True
        if len(odd) + int(np.count_nonzero(_in_rows(column, is_left))) > _MOST_ODD * rows:
            return None
        texts = {}
        for place in left.tolist():
            text = data[offsets[place] : offsets[place + 1]].tobytes().decode()
            value = integer_of(text)
            own[place] = value or 0
            if value is None:
                texts[place] = text
        if own is not of_rows:
            of_rows[:] = _in_rows(column, own)
        if texts:
            places = _in_rows(column, np.arange(values.length))
            found = np.flatnonzero(np.isin(places, [*texts]))
            odd |= {first + row: texts[places[row]] for row in found.tolist()}
        first += column.length
    return IdValues(numbers, _finished(numbers, odd)) if rows else None


def _in_rows(column: PackedColumn, of_values: npt.NDArray[A]) -> npt.NDArray[A]:
    """What each value that the column has in memory has, for each row."""
    return column.in_rows(of_values) if isinstance(column, RepeatedTexts) else of_values


def _is_whole(column: PackedColumn) -> bool:
    """Whether each row has a value."""
    return isinstance(column, RepeatedTexts) or column.buffers[0] is None or bool(bits_of(column).all())


def _most_odd(columns: Sequence[PackedColumn], rows: int) -> bool:
    """Whether the first characters of texts say that too many are no integers."""
    import numpy as np

    left = _MOST_ODD * rows
    for column in columns:
        data, offsets = texts_of(column.values if isinstance(column, RepeatedTexts) else column)
        is_odd = np.diff(offsets) > 0
        firsts = data[offsets[:-1][is_odd]]
        is_odd[is_odd] = (firsts - np.uint8(ord("0")) > 9) & (firsts != ord("-"))
        left -= int(np.count_nonzero(_in_rows(column, is_odd)))
        if left < 0:
            return True
    return False


def _put_integers(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int32], numbers: Numbers) -> Numbers:
    """Put the integers that texts are into ``numbers``; the rows of the others, and of some integers that are rare."""
    import numpy as np

    sizes = np.diff(offsets)
    is_left = np.ones(len(sizes), np.bool_)
    for size in np.flatnonzero(np.bincount(sizes[sizes <= _MOST_DIGITS], minlength=1)[1:]) + 1:
        rows = np.flatnonzero(sizes == size)
        digits = data[offsets[rows][:, None] + np.arange(size)] - np.uint8(ord("0"))
        numbers[rows] = digits @ 10 ** np.arange(size - 1, -1, -1, dtype=np.int64)
        is_left[rows] = (digits > 9).any(axis=1) | ((digits[:, 0] == 0) & (size > 1))
    return np.flatnonzero(is_left)


def _batches(columns: Sequence[IdValues], first: int, last: int) -> Iterator[list[PackedColumn]]:
    for start in range(first, last, _AT_ONCE):
        end = min(start + _AT_ONCE, last)
        numbers = [packed_numbers(Kind.INTEGER, of_rows[start:end]) for of_rows, _ in columns]
        odd = [packed(Kind.TEXT, [odd.get(row) for row in range(start, end)]) for _, odd in columns if odd]
        yield [*numbers, *odd]


def far_from_most(numbers: Numbers) -> Numbers:
    """The rows of integers that are far from most others, where these are few and make the range a wide one."""
    import numpy as np

    rows = len(numbers)
    if not rows or int(numbers.max()) - int(numbers.min()) < MOST_SPREAD * rows:
        return np.empty(0, np.int64)
    middle, reach = int(np.median(numbers[:: rows // _SAMPLE + 1])), _REACH * rows
    low, high = max(middle - reach, -(1 << 63)), min(middle + reach, (1 << 63) - 1)
    far = np.flatnonzero((numbers < low) | (numbers > high))
    return far if len(far) <= _MOST_ODD * rows else far[:0]


def number_of_integers(numbers: Numbers) -> int:
    """How many different ones there are; quick where they lie close together."""
    import numpy as np

    from ragdatakit.arrays.codes import distinct

    least, most = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, -1)
    if most - least >= MOST_SPREAD * max(len(numbers), 1):
        return len(distinct(numbers))
    marks = np.zeros(most - least + 1, np.bool_)
    marks[numbers - least if least else numbers] = True
    return int(np.count_nonzero(marks))


def integer_of(text: str) -> int | None:
    """The integer of 64 bits that an id is, as it is usually written; None where it is none."""
    digits = text.removeprefix("-")
    if len(digits) > 19 or not (digits.isascii() and digits.isdecimal()):
        return None
    value = int(text)
    return value if str(value) == text and -(1 << 63) <= value < 1 << 63 else None
