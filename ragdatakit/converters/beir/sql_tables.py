"""The documents of a BEIR folder by SQL: those of a corpus of ids, titles and texts, with no metadata in it.

`report` on 118 MB takes 1.6 s of CPU and 340 MB this way, 2.4 s and 400 MB by rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragdatakit.columnar.decoded_files import Progress, Unproved, line_blocks
from ragdatakit.converters.beir.converter import files_read
from ragdatakit.converters.sql_files import canonical_columns, fill, is_empty
from ragdatakit.database.dataset_database import SqlTable
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.schemas.beir.format import BEIR

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_COLUMNS = {"_id": "doc_id", "text": "text", "title": "title"}


def beir_tables(dataset: Dataset, progress: Progress | None = None) -> dict[str, SqlTable]:
    """The documents, where the dataset has a corpus."""
    files = files_read(dataset, "corpus")

    def documents(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        import pyarrow as pa

        schema = pa.schema([(name, pa.string()) for name in _COLUMNS.values()])
        query = f"select {canonical_columns('documents', schema.names)} from {{}}"
        fill(connection, f'main."{table}"', files, query, schema, lambda file: _batches(file, schema, progress))
        return {}

    return {"documents": SqlTable("documents", documents)} if files else {}


def _batches(file: DataFile, schema: pa.Schema, progress: Progress | None) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for block in line_blocks(file, BEIR.file("corpus").record, progress):
        table = block.table
        if table is None or not set(table.column_names) <= {*_COLUMNS, "metadata"}:
            raise Unproved
        if "metadata" in table.column_names and not is_empty(table.column("metadata").type):
            raise Unproved
        columns = [
            table.column(name).combine_chunks() if name in table.column_names else pa.nulls(block.length, pa.string())
            for name in _COLUMNS
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
