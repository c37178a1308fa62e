"""Rows of canonical tables as batches of columns, whatever is in them: what a column cannot hold is reported, not
raised."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from ragdatakit.database.columns import Kind, PackedColumn, Schema, packed
from ragdatakit.files.containers.json_text import HALVES
from ragdatakit.files.paths.boundary import read_listed
from ragdatakit.files.paths.sql_text import sql_text
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import MachineError, RagdataError
from ragdatakit.schemas.texts import as_text, many

_BATCH_ROWS = 8192
_STEPS = ((1 << 25, _BATCH_ROWS), (1 << 27, _BATCH_ROWS // 8))
"""Up to so many characters of a batch so many rows at a time: 32-bit offsets of a column end at 2 GiB."""
_LEAST_STEP = 64
_MOST_CONTENT = 1 << 20
"""Bytes of a file (an image, a skill) that are taken into a database."""


_KINDS = {str: Kind.TEXT, int: Kind.INTEGER, float: Kind.NUMBER, bytes: Kind.BYTES, tuple: Kind.TEXTS}


@cache
def schema_of(table: str) -> Schema:
    """The kinds of a table's columns: texts, integers, numbers, lists of texts, bytes."""
    found = {}
    for name, hint in typing.get_type_hints(TABLES[table].row).items():
        options = typing.get_args(hint) if typing.get_origin(hint) is not tuple else (tuple,)
        found[name] = _KINDS[next((k for k in _KINDS if k is hint or k in options), str)]
    return found


def canonical_columns(table: str, given: Iterable[str]) -> str:
    """The columns of a canonical table for a ``select`` that is given some of them; the others have what they usually
    have."""
    wanted = set(given)
    usual = TABLES[table].row._field_defaults
    return ", ".join(
        name if name in wanted else f"{_literal(usual[name])}::{_TYPES[kind]} as {name}"
        for name, kind in schema_of(table).items()
    )


_TYPES = {Kind.TEXT: "varchar", Kind.INTEGER: "bigint", Kind.NUMBER: "double", Kind.TEXTS: "varchar[]"}


def _literal(value: object) -> str:
    return (
        "null" if value is None else "[]" if value == () else sql_text(value) if isinstance(value, str) else str(value)
    )


def row_batches(table: str, rows: Iterator[Any], losses: Losses | None) -> Iterator[list[PackedColumn]]:
    """The rows as batches of at most 8,192 rows. Where reading fails, what was read stays; the rest is reported.

    Half characters (lone surrogates) become U+FFFD, integers beyond 64 bits and the contents of files of more than a
    mebibyte NULL; each is counted in ``losses``. Without them nothing is given up: `RagdataError` is raised instead.
    """
    schema = schema_of(table)
    readable = _accounted(table, rows, losses) if losses is not None else rows
    while chunk := list(islice(readable, _BATCH_ROWS)):
        columns = list(zip(*chunk, strict=True))
        step = _step(columns, schema)
        for first in range(0, len(chunk), step):
            yield [
                _column(values[first : first + step], table, name, kind, losses)
                for values, (name, kind) in zip(columns, schema.items(), strict=True)
            ]


def _step(columns: Sequence[Sequence[Any]], schema: Schema) -> int:
    """How many rows of these columns are few enough for their offsets and for memory."""
    texts = [c for c, kind in zip(columns, schema.values(), strict=True) if kind is Kind.TEXT]
    try:
        size = sum(sum(map(len, filter(None, values))) for values in texts)
    except TypeError:  # which is reported of the column
        return _BATCH_ROWS
    return next((step for most, step in _STEPS if size < most), _LEAST_STEP)


def _accounted(table: str, rows: Iterator[Any], losses: Losses) -> Iterator[Any]:
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


def _column(values: Sequence[Any], table: str, name: str, kind: Kind, losses: Losses | None) -> PackedColumn:
    if name == "content":
        values = [_content(v, table, losses) for v in values]
    try:
        return packed(kind, values)
    except (OverflowError, UnicodeEncodeError, TypeError) as error:
        if losses is None:
            reason = f"{table}.{name} has a value that is not of type {kind}: {error}"
            raise RagdataError(f"{reason}; take its rows instead") from None
        return packed(kind, [_mended(v, table, name, kind, losses) for v in values])


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


def _mended(value: Any, table: str, name: str, kind: Kind, losses: Losses) -> Any:
    try:
        packed(kind, [value])
    except (OverflowError, UnicodeEncodeError, TypeError):
        pass
    else:
        return value
    if isinstance(value, str):
        losses.add("coerced", table, name, HALVES, value)
        return as_text(value)
    if isinstance(value, tuple | list):
        losses.add("coerced", table, name, HALVES, value)
        return [as_text(str(item)) for item in value]
    losses.add("lost", table, name, f"it is not of type {kind}", value)
    return None
