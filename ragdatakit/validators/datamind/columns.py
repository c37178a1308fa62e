"""Rows of big blocks that want a closer look, found column by column: supersets of what the record checks report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragdatakit.files.containers import arrow_columns
from ragdatakit.files.containers.arrow_columns import scalar
from ragdatakit.validators.datamind.chunks import FORBIDDEN_KEYS, SHORT_CHARACTERS, WINDOW_BYTES, taken_keys
from ragdatakit.validators.datamind.tallies import Trait
from ragdatakit.validators.datamind.triples import ENTITY_PROPERTIES, NAMES, UNUSED_FIELDS

Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

# The characters beyond ASCII that Python's str.strip() takes away, by the number of their UTF-8 bytes.
_WIDE_BLANKS = {
    2: "\x85\xa0",
    3: "\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
}


def chunk_candidates(table: pa.Table) -> Rows:
    """Chunks that `chunk_problems` may have a word on."""
    names = table.column_names
    mask = np.zeros(table.num_rows, dtype=np.bool_)
    if "text" in names:
        texts = Strings(table.column("text"))
        mask |= texts.edged() | (texts.sizes() < 4 * SHORT_CHARACTERS) | (texts.sizes() > WINDOW_BYTES)
    if "image_path" in names:
        mask |= _given(table, "image_path")
    if "modality" in names:
        mask |= _true(pc.not_equal(table.column("modality"), scalar("text")))
    if "source" in names and not is_text(table.schema.field("source").type):
        mask |= _given(table, "source")
    if "metadata" in names and not _check_metadata(table.column("metadata"), mask):
        return np.arange(table.num_rows)
    return np.flatnonzero(mask)


def triple_candidates(table: pa.Table) -> Rows:
    """Triples that `triple_problems` may have a word on."""
    names = table.column_names
    mask = np.zeros(table.num_rows, dtype=np.bool_)
    for name in NAMES:
        if name in names:
            mask |= Strings(table.column(name)).edged()
    if "subject" in names and "object" in names:
        mask |= _true(pc.equal(table.column("subject"), table.column("object")))
    for name in ENTITY_PROPERTIES:
        if name in names:
            mask |= _given(table, name)
    return np.flatnonzero(mask)


def given_rows(table: pa.Table, fields: Iterable[str]) -> Mask:
    """Rows in which at least one of the fields has a value."""
    mask = np.zeros(table.num_rows, dtype=np.bool_)
    for name in fields:
        if name in table.column_names:
            mask |= _given(table, name)
    return mask


def _check_metadata(column: pa.ChunkedArray, mask: Mask) -> bool:
    """Mark the rows whose metadata is not plain; False where the column's type says nothing about them."""
    kind = column.type
    if pa.types.is_null(kind):
        return True
    if not pa.types.is_struct(kind):
        return False
    array = one_array(column)
    present = mask_of(array.is_valid())
    for index in range(kind.num_fields):
        child = kind.field(index)
        values = pc.struct_field(array, index)
        if child.name in FORBIDDEN_KEYS or pa.types.is_nested(child.type):
            mask |= mask_of(values.is_valid())
        # In a struct, a null may be a key that is not there.
        if values.null_count:
            mask |= mask_of(values.is_null()) & present
        if pa.types.is_floating(child.type):
            mask |= ~_true(pc.less(pc.abs(values), scalar(2.0**63))) & mask_of(values.is_valid())
    return True


