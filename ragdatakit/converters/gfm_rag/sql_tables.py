"""The tables of a GFM-RAG graph by SQL: nodes and edges from CSV, documents from the JSON object.

The scanner gives the cells of tables; where there is none, DuckDB reads them as far as it reads them as Python does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from ragdatakit.converters.gfm_rag.attributes import NOTHING, json_of_cell, lift_edge
from ragdatakit.converters.gfm_rag.cell_patterns import AS_JSON
from ragdatakit.converters.gfm_rag.reading import DERIVED_BY, DOCUMENT, edge_of
from ragdatakit.converters.gfm_rag.titled_texts import titled_texts
from ragdatakit.converters.sql_files import look_through_csv, paths
from ragdatakit.database.apart_rows import ApartRows, TooVariedError
from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import Kind, PackedColumn, packed
from ragdatakit.database.dataset_database import Connect, SqlTable, Unproved
from ragdatakit.database.edge_numbers import EdgeNumbers
from ragdatakit.database.text_facts import is_plain
from ragdatakit.files.containers.csv_rows import CsvReader
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.paths.boundary import refuse_link_out
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library
from ragdatakit.schemas.conversions import Losses

if TYPE_CHECKING:
    import duckdb

    from ragdatakit.converters.kept_texts import Passages

Load = Callable[["duckdb.DuckDBPyConnection", str], dict[str, int]]

_OPTIONS = (
    "auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', strict_mode = true, "
    "null_padding = false"
)
_AT_ONCE = 1 << 14
_WHITE_SPACE = r"[\s\v\p{Z}\x1c-\x1f\x{85}]*"
"""Texts of which Python's `str.strip` leaves nothing."""


def gfm_rag_tables(dataset: Dataset, records: RecordReader) -> dict[str, SqlTable]:
    """Nodes, edges and documents, where the dataset has the three tables of release 2."""
    if any(len(dataset.of_kind(kind)) != 1 for kind in ("nodes", "edges")):
        return {}
    numbers = EdgeNumbers()
    loader = _Loader(dataset, records, numbers)
    found = {"nodes": loader.nodes, "edges": loader.edges}
    if all(len(dataset.of_kind(kind)) <= 1 for kind in ("documents", "built-documents")):
        found["documents"] = loader.documents
    return {
        table: SqlTable(table, _cleaned(load), numbers=numbers, apart=loader.apart.get(table))
        for table, load in found.items()
    }


def gfm_rag_edges(dataset: Dataset, records: RecordReader, *_: Any) -> Iterator[Passages]:
    """The edges, of most the names of their ends only."""
    from ragdatakit.converters.gfm_rag.scanned_tables import ends_in  # needs numpy
    from ragdatakit.scanner.sheets import cut_records

    for file in dataset.of_kind("edges"):
        for taken in records.rows_taken(file, ends_in, cut_records):
            if isinstance(taken, tuple):
                yield from taken
            else:
                yield [edge for row in taken if (edge := edge_of(row, [])) is not None]


def _cleaned(load: Load) -> Callable[[Connect, str], dict[str, int]]:
    """The same; what it made on its way goes where it fails."""

    def cleaned(connect: Connect, table: str) -> dict[str, int]:
        connection = connect()
        try:
            return load(connection, table)
        except Exception:
            for name in ("edge_cells", "nodes_from_file"):
                connection.execute(f"drop table if exists main.{name}")
            raise

    return cleaned


