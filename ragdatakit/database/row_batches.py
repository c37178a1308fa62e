"""Rows of canonical tables as batches of columns, whatever is in them: what a column cannot hold is reported, not
raised."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby, islice, pairwise
from pathlib import Path
from typing import Any

from ragdatakit.database.columns import Kind, PackedColumn, Schema, packed, packed_runs
from ragdatakit.files.containers.json_text import HALVES
from ragdatakit.files.paths.boundary import read_listed
from ragdatakit.files.paths.sql_text import sql_text
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import MachineError, RagdataError
from ragdatakit.schemas.texts import as_text, many

_BATCH_ROWS = 8192
_MOST_TEXT, _MOST_IDS = 1 << 25, 1 << 20
"""Characters of the texts in a batch of several rows, as 32-bit offsets of a column end at 2 GiB; and of the ids in a
column of one, from which they are looked at."""
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
        columns = dict(zip(schema, zip(*chunk, strict=True), strict=True))
        repeated, ends = _large(columns, schema)
        for first, last in pairwise(ends):
            yield [
                repeated[name].rows(first, last)
                if name in repeated
                else _column(columns[name][first:last], table, name, kind, losses)
                for name, kind in schema.items()
            ]


def _large(columns: Mapping[str, Sequence[Any]], schema: Schema) -> tuple[dict[str, PackedColumn], list[int]]:
    """Where the texts of some rows are so long that not all of them may be in memory at once: columns of ids that many
    rows share, and after how many rows the batches end whose other texts are few enough. Usually that is one batch."""
    rows = len(next(iter(columns.values())))
    texts = {name: columns[name] for name, kind in schema.items() if kind is Kind.TEXT}
    try:
        sizes = {name: sum(map(len, filter(None, values))) for name, values in texts.items()}
    except TypeError:  # which is reported of the column
        return {}, [0, rows]
    found = {name: _repeated(texts[name], size) for name, size in sizes.items() if name.endswith("_id")}
    repeated = {name: column for name, column in found.items() if column is not None}
    if sum(size for name, size in sizes.items() if name not in repeated) < _MOST_TEXT:
        return repeated, [0, rows]
    ends, size = [0], 0
    others = [values for name, values in texts.items() if name not in repeated]
    for row, own in enumerate(zip(*others, strict=True)):
        size += (more := sum(map(len, filter(None, own))))
        if size > _MOST_TEXT and row > ends[-1]:
            ends.append(row)
            size = more
    return repeated, [*ends, rows]


def _repeated(values: Sequence[str], size: int) -> PackedColumn | None:
    """The column of ids, of so many characters, that are long and mostly those of the row before; None of others."""
    if size < _MOST_IDS or None in values or size < 2 * sum(len(one) for one, _ in groupby(values)):
        return None
    try:
        return packed_runs(values)
    except UnicodeEncodeError:  # which is reported of the column
        return None


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
