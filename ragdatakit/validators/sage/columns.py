"""The ids of SAGE documents for whole blocks: the same values as `document_id`, as codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragdatakit.columnar.string_hash import hash_strings
from ragdatakit.files.containers.arrow_columns import mask_of, one_array


def fill_ids(table: pa.Table, batch: Any) -> bool:
    """Fill the batch's column of ids; False where the type of the column says too little."""
    if "id" not in table.column_names:
        return _put(batch, np.zeros(table.num_rows, np.uint64), np.zeros(table.num_rows, np.bool_))
    ids = one_array(table, "id")
    if pa.types.is_null(ids.type):
        return _put(batch, np.zeros(len(ids), np.uint64), np.zeros(len(ids), np.bool_))
    if pa.types.is_integer(ids.type):
        ids = ids.cast(pa.string())
    if not pa.types.is_string(ids.type):
        return False
    return _put(batch, hash_strings(ids), mask_of(pc.is_valid(ids)))


def _put(batch: Any, codes: Any, valid: Any) -> bool:
    batch.columns["@id"] = codes
    batch.valid["@id"] = None if valid.all() else valid
    return True
