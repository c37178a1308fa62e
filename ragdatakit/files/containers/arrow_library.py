"""pyarrow, which the extra ``parquet`` brings: for Parquet files that DuckDB does not read or write as we mean it, and
for those who want Arrow tables."""

from __future__ import annotations

from typing import Any

from ragdatakit.schemas.errors import MissingExtraError


def arrow_library() -> Any:
    """The module ``pyarrow``. Raises `MissingExtraError` where it is not installed."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("parquet", "pyarrow") from None
    return pa


def parquet_library() -> Any:
    """The module ``pyarrow.parquet``. Raises `MissingExtraError` where it is not installed."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("parquet", "pyarrow") from None
    return pq
