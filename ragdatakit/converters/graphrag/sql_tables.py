"""The tables of a GraphRAG index in Parquet, for a report: by SQL, which counts texts, metadata and attributes where
they are. Those of the few rows that are shown are read again.

`Unproved` is all of which the reader gives an account: values of columns that are not read, entities that are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragdatakit.converters import Options
from ragdatakit.converters.graphrag.columns import READ, REST, TEXTS
from ragdatakit.converters.graphrag.held_graph import HeldGraph
from ragdatakit.converters.graphrag.reading import RELATED, IndexReader, read
from ragdatakit.converters.graphrag.shown_rows import ShownRows
from ragdatakit.converters.graphrag.stored_columns import NO_TEXTS, NUMBERS, PLACE, UNPROVED, StoredColumns
from ragdatakit.converters.graphrag.stored_texts import count_texts
from ragdatakit.database.apart_rows import ApartRows, ColumnFacts
from ragdatakit.database.dataset_database import Connect, SqlTable, Unproved
from ragdatakit.database.row_batches import canonical_columns
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.graphrag.index import Index
from ragdatakit.files.paths.sql_text import sql_name, sql_text
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library
from ragdatakit.schemas.canonical import Edge

if TYPE_CHECKING:
    import duckdb

    from ragdatakit.converters.kept_texts import Look

_Given = tuple[dict[str, str], str]
_AT_ONCE = 1 << 12
_Query = Callable[["duckdb.DuckDBPyConnection", "StoredColumns"], _Given]


def graphrag_tables(dataset: Dataset, records: RecordReader) -> dict[str, SqlTable]:
    """The tables of an index in Parquet; of one with claims those that say nothing of these."""
    index = Index(dataset)
    if (
        records.refused
        or dataset.of_kind("extraction")
        or "nodes" in index.tables
        or index.generation in ("0.1", "0.5")  # whose lists may have several members in one text
        or any(table.is_csv for table in index.tables.values())
    ):
        return {}
    loader = _Loader(index, ShownRows(index, IndexReader(index, records), records.losses))
    ways: dict[str, tuple[str, _Query, tuple[str, ...]]] = {
        "documents": ("documents", loader.documents, ("text", "metadata")),
        "communities": ("communities", loader.communities, ("attributes", "members")),
        "summaries": ("reports", loader.summaries, ("text", "children", "metadata")),
    }
    if "covariates" not in index.tables:
        ways |= {
            "chunks": ("text-units", loader.chunks, ("text", "metadata")),
            "nodes": ("entities", loader.nodes, ("attributes",)),
            "relations": ("relationships", loader.relations, ()),
            "edges": ("relationships", loader.edges, ("attributes",)),
        }
    return {name: loader.table(name, *way) for name, way in ways.items() if way[0] in index.tables}


def graphrag_passages(
    dataset: Dataset, records: RecordReader, _: int, __: Look | None = None
) -> Iterator[Sequence[Any]]:
    """The text units, as far as they are texts."""
    from ragdatakit.converters.kept_texts import some_together  # needs numpy

    yield from some_together(IndexReader(Index(dataset), records).texts())


def graphrag_edges(dataset: Dataset, records: RecordReader, *_: Any) -> Iterator[Sequence[Any]]:
    """The edges, of most the names of their ends only."""
    from ragdatakit.converters.kept_texts import TextBlock, TextColumn  # needs numpy
    from ragdatakit.scanner.texts import Joined

    if dataset.of_kind("extraction"):
        edges = read(dataset, records, Options())["edges"]()
        while some := list(islice(edges, _AT_ONCE)):
            yield some
        return
    for ends in IndexReader(Index(dataset), records).ends():
        yield TextBlock(
            Edge, dict(zip(("source", "target"), (TextColumn(Joined.of(names)) for names in ends), strict=True))
        )


class _Loader:
    def __init__(self, index: Index, shown: ShownRows) -> None:
        self._index, self._shown = index, shown
        self._graph = HeldGraph()
        self._columns: dict[str, dict[str, ColumnFacts]] = {kind: {} for kind in READ}

    def table(self, name: str, kind: str, query: _Query, shown: tuple[str, ...]) -> SqlTable:
        """A table of the rows of such a file; in columns that are ``shown`` it has something else for the values."""
        facts, members = TextFacts(), dict[str, dict[str, str]]()
        again = self._shown.columns(kind, name, shown, facts) if shown else None
        load = partial(self._load, facts, members, kind, query)
        apart = ApartRows(partial(load, None, table=name)) if name in ("nodes", "edges") else None
        return SqlTable(
            name,
            partial(load, apart),
            facts=facts,
            numbers=self._graph.numbers if apart is not None else None,
            apart=apart,
            shown=again,
            members=members,
            columns=self._columns[kind] if shown else {},
        )

    def _load(
        self,
        facts: TextFacts,
        members: dict[str, dict[str, str]],
        kind: str,
        query: _Query,
        apart: ApartRows | None,
        connect: Connect | duckdb.DuckDBPyConnection,
        table: str,
    ) -> dict[str, int]:
        """Make a table of what ``query`` gives: its columns, and where they come from. Columns that it does not have
        are ``members`` of those of objects, with a point between. Rows that may stay ``apart`` do so where all is known
        of them."""
        if facts.wanted is None or not facts.wanted.shown:
            raise Unproved
        connection = connect() if callable(connect) else connect
        connection.execute("set global disable_parquet_prefetching = true")  # which holds a whole column at once
        stored = self._shown.stored(connection, kind)
        stored.refuse_others()
        given, rows = query(connection, stored)
        if apart is not None and library() is not None:
            apart.begin()
            hold = self._graph.nodes if table == "nodes" else self._graph.edges
            if hold(connection, stored, given, apart):
                apart.columns |= self._columns[kind]
                apart.read = partial(self._shown.rows, kind, table, facts, given, connection)
                return {}
        spaces: list[int] = []
        if kind in TEXTS:
            rows_of_texts, size = stored.size_of_texts()
            if library() is not None and rows_of_texts:
                texts = f"select {stored.texts()} as text, {PLACE} as place {stored.all}"
                spaces = count_texts(connection, facts, texts, rows_of_texts, size)
                given["text"] = "'!'"
            else:
                given["text"] = stored.texts()
        members.clear()
        for name in given:
            column, _, member = name.partition(".")
            if member:
                members.setdefault(column, {})[member] = sql_name(name)
        named = ", ".join(f"{expression} as {sql_name(name)}" for name, expression in given.items())
        columns = ", ".join((canonical_columns(table, given), *(c for of in members.values() for c in of.values())))
        proved = f"where {PLACE} = place or {UNPROVED}" if "positional join" in rows else ""
        connection.execute(f'create table main."{table}" as select {columns} from (select {named} {rows} {proved})')
        if spaces:
            connection.execute(
                f"update main.\"{table}\" set text = '' where rowid in (select unnest(?::bigint[]))", [spaces]
            )
        return {}

    def documents(self, _: duckdb.DuckDBPyConnection, rows: StoredColumns) -> _Given:
        """The documents."""
        self._columns["documents"]["metadata"] = rows.facts_of(REST["documents"])
        return {"doc_id": rows.id("id"), "title": rows.text("title")}, rows.all

    def chunks(self, connection: duckdb.DuckDBPyConnection, rows: StoredColumns) -> _Given:
        """The text units: in their places in the documents that list them, else as they come."""
        own = f"coalesce({rows.text('document_id')}, {rows.first('document_ids')})"
        several = {"document_ids": f"{rows.number_of_members('document_ids')} > 1"}
        self._columns["text-units"]["metadata"] = rows.facts_of(REST["text-units"], several)
        given = {"chunk_id": rows.id("id")}
        listing = self._shown.stored(connection, "documents") if "documents" in self._index.tables else None
        if listing is None or "text_unit_ids" not in listing.types:
            place = f"row_number() over (partition by {own} order by {PLACE}) - 1"
            given |= {"doc_id": own, "ordinal": f"case when {own} is not null then {place} end"}
            return given, f"{rows.all} order by {PLACE}"
        units = listing.members("text_unit_ids")
        places = f"""select unit, arg_min(document, n) as document, arg_min(nth, n) as nth from (
            select {listing.id("id")} as document, {PLACE} as n, unnest({units}) as unit,
                generate_subscripts({units}, 1) - 1 as nth {listing.all}
        ) group by unit"""
        own = f"coalesce({own}, document)"
        place = f"case when {own} is null then null when {own} = document then nth else {UNPROVED} end"
        given |= {"doc_id": own, "ordinal": place}
        return given, rows.beside(places, f"unit = {rows.id('id')}")

    def nodes(self, connection: duckdb.DuckDBPyConnection, rows: StoredColumns) -> _Given:
        """The entities, where each has a title of its own."""
        name = rows.id("title", "name")
        if library() is None:  # otherwise their codes show it
            unsound = f"select count(distinct {name}) < count(*) or count(*) filter ({name} = '') > 0 {rows.all}"
            if connection.execute(unsound).fetchall()[0][0]:
                raise Unproved
        further: dict[str, str] = {
            axis: f"{rows.value(axis, *NUMBERS)} <> 0" for axis in ("x", "y") if axis in rows.types
        }
        further["passages"] = f"{rows.first('text_unit_ids')} is not null"
        self._columns["entities"]["attributes"] = rows.facts_of(REST["entities"], further)
        return {"name": name, "type": rows.text("type")}, rows.all

    def relations(self, _: duckdb.DuckDBPyConnection, rows: StoredColumns) -> _Given:
        """The one name of all relationships."""
        return {"name": sql_text(RELATED)}, f"{rows.all} limit 1"

    def edges(self, _: duckdb.DuckDBPyConnection, rows: StoredColumns) -> _Given:
        """The relationships."""
        return {
            "source": rows.id("source"),
            "relation": sql_text(RELATED),
            "target": rows.id("target"),
            "attributes": rows.object("human_readable_id", "combined_degree", "rank"),
            "provenance": rows.first("text_unit_ids"),
        }, rows.all

    def communities(self, connection: duckdb.DuckDBPyConnection, rows: StoredColumns) -> _Given:
        """The communities. For the names of their members there is something else where nobody asks for more than
        whether there are any; otherwise ids, where each is that of another entity."""
        given = {
            "community_id": rows.id("community", "id"),
            "level": f"coalesce({rows.number('level')}, 0)",
            "title": rows.text("title"),
            "parent": f"nullif({rows.number('parent')}, -1)::varchar",
            "attributes": rows.object("size"),
            "attributes.size": rows.value("size", "VARCHAR", *NUMBERS),
            "members": NO_TEXTS,
        }
        if "entities" not in self._index.tables or not rows.has_items("entity_ids"):
            return given, rows.all
        entities, members = self._shown.stored(connection, "entities"), rows.members("entity_ids")
        unknown = f"not in (select {entities.id('id')} {entities.all})"
        asked = f"""select entity_ids[1] as first from (
            select entity_ids, {given["parent"]} as parent, {given["level"]} as level, {rows.number("size")} as size
            {rows.all}
        ) where size is null or size < 0 or parent is null and level > 0 or first is null and len(entity_ids) > 0
            or first {unknown} limit 1"""
        if not connection.execute(asked).fetchall():
            given["members"] = f"case when len(entity_ids) > 0 then [''] else {NO_TEXTS} end"
            return given, rows.all
        given["members"] = members
        names = entities.id("id"), entities.id("title", "name")
        once = " and ".join(f"count(distinct {name}) = count(*)" for name in names)
        if connection.execute(f"select {once} {entities.all}").fetchall() != [(True,)]:
            raise Unproved
        if connection.execute(
            f"select 1 from (select unnest({members}) as id {rows.all}) where id {unknown} limit 1"
        ).fetchall():
            raise Unproved
        return given, rows.all

    def summaries(self, connection: duckdb.DuckDBPyConnection, rows: StoredColumns) -> _Given:
        """The reports, those of the deepest communities on level 1, with what stands for as many children as each has:
        reports of the communities in theirs, else text units."""
        levels = connection.execute(f"select coalesce(max({rows.number('level')}), 0) {rows.all}")
        deepest = levels.fetchall()[0][0]
        number = rows.id("community")
        given = {
            "summary_id": rows.id("id"),
            "level": f"greatest({deepest} - coalesce({rows.number('level')}, {deepest}), 0) + 1",
            "children": NO_TEXTS,
            "metadata": rows.object("community", "level", "size"),
            "metadata.community": f"nullif({number}, '')",
            "metadata.title": rows.text("title"),
            "metadata.rank": rows.value("rank", "VARCHAR", *NUMBERS),
        }
        if "communities" not in self._index.tables:
            return given, rows.all
        at = self._shown.stored(connection, "communities")
        parents = f"select {at.id('community', 'id')} as number, {at.number('parent')}::varchar as parent, "
        parents += f"{at.number_of_members('text_unit_ids')} as units {at.all}"
        for name, query in (("parents", parents), ("reports", f"select {number} as number {rows.all}")):
            connection.execute(f"create or replace temp table {name}_of_communities as {query}")
            once = f"select count(distinct number) = count(*) from temp.{name}_of_communities"
            if not connection.execute(once).fetchall()[0][0]:
                raise Unproved
        below = """select number, coalesce(reports, units) as below from parents_of_communities left join (
            select parent, count(*) as reports
            from parents_of_communities join reports_of_communities using (number) group by parent
        ) given on given.parent = number"""
        given["children"] = f"list_resize({NO_TEXTS}, coalesce(below, 0))"
        return given, rows.beside(below, f"number = {number}")
