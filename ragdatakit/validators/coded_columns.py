"""Key columns as codes (see ``arrays.codes``), from decoded values or from blocks that were scanned."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import orjson

from ragdatakit.arrays.codes import Codes, copied, distinct, mix
from ragdatakit.arrays.keys import NumpyBatch
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.scanner.notes import REFUSED
from ragdatakit.validators.python_keys import spelling

if TYPE_CHECKING:
    from ragdatakit.scanner.blocks import ScannedBlock, ScannedColumn
    from ragdatakit.validators.columns import DeriveScanned, KeyColumns

ScannedCodes = tuple[Codes, npt.NDArray[np.bool_] | None]
"""The codes of a column, and which of them are there (None: all)."""


def coded_values(keys: KeyColumns, values: list[Any]) -> NumpyBatch:
    """Codes of Python values, as `KeyColumns.of_values` reads them."""
    plain = keys.of_values(values, 0)
    batch = NumpyBatch(len(values), 0)
    asked: list[tuple[dict[str, Codes], str, list[str | None]]] = []
    for name in keys.names:
        column = plain.columns[name]
        types = set(map(type, column))
        if name in keys.item_types or list in types:
            items = [(i, v) for i, vs in enumerate(column) if vs is not None for v in vs if v is not None]
            codes = _codes([v for _, v in items], keys.item_types.get(name))
            batch.lists[name] = (codes, np.array([i for i, _ in items], np.int64))
            batch.headed[name] = np.array([i for i, vs in enumerate(column) if vs], np.int64)
            continue
        kind = keys.types.get(name)
        if _are_texts(types, kind):
            asked.append((batch.columns, name, _texts(column)))
        else:
            batch.columns[name] = _codes(column, kind)
        batch.valid[name] = None if None not in column else np.array([v is not None for v in column], np.bool_)
        if name in keys.spelled:
            spelled = [spelling(v) if isinstance(v, str) else None for v in column]
            asked.append((batch.spelled, name, spelled))
    at, codes = 0, codes_of_texts([text for _, _, texts in asked for text in texts])  # at once: of few each would cost
    for columns, name, texts in asked:
        columns[name] = codes[at : (at := at + len(texts))]
    return batch


def _are_texts(types: set[type], kind: str | None) -> bool:
    return kind != "integer" and types.isdisjoint((int, bool, tuple))


def _texts(column: list[Any]) -> list[str | None]:
    return [v if isinstance(v, str) else None for v in column]


def _codes(column: list[Any], kind: str | None) -> Codes:
    """Codes of values of this kind, or (None) of what they are; where there are none, those of texts."""
    types = set(map(type, column))
    if _are_texts(types, kind):
        return codes_of_texts(_texts(column))
    if tuple in types:
        width = max(len(v) for v in column if v)
        *heads, last = (codes_of_texts([v[i] if v else "" for v in column]) for i in range(width))
        return functools.reduce(lambda codes, head: mix(head, codes), reversed(heads), last)
    return np.array([0 if v is None else v for v in column] if None in column else column, np.int64).view(np.uint64)


def spell_odd(scanned: ScannedBlock, data: bytes) -> None:
    """Add the codes of the spellings that the scanner has left open in this block."""
    for column in scanned.columns.values():
        if column.odd:
            names = [orjson.loads(data[start:end]) for _, start, end in column.odd]
            column.spelled[[row for row, _, _ in column.odd]] = codes_of_texts([spelling(name) for name in names])


def coded_scan(
    keys: KeyColumns, scanned: ScannedBlock, values: list[Any], derive: DeriveScanned | None = None
) -> NumpyBatch:
    """Codes of the key columns of a scanned block; ``values`` are the records that the scanner has left open,
    ``derive`` makes derived columns of those that were scanned (see `Scanning.derive`)."""
    batch = NumpyBatch(scanned.rows, 0)
    late = coded_values(keys, values) if values else None
    rows = np.array([note[1] for note in scanned.notes if note[0] == REFUSED], np.int64)
    batch.left_open = len(rows)
    given: dict[str, ScannedCodes] = {}
    for name, column in scanned.columns.items():
        if column.is_list:
            _put_items(batch, name, column, late, rows)
            continue
        valid = None
        if len(column.missing):
            valid = np.ones(scanned.rows, np.bool_)
            valid[column.missing] = False
        given[name] = (column.codes, valid)
        if name in keys.spelled:
            batch.spelled[name] = column.spelled
    if derive is not None:
        derive(given, batch)
    for name in keys.names:
        if name in given:
            batch.columns[name], batch.valid[name] = given[name]
        if late is not None and name not in batch.lists:
            if name not in given:  # it may be made of the same codes as another one
                batch.columns[name] = copied(batch.columns[name])
            _put_late(batch, name, late, rows)
    return batch


def _put_late(batch: NumpyBatch, name: str, late: NumpyBatch, rows: Any) -> None:
    """The keys of the records that the scanner has left open."""
    if late.columns[name].dtype == batch.columns[name].dtype:  # else there is none that can be read
        batch.columns[name][rows] = late.columns[name]
    known, valid = late.valid[name], batch.valid[name]
    valid = np.ones(batch.length, np.bool_) if valid is None else valid.copy()
    valid[rows] = True if known is None else known
    batch.valid[name] = None if valid.all() else valid
    if name in batch.spelled:
        batch.spelled[name][rows] = late.spelled[name]


def _put_items(batch: NumpyBatch, name: str, column: ScannedColumn, late: NumpyBatch | None, rows: Any) -> None:
    """The items of a list column, in the order of their records."""
    if late is None or name not in late.lists:
        batch.lists[name] = (column.codes, column.owners)
        return
    codes, owners = late.lists[name]
    if codes.dtype != column.codes.dtype:  # there is none that can be read
        codes, owners = np.empty(0, column.codes.dtype), owners[:0]
    owners = np.concatenate((column.owners, rows[owners]))
    order = np.argsort(owners, kind="stable")
    batch.lists[name] = (np.concatenate((column.codes, codes))[order], owners[order])
    batch.headed[name] = distinct(np.concatenate((column.owners, rows[late.headed[name]])))
