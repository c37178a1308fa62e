"""Texts, and lists of numbers, that a query gives, as they lie in memory: read through Arrow's C interface, so that
none becomes an object of Python's."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ragdatakit.database.arrow_streams import GivenArray, GivenStream
from ragdatakit.late_dataclasses import dataclass

if TYPE_CHECKING:
    import duckdb

_AT_ONCE = 4 << 20
"""Characters of texts that are in memory at once."""
_FEW_ROWS = 1 << 11
_SHORT_OFFSETS, _LISTS, _INTEGERS = b"u", b"+l", (b"l", b"L")


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Texts one behind the other in ``data``, between ``offsets``; ``missing`` marks those that are not there (None:
    all are). They are valid until the next batch is asked for."""

    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int32]
    missing: npt.NDArray[np.bool_] | None


@dataclass(frozen=True, slots=True)
class WordBatch:
    """Integers of 64 bits as words; of lists all members one behind the other, and how many each has. ``has_nulls``:
    one of them, or a list, is missing. They are valid until the next batch is asked for."""

    words: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.int32] | None
    has_nulls: bool


def word_batches(stream: Any) -> Iterator[list[WordBatch]]:
    """The columns of a stream in Arrow's form, all of which are integers of 64 bits, or lists of them."""
    for array in GivenStream(stream).arrays(_LISTS, *_INTEGERS):
        yield [_words_of(column) for column in array.children_of()]


def _words_of(column: GivenArray) -> WordBatch:
    members = column.children_of()
    if not members:
        words = _numbers(column.buffers_of()[1], np.uint64, column.length, column.offset)
        return WordBatch(words, None, bool(column.null_count))
    places = _numbers(column.buffers_of()[1], np.int32, column.length + 1, column.offset)
    first, end = (int(places[0]), int(places[-1])) if len(places) else (0, 0)
    words = _numbers(members[0].buffers_of()[1], np.uint64, end - first, members[0].offset + first)
    return WordBatch(words, np.diff(places), bool(column.null_count or members[0].null_count))


def text_batches(connection: duckdb.DuckDBPyConnection, query: str, are_long: bool = False) -> Iterator[TextBatch]:
    """The texts in the only column of a query. DuckDB gives a hundred thousand at once, but of those that ``are_long``
    few where it can: ask for no more than memory holds."""
    return (batch for (batch,) in batches_of_texts(connection, query, are_long))


def batches_of_texts(
    connection: duckdb.DuckDBPyConnection, query: str, are_long: bool = False
) -> Iterator[list[TextBatch]]:
    """The same of all columns of a query, which are texts."""
    relation = connection.sql(query)
    stream = GivenStream(_few_at_once(relation) if are_long else relation.__arrow_c_stream__())
    for array in stream.arrays(_SHORT_OFFSETS):
        yield [_texts_of(column) for column in array.children_of()]


def _few_at_once(relation: Any) -> Any:
    """The stream of a relation with few rows at a time, whose memory is used for the next ones. DuckDB does that for
    readers of pyarrow; where another version does not do it so, there are as many as it likes."""
    import duckdb

    try:
        return relation._submit("stream", _FEW_ROWS).arrow_capsule()
    except (AttributeError, TypeError, duckdb.Error):  # of the query itself, it is raised by the other way, too
        return relation.__arrow_c_stream__()


def _texts_of(column: GivenArray) -> TextBatch:
    validity, offsets, data = column.buffers_of()
    places = _numbers(offsets, np.int32, column.length + 1, column.offset)
    size = int(places[-1]) if len(places) else 0
    missing = None
    if validity and column.null_count:
        bits = _numbers(validity, np.uint8, (column.offset + column.length + 7) // 8)
        missing = np.unpackbits(bits, bitorder="little")[column.offset : column.offset + column.length] == 0
    return TextBatch(_numbers(data, np.uint8, size), places, missing)


def bounded_batches(
    connection: duckdb.DuckDBPyConnection, table: str, column: str, sizes: npt.NDArray[np.int64], step: int = 1
) -> Iterator[TextBatch]:
    """The texts in a column of a table, or every n-th, no more at once than memory holds: ``sizes`` says how long each
    is."""
    until = np.cumsum(np.maximum(sizes[::step], 0) + 1)
    most = int(until[-1]) if len(until) else 0
    cuts = np.searchsorted(until, np.arange(_AT_ONCE, most, _AT_ONCE))
    places = [0, *dict.fromkeys(cut for cut in cuts.tolist() if 0 < cut < len(until)), len(until)]
    with connection.cursor() as cursor:
        for first, last in pairwise(places):
            rows = f"rowid >= {first * step} and rowid < {last * step}" + (
                f" and rowid % {step} = 0" if step > 1 else ""
            )
            yield from text_batches(cursor, f'select "{column}" from main."{table}" where {rows}')


def _numbers(place: int | None, kind: Any, count: int, first: int = 0) -> npt.NDArray[Any]:
    """Numbers that are somewhere in memory, not copied."""
    if not place or count <= 0:
        return np.empty(0, kind)
    size = np.dtype(kind).itemsize
    return np.frombuffer((ctypes.c_char * (size * count)).from_address(place + size * first), kind)
