"""Columns of texts, numbers, lists and bytes as they lie in memory in Arrow's layout; made without pyarrow.

A long module, because all that knows this layout is in it.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from itertools import chain, groupby, pairwise, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from ragdatakit.late_dataclasses import dataclass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.database.text_places import ApartTexts, KnownTexts

A = TypeVar("A", bound="np.generic")
_MOST_ROWS, _MOST_TOGETHER = 1 << 14, 1 << 19
"""Rows and bytes of batches that are put together."""
_MOST_WRITTEN = 1 << 25
"""Bytes of repeated texts that are written out at once."""
_MOST_EXACT = 1 << 53
"""Integers beyond it are not all floats."""


class Kind(StrEnum):
    """What a column holds, as messages name it."""

    TEXT = "string"
    INTEGER = "int64"
    CODE = "uint64"
    NUMBER = "double"
    BYTES = "binary"
    TEXTS = "list<string>"
    INTEGERS = "list<int64>"


Schema = Mapping[str, Kind]
"""The kinds of the columns of a table by their names, in order."""
ITEMS = {Kind.TEXTS: Kind.TEXT, Kind.INTEGERS: Kind.INTEGER}
"""What is in the lists of a column of lists."""
NUMBERS = {Kind.INTEGER: "int64", Kind.CODE: "uint64", Kind.NUMBER: "float64"}
"""The kinds of numbers, as numpy calls them."""


@dataclass(frozen=True, slots=True)
class PackedColumn:
    """``buffers`` are what Arrow's layout has for the kind, the first the bits of the values that are there (None: all
    are); ``items`` are those of all lists of a column of lists. Texts that are ``apart`` are not in the buffers, as if
    they were missing. ``members``: how many of its objects have a member of each name, if that was counted."""

    kind: Kind
    length: int
    buffers: tuple[npt.NDArray[Any] | bytes | None, ...]
    items: PackedColumn | None = None
    apart: ApartTexts | None = None
    known: KnownTexts | None = None
    members: Mapping[str, int] | None = None

    def rows(self, first: int, last: int) -> PackedColumn:
        """Some of its rows, which are in the same memory."""
        import numpy as np

        valid = None
        if self.buffers[0] is not None:
            valid = np.packbits(bits_of(self)[first:last], bitorder="little")
        kind, end = (NUMBERS[self.kind], last) if self.kind in NUMBERS else (_offset_of(self.kind), last + 1)
        places = np.frombuffer(self.buffers[1], kind)[first:end]  # type: ignore[arg-type]
        return PackedColumn(self.kind, last - first, (valid, places, *self.buffers[2:]), self.items)


class RepeatedTexts(PackedColumn):
    """A column of texts each of which is in some rows one after the other: those of ``values``, each so many times
    (``counts``); behind the last one comes the first again. All are there. The buffers are made when they are asked
    for."""

    __slots__ = ("counts", "size", "values")

    values: PackedColumn
    counts: npt.NDArray[np.int64]
    size: int
    """The bytes of the buffers."""

    def __init__(self, values: PackedColumn, counts: npt.NDArray[np.int64]) -> None:
        import numpy as np

        length = int(counts.sum())
        given = dict.fromkeys(("items", "apart", "known", "members")) | {"kind": Kind.TEXT, "length": length}
        for name, value in (given | {"values": values, "counts": counts}).items():
            object.__setattr__(self, name, value)
        size = int(self.rows_each @ np.diff(texts_of(values)[1])) + 4 * (length + 1)
        object.__setattr__(self, "size", size)

    def __getattr__(self, name: str) -> Any:
        import numpy as np

        if name != "buffers":
            raise AttributeError(name)
        data, offsets = texts_of(self.values)
        values = [data[start:end].tobytes() for start, end in pairwise(offsets.tolist())]
        repeated = b"".join(map(operator.mul, values * self.rounds, self.counts.tolist()))
        made = packed_texts(
            repeated, np.concatenate(([0], self.in_rows(np.diff(offsets)).cumsum())), np.empty(0, np.int64)
        )
        object.__setattr__(self, name, made.buffers)
        return made.buffers

    def rows(self, first: int, last: int) -> RepeatedTexts:
        """Some of its rows."""
        import numpy as np

        return RepeatedTexts(self.values, np.diff(self.counts.cumsum().clip(first, last), prepend=first))

    @property
    def rounds(self) -> int:
        """How often the values come."""
        return len(self.counts) // self.values.length

    @property
    def rows_each(self) -> npt.NDArray[np.int64]:
        """In how many rows each value is."""
        each: npt.NDArray[np.int64] = self.counts.reshape(self.rounds, -1).sum(axis=0)
        return each

    def in_rows(self, of_values: npt.NDArray[A]) -> npt.NDArray[A]:
        """What each value has, for each row."""
        import numpy as np

        return np.repeat(np.tile(of_values, self.rounds), self.counts)


def packed(kind: Kind, values: Sequence[Any]) -> PackedColumn:
    """The values, of which None is none. Raises `UnicodeEncodeError` for texts with half characters, `OverflowError`
    for numbers that the kind does not hold, `TypeError` for values of another kind."""
    if kind in NUMBERS:
        return _numbers(kind, values)
    if kind in ITEMS:
        counts = [0 if items is None else len(_only((list, tuple), items)) for items in values]
        items = packed(ITEMS[kind], list(chain.from_iterable(items for items in values if items is not None)))
        return PackedColumn(kind, len(values), (_valid(values), _offsets(counts, "int32")), items)
    if kind is Kind.TEXT:
        return _texts(values)
    contents = [b"" if content is None else _only(bytes, content) for content in values]
    buffers = (_valid(values), _offsets([len(content) for content in contents], "int64"), b"".join(contents))
    return PackedColumn(kind, len(values), buffers)


def packed_runs(values: Sequence[str]) -> PackedColumn:
    """Texts that are all there, of which many are the same as the one before. Raises as `packed`."""
    import numpy as np

    runs = [(value, sum(1 for _ in own)) for value, own in groupby(values)]
    return RepeatedTexts(packed(Kind.TEXT, [value for value, _ in runs]), np.array([count for _, count in runs]))


def packed_same(kind: Kind, value: Any, length: int) -> PackedColumn:
    """So many times one value."""
    if kind is Kind.TEXT and value is not None:
        import numpy as np

        return RepeatedTexts(packed(kind, [value]), np.array([length]))
    if value is not None and value != ():
        return _repeated(packed(kind, [value]), length) if kind not in ITEMS else packed(kind, [value] * length)
    valid = bytes(length // 8 + 1) if value is None else None
    if kind in NUMBERS:
        return PackedColumn(kind, length, (valid, bytes(8 * length)))
    if kind in ITEMS:
        return PackedColumn(kind, length, (valid, bytes(4 * (length + 1))), _no_items(ITEMS[kind]))
    return PackedColumn(kind, length, (valid, bytes((4 if kind is Kind.TEXT else 8) * (length + 1)), b""))


def _repeated(one: PackedColumn, length: int) -> PackedColumn:
    """So many times the only value of a column, which is there: a number, or bytes."""
    import numpy as np

    if one.kind in NUMBERS:
        return PackedColumn(one.kind, length, (None, np.repeat(one.buffers[1], length)))  # type: ignore[arg-type]
    data = one.buffers[2]
    assert isinstance(data, bytes)
    offsets = np.arange(length + 1, dtype=np.int64) * len(data)
    return PackedColumn(one.kind, length, (None, offsets, data * length))


@cache
def _no_items(kind: Kind) -> PackedColumn:
    return packed(kind, [])


def packed_numbers(kind: Kind, values: npt.NDArray[Any], missing: npt.NDArray[np.int64] | None = None) -> PackedColumn:
    """A column of an array of numbers, some of which are not there."""
    import numpy as np

    valid = _valid_but(missing, len(values)) if missing is not None else None
    return PackedColumn(kind, len(values), (valid, np.ascontiguousarray(values, NUMBERS[kind])))


def packed_texts(data: bytes, offsets: npt.NDArray[np.int64], missing: npt.NDArray[np.int64]) -> PackedColumn:
    """A column of texts that are one behind the other in ``data``, as UTF-8, between these offsets; some are not
    there. Raises `OverflowError` for more than 2 GiB."""
    import numpy as np

    if len(data) >= 1 << 31:
        raise OverflowError("texts of more than 2 GiB")
    valid = _valid_but(missing, len(offsets) - 1)
    return PackedColumn(Kind.TEXT, len(offsets) - 1, (valid, offsets.astype(np.int32), data))


def packed_apart(texts: ApartTexts) -> PackedColumn:
    """A column of texts that are somewhere else."""
    nothing = packed_same(Kind.TEXT, None, len(texts.lengths))
    return PackedColumn(Kind.TEXT, nothing.length, nothing.buffers, apart=texts)


def put_together(batches: Iterable[Sequence[PackedColumn]]) -> Iterator[Sequence[PackedColumn]]:
    """The same rows in fewer batches, where they are small: each has a cost for its reader."""
    held: list[Sequence[PackedColumn]] = []
    rows = size = 0
    for columns in batches:
        more = sum(map(size_of_column, columns))
        if held and (rows + columns[0].length > _MOST_ROWS or size + more > _MOST_TOGETHER):
            yield as_one(held)
            held, rows, size = [], 0, 0
        held.append(columns)
        rows, size = rows + columns[0].length, size + more
    if held:
        yield as_one(held)


def in_parts(columns: Sequence[PackedColumn]) -> Iterator[Sequence[PackedColumn]]:
    """The same rows in several batches, where repeated texts would take much memory once they are written out."""
    import numpy as np

    ends = _written(columns)
    if ends is None:
        yield columns
        return
    first, last = 0, len(ends) - 1
    while first < last:
        end = max(int(np.searchsorted(ends, ends[first] + _MOST_WRITTEN, "right")) - 1, first + 1)
        yield [column.rows(first, end) for column in columns]
        first = end


def most_written(columns: Sequence[PackedColumn], rows: int) -> int:
    """The most bytes that repeated texts of so many rows, one after the other, take once they are written out; 0 where
    that is not much."""
    ends = _written(columns)
    return int((ends[rows:] - ends[:-rows]).max(initial=0) if len(ends) > rows else ends[-1]) if ends is not None else 0


def _written(columns: Sequence[PackedColumn]) -> npt.NDArray[np.int64] | None:
    """Up to each row, the bytes of repeated texts that are written out; None where that is not much."""
    import numpy as np

    repeated = [column for column in columns if isinstance(column, RepeatedTexts)]
    if sum(column.size for column in repeated) <= _MOST_WRITTEN:
        return None
    sizes = sum(column.in_rows(np.diff(texts_of(column.values)[1]).astype(np.int64)) for column in repeated)
    return np.concatenate(([0], np.cumsum(sizes)))


def size_of_column(column: PackedColumn, *, written: bool = True) -> int:
    """The bytes of a column in memory, where repeated texts are ``written`` out or not."""
    if isinstance(column, RepeatedTexts):
        return column.size if written else size_of_column(column.values) + column.counts.nbytes
    own = sum(len(one) if isinstance(one, bytes) else one.nbytes for one in column.buffers if one is not None)
    return own + (size_of_column(column.items) if column.items is not None else 0)


def as_one(held: Sequence[Sequence[PackedColumn]]) -> Sequence[PackedColumn]:
    """The rows of several batches in one."""
    return [_joined(columns) for columns in zip(*held, strict=True)] if len(held) > 1 else held[0]


def _joined(columns: Sequence[PackedColumn]) -> PackedColumn:
    """The rows of several columns of one kind."""
    import numpy as np

    kind, length = columns[0].kind, sum(column.length for column in columns)
    valid = None
    if any(column.buffers[0] is not None for column in columns):
        valid = np.packbits(np.concatenate([bits_of(column) for column in columns]), bitorder="little")
    if kind in NUMBERS:
        return PackedColumn(kind, length, (valid, np.concatenate([*map(numbers_in, columns)])))
    offset = _offset_of(kind)
    places = [np.frombuffer(column.buffers[1], offset, column.length + 1) for column in columns]  # type: ignore[arg-type]
    sizes = np.concatenate([np.diff(own) for own in places])
    offsets = _offsets(sizes, offset)  # type: ignore[arg-type]
    if kind in ITEMS:
        items = [column.items for column in columns if column.items is not None]
        return PackedColumn(kind, length, (valid, offsets), _joined(items))
    data = [column.buffers[2] for column in columns]
    content = b"".join(
        (some if isinstance(some, bytes) else some.tobytes())[own[0] : own[-1]]
        for some, own in zip(data, places, strict=True)
        if some is not None
    )
    known = [column.known for column in columns if column.known is not None]
    together = known[0].together(known) if len(known) == len(columns) else None
    counted = [column.members for column in columns if column.members is not None]
    members = sum(map(Counter, counted), Counter[str]()) if len(counted) == len(columns) else None
    return PackedColumn(kind, length, (valid, offsets, content), known=together, members=members)


def texts_of(column: PackedColumn) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """The texts of a column, one behind the other, and where each begins and the last one ends."""
    import numpy as np

    _, offsets, data = (b"" if buffer is None else buffer for buffer in column.buffers)
    return np.frombuffer(data, np.uint8), np.frombuffer(offsets, np.int32)[: column.length + 1]


def numbers_in(column: PackedColumn) -> npt.NDArray[Any]:
    """The numbers of a column of such; anything in place of those that are missing."""
    import numpy as np

    return np.frombuffer(column.buffers[1], NUMBERS[column.kind], column.length)  # type: ignore[arg-type]


def bounds_of_lists(column: PackedColumn) -> npt.NDArray[np.int32]:
    """Where the items of each list of a column begin, and the last ones end."""
    import numpy as np

    offsets = column.buffers[1]
    assert offsets is not None
    return np.frombuffer(offsets, np.int32)[: column.length + 1]


def value_at(column: PackedColumn, row: int) -> str | float | list[Any] | None:
    """The value of a row: a text, a number or a list; None where there is none."""
    import numpy as np

    if isinstance(column, RepeatedTexts):
        run = int(np.searchsorted(column.counts.cumsum(), row, "right"))
        return value_at(column.values, run % column.values.length)
    if (valid := column.buffers[0]) is not None and not int(valid[row >> 3]) >> (row & 7) & 1:
        return None
    if column.kind is Kind.INTEGER:
        return int(np.frombuffer(column.buffers[1], np.int64)[row])  # type: ignore[arg-type]
    if column.kind is Kind.NUMBER:
        return float(np.frombuffer(column.buffers[1], np.float64)[row])  # type: ignore[arg-type]
    if column.items is not None:
        first, last = bounds_of_lists(column)[row : row + 2].tolist()
        return [value_at(column.items, place) for place in range(first, last)]
    _, offsets, data = column.buffers
    start, end = np.frombuffer(offsets, np.int32)[row : row + 2].tolist()  # type: ignore[arg-type]
    return str(data[start:end], "utf-8")  # type: ignore[index, arg-type]


def values_in(column: PackedColumn) -> list[Any]:
    """The values of all rows, as `value_at` gives them."""
    if column.kind in NUMBERS and column.buffers[0] is None:
        numbers: list[Any] = numbers_in(column).tolist()
        return numbers
    if isinstance(column, RepeatedTexts):
        values = values_in(column.values) * column.rounds
        return [*chain.from_iterable(map(repeat, values, column.counts.tolist()))]
    if column.kind is not Kind.TEXT:
        return [value_at(column, row) for row in range(column.length)]
    data, offsets = texts_of(column)
    held = data.tobytes() if column.length else b""
    texts: list[Any] = [str(held[start:end], "utf-8") for start, end in pairwise(offsets.tolist())]
    for row in (bits_of(column) == 0).nonzero()[0].tolist() if column.buffers[0] is not None else ():
        texts[row] = None
    return texts


def texts_in_rows(columns: Iterable[PackedColumn], rows: npt.NDArray[np.int64]) -> Iterator[bytes | None]:
    """The texts of some rows, in ascending order, of columns with some rows after the others; None where there is
    none."""
    import numpy as np

    first = 0
    for column in columns:
        own = rows[slice(*np.searchsorted(rows, (first, first + column.length)))] - first
        first += column.length
        if not len(own):
            continue
        data, offsets = texts_of(column)
        bounds = zip(bits_of(column)[own].tolist(), offsets[own].tolist(), offsets[own + 1].tolist(), strict=True)
        yield from (data[start:end].tobytes() if is_there else None for is_there, start, end in bounds)


def bits_of(column: PackedColumn) -> npt.NDArray[np.uint8]:
    """1 for each value that is there."""
    import numpy as np

    valid = None if isinstance(column, RepeatedTexts) else column.buffers[0]
    if valid is None:
        return np.ones(column.length, np.uint8)
    return np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")[: column.length]


def _valid_but(missing: npt.NDArray[np.int64], length: int) -> npt.NDArray[np.uint8] | None:
    """The bits of all values but those that are not there; None where all are."""
    import numpy as np

    if not len(missing):
        return None
    there = np.ones(length, np.bool_)
    there[missing] = False
    return np.packbits(there, bitorder="little")


def _texts(values: Sequence[Any]) -> PackedColumn:
    valid = _valid(values)
    if values and valid is not None and not valid.any():
        return packed_same(Kind.TEXT, None, len(values))
    there = values if valid is None else ["" if value is None else value for value in values]
    if all(map(str.isascii, there)):
        data, sizes = "".join(there).encode("ascii"), list(map(len, there))
    else:
        encoded = list(map(str.encode, there))
        data, sizes = b"".join(encoded), list(map(len, encoded))
    if len(data) >= 1 << 31:
        raise OverflowError("texts of more than 2 GiB")
    return PackedColumn(Kind.TEXT, len(there), (valid, _offsets(sizes, "int32"), data))


def _numbers(kind: Kind, values: Sequence[Any]) -> PackedColumn:
    import numpy as np

    try:
        given = [0 if value is None else value for value in values] if None in values else values
        if not set(map(type, values)) <= {type(None), float if kind is Kind.NUMBER else int}:
            given = [_number(kind, value) for value in given]
        return PackedColumn(kind, len(given), (_valid(values), np.array(given, NUMBERS[kind])))
    except ValueError as error:  # not a number of Python's
        raise TypeError(str(error)) from None


def _number(kind: Kind, value: Any) -> Any:
    if kind is Kind.NUMBER:
        if type(value) is float:
            return value
        if type(value) is int and abs(value) > _MOST_EXACT:
            raise OverflowError("an integer that no float holds")
        if isinstance(value, bool | str | bytes):
            raise TypeError(f"{type(value).__name__} is not a number")
        return float(value)
    if type(value) is int:
        return value
    if isinstance(value, bool):
        raise TypeError("bool is not an integer")
    return int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)


def _offset_of(kind: Kind) -> str:
    """The numbers that places of a kind are in: of texts, or of what is in lists."""
    return "int64" if kind is Kind.BYTES else "int32"


def _only(kind: Any, value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{type(value).__name__} is of another type")
    return value


def _offsets(sizes: Sequence[int], kind: Any) -> npt.NDArray[Any]:
    import numpy as np

    found = np.zeros(len(sizes) + 1, kind)
    np.cumsum(sizes, out=found[1:])
    return found


def _valid(values: Sequence[Any]) -> npt.NDArray[np.uint8] | None:
    """The bits of the values that are there; None where all are."""
    if None not in values:
        return None
    import numpy as np

    if values[0] is None and values.count(None) == len(values):  # as many columns of canonical tables are
        return np.zeros(len(values) // 8 + 1, np.uint8)
    return np.packbits([value is not None for value in values], bitorder="little")
