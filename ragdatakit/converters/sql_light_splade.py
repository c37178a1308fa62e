"""The tables of a light-splade dataset by SQL: documents, queries, positives and triplets from JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragdatakit.converters.sql_files import count_lines, paths, text
from ragdatakit.tables.dataset_database import SqlTable, Unproved
from ragdatakit.tables.datasets import DataFile, Dataset

if TYPE_CHECKING:
    import duckdb

_MASTERS = {"documents": "doc_id", "queries": "qid"}
_INTEGERS = {
    "documents": ("doc_id",),
    "questions": ("question_id",),
    "qrels": ("question_id", "target_id"),
    "triplets": ("question_id", "positive_id", "negative_id"),
}
_OPTIONS = "format = 'newline_delimited'"


def light_splade_tables(dataset: Dataset) -> dict[str, SqlTable]:
    """The tables that the dataset has files for, but for the teacher's scores."""
    loader = _Loader(dataset)
    ways = {
        "documents": ("documents", loader.documents),
        "questions": ("queries", loader.questions),
        "qrels": ("positives", loader.qrels),
        "triplets": ("triplets", loader.triplets),
    }
    return {
        table: SqlTable(table, load, _INTEGERS[table]) for table, (kind, load) in ways.items() if dataset.of_kind(kind)
    }


class _Loader:
    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._same_ids: bool | None = None

    def documents(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """The larger split first, then what only the other one has."""
        row = "id as doc_id, text, null::varchar as title, null::varchar as metadata, []::varchar[] as field_order"
        groups = _by_split(self._dataset.of_kind("documents"))
        groups.sort(key=lambda group: -sum(_size(f) for f in group[1]))
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
        lines = count_lines(self._dataset.of_kind(kind))
        connection.execute("drop table if exists temp.second_split")
        key = "doc_id" if kind == "documents" else "question_id"
        first, *others = groups
        _fill(connection, f'main."{table}"', [f"select {row} from ({q})" for q in _read_master(kind, *first)])
        for split, files in others:
            _fill(connection, "temp.second_split", _read_master(kind, split, files))
            known = f'select {key} from main."{table}"'
            more = f"select {row} from temp.second_split where id not in ({known}) order by rowid"
            connection.execute(f'insert into main."{table}" {more}')
            connection.execute("drop table temp.second_split")
        _prove(connection, f'select count(*) from main."{table}" where {_odd_id(key)} or {_ODD_TEXT}')
        counted = lines.result()
        if len(groups) == 1:
            _prove(connection, f'select count(*) - {sum(counted.values())} from main."{table}"')
        return counted

    def qrels(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """The positive lists, as judgements of grade 1."""
        self._prove_ids(connection)
        connection.execute("drop table if exists temp.positive_lists")
        lines = count_lines(self._dataset.of_kind("positives"))
        files = self._dataset.of_kind("positives")
        parts = [
            f"select qid, positive_doc_ids as listed, {text(file.split)} as split "
            f"from read_json({paths([file])}, {_OPTIONS}, "
            "columns = {'qid': 'VARCHAR', 'positive_doc_ids': 'VARCHAR[]'})"
            for file in files
        ]
        _fill(connection, "temp.positive_lists", parts)
        counted = lines.result()
        _prove(connection, f"select count(*) - {sum(counted.values())} from temp.positive_lists")
        _prove(connection, f"select count(*) from temp.positive_lists where {_odd_id('qid')} or listed is null")
        connection.execute(
            f'create table main."{table}" as select qid as question_id, unnest(listed) as target_id, '
            "1::bigint as grade, 'document' as target_kind, split, null::varchar as node_type from temp.positive_lists"
        )
        connection.execute("drop table temp.positive_lists")
        _prove(connection, f'select count(*) from main."{table}" where {_odd_id("target_id")}')
        return counted

    def triplets(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """The triplets, in the order of the files."""
        self._prove_ids(connection)
        files = self._dataset.of_kind("triplets")
        lines = count_lines(files)
        names = ("qid", "pos_doc_id", "neg_doc_id")
        columns = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
        parts = [
            "select qid as question_id, pos_doc_id as positive_id, neg_doc_id as negative_id, "
            f"{text(file.split)} as split from read_json({paths([file])}, {_OPTIONS}, columns = {{{columns}}})"
            for file in files
        ]
        _fill(connection, f'main."{table}"', parts)
        odd = " or ".join(_odd_id(name) for name in ("question_id", "positive_id", "negative_id"))
        _prove(connection, f'select count(*) from main."{table}" where {odd}')
        counted = lines.result()
        _prove(connection, f'select count(*) - {sum(counted.values())} from main."{table}"')
        return counted

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


def _size(file: DataFile) -> int:
    return file.path.stat().st_size * (4 if file.path.name.endswith(".gz") else 1)


def _read_master(kind: str, split: str | None, files: list[DataFile]) -> list[str]:
    name = _MASTERS[kind]
    columns = f"{{'{name}': 'VARCHAR', 'text': 'VARCHAR'}}"
    return [
        f"select {name} as id, text, {text(split)} as split "
        f"from read_json({paths([file])}, {_OPTIONS}, columns = {columns})"
        for file in files
    ]


def _fill(connection: duckdb.DuckDBPyConnection, table: str, queries: list[str]) -> None:
    """Make a table of the rows of files, one after the other: DuckDB takes several in an order of its own."""
    kind = "temp table" if table.startswith("temp.") else "table"
    connection.execute(f"create {kind} {table} as {queries[0]}")
    for query in queries[1:]:
        connection.execute(f"insert into {table} {query}")


_ODD_TEXT = (
    "text is null or text in ('true', 'false') or starts_with(text, '{') or starts_with(text, '[') "
    "or (strlen(text) < 400 and try_cast(text as double) is not null)"
)
"""What was no text in the file, perhaps: DuckDB makes one of any value."""


def _odd_id(column: str) -> str:
    """Whether an id is none, or no integer as it is usually written."""
    return f"({column} is null or try_cast({column} as bigint)::varchar is distinct from {column})"


def _prove(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    """Raise `Unproved` unless a query gives 0."""
    if connection.execute(query).fetchall()[0][0] != 0:
        raise Unproved
