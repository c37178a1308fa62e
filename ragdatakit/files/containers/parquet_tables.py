"""Parquet files, opened within their boundary; what is wrong with one is a `RagdataError`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.schemas.errors import RagdataError

_ROWS = 1024
"""How many rows become Python values together."""
_NAN = "NaN"


@contextmanager
def opened_parquet(path: Path, boundary: Boundary, buffer_size: int = 0) -> Iterator[Any]:
    """A `pyarrow.parquet.ParquetFile`. What fails while it is read is raised as `RagdataError`, too.

    With a ``buffer_size`` columns are read in pieces of so many bytes, and not as wholes.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with boundary.open(path) as stream, pq.ParquetFile(stream, buffer_size=buffer_size) as parquet:
            yield parquet
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split("\n", 1)[0].split())[:200]
        raise RagdataError(f"{path}: no Parquet file that can be read: {reason}") from None


def rows_as_json(path: Path, boundary: Boundary) -> Iterator[bytes]:
    """The rows as JSON objects; NaN is a text in them. Raises `RagdataError` where they cannot be read."""
    import msgspec

    encode = msgspec.json.Encoder(enc_hook=str).encode
    with opened_parquet(path, boundary) as parquet:
        for batch in parquet.iter_batches(_ROWS):
            columns = [[_NAN if value != value else value for value in column.to_pylist()] for column in batch.columns]
            for values in zip(*columns, strict=True):
                yield encode(dict(zip(batch.schema.names, values, strict=True)))


def row_count(path: Path, boundary: Boundary) -> int:
    """How many rows a Parquet file has, as its footer says. Raises `RagdataError` where there is none."""
    with opened_parquet(path, boundary) as parquet:
        return int(parquet.metadata.num_rows)
