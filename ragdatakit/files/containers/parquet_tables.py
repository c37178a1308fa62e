"""Parquet files, opened within their boundary; what is wrong with one is a `RagdataError`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile


@contextmanager
def opened_parquet(file: DataFile) -> Iterator[Any]:
    """A `pyarrow.parquet.ParquetFile`. What fails while it is read is raised as `RagdataError`, too."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with file.boundary.open(file.path) as stream, pq.ParquetFile(stream) as parquet:
            yield parquet
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split("\n", 1)[0].split())[:200]
        raise RagdataError(f"{file.display}: no Parquet file that can be read: {reason}") from None


def row_count(file: DataFile) -> int:
    """How many rows a Parquet file has, as its footer says. Raises `RagdataError` where there is none."""
    with opened_parquet(file) as parquet:
        return int(parquet.metadata.num_rows)
