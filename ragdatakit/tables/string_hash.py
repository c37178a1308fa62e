"""64-bit hashes of Arrow string columns, computed by DuckDB at memory speed (3 GB/s), thread by thread."""

from __future__ import annotations

import threading
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

_local = threading.local()
_NOT_NEEDED = (
    "join_order,filter_pushdown,statistics_propagation,expression_rewriter,regex_range,deliminator,unused_columns,"
    "column_lifetime,common_subexpressions,common_aggregate,top_n,build_side_probe_side,compressed_materialization,"
    "reorder_filter,duplicate_groups,limit_pushdown"
)


def _connection() -> duckdb.DuckDBPyConnection:
    if not hasattr(_local, "connection"):
        _local.connection = duckdb.connect(
            config={"threads": 1, "autoinstall_known_extensions": False, "autoload_known_extensions": False}
        )
        # Planning costs more than hashing a block: switch off what such a query cannot need (measured: -40 %).
        _local.connection.execute(f"set disabled_optimizers = '{_NOT_NEEDED}'")
    connection: duckdb.DuckDBPyConnection = _local.connection
    return connection


def _hash(column: Any, expression: str) -> npt.NDArray[np.uint64]:
    connection = _connection()
    connection.register("block", pa.table({"text": column}))
    result = connection.execute(f"select {expression} as code from block").fetchnumpy()["code"]
    codes: npt.NDArray[np.uint64] = np.ma.filled(result, 0)
    return codes


def hash_strings(column: Any) -> npt.NDArray[np.uint64]:
    """A code for each text (nulls give some code: mask them)."""
    return _hash(column, "hash(text)")


def hash_spellings(column: Any) -> npt.NDArray[np.uint64]:
    """A code for each name that spelling (case, Unicode form, quote marks, white space) does not change."""
    import pyarrow.compute as pc

    from ragdatakit.tables.python_keys import spelling

    encoded = pc.dictionary_encode(column)
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    names = [None if n is None else spelling(n) for n in encoded.dictionary.to_pylist()]
    codes = hash_strings(pa.array(names, pa.string()))
    indices = encoded.indices
    if indices.null_count:
        indices = indices.fill_null(0)
    if not len(codes):
        return np.zeros(len(indices), np.uint64)
    positions = np.frombuffer(indices.buffers()[1], np.int32)[indices.offset : indices.offset + len(indices)]
    return codes[positions]
