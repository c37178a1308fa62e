"""The tables of a GraphRAG index in Parquet, for a report: by SQL, except for metadata and attributes, which are read
again for the few rows that are shown.

`Unproved` is all of which the reader gives an account: values of columns that are not read, entities that are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ragdatakit.converters.graphrag.columns import READ, REST
from ragdatakit.converters.graphrag.reading import RELATED, IndexReader
from ragdatakit.converters.graphrag.stored_columns import NO_TEXTS, NUMBERS, PLACE, UNPROVED, StoredColumns
from ragdatakit.database.apart_rows import ShownColumns
from ragdatakit.database.dataset_database import Connect, SqlTable, Unproved
from ragdatakit.database.row_batches import canonical_columns
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.graphrag.index import Index
from ragdatakit.files.paths.sql_text import sql_name, sql_text
from ragdatakit.files.reading.record_reading import RecordReader

if TYPE_CHECKING:
    import duckdb

_Given = tuple[dict[str, str], str]
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
    loader = _Loader(index, IndexReader(index, records))
    ways: dict[str, tuple[str, _Query, tuple[str, ...]]] = {
        "documents": ("documents", loader.documents, ("metadata",)),
        "communities": ("communities", loader.communities, ("attributes", "members")),
        "summaries": ("reports", loader.summaries, ("metadata",)),
    }
    if "covariates" not in index.tables:
        ways |= {
            "chunks": ("text-units", loader.chunks, ("metadata",)),
            "nodes": ("entities", loader.nodes, ("attributes",)),
            "relations": ("relationships", loader.relations, ()),
            "edges": ("relationships", loader.edges, ("attributes",)),
        }
    return {name: loader.table(name, *way) for name, way in ways.items() if way[0] in index.tables}


class _Loader:
    def __init__(self, index: Index, reader: IndexReader) -> None:
        self._index, self._reader = index, reader

    def table(self, name: str, kind: str, query: _Query, shown: tuple[str, ...]) -> SqlTable:
        """A table of the rows of such a file; in columns that are ``shown`` it has something else for the values."""
        facts = TextFacts()
        again = ShownColumns(shown, partial(self._values, kind, shown)) if shown else None
        return SqlTable(name, partial(self._load, facts, kind, query), facts=facts, shown=again)

    def _load(self, facts: TextFacts, kind: str, query: _Query, connect: Connect, table: str) -> dict[str, int]:
        """Make a table of what ``query`` gives: its columns, and where they come from."""
        if facts.wanted is None or not facts.wanted.shown:
            raise Unproved
        connection = connect()
        connection.execute("set global disable_parquet_prefetching = true")  # which holds a whole column at once
        given, rows = query(connection, self._stored(connection, kind))
        named = ", ".join(f"{expression} as {name}" for name, expression in given.items())
        columns = canonical_columns(table, given)
        proved = f"where {PLACE} = place or {UNPROVED}" if "positional join" in rows else ""
        connection.execute(f'create table main."{table}" as select {columns} from (select {named} {rows} {proved})')
        return {}

    def _stored(self, connection: duckdb.DuckDBPyConnection, kind: str) -> StoredColumns:
        return StoredColumns(connection, self._index.tables[kind].file, kind)

    def _values(
        self, kind: str, shown: tuple[str, ...], connection: duckdb.DuckDBPyConnection, places: Sequence[int]
    ) -> dict[int, dict[str, Any]]:
        """What is shown of some rows: metadata or attributes, of communities the names of members, too."""
        stored = self._stored(connection, kind)
        names = [name for name in READ[kind] if name in stored.types]
        chosen = f"{stored.all} where {PLACE} in ({', '.join(map(str, places))})"
        rows = connection.execute(f"select {', '.join((PLACE, *map(sql_name, names)))} {chosen}").fetchall()
        found: dict[int, dict[str, Any]] = {
            place: {shown[0]: self._reader.rest_of(kind, names, row)} for place, *row in rows
        }
        if "members" in shown:
            members = self._members(connection, stored.members("entity_ids"), chosen)
            for place, values in found.items():
                values["members"] = members.get(place, [])
        return found

    def _members(self, connection: duckdb.DuckDBPyConnection, ids: str, chosen: str) -> dict[int, list[str]]:
        """The names of members of some communities, whose ids an expression gives."""
        if "entities" not in self._index.tables:
            return {}
        entities = self._stored(connection, "entities")
        found = connection.execute(
            f"""select n, list(title order by nth) from (
                select {PLACE} as n, unnest({ids}) as id, generate_subscripts({ids}, 1) as nth {chosen}
            ) join (select {entities.id("id")} as id, {entities.id("title", "name")} as title {entities.all}) using (id)
            group by n"""
        )
        return dict(found.fetchall())

    def documents(self, _: duckdb.DuckDBPyConnection, rows: StoredColumns) -> _Given:
        """The documents."""
        text = f"coalesce({rows.text('text')}, {rows.text('raw_content')}, '')"
        rest = rows.names(*REST["documents"])
        return {"doc_id": rows.id("id"), "text": text, "title": rows.text("title"), "metadata": rest}, rows.all

    def chunks(self, connection: duckdb.DuckDBPyConnection, rows: StoredColumns) -> _Given:
        """The text units: in their places in the documents that list them, else as they come."""
        own = f"coalesce({rows.text('document_id')}, {rows.first('document_ids')})"
        rest = rows.names(*REST["text-units"], document_ids=f"len({rows.members('document_ids')}) > 1")
        given = {"chunk_id": rows.id("id"), "text": f"coalesce({rows.text('text')}, '')", "metadata": rest}
        listing = self._stored(connection, "documents") if "documents" in self._index.tables else None
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
        unsound = f"select count(distinct {name}) < count(*) or count(*) filter ({name} = '') > 0 {rows.all}"
        if connection.execute(unsound).fetchall()[0][0]:
            raise Unproved
        axes = {axis: f"{rows.value(axis, *NUMBERS)} <> 0" for axis in ("x", "y") if axis in rows.types}
        units = f"{rows.first('text_unit_ids')} is not null"
        attributes = rows.names(*REST["entities"], **axes, passages=units)
        return {"name": name, "type": rows.text("type"), "attributes": attributes}, rows.all

    def relations(self, _: duckdb.DuckDBPyConnection, rows: StoredColumns) -> _Given:
        """The one name of all relationships."""
        return {"name": sql_text(RELATED)}, f"{rows.all} limit 1"

    def edges(self, _: duckdb.DuckDBPyConnection, rows: StoredColumns) -> _Given:
        """The relationships."""
        return {
            "source": rows.id("source"),
            "relation": sql_text(RELATED),
            "target": rows.id("target"),
            "attributes": rows.values(("human_readable_id", "combined_degree", "rank")),
            "provenance": rows.first("text_unit_ids"),
        }, rows.all

    def communities(self, connection: duckdb.DuckDBPyConnection, rows: StoredColumns) -> _Given:
        """The communities; for the names of their members there are ids, where each is that of another entity."""
        given = {
            "community_id": rows.id("community", "id"),
            "level": f"coalesce({rows.number('level')}, 0)",
            "title": rows.text("title"),
            "parent": f"nullif({rows.number('parent')}, -1)::varchar",
            "attributes": rows.values(("size",), "size"),
        }
        if "entities" in self._index.tables:
            entities, given["members"] = self._stored(connection, "entities"), rows.members("entity_ids")
            names = entities.id("id"), entities.id("title", "name")
            once = " and ".join(f"count(distinct {name}) = count(*)" for name in names)
            unknown = f"select unnest({given['members']}) as id {rows.all}"
            unknown = f"select 1 from ({unknown}) where id not in (select {names[0]} {entities.all}) limit 1"
            if connection.execute(f"select {once} {entities.all}").fetchall() != [(True,)]:
                raise Unproved
            if connection.execute(unknown).fetchall():
                raise Unproved
        return given, rows.all

    def summaries(self, connection: duckdb.DuckDBPyConnection, rows: StoredColumns) -> _Given:
        """The reports, those of the deepest communities on level 1, with what they rest on: reports of the communities
        in theirs, else text units."""
        levels = connection.execute(f"select coalesce(max({rows.number('level')}), 0) {rows.all}")
        deepest = levels.fetchall()[0][0]
        number = rows.id("community")
        given = {
            "summary_id": rows.id("id"),
            "level": f"greatest({deepest} - coalesce({rows.number('level')}, {deepest}), 0) + 1",
            "text": f"coalesce({rows.text('full_content')}, {rows.text('summary')}, '')",
            "metadata": rows.values(("community", "level", "size"), "community", "title", "rank"),
        }
        if "communities" not in self._index.tables:
            return given, rows.all
        at = self._stored(connection, "communities")
        parents = f"select {at.id('community', 'id')} as number, {at.number('parent')}::varchar as parent, "
        parents += f"{at.members('text_unit_ids')} as units, {PLACE} as n {at.all}"
        reports = f"select {number} as number, {rows.id('id')} as id {rows.all}"
        for name, query in (("parents", parents), ("reports", reports)):
            connection.execute(f"create or replace temp table {name}_of_communities as {query}")
            once = f"select count(distinct number) = count(*) from temp.{name}_of_communities"
            if not connection.execute(once).fetchall()[0][0]:
                raise Unproved
        below = """select number, coalesce(reports, units) as below from parents_of_communities left join (
            select parent, list(id order by n) as reports
            from parents_of_communities join reports_of_communities using (number) group by parent
        ) given on given.parent = number"""
        given["children"] = f"coalesce(below, {NO_TEXTS})"
        return given, rows.beside(below, f"number = {number}")
