"""64-bit codes of Arrow string columns: by the compiled scanner, or without it by DuckDB, thread by thread."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, TypeVar

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ragdatakit.files.containers.arrow_columns import offsets_of
from ragdatakit.scanner.library import library

_MOST_SHARED = 100_000
"""Rows after which a connection stays with its thread, and goes with it: DuckDB keeps memory of what it has hashed."""
_idle: deque[_Hasher] = deque()
"""Those that no thread uses now: to open one takes longer than to hash a block, and each file has its own threads."""
_local = threading.local()
_NOT_NEEDED = (
    "join_order,filter_pushdown,statistics_propagation,expression_rewriter,regex_range,deliminator,unused_columns,"
    "column_lifetime,common_subexpressions,common_aggregate,top_n,build_side_probe_side,compressed_materialization,"
    "reorder_filter,duplicate_groups,limit_pushdown"
)


class _Hasher:
    """A connection, and how many rows it has hashed."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(
            config={"threads": 1, "autoinstall_known_extensions": False, "autoload_known_extensions": False}
        )
        # Planning costs more than hashing a block: switch off what such a query cannot need (measured: -40 %).
        self.connection.execute(f"set disabled_optimizers = '{_NOT_NEEDED}'")
        self.rows = 0


def _taken() -> _Hasher:
    """That of this thread, or one that nobody uses, or a new one."""
    own: _Hasher | None = _local.__dict__.pop("hasher", None)
    if own is not None:
        return own
    try:
        return _idle.pop()
    except IndexError:
        return _Hasher()


def _give_back(hasher: _Hasher, rows: int) -> None:
    hasher.rows += rows
    if hasher.rows < _MOST_SHARED:
        _idle.append(hasher)
    else:
        _local.hasher = hasher


Name = TypeVar("Name")


def hash_expression(column: str) -> str:
    """The code of a text, in SQL."""
    # DuckDB's hash takes texts for equal that differ only at the ends of two 8-byte words, once in 256 times; with the
    # same text moved by half a word as a second argument, what is weak in one is strong in the other.
    return f"hash({column}, 'abcd' || {column})"


def hash_columns(columns: dict[Name, Any]) -> dict[Name, npt.NDArray[np.uint64]]:
    """A code for each text of each column (nulls give some code: mask them).

    Those of the scanner are the ones that it gives the keys of the blocks it reads; another process has others.
    """
    if not columns:
        return {}
    if library() is not None:
        return {n: _scanner_codes(column) for n, column in columns.items()}
    return _hashed(columns)


def _scanner_codes(column: Any) -> npt.NDArray[np.uint64]:
    from ragdatakit.scanner.blocks import text_codes

    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if column.type != pa.string():
        column = column.cast(pa.string())
    if not len(column):
        return np.empty(0, np.uint64)
    return text_codes(column.buffers()[2], offsets_of(column))


def _hashed(columns: dict[Name, Any]) -> dict[Name, npt.NDArray[np.uint64]]:
    """The same by DuckDB, in one query for all."""
    hasher = _taken()
    names = list(columns)
    # The query finds it by this name: to register it, and to forget it again, would take as long as the query.
    block = pa.table({f"c{i}": columns[n] for i, n in enumerate(names)})
    wanted = ", ".join(f"{hash_expression(f'c{i}')} as c{i}" for i in range(len(names)))
    result = hasher.connection.execute(f"select {wanted} from block").fetchnumpy()
    _give_back(hasher, len(block))  # not after an error, which may leave it in any state
    return {n: np.ma.filled(result[f"c{i}"], 0) for i, n in enumerate(names)}


def hash_strings(column: Any) -> npt.NDArray[np.uint64]:
    """A code for each text (nulls give some code: mask them)."""
    return hash_columns({"text": column})["text"]
