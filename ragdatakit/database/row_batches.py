"""Rows of canonical tables as Arrow batches, whatever is in them: what a column cannot hold is reported, not raised."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.json_text import HALVES
from ragdatakit.files.paths.boundary import read_listed
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import MachineError, RagdataError
from ragdatakit.schemas.texts import as_text, many

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_ROWS = 8192
_BATCH_CHARACTERS = 1 << 25  # beyond it 64 rows at a time: 32-bit offsets of a column end at 2 GiB
_SMALL = 1000
"""Rows of which arrays are made without pandas, whose import takes longer than all else in a small run."""
_MOST_CONTENT = 1 << 20
"""Bytes of a file (an image, a skill) that are taken into a database."""


def arrow_schema(table: str) -> pa.Schema:
    """The Arrow types of a table's columns: text, int64, float64, lists of text, bytes."""
    import pyarrow as pa

    kinds = {
        str: pa.string(),
        int: pa.int64(),
        float: pa.float64(),
        bytes: pa.large_binary(),
        tuple: pa.list_(pa.string()),
    }
    fields = []
    for name, hint in typing.get_type_hints(TABLES[table].row).items():
        options = typing.get_args(hint) if typing.get_origin(hint) is not tuple else (tuple,)
        first = next((k for k in kinds if k is hint or k in options), str)
        fields.append(pa.field(name, kinds[first]))
    return pa.schema(fields)


def row_batches(table: str, rows: Iterator[Any], losses: Losses | None) -> Iterator[pa.RecordBatch]:
    """The rows as batches of at most 8,192 rows. Where reading fails, what was read stays; the rest is reported.

    Half characters (lone surrogates) become U+FFFD, integers beyond 64 bits and the contents of files of more than a
    mebibyte NULL; each is counted in ``losses``. Without them nothing is given up: `RagdataError` is raised instead.
    """
    import pyarrow as pa

    schema = arrow_schema(table)
    told = _told(table, rows, losses) if losses is not None else rows
    while chunk := list(islice(told, _BATCH_ROWS)):
        step = _BATCH_ROWS if _is_light(chunk) else 64
        for first in range(0, len(chunk), step):
            columns = zip(*chunk[first : first + step], strict=True)
            arrays = [_array(list(values), table, field, losses) for values, field in zip(columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _is_light(rows: list[Any]) -> bool:
    """Whether a batch of these rows is small enough for Arrow's offsets and for memory."""
    return sum(len(v) for row in rows for v in row if isinstance(v, str)) < _BATCH_CHARACTERS


def _told(table: str, rows: Iterator[Any], losses: Losses) -> Iterator[Any]:
    read = 0
    try:
        for row in rows:
            read += 1
            yield row
        return
    except MachineError:
        raise
    except RagdataError as error:
        why = str(error)
    except RecursionError:
        why = "values are nested too deeply"
    how = f"it could not be read further than {many(read, 'record')}" if read else "it could not be read"
    losses.add("dropped", table, None, f"{how}: {why}", unread=True)


def _array(values: list[Any], table: str, field: pa.Field, losses: Losses | None) -> pa.Array:
    import pyarrow as pa

    from ragdatakit.files.containers.arrow_columns import small_array

    if field.name == "content":
        values = [_content(v, table, losses) for v in values]
    try:
        return small_array(values, field.type) if len(values) <= _SMALL else pa.array(values, field.type)
    except (OverflowError, UnicodeEncodeError, TypeError, ValueError) as error:  # Arrow's errors are ValueErrors
        if losses is None:
            told = f"{table}.{field.name} has a value that is not of type {field.type}: {error}"
            raise RagdataError(f"{told}; take its rows instead") from None
        return pa.array([_mended(v, table, field, losses) for v in values], field.type)


def _content(value: bytes | Path | None, table: str, losses: Losses | None) -> bytes | None:
    if not isinstance(value, Path):
        return value
    if losses is None:
        return read_listed(value)
    try:
        if value.stat().st_size <= _MOST_CONTENT:
            return read_listed(value)
        why = "a file of more than a mebibyte is not taken into the database"
    except OSError as error:
        why = f"the file cannot be read: {error.strerror}"
    losses.add("lost", table, "content", why, value.name)
    return None


def _mended(value: Any, table: str, field: pa.Field, losses: Losses) -> Any:
    import pyarrow as pa

    try:
        pa.array([value], field.type)
    except (OverflowError, UnicodeEncodeError, TypeError, ValueError):
        pass
    else:
        return value
    if isinstance(value, str):
        losses.add("coerced", table, field.name, HALVES, value)
        return as_text(value)
    if isinstance(value, tuple | list):
        losses.add("coerced", table, field.name, HALVES, value)
        return [as_text(str(item)) for item in value]
    losses.add("lost", table, field.name, f"it is not of type {field.type}", value)
    return None
