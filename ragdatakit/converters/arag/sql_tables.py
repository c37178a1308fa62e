"""The chunks of A-RAG by SQL: an array of texts, each of an id, a colon and what the chunk says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragdatakit.columnar.decoded_files import Progress, Unproved, element_values
from ragdatakit.converters.sql_files import canonical_columns, fill
from ragdatakit.database.dataset_database import SqlTable
from ragdatakit.files.datasets import DataFile, Dataset

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


def arag_tables(dataset: Dataset, progress: Progress | None = None) -> dict[str, SqlTable]:
    """The chunks, where the dataset has some."""
    files = dataset.of_kind("chunks")

    def chunks(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        import pyarrow as pa

        schema = pa.schema([("chunk_id", pa.string()), ("text", pa.string())])
        query = f"select {canonical_columns('chunks', schema.names)} from {{}}"
        fill(connection, f'main."{table}"', files, query, schema, lambda file: _batches(file, schema, progress))
        return {}

    return {"chunks": SqlTable("chunks", chunks)} if files else {}


def _batches(file: DataFile, schema: pa.Schema, progress: Progress | None) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for values in element_values(file, progress):
        if not values:
            continue
        if not all(type(value) is str and ":" in value for value in values):
            raise Unproved
        ids, _, texts = zip(*(value.partition(":") for value in values), strict=True)
        columns = [pa.array(ids, pa.string()), pa.array(texts, pa.string())]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
