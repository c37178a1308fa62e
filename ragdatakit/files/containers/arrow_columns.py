"""Small conversions between Arrow arrays, numpy and Python lists that do not import pandas (as pyarrow's own do)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def string_array(values: Sequence[str | None]) -> Any:
    """A string column; texts must be encodable."""
    encoded = [b"" if v is None else v.encode() for v in values]
    offsets = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum([len(e) for e in encoded], out=offsets[1:])
    missing = any(v is None for v in values)
    valid = np.packbits([v is not None for v in values], bitorder="little") if missing else None
    buffers = [
        pa.py_buffer(valid) if valid is not None else None,
        pa.py_buffer(offsets),
        pa.py_buffer(b"".join(encoded)),
    ]
    return pa.StringArray.from_buffers(len(encoded), buffers[1], buffers[2], buffers[0])


def int64_values(array: Any) -> npt.NDArray[np.int64]:
    """The values of a column of 64-bit integers without nulls."""
    values = np.frombuffer(array.buffers()[1], np.int64)
    return values[array.offset : array.offset + len(array)]


def small_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """What ``pa.array(values, kind)`` gives of texts, bytes, numbers and lists of texts, which imports pandas.

    Raises `UnicodeEncodeError` for texts that cannot be encoded, `OverflowError` for integers that the type does not
    hold, `TypeError` for values of another type.
    """
    if all(value is None for value in values):
        return pa.nulls(len(values), kind)
    if pa.types.is_string(kind):
        return string_array(_only(str, values))
    if pa.types.is_list(kind):
        lists = _only((list, tuple), values)
        counts = [0 if items is None else len(items) for items in lists]
        offsets = pa.py_buffer(np.concatenate(([0], np.cumsum(counts))).astype(np.int32))
        inner = string_array(_only(str, [item for items in lists for item in items or ()]))
        return pa.ListArray.from_buffers(kind, len(lists), [_valid(lists), offsets], children=[inner])
    if pa.types.is_large_binary(kind):
        contents = [b"" if content is None else content for content in _only(bytes, values)]
        offsets = pa.py_buffer(np.concatenate(([0], np.cumsum([len(c) for c in contents]))).astype(np.int64))
        buffers = [_valid(values), offsets, pa.py_buffer(b"".join(contents))]
        return pa.Array.from_buffers(kind, len(values), buffers)
    wanted, dtype = (int, np.int64) if pa.types.is_integer(kind) else ((int, float), np.float64)
    given = [0 if number is None else number for number in _only(wanted, values)]
    if dtype is np.float64 and any(type(number) is int and abs(number) > 1 << 53 for number in given):
        raise OverflowError("an integer that no float holds")
    numbers = np.array(given, dtype)
    return pa.Array.from_buffers(kind, len(values), [_valid(values), pa.py_buffer(numbers)])


def _only(kind: Any, values: Sequence[Any]) -> Sequence[Any]:
    if not all(value is None or (isinstance(value, kind) and type(value) is not bool) for value in values):
        raise TypeError
    return values


def _valid(values: Sequence[Any]) -> pa.Buffer | None:
    """The bits of the values that are there; None where all are."""
    there = [value is not None for value in values]
    return None if all(there) else pa.py_buffer(np.packbits(there, bitorder="little"))


def offsets_of(array: Any) -> npt.NDArray[np.int32]:
    """Where each text of a string column begins in its bytes, and where the last one ends."""
    offsets: npt.NDArray[np.int32] = np.frombuffer(array.buffers()[1], np.int32)
    return offsets[array.offset : array.offset + len(array) + 1]