class _Loader:
    """Fills the tables. Rows that are ``apart`` are filled in when they are wanted once more."""

    def __init__(self, dataset: Dataset, records: RecordReader, numbers: EdgeNumbers) -> None:
        self._dataset, self._records, self._progress = dataset, records, records.progress
        self._numbers = numbers
        self.apart = {
            "nodes": ApartRows(partial(self.nodes, table="nodes")),
            "edges": ApartRows(partial(self.edges, table="edges")),
        }
        self._notes = {"nodes": Losses(), "edges": Losses()}
        self._told: set[str] = set()

    def nodes(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """The nodes by their names."""
        if not _is_there(connection, "nodes_from_file"):
            self._load_nodes(connection)
        apart = self.apart["nodes"]
        if apart.known:
            connection.execute("drop table main.nodes_from_file")
        else:
            connection.execute(f'alter table main.nodes_from_file rename to "{table}"')
        return self._filled(connection, "nodes", table)

    def _filled(self, connection: duckdb.DuckDBPyConnection, kind: str, table: str) -> dict[str, int]:
        """The records of the file that a table was filled of, whose losses are reported once."""
        if kind not in self._told:
            self._told.add(kind)
            self._records.losses.take(self._notes[kind])
        (file,), apart = self._dataset.of_kind(kind), self.apart[kind]
        return {file.display: apart.rows if apart.known else _rows_in(connection, table)}

    def _load_nodes(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make a table of the nodes; of rows that are apart it has those of documents only."""
        (file,) = self._dataset.of_kind("nodes")
        cells = _Cells(self._records, file, {"name": "", "type": "", "attributes": NOTHING}, refused=("uid",))
        connection.execute("drop table if exists main.nodes_from_file")
        if not self._load_scanned(connection, "main.nodes_from_file", cells, f"where type = '{DOCUMENT}'"):
            self._load_read_nodes(connection, cells)

    def _load_read_nodes(self, connection: duckdb.DuckDBPyConnection, cells: _Cells) -> None:
        self._load_cells(
            connection,
            "main.nodes_from_file",
            cells,
            "select name, type, coalesce(json, cell) as attributes, cell is not null and json is null as pending from ("
            f"select name, type, cell, case when cell is not null then {AS_JSON} end as json from ("
            "select name, type, attributes, nullif(attributes, '{}') as cell from ",
        )
        self._notes["nodes"] = _reword(connection, "main.nodes_from_file", "pending", "nodes")
        connection.execute(
            "update main.nodes_from_file t set attributes = json from reworded r where t.rowid = r.place"
        )
        connection.execute("drop table reworded")
        connection.execute("alter table main.nodes_from_file drop column pending")
        _prove(connection, "main.nodes_from_file")

    def _load_scanned(self, connection: duckdb.DuckDBPyConnection, table: str, cells: _Cells, where: str = "") -> bool:
        """Make a table of the cells that the scanner gives, of rows that are apart one of those that are still asked
        for (``where``), or none; False where there is no scanner."""
        if library() is None:
            return False
        from ragdatakit.converters.gfm_rag.scanned_tables import ScannedTable  # needs numpy

        file, apart = cells.file, self.apart[cells.file.kind]
        refuse_link_out(file.boundary, file.path)
        once_more, apart.known = apart.known, False
        records = self._records.unheard() if file.kind in self._told else self._records
        numbers = EdgeNumbers() if once_more else self._numbers
        for rows in (apart, None) if numbers.wanted and numbers.apart and is_plain(file) else (None,):
            notes = self._notes[file.kind] = Losses()
            scanned = ScannedTable(records, file, cells.usual, notes, numbers, rows)
            with suppress(TooVariedError):
                if rows is not None and not where:
                    deque(scanned.columns(), 0)
                    break
                with incoming(connection, "scanned_cells", scanned.schema, scanned.columns()):
                    chosen = f"select * from scanned_cells {where if rows is not None else ''}"
                    connection.execute(f"create table {table} as {chosen}")
                break
        return True

    def edges(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """The edges, in the order of the file."""
        (file,) = self._dataset.of_kind("edges")
        cells = _Cells(self._records, file, {"source": "", "relation": "", "target": "", "attributes": NOTHING})
        if not self._load_scanned(connection, f'main."{table}"', cells):
            self._load_read_edges(connection, table, cells)
        return self._filled(connection, "edges", table)

    def _load_read_edges(self, connection: duckdb.DuckDBPyConnection, table: str, cells: _Cells) -> None:
        lifted = "contains(cell, 'confidence') or contains(cell, 'source')"
        connection.execute("drop table if exists main.edge_cells")
        self._load_cells(
            connection,
            "main.edge_cells",
            cells,
            "select source, relation, target, "
            "coalesce(json, cell) as attributes, null::double as confidence, null::varchar as provenance, "
            "cell is not null and json is null as pending from (select *, "
            f"case when cell is not null and not ({lifted}) then {AS_JSON} end as json "
            "from (select *, nullif(attributes, '{}') as cell from ",
        )
        if connection.execute("select 1 from main.edge_cells where pending limit 1").fetchall():
            self._notes["edges"] = _reword(connection, "main.edge_cells", "pending", "edges")
            connection.execute(
                f'create table main."{table}" as select e.source, e.relation, e.target, '
                "case when e.pending then r.json else e.attributes end as attributes, "
                "r.sure as confidence, r.origin as provenance "
                "from main.edge_cells e left join reworded r on e.rowid = r.place order by e.rowid"
            )
            connection.execute("drop table main.edge_cells")
            connection.execute("drop table reworded")
        else:
            connection.execute("alter table main.edge_cells drop column pending")
            connection.execute(f'alter table main.edge_cells rename to "{table}"')
        _prove(connection, f'main."{table}"')

    def _load_cells(self, connection: duckdb.DuckDBPyConnection, table: str, cells: _Cells, query: str) -> None:
        """Make a table of the cells by DuckDB."""
        looked = look_through_csv([cells.file], self._progress)
        connection.execute(f"create table {table} as {query} ({cells.query(paths([cells.file]))})))")
        looked.result()

    def documents(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """Titles and texts; behind them the nodes of type document whose text is nowhere else."""
        self._load_nodes(connection)
        files = [f for kind in ("documents", "built-documents") for f in self._dataset.of_kind(kind)]
        found: dict[str, int] = {}
        schema = {"title": Kind.TEXT, "content": Kind.TEXT}
        with incoming(connection, "titled_texts", schema, titled_texts(files, found)):
            connection.execute("create or replace temp table titled as select * from titled_texts")
        row = "null::varchar as metadata, []::varchar[] as field_order"
        connection.execute(
            f"""
            create table main."{table}" as
            with documents as (
                select rowid as place, name, attributes from main.nodes_from_file where type = '{DOCUMENT}'
            ),
            own as (
                select name, arg_min(attributes ->> '$.title', place) as own_title from documents
                where attributes like '%"title"%' and json_type(attributes, '$.title') = 'VARCHAR'
                and not regexp_full_match(attributes ->> '$.title', '{_WHITE_SPACE}') group by name
            ),
            untitled as materialized (
                select place, name, attributes from documents
                where attributes like '%"content"%' and name not in (select title from titled)
            ),
            texts as (
                select 0 as part, rowid as place, title as doc_id, content as text from titled
                union all select 1, place, name, attributes ->> '$.content' from untitled
                where json_type(attributes, '$.content') = 'VARCHAR' and attributes ->> '$.content' <> ''
            )
            select doc_id, text, coalesce(own_title, doc_id) as title, {row}
            from texts left join own on doc_id = name order by part, place
            """
        )
        connection.execute("drop table titled")
        return found


class _Cells:
    """The wanted columns of a file as texts, with what a row has there that lacks them.

    Raises `Unproved` where the file has no such columns, or has those that are refused.
    """

    def __init__(
        self, records: RecordReader, file: DataFile, usual: dict[str, str], refused: tuple[str, ...] = ()
    ) -> None:
        self.file, self.usual = file, usual
        reader = CsvReader(records.source(file))
        header = (reader.header or []) if reader.open() else []
        first = reader.header_row.line if reader.header_row is not None else 0
        if first != 1 or len(set(header)) < len(header) or any(name in header for name in refused):
            raise Unproved
        if any(name not in header for name in usual if name not in ("attributes", "type")):
            raise Unproved
        self._header = header

    def query(self, files: str) -> str:
        """Of files that look like it, which are listed in SQL."""
        places = {name: self._header.index(name) for name in self.usual if name in self._header}
        listed = [
            f"coalesce(c{places[name]}, '') as {name}" if name in places else f"'{usual}' as {name}"
            for name, usual in self.usual.items()
        ]
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self._header)))
        options = f"{_OPTIONS}, columns = {{{columns}}}"
        return f"select {', '.join(listed)} from read_csv({files}, {options})"


def _reword(connection: duckdb.DuckDBPyConnection, table: str, where: str, kind: str) -> Losses:
    """Make a table ``reworded`` of the JSON of cells (place, json, sure, origin); of edges what has columns goes there.
    What the reader would report about the cells."""
    cells = f"select rowid, attributes from {table} where {where}"
    schema = {"place": Kind.INTEGER, "json": Kind.TEXT, "sure": Kind.NUMBER, "origin": Kind.TEXT}
    notes = Losses()
    with connection.cursor() as cursor:
        given = cursor.execute(cells)
        with incoming(connection, "reworded_cells", schema, _reworded(given, kind, notes)):
            connection.execute("create or replace temp table reworded as select * from reworded_cells")
    return notes


def _reworded(given: duckdb.DuckDBPyConnection, kind: str, notes: Losses) -> Iterator[list[PackedColumn]]:
    def note(why: str, example: object) -> None:
        notes.add("coerced", kind, "attributes", why, example)

    while some := given.fetchmany(_AT_ONCE):
        places, cells = zip(*some, strict=True)
        rows = []
        for cell in cells:
            json = json_of_cell(cell, note)
            rows.append(lift_edge(json) if kind == "edges" else (json, None, None))
        texts, sure, origins = zip(*rows, strict=True)
        yield [
            packed(Kind.INTEGER, places),
            packed(Kind.TEXT, texts),
            packed(Kind.NUMBER, sure),
            packed(Kind.TEXT, origins),
        ]


def _is_there(connection: duckdb.DuckDBPyConnection, table: str) -> bool:
    query = f"select 1 from duckdb_tables() where schema_name = 'main' and table_name = '{table}' and not temporary"
    return bool(connection.execute(query).fetchall())


def _prove(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    """Raise `Unproved` where nodes or edges of a table may be such as the reader passes over."""
    derived = f"attributes like '%\"{DERIVED_BY}\"%'"
    if connection.execute(f"select 1 from {table} where {derived} limit 1").fetchall():
        raise Unproved


def _rows_in(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    return int(connection.execute(f'select count(*) from main."{table}"').fetchall()[0][0])