class Strings:
    """The bytes of a string column."""

    def __init__(self, column: Any) -> None:
        array = one_array(column)
        self._rows = len(array)
        self._offsets: Any
        self._bytes: Any
        self._valid = None if not array.null_count else mask_of(array.is_valid())
        if not is_text(array.type) or not self._rows:
            self._offsets = np.zeros(self._rows + 1, dtype=np.int64)
            self._bytes = np.zeros(0, dtype=np.uint8)
            return
        width = np.int64 if pa.types.is_large_string(array.type) else np.int32
        _, offsets, data = array.buffers()
        first = array.offset
        self._offsets = np.frombuffer(offsets, dtype=width)[first : first + self._rows + 1]
        self._bytes = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)

    def sizes(self) -> Any:
        """Length of each text in bytes."""
        return np.diff(self._offsets)

    def edged(self) -> Mask:
        """Rows that are empty, or start or end with white space."""
        start, end = self._offsets[:-1], self._offsets[1:]
        mask: Mask = start == end
        filled = np.flatnonzero(~mask)
        if len(filled):
            heads, lasts = self._bytes[start[filled]], self._bytes[end[filled] - 1]
            mask[filled[(heads <= 0x20) | (lasts <= 0x20)]] = True
            wide = filled[(heads >= 0xC2) | (lasts >= 0x80)]
            for size, blanks in _WIDE_BLANKS.items():
                rows = wide[end[wide] - start[wide] >= size]
                codes = _codes([c.encode() for c in blanks])
                found = np.isin(self._joined(start[rows], size), codes) | np.isin(
                    self._joined(end[rows] - size, size), codes
                )
                mask[rows[found]] = True
        return mask if self._valid is None else mask & self._valid

    def _joined(self, start: Any, size: int) -> Any:
        """The ``size`` bytes from each offset as one number."""
        result = self._bytes[start].astype(np.uint32)
        for step in range(1, size):
            result = (result << np.uint32(8)) | self._bytes[start + step]
        return result


def _codes(characters: list[bytes]) -> Any:
    return np.array([int.from_bytes(c, "big") for c in characters], np.uint32)


def one_array(column: Any) -> Any:
    """A column in one piece."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def is_text(kind: pa.DataType) -> bool:
    """Whether a column is one of strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _given(table: pa.Table, name: str) -> Mask:
    return mask_of(table.column(name).is_valid())


def _true(values: Any) -> Mask:
    return mask_of(pc.fill_null(values, scalar(False)))


def mask_of(values: Any) -> Mask:
    """An Arrow column of booleans without nulls as a mask that may be written to."""
    return arrow_columns.mask_of(one_array(values))


def column_traits(kind: str, table: pa.Table, looked_at: Rows, file_name: str) -> Counter[Trait]:
    """What the rows that are not candidates give to the tallies; the others are counted one by one."""
    rest = np.ones(table.num_rows, dtype=np.bool_)
    rest[looked_at] = False
    counts: Counter[Trait] = Counter()
    if kind == "chunks":
        _count(counts, ("unused-id-or-source", ""), given_rows(table, ("id", "source")) & rest)
        _count_keys(counts, table, rest, file_name)
    else:
        _count(counts, ("unused-entity-properties", ""), given_rows(table, ENTITY_PROPERTIES) & rest)
        for field, rule in UNUSED_FIELDS.items():
            _count(counts, (rule, ""), given_rows(table, (field,)) & rest)
    return counts


def _count(counts: Counter[Trait], trait: Trait, mask: Mask) -> None:
    number = int(np.count_nonzero(mask))
    if number:
        counts[trait] += number


def _count_keys(counts: Counter[Trait], table: pa.Table, rest: Mask, file_name: str) -> None:
    if "metadata" not in table.column_names or not pa.types.is_struct(table.schema.field("metadata").type):
        return
    column = table.column("metadata")
    array = one_array(column)
    for index, child in enumerate(array.type):
        values = pc.struct_field(array, index)
        for rule, key in taken_keys({child.name: None}, None, ""):
            mask = mask_of(values.is_valid()) & rest
            if key == "source" and rule == "reserved-metadata-key":
                mask &= ~_same_source(values, table, file_name)
            _count(counts, (rule, key), mask)


def _same_source(values: Any, table: pa.Table, file_name: str) -> Mask:
    """Rows whose metadata has the source that v2 writes there."""
    if not is_text(values.type):
        return np.zeros(table.num_rows, dtype=np.bool_)
    if "source" not in table.column_names or not is_text(table.schema.field("source").type):
        return _true(pc.equal(values, scalar(file_name)))
    source = table.column("source").combine_chunks()
    source = pc.if_else(pc.equal(source, scalar("")), pa.nulls(len(source), pa.string()), source)
    return _true(pc.equal(values, pc.fill_null(source, scalar(file_name))))
