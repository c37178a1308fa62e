"""Key columns as 64-bit codes (see ``columnar.numpy_keys``), from decoded values or from columnar blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.columnar.numpy_keys import NumpyBatch
from ragdatakit.columnar.text_codes import codes_of_texts
from ragdatakit.scanner.notes import REFUSED
from ragdatakit.schemas.texts import encodable

if TYPE_CHECKING:
    from ragdatakit.columnar.blocks import ColumnBlock
    from ragdatakit.scanner.blocks import ScannedBlock, ScannedColumn
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
            batch.headed[name] = np.array([i for i, vs in enumerate(column) if vs], np.int64)
            continue
        batch.columns[name] = _codes(column)
        valid = np.array([v is not None for v in column], np.bool_)
        batch.valid[name] = None if valid.all() else valid
        if name in keys.spelled:
            batch.spelled[name] = _spelled_codes(column)
    return batch


def _spelled_codes(column: list[Any]) -> Any:
    from ragdatakit.columnar.string_hash import hash_strings, spelled
    from ragdatakit.files.containers.arrow_columns import string_array

    return hash_strings(spelled(string_array([encodable(v) if isinstance(v, str) else None for v in column])))


def _codes(column: list[Any]) -> Any:
    if any(isinstance(v, str) for v in column):
        return codes_of_texts([v if isinstance(v, str) else None for v in column])
    return np.array([0 if v is None else v for v in column], np.int64).view(np.uint64)


def coded_scan(keys: KeyColumns, scanned: ScannedBlock, values: list[Any]) -> NumpyBatch:
    """Codes of the key columns of a scanned block; ``values`` are the records that the scanner has left open."""
    batch = NumpyBatch(scanned.rows, 0)
    late = coded_values(keys, values) if values else None
    rows = np.array([note[1] for note in scanned.notes if note[0] == REFUSED], np.int64)
    for name in keys.names:
        column = scanned.columns[name]
        if name in keys.item_types:
            _put_items(batch, name, column, late, rows)
            continue
        batch.columns[name], batch.valid[name] = column.codes, None
        if len(column.missing) or late is not None:
            valid = np.ones(scanned.rows, np.bool_)
            valid[column.missing] = False
            if late is not None:
                column.codes[rows] = late.columns[name]
                valid[rows] = True if late.valid[name] is None else late.valid[name]
            batch.valid[name] = None if valid.all() else valid
    return batch


def _put_items(batch: NumpyBatch, name: str, column: ScannedColumn, late: NumpyBatch | None, rows: Any) -> None:
    """The items of a list column, in the order of their records."""
    if late is None:
        batch.lists[name] = (column.codes, column.owners)
        return
    codes, owners = late.lists[name]
    owners = np.concatenate((column.owners, rows[owners]))
    order = np.argsort(owners, kind="stable")
    batch.lists[name] = (np.concatenate((column.codes, codes))[order], owners[order])
    batch.headed[name] = np.union1d(column.owners, rows[late.headed[name]])


def coded_block(keys: KeyColumns, block: ColumnBlock, derive_codes: DeriveCodes) -> NumpyBatch:
    """Codes of the key columns of a clean block; ``derive_codes`` adds the derived ones."""
    batch = NumpyBatch(block.length, 0)
    if block.integers is not None:
        for name in keys.names:
            batch.columns[name] = block.integers[name].view(np.uint64)
            batch.valid[name] = None
        return batch
    import pyarrow as pa
    import pyarrow.compute as pc

    from ragdatakit.columnar.string_hash import hash_columns, hash_strings, spelled
    from ragdatakit.files.containers.arrow_columns import int64_values, mask_of, one_array

    assert block.table is not None
    if any(n.startswith("@") for n in keys.names) and not derive_codes(keys.kind.kind, block.table, batch):
        return coded_values(keys, block.table.to_pylist())
    texts: dict[tuple[str, str], Any] = {}
    owners: dict[str, Any] = {}
    for name in keys.names:
        if name.startswith("@"):
            continue
        column = one_array(block.table, name)
        if pa.types.is_list(column.type):
            owners[name] = int64_values(pc.list_parent_indices(column))
            column = pc.list_flatten(column)
        else:
            batch.valid[name] = None if not column.null_count else mask_of(pc.is_valid(column))
        if pa.types.is_string(column.type):
            texts["plain", name] = column
            if name in keys.spelled:
                texts["spelled", name] = spelled(column)
        else:
            _put(batch, name, _number_codes(column), owners)
    # columns of one length are hashed together: each query has a cost of its own
    same = {key: column for key, column in texts.items() if len(column) == block.length}
    found = hash_columns(same) | {key: hash_strings(texts[key]) for key in texts if key not in same}
    for (way, name), codes in found.items():
        if way == "spelled":
            batch.spelled[name] = codes
        else:
            _put(batch, name, codes, owners)
    return batch


def _put(batch: NumpyBatch, name: str, codes: Any, owners: dict[str, Any]) -> None:
    if name in owners:
        batch.lists[name] = (codes, owners[name])
    else:
        batch.columns[name] = codes


def _number_codes(column: Any) -> Any:
    import pyarrow as pa

    from ragdatakit.files.containers.arrow_columns import int64_values

    if not pa.types.is_integer(column.type):
        return np.zeros(len(column), np.uint64)
    return int64_values(column.fill_null(0) if column.null_count else column).view(np.uint64)
