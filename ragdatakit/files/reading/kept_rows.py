"""Rows that a writer goes through several times: they come from their source once, then from a file of our own."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any

import msgspec

_LIST = b"\xdd"
"""What a list in MessagePack begins with, before the number of its items in four bytes."""
_BEGINNING = len(_LIST) + 4
_TOGETHER = 1 << 20
"""Bytes, or characters, of rows that are written, and read again, at once."""
_LONGEST = 1 << 24
"""A table that has a row of more bytes is not kept: it would be in memory more than once."""
_ENCODER = msgspec.msgpack.Encoder()
_ROWS = msgspec.msgpack.Decoder(list[list[Any]])
_FEW = 64
"""Rows of a source that gives them one by one of which columns are made, where these are not long."""
Columns = Sequence[Sequence[Any]]
"""Rows, at least one, column by column."""


class ColumnSource:
    """A source of rows of type ``row`` that are read many at a time, column by column; some with other tables
    ``together``."""

    def __init__(
        self, row: Any, columns: Callable[[], Iterator[Columns]], together: ColumnsTogether | None = None
    ) -> None:
        self._row, self.columns, self.together = row, columns, together

    def __call__(self) -> Iterator[Any]:
        """The rows, from the beginning."""
        return rows_of(self._row, self.columns())


class ColumnsTogether:
    """Tables, of rows of these types, that come of one reading: ``blocks`` gives the columns of those of them whose
    places are wanted, block by block; none where there is no row.

    Once `keep` was called, who first reads all of one has all of them written to temporary files, as `KeptRows` does.
    """

    def __init__(self, rows: Sequence[Any], blocks: Callable[[Collection[int]], Iterator[Sequence[Columns]]]) -> None:
        self._blocks = blocks
        self._asides: list[_Aside] = []
        self._is_kept = False
        self.sources = [ColumnSource(row, partial(self._columns, n), self) for n, row in enumerate(rows)]

    def keep(self) -> None:
        """From now on read all tables at once."""
        self._is_kept = True

    def _columns(self, place: int) -> Iterator[Columns]:
        if self._asides:
            yield from chain.from_iterable(self._asides[place].lists())
            return
        asides = [_Aside() for _ in self.sources] if self._is_kept else []
        for tables in self._blocks(range(len(asides)) if asides else (place,)):
            for aside, columns in zip(asides, tables, strict=False):
                self._is_kept = self._is_kept and (not columns or aside.add(columns))
            if tables[place]:
                yield tables[place]
        if self._is_kept:
            self._asides = asides


def rows_of(row: Any, blocks: Iterator[Columns]) -> Iterator[Any]:
    """Rows of this type, given column by column."""
    return chain.from_iterable(map(row._make, zip(*block, strict=True)) for block in blocks)


def columns_of(rows: Iterator[Any]) -> Iterator[Columns]:
    """The same rows, some at a time, column by column; also those that were read before something fails."""
    block: list[Any] = []
    size = 0
    try:
        for row in rows:
            block.append(row)
            size += sum([len(value) for value in row if type(value) is str])
            if len(block) == _FEW or size > _TOGETHER:
                yield list(zip(*block, strict=True))
                block, size = [], 0
    except Exception:
        if block:
            yield list(zip(*block, strict=True))
        raise
    if block:
        yield list(zip(*block, strict=True))


def firsts_of(columns: Columns, seen: set[Any]) -> tuple[Columns, Sequence[Any]]:
    """The rows of which the first column was not ``seen``, of equal ones the first; and what the others have in it. All
    of it was seen then."""
    keys = columns[0]
    if seen.isdisjoint(keys) and len({*keys}) == len(keys):  # as of most
        seen.update(keys)
        return columns, ()
    firsts, repeated = list[int](), list[Any]()
    for row, key in enumerate(keys):
        if key in seen:
            repeated.append(key)
        else:
            seen.add(key)
            firsts.append(row)
    return [[column[row] for row in firsts] for column in columns], repeated


class KeptRows:
    """The rows of ``source``, which are of type ``row`` and have texts and numbers only.

    Who first reads all of them reads the source, row by row, and has them written to a temporary file; from then on
    they are read from there. What cannot be kept (a full disk, half a character) is read from the source again.
    """

    def __init__(self, source: Callable[[], Iterator[Any]], row: Any) -> None:
        self.source, self._row = source, row
        self._aside: _Aside | None = None
        self._is_kept = True

    def __call__(self) -> Iterator[Any]:
        """The rows, from the beginning."""
        if isinstance(self.source, ColumnSource):
            return rows_of(self._row, self.columns())
        if self._aside is not None:
            return map(self._row._make, chain.from_iterable(self._aside.lists()))
        return self._first(self.source()) if self._is_kept else self.source()

    def columns(self) -> Iterator[Columns]:
        """The same, many rows at a time."""
        if not isinstance(self.source, ColumnSource):
            if self._aside is None:
                return columns_of(self())
            return (list(zip(*rows, strict=True)) for rows in self._aside.lists())
        if self._aside is not None:
            return chain.from_iterable(self._aside.lists())
        return self._first(self.source.columns()) if self._is_kept else self.source.columns()

    def _first(self, values: Iterator[Any]) -> Iterator[Any]:
        """Rows, or columns of them."""
        aside = _Aside()
        for value in values:
            yield value
            self._is_kept = self._is_kept and aside.add(value)
        if self._is_kept:
            self._aside = aside


class _Aside:
    """Rows, or columns of rows, in a file, the last of them in memory."""

    def __init__(self) -> None:
        self._file: Any = None
        self._places, self._count = [0], 0
        self._held = bytearray(_BEGINNING)

    def add(self, value: Any) -> bool:
        """Put a row aside, or columns; whether that was possible."""
        try:
            _ENCODER.encode_into(value, self._held, -1)
            self._count += 1
            if len(self._held) > _TOGETHER:
                return len(self._held) < _LONGEST and self._write()
        except (ValueError, OverflowError, OSError):
            return False
        return True

    def _write(self) -> bool:
        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile(prefix="ragdata-", buffering=0)  # noqa: SIM115  # closed with its owner
            weakref.finalize(self, self._file.close)
        data = self._as_list()
        self._places.append(self._places[-1] + len(data))
        self._held, self._count = bytearray(_BEGINNING), 0
        return bool(self._file.write(data) == len(data))

    def _as_list(self) -> bytes:
        self._held[:_BEGINNING] = _LIST + self._count.to_bytes(4, "big")
        return bytes(self._held)

    def lists(self) -> Iterator[list[list[Any]]]:
        """What was put aside, many at a time."""
        for start, end in pairwise(self._places):
            yield _ROWS.decode(os.pread(self._file.fileno(), end - start, start))
        if self._count:
            yield _ROWS.decode(self._as_list())
