"""Key columns as 64-bit codes (see ``tables.numpy_keys``), from decoded values or from columnar blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragdatakit.tables.columnar import ColumnBlock
from ragdatakit.tables.numpy_keys import NumpyBatch
from ragdatakit.tables.string_hash import hash_strings

if TYPE_CHECKING:
    from ragdatakit.validators.columns import DeriveCodes, KeyColumns


def coded_values(keys: KeyColumns, values: list[Any]) -> NumpyBatch:
    """Codes of Python values, as `KeyColumns.of_values` reads them."""
    plain = keys.of_values(values, 0)
    batch = NumpyBatch(len(values), 0)
    for name in keys.names:
        column = plain.columns[name]
        if name in keys.item_types or any(isinstance(v, list) for v in column):
            items = [(i, v) for i, vs in enumerate(column) if vs is not None for v in vs if v is not None]
            codes = _codes([v for _, v in items])
            batch.lists[name] = (codes, np.array([i for i, _ in items], np.int64))
        else:
            batch.columns[name] = _codes(column)
            valid = np.array([v is not None for v in column], np.bool_)
            batch.valid[name] = None if valid.all() else valid
            if keys.types.get(name) == "string":
                batch.texts[name] = pa.array([_encodable(v) for v in column], pa.string())
    return batch


def _codes(column: list[Any]) -> Any:
    if any(isinstance(v, str) for v in column):
        return hash_strings(pa.array([_encodable(v) for v in column], pa.string()))
    return np.array([0 if v is None else v for v in column], np.int64).view(np.uint64)


def _encodable(value: Any) -> str | None:
    """A text without the lone surrogates that Arrow cannot hold."""
    if not isinstance(value, str):
        return None
    return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")


def coded_block(keys: KeyColumns, block: ColumnBlock, derive_codes: DeriveCodes) -> NumpyBatch:
    """Codes of the key columns of a clean block; ``derive_codes`` adds the derived ones."""
    batch = NumpyBatch(block.length, 0)
    if block.integers is not None:
        for name in keys.names:
            batch.columns[name] = block.integers[name].view(np.uint64)
            batch.valid[name] = None
        return batch
    assert block.table is not None
    if any(n.startswith("@") for n in keys.names) and not derive_codes(keys.kind.kind, block.table, batch):
        return coded_values(keys, block.table.to_pylist())
    for name in keys.names:
        if name.startswith("@"):
            continue
        if name not in block.table.column_names:
            batch.columns[name] = np.zeros(block.length, np.uint64)
            batch.valid[name] = np.zeros(block.length, np.bool_)
            batch.texts[name] = pa.nulls(block.length, pa.string())
            continue
        column = block.table.column(name).combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0) if column.num_chunks else pa.nulls(0, column.type)
        if pa.types.is_list(column.type):
            owners = pc.list_parent_indices(column)
            items = pc.list_flatten(column)
            batch.lists[name] = (_column_codes(items), _int64(owners))
        else:
            batch.columns[name] = _column_codes(column)
            batch.valid[name] = None if not column.null_count else _mask(column)
            if pa.types.is_string(column.type):
                batch.texts[name] = column
    return batch


def _mask(column: Any) -> Any:
    return np.frombuffer(pc.is_valid(column).cast(pa.uint8()).buffers()[1], np.uint8)[: len(column)].astype(np.bool_)


def _int64(array: Any) -> Any:
    array = array.cast(pa.int64())
    return np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array)]


def _column_codes(column: Any) -> Any:
    if pa.types.is_null(column.type):
        return np.zeros(len(column), np.uint64)
    if pa.types.is_integer(column.type):
        return _int64(column.fill_null(0) if column.null_count else column).view(np.uint64)
    return hash_strings(column)
