"""The tables of a GFM-RAG graph by SQL: nodes, edges and relations from CSV, documents from the JSON object.

Attributes are Python literals. Those whose JSON can be had by leaving out blanks, or is that of one text, SQL words;
the others Python does, cell by cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import orjson

from ragdatakit.converters.gfm_rag.attributes import json_of_cell, lift_edge
from ragdatakit.converters.gfm_rag.reading import DERIVED_BY, DOCUMENT
from ragdatakit.converters.sql_files import look_through_csv, paths
from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import Kind, PackedColumn, packed
from ragdatakit.database.dataset_database import SqlTable, Unproved
from ragdatakit.files.containers.arrays import ObjectSource
from ragdatakit.files.containers.csv_rows import CsvReader
from ragdatakit.files.containers.element_scans import Element
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading.record_reading import Progress, RecordReader

if TYPE_CHECKING:
    import duckdb

Load = Callable[["duckdb.DuckDBPyConnection", str], dict[str, int]]

_OPTIONS = (
    "auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', strict_mode = true, "
    "null_padding = false"
)
_AT_ONCE = 1 << 14


def gfm_rag_tables(dataset: Dataset, records: RecordReader) -> dict[str, SqlTable]:
    """Nodes, edges and documents, where the dataset has the three tables of release 2."""
    if any(len(dataset.of_kind(kind)) != 1 for kind in ("nodes", "edges")):
        return {}
    loader = _Loader(dataset, records.progress)
    found = {"nodes": loader.nodes, "edges": loader.edges}
    if all(len(dataset.of_kind(kind)) <= 1 for kind in ("documents", "built-documents")):
        found["documents"] = loader.documents
    return {table: SqlTable(table, _cleaned(load)) for table, load in found.items()}


def _cleaned(load: Load) -> Load:
    """The same; what it made on its way goes where it fails."""

    def cleaned(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        try:
            return load(connection, table)
        except Exception:
            for name in ("edge_cells", "nodes_from_file"):
                connection.execute(f"drop table if exists main.{name}")
            raise

    return cleaned


class _Loader:
    def __init__(self, dataset: Dataset, progress: Progress | None) -> None:
        self._dataset, self._progress = dataset, progress
        self._counts: dict[str, int] = {}

    def nodes(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """The nodes by their names."""
        if not _is_there(connection, "nodes_from_file"):
            self._load_nodes(connection)
        connection.execute(f'alter table main.nodes_from_file rename to "{table}"')
        return self._counts

    def _load_nodes(self, connection: duckdb.DuckDBPyConnection) -> None:
        (file,) = self._dataset.of_kind("nodes")
        cells = _cells(file, ("name", "type", "attributes"), refused=("uid",))
        looked = look_through_csv([file], self._progress)
        connection.execute("drop table if exists main.nodes_from_file")
        connection.execute(
            "create table main.nodes_from_file as select name, type, coalesce(json, cell) as attributes, "
            "cell is not null and json is null as pending from ("
            f"select name, type, cell, case when cell is not null then {_AS_JSON} end as json from ("
            f"select name, type, attributes, nullif(attributes, '{{}}') as cell from ({cells})))"
        )
        looked.result()
        _reword(connection, "main.nodes_from_file", "pending", edges=False)
        connection.execute(
            "update main.nodes_from_file t set attributes = json from reworded r where t.rowid = r.place"
        )
        connection.execute("drop table reworded")
        connection.execute("alter table main.nodes_from_file drop column pending")
        derived = f"attributes like '%\"{DERIVED_BY}\"%'"
        _prove(connection, f"select count(*) from main.nodes_from_file where {derived}")
        self._counts = {file.display: connection.execute("select count(*) from main.nodes_from_file").fetchall()[0][0]}

    def edges(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """The edges, in the order of the file."""
        (file,) = self._dataset.of_kind("edges")
        cells = _cells(file, ("source", "relation", "target", "attributes"))
        looked = look_through_csv([file], self._progress)
        lifted = "contains(cell, 'confidence') or contains(cell, 'source')"
        connection.execute(
            "create or replace table main.edge_cells as select source, relation, target, "
            "coalesce(json, cell) as attributes, null::double as confidence, null::varchar as provenance, "
            "cell is not null and json is null as pending from (select *, "
            f"case when cell is not null and not ({lifted}) then {_AS_JSON} end as json "
            f"from (select *, nullif(attributes, '{{}}') as cell from ({cells})))"
        )
        looked.result()
        if connection.execute("select 1 from main.edge_cells where pending limit 1").fetchall():
            _reword(connection, "main.edge_cells", "pending", edges=True)
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
        derived = f"attributes like '%\"{DERIVED_BY}\"%'"
        _prove(connection, f'select count(*) from main."{table}" where {derived}')
        return {file.display: connection.execute(f'select count(*) from main."{table}"').fetchall()[0][0]}

    def documents(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """Titles and texts; behind them the nodes of type document whose text is nowhere else."""
        self._load_nodes(connection)
        files = [f for kind in ("documents", "built-documents") for f in self._dataset.of_kind(kind)]
        found: dict[str, int] = {}
        schema = {"title": Kind.TEXT, "content": Kind.TEXT}
        with incoming(connection, "titled_texts", schema, _titled(files, found)):
            connection.execute("create or replace temp table titled as select * from titled_texts")
        row = "null::varchar as metadata, []::varchar[] as field_order"
        connection.execute(
            f"""
            create table main."{table}" as
            select title as doc_id, content as text, title, {row} from titled
            union all select name, attributes ->> '$.content', name, {row} from main.nodes_from_file
            where type = '{DOCUMENT}' and attributes like '%"content"%' and name not in (select title from titled)
            and json_type(attributes, '$.content') = 'VARCHAR' and attributes ->> '$.content' <> ''
            """
        )
        connection.execute("drop table titled")
        return found


def _cells(file: DataFile, wanted: tuple[str, ...], refused: tuple[str, ...] = ()) -> str:
    """A query of the wanted columns as texts; attributes that the file does not have are ``{}``."""
    reader = CsvReader(Source(file.path, file.path.name.lower().endswith(".gz"), boundary=file.boundary))
    header = (reader.header or []) if reader.open() else []
    first = reader.header_row.line if reader.header_row is not None else 0
    if first != 1 or len(set(header)) < len(header) or any(name in header for name in refused):
        raise Unproved
    if any(name not in header for name in wanted if name not in ("attributes", "type")):
        raise Unproved
    places = {name: header.index(name) for name in wanted if name in header}
    missing = {"attributes": "'{}'", "type": "''"}
    listed = [f"coalesce(c{places[n]}, '') as {n}" if n in places else f"{missing[n]} as {n}" for n in wanted]
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(header)))
    options = f"{_OPTIONS}, columns = {{{columns}}}"
    return f"select {', '.join(listed)} from read_csv({paths([file])}, {options})"


def _plain(quote: str, barred: str) -> str:
    """A pattern of dictionaries of texts, lists of texts and short numbers, written as Python and JSON usually do."""

    def character(but: str) -> str:
        return rf"(?:[^{barred}\\\x00-\x1f{but}]|\\[nt])"

    text = rf"{quote}(?:{character(' :')}|{character(':')}{character('')}*{character(' ')})?{quote}"
    number = r"0|-?[1-9][0-9]{0,14}|-?(?:0|[1-9][0-9]{0,14})\.[0-9]{1,15}"
    value = rf"(?:{text}|{number}|\[{text}(?:, {text})*\])"
    return rf"\{{{text}: {value}(?:, {text}: {value})*\}}".replace("'", "''")


_ONE_TEXT = r"""\{''[^''"\\\x00-\x1f]*'': "(?:[^"\\\x00-\x1f]|\\[nt])*"\}"""
_ITS_PARTS = r"""^\{''([^'']*)'': "(.*)"\}$"""
_INSIDE = r"(?:[^''\\\x00-\x1f]|\\[nt])*"
_QUOTING = rf"""\{{''[^''"\\\x00-\x1f]*'': ''{_INSIDE}"{_INSIDE}''\}}"""
_ITS_OTHER_PARTS = r"""^\{''([^'']*)'': ''(.*)''\}$"""
_DOUBLE = "replace(cell, chr(39), chr(34))"
_AS_JSON = rf"""
case
    when regexp_full_match(cell, '{_ONE_TEXT}') then regexp_replace(cell, '{_ITS_PARTS}', '{{"\1":"\2"}}', 's')
    when regexp_full_match(cell, '{_QUOTING}')
    then '{{"' || regexp_extract(cell, '{_ITS_OTHER_PARTS}', 1, 's') || '":"'
        || replace(regexp_extract(cell, '{_ITS_OTHER_PARTS}', 2, 's'), '"', '\"') || '"}}'
    when starts_with(cell, '{{''') and regexp_full_match(cell, '{_plain("'", "'" + chr(34))}')
        and len(list_distinct(json_keys({_DOUBLE}))) = len(json_keys({_DOUBLE}))
    then replace(replace({_DOUBLE}, '": ', '":'), ', "', ',"')
    when starts_with(cell, '{{"') and regexp_full_match(cell, '{_plain(chr(34), chr(34))}')
        and len(list_distinct(json_keys(cell))) = len(json_keys(cell))
    then replace(replace(cell, '": ', '":'), ', "', ',"')
end
"""
"""The JSON of a cell of one text that has quotes of one kind, or of that pattern, where leaving out the blanks between
its parts is all there is to do. No string in it begins with a colon or ends with a blank, which could be taken for
those between them. NULL where the cell is another."""


def _reword(connection: duckdb.DuckDBPyConnection, table: str, where: str, *, edges: bool) -> None:
    """Make a table ``reworded`` of the JSON of cells (place, json, sure, origin); of edges what has columns goes there.

    Raises `Unproved` where the reader would have something to report about a cell.
    """
    cells = f"select rowid, attributes from {table} where {where}"
    schema = {"place": Kind.INTEGER, "json": Kind.TEXT, "sure": Kind.NUMBER, "origin": Kind.TEXT}
    with connection.cursor() as cursor:
        given = cursor.execute(cells)
        with incoming(connection, "reworded_cells", schema, _reworded(given, edges)):
            connection.execute("create or replace temp table reworded as select * from reworded_cells")


def _reworded(given: duckdb.DuckDBPyConnection, edges: bool) -> Iterator[list[PackedColumn]]:
    while some := given.fetchmany(_AT_ONCE):
        places, cells = zip(*some, strict=True)
        rows = []
        for cell in cells:
            json = json_of_cell(cell, _unproved)
            rows.append(lift_edge(json) if edges else (json, None, None))
        texts, sure, origins = zip(*rows, strict=True)
        yield [
            packed(Kind.INTEGER, places),
            packed(Kind.TEXT, texts),
            packed(Kind.NUMBER, sure),
            packed(Kind.TEXT, origins),
        ]


def _titled(files: list[DataFile], found: dict[str, int]) -> Iterator[list[PackedColumn]]:
    """Titles and texts of the documents; ``found`` gets the documents of each file."""
    for file in files:
        found[file.display] = 0
        members = ObjectSource(Source(file.path, file.path.name.lower().endswith(".gz"), boundary=file.boundary))
        for part in members.parts():
            pairs = list(part.values.items()) if part.proved else [_member(e) for e in part.elements()]
            if not all(type(text) is str for _, text in pairs):
                raise Unproved
            found[file.display] += len(pairs)
            titles, texts = zip(*pairs, strict=True) if pairs else ((), ())
            yield [packed(Kind.TEXT, titles), packed(Kind.TEXT, texts)]
        if members.top not in ("object", "empty") or not members.whole or members.source.faults:
            raise Unproved


def _member(element: Element) -> tuple[str, Any]:
    if element.error:
        raise Unproved
    try:
        ((name, value),) = orjson.loads(b"{%b}" % element.raw).items()
    except ValueError:
        raise Unproved from None
    return name, value


def _unproved(why: str, example: object) -> None:
    raise Unproved(why)


def _is_there(connection: duckdb.DuckDBPyConnection, table: str) -> bool:
    query = f"select 1 from duckdb_tables() where schema_name = 'main' and table_name = '{table}' and not temporary"
    return bool(connection.execute(query).fetchall())


def _prove(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    """Raise `Unproved` unless a query gives 0."""
    if connection.execute(query).fetchall()[0][0] != 0:
        raise Unproved
