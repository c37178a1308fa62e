"""The derived keys of DataMind chunks for whole blocks: the same values as `DataMindChecks.derive`, as codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragdatakit.columnar.string_hash import hash_columns, hash_strings
from ragdatakit.files.containers.arrow_columns import int64_array, scalar, string_array
from ragdatakit.validators.datamind.columns import Mask, Strings, is_text, mask_of, one_array


def fill_keys(table: pa.Table, batch: Any, file_name: str, all_texts: bool) -> bool:
    """Fill a batch's key columns; False where the types of the columns say too little.

    ``all_texts``: texts are compared whether a chunk has an id or not.
    """
    texts = _array(table, "text")
    ids = _array(table, "id")
    sources = _array(table, "source")
    if (
        texts is None
        or not is_text(texts.type)
        or not _is_plain_id(ids)
        or not (sources is None or is_text(sources.type))
    ):
        return False
    kept = ~_blank(texts)
    named = _given_id(ids, table.num_rows) & kept
    _put(batch, {"@v2_id": (_id_texts(ids), named), "@text": (texts, kept if all_texts else named)})
    _put_hashes(batch, texts, sources, kept & ~named, file_name)
    return True


def _array(table: pa.Table, name: str) -> Any:
    if name not in table.column_names:
        return None
    array = one_array(table.column(name))
    return None if pa.types.is_null(array.type) else array


def _is_plain_id(ids: Any) -> bool:
    return ids is None or is_text(ids.type) or bool(pa.types.is_integer(ids.type))


def _blank(texts: Any) -> Mask:
    """Texts that are nothing but white space (as Python strips it)."""
    mask = Strings(texts).edged()
    for row in np.flatnonzero(mask):
        mask[row] = not texts[int(row)].as_py().strip()
    return mask


def _given_id(ids: Any, length: int) -> Mask:
    if ids is None:
        return np.zeros(length, dtype=np.bool_)
    if not is_text(ids.type):
        ids = ids.cast(pa.float64())  # only distinguished from zero
    nothing = scalar("") if is_text(ids.type) else scalar(0.0)
    return mask_of(pc.fill_null(pc.not_equal(ids, nothing), scalar(False)))


def _id_texts(ids: Any) -> Any:
    return ids if ids is None or is_text(ids.type) else ids.cast(pa.string())


def _put(batch: Any, columns: dict[str, tuple[Any, Mask]]) -> None:
    """Codes of the columns, hashed together."""
    codes = hash_columns({n: c for n, (c, valid) in columns.items() if c is not None and valid.any()})
    for name, (_, valid) in columns.items():
        batch.columns[name] = codes.get(name, np.zeros(len(valid), np.uint64))
        if name in codes:
            batch.valid[name] = None if valid.all() else valid
        else:
            batch.valid[name] = np.zeros(len(valid), np.bool_)


def _put_hashes(batch: Any, texts: Any, sources: Any, wanted: Mask, file_name: str) -> None:
    """Codes of source and text, for the chunks of which v2 makes an id."""
    rows = np.flatnonzero(wanted)
    codes = np.zeros(len(wanted), np.uint64)
    if len(rows):
        some = texts.take(int64_array(rows))
        if Strings(some).edged().any():
            some = string_array([text.strip() for text in some.to_pylist()])
        names: Any = scalar(file_name)
        if sources is not None:
            given = sources.take(int64_array(rows))
            names = pc.if_else(pc.fill_null(pc.not_equal(given, scalar("")), scalar(False)), given, scalar(file_name))
        codes[rows] = hash_strings(pc.binary_join_element_wise(names, some, "\0"))
    batch.columns["@v2_hash"] = codes
    batch.valid["@v2_hash"] = wanted
