"""Texts that a query gives, as they lie in memory: read through Arrow's C interface, so that no text becomes an object
of Python's."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ragdatakit.database.arrow_streams import GivenStream

if TYPE_CHECKING:
    import duckdb

_SHORT_OFFSETS = b"u"


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Texts one behind the other in ``data``, between ``offsets``; ``missing`` marks those that are not there (None:
    all are). They are valid until the next batch is asked for."""

    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int32]
    missing: npt.NDArray[np.bool_] | None


def text_batches(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[TextBatch]:
    """The texts in the only column of a query. DuckDB gives a hundred thousand at once: ask for no more than memory
    holds."""
    stream = GivenStream(connection.sql(query).__arrow_c_stream__())
    for array in stream.arrays(_SHORT_OFFSETS):
        (column,) = array.children_of()
        validity, offsets, data = column.buffers_of()
        places = _numbers(offsets, np.int32, column.length + 1, column.offset)
        size = int(places[-1]) if len(places) else 0
        missing = None
        if validity and column.null_count:
            bits = _numbers(validity, np.uint8, (column.offset + column.length + 7) // 8)
            missing = np.unpackbits(bits, bitorder="little")[column.offset : column.offset + column.length] == 0
        yield TextBatch(_numbers(data, np.uint8, size), places, missing)


def _numbers(place: int | None, kind: Any, count: int, first: int = 0) -> npt.NDArray[Any]:
    """Numbers that are somewhere in memory, not copied."""
    if not place or count <= 0:
        return np.empty(0, kind)
    size = np.dtype(kind).itemsize
    return np.frombuffer((ctypes.c_char * (size * count)).from_address(place + size * first), kind)
