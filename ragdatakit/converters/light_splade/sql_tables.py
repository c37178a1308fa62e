"""The tables of a light-splade dataset by SQL: documents, queries, positives and triplets from JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ragdatakit.columnar.decoded_files import Progress, Unproved, line_blocks
from ragdatakit.converters.light_splade.reading import size_of_text
from ragdatakit.converters.sql_files import fill, paths, text
from ragdatakit.database.dataset_database import SqlTable
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.schemas.light_splade.format import LIGHT_SPLADE

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    Numbers = npt.NDArray[np.int64]

_MASTERS = {"documents": "doc_id", "queries": "qid"}
_INTEGERS = {
    "documents": ("doc_id",),
    "questions": ("question_id",),
    "qrels": ("question_id", "target_id"),
    "triplets": ("question_id", "positive_id", "negative_id"),
}
_TRIPLET = {"qid": "question_id", "pos_doc_id": "positive_id", "neg_doc_id": "negative_id"}
_OPTIONS = "format = 'newline_delimited'"


def light_splade_tables(dataset: Dataset, progress: Progress | None = None) -> dict[str, SqlTable]:
    """The tables that the dataset has files for, except for the teacher's scores."""
    loader = _Loader(dataset, progress)
    ways = {
        "documents": ("documents", loader.documents),
        "questions": ("queries", loader.questions),
        "qrels": ("positives", loader.qrels),
        "triplets": ("triplets", loader.triplets),
    }
    numbers = {"triplets": loader.numbers}
    return {
        table: SqlTable(table, load, _INTEGERS[table], numbers.get(table, {}))
        for table, (kind, load) in ways.items()
        if dataset.of_kind(kind)
    }


class _Loader:
    def __init__(self, dataset: Dataset, progress: Progress | None) -> None:
        self._dataset, self._progress = dataset, progress
        self.numbers: dict[str, Numbers] = {}
        self._same_ids: bool | None = None

    def documents(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """The larger split first, then what only the other one has."""
        row = "id as doc_id, text, null::varchar as title, null::varchar as metadata, []::varchar[] as field_order"
        groups = _by_split(self._dataset.of_kind("documents"))
        groups.sort(key=lambda group: -sum(size_of_text(f) for f in group[1]))
        return self._master(connection, table, "documents", row, groups)

    def questions(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """The queries, with the first split that has them."""
        row = (
            "id as question_id, text, null::varchar as answer, []::varchar[] as aliases, split, "
            "null::varchar as metadata, []::varchar[] as field_order"
        )
        return self._master(connection, table, "queries", row, _by_split(self._dataset.of_kind("queries")))

    def _master(
        self,
        connection: duckdb.DuckDBPyConnection,
        table: str,
        kind: str,
        row: str,
        groups: list[tuple[str | None, list[DataFile]]],
    ) -> dict[str, int]:
        self._prove_ids(connection)
        connection.execute("drop table if exists temp.second_split")
        key = "doc_id" if kind == "documents" else "question_id"
        (_, files), *others = groups
        own = f"select {_MASTERS[kind]}::varchar as id, text, {{split}} as split"
        self._fill(connection, f'main."{table}"', files, f"select {row} from ({own} from {{}})")
        for _, files in others:
            self._fill(connection, "temp.second_split", files, f"{own} from {{}}")
            known = f'select {key} from main."{table}"'
            more = f"select {row} from temp.second_split where id not in ({known}) order by rowid"
            connection.execute(f'insert into main."{table}" {more}')
            connection.execute("drop table temp.second_split")
        return {}

    def qrels(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """The positive lists, as judgements of grade 1."""
        self._prove_ids(connection)
        row = (
            "select qid::varchar as question_id, unnest(positive_doc_ids)::varchar as target_id, 1::bigint as grade, "
            "'document' as target_kind, {split} as split, null::varchar as node_type from {}"
        )
        self._fill(connection, f'main."{table}"', self._dataset.of_kind("positives"), row)
        return {}

    def triplets(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """The triplets, in the order of the files; their numbers are kept."""
        self._prove_ids(connection)
        row = "select " + ", ".join(f"{name}::varchar as {column}" for name, column in _TRIPLET.items())
        kept: dict[str, list[Numbers]] = {column: [] for column in _TRIPLET.values()}

        def keep(batch: pa.RecordBatch) -> None:
            for name, column in _TRIPLET.items():
                kept[column].append(batch.column(name).to_numpy())

        files = self._dataset.of_kind("triplets")
        self._fill(connection, f'main."{table}"', files, f"{row}, {{split}} as split from {{}}", keep)
        for column in _TRIPLET.values():
            self.numbers[column] = _joined(kept.pop(column))
        return {}

    def _fill(
        self,
        connection: duckdb.DuckDBPyConnection,
        table: str,
        files: list[DataFile],
        query: str,
        keep: Callable[[pa.RecordBatch], None] | None = None,
    ) -> None:
        """Make a table of the records of files of one kind; ``keep`` is shown their batches."""
        schema = _schema(files[0].kind)
        fill(connection, table, files, query, schema, lambda file: _batches(file, schema, self._progress, keep))

    def _prove_ids(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Prove that no id means one thing in one split and another in the other: the reader renames these."""
        if self._same_ids is None:
            self._same_ids = all(_means_the_same(connection, self._dataset, kind) for kind in _MASTERS)
        if not self._same_ids:
            raise Unproved


def _means_the_same(connection: duckdb.DuckDBPyConnection, dataset: Dataset, kind: str) -> bool:
    groups = _by_split(dataset.of_kind(kind))
    if len(groups) < 2:
        return True
    if len(groups) > 2:
        return False
    first, second = (" union all ".join(_read_master(kind, *group)) for group in groups)
    query = f"select 1 from ({first}) a join ({second}) b using (id) where a.text is distinct from b.text limit 1"
    return not connection.execute(query).fetchall()


def _by_split(files: list[DataFile]) -> list[tuple[str | None, list[DataFile]]]:
    return [(split, [f for f in files if f.split == split]) for split in dict.fromkeys(f.split for f in files)]


def _read_master(kind: str, split: str | None, files: list[DataFile]) -> list[str]:
    name = _MASTERS[kind]
    columns = f"{{'{name}': 'VARCHAR', 'text': 'VARCHAR'}}"
    return [
        f"select {name} as id, text, {text(split)} as split "
        f"from read_json({paths([file])}, {_OPTIONS}, columns = {columns})"
        for file in files
    ]


def _schema(kind: str) -> pa.Schema:
    """The fields of a kind of records, with ids as integers."""
    import pyarrow as pa

    kinds = {"integer": pa.int64(), "string": pa.string(), "array": pa.list_(pa.int64())}
    return pa.schema([(f.name, kinds[f.type]) for f in LIGHT_SPLADE.file(kind).record.fields])


def _batches(
    file: DataFile, schema: pa.Schema, progress: Progress | None, keep: Callable[[pa.RecordBatch], None] | None
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for block in line_blocks(file, LIGHT_SPLADE.file(file.kind).record, progress):
        columns: Any = block.integers if block.integers is not None else block.table
        batch = pa.RecordBatch.from_arrays([_array(columns[f.name], f.type) for f in schema], schema=schema)
        if keep is not None:
            keep(batch)
        yield batch


def _array(column: Any, kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks()
    return pa.Array.from_buffers(kind, len(column), [None, pa.py_buffer(column)])


def _joined(parts: list[Numbers]) -> Numbers:
    import numpy as np

    return np.concatenate(parts) if parts else np.empty(0, np.int64)
