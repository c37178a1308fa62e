"""Rows of a GraphRAG index in Parquet that are shown, read again: in the tables of a report something else stands for
most of what they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ragdatakit.converters.graphrag.columns import READ, REST
from ragdatakit.converters.graphrag.reading import IndexReader
from ragdatakit.converters.graphrag.stored_columns import NO_TEXTS, PLACE, StoredColumns
from ragdatakit.database.apart_rows import ShownColumns
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.graphrag.index import Index
from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.conversions import Losses

if TYPE_CHECKING:
    import duckdb

_LONG = ("findings", "full_content_json", "relationship_ids")
"""Columns that are read only where those before them do not fill what is shown."""
_FURTHER = ("document_ids", "x", "y", "text_unit_ids", "relationship_ids")
"""What else metadata and attributes are made of, behind the columns that they have: in the order in which it comes."""
_OBJECTS = ("metadata", "attributes")


class ShownRows:
    """What the tables of an index show of some rows, by their places from 0. Values in a part of a file that is damaged
    are ``losses``: what is counted may need no more than other parts."""

    def __init__(self, index: Index, reader: IndexReader, losses: Losses) -> None:
        self._index, self._reader, self._losses = index, reader, losses

    def columns(self, kind: str, table: str, names: Sequence[str], facts: TextFacts) -> ShownColumns:
        """These columns of a table that is made of such a file. ``facts`` say how many characters are shown."""
        return ShownColumns(names, partial(self._read, kind, table, facts))

    def stored(self, connection: duckdb.DuckDBPyConnection, kind: str) -> StoredColumns:
        """The columns of a file."""
        return StoredColumns(connection, self._index.tables[kind].file, kind)

    def rows(
        self,
        kind: str,
        table: str,
        facts: TextFacts,
        given: Mapping[str, str],
        connection: duckdb.DuckDBPyConnection,
        places: Sequence[int],
    ) -> list[dict[str, Any]]:
        """Whole rows of nodes or edges: expressions give their columns, except for attributes."""
        columns = [name for name in given if name != "attributes"]
        chosen = f"{self.stored(connection, kind).all} where {PLACE} in ({', '.join(map(str, places))})"
        query = f"select {', '.join((PLACE, *(given[name] for name in columns)))} {chosen}"
        found = {place: dict(zip(columns, row, strict=True)) for place, *row in connection.execute(query).fetchall()}
        attributes = self._read(kind, table, facts, connection, places, ["attributes"])
        names = TABLES[table].columns
        return [{**dict.fromkeys(names), **found[place], **attributes[place]} for place in places]

    def _read(
        self,
        kind: str,
        table: str,
        facts: TextFacts,
        connection: duckdb.DuckDBPyConnection,
        places: Sequence[int],
        wanted: Sequence[str],
    ) -> dict[int, dict[str, Any]]:
        import duckdb

        shown = facts.wanted.shown if facts.wanted is not None else 0
        stored = self.stored(connection, kind)
        chosen = f"{stored.all} where {PLACE} in ({', '.join(map(str, places))})"
        ways: dict[str, Callable[[], Mapping[int, Any]]] = {
            "text": lambda: dict(connection.execute(f"select {PLACE}, {stored.texts()} {chosen}").fetchall()),
            "members": lambda: self._members(connection, stored, chosen),
            "children": lambda: self._children(connection, stored, chosen),
        }
        ways |= dict.fromkeys(_OBJECTS, lambda: self._objects(connection, kind, stored, shown, [*places]))
        found: dict[int, dict[str, Any]] = {place: {} for place in places}
        for name in wanted:
            try:
                values: Mapping[int, Any] = ways[name]()
            except duckdb.Error as error:
                refuse_machine_fault(error)
                reason = f"values that are shown could not be read: {' '.join(str(error).split())}"
                self._losses.add("lost", table, name, reason, count=len(places))
                values = dict.fromkeys(places)
            for place, value in values.items():
                found[place][name] = value
        return found

    def _objects(
        self, connection: duckdb.DuckDBPyConnection, kind: str, stored: StoredColumns, shown: int, places: list[int]
    ) -> dict[int, str | None]:
        """Metadata or attributes; of most no more than is shown."""
        rest = (*REST[kind], *_FURTHER)
        names = [name for name in rest if name in stored.types and name in READ[kind]]
        until = min((names.index(name) for name in _LONG if name in names), default=len(names))
        found: dict[int, str | None] = {}
        for some in (names[:until], names) if until < len(names) else (names,):
            if not some or not places:
                continue
            chosen = f"{stored.all} where {PLACE} in ({', '.join(map(str, places))})"
            columns = ", ".join((PLACE, *map(sql_name, some)))
            for place, *row in connection.execute(f"select {columns} {chosen}").fetchall():
                found[place] = self._reader.rest_of(kind, some, row)
            places = [place for place in places if len(found[place] or "") <= shown]
        return found

    def _members(
        self, connection: duckdb.DuckDBPyConnection, stored: StoredColumns, chosen: str
    ) -> dict[int, list[str]]:
        """The names of the members of communities."""
        if "entities" not in self._index.tables or not stored.has_items("entity_ids"):
            return {}
        given = connection.execute(f"select {PLACE}, entity_ids {chosen}").fetchall()
        ids = {place: self._reader.members(items) for place, items in given}
        entities = self.stored(connection, "entities")
        query = f"""select id, title from (
            select {entities.id("id")} as id, {entities.id("title", "name")} as title, {PLACE} as n {entities.all}
        ) where id in (select unnest(?::varchar[])) order by n"""
        names = dict(connection.execute(query, [[id_ for some in ids.values() for id_ in some]]).fetchall())
        return {place: [names[id_] for id_ in some if id_ in names] for place, some in ids.items()}

    def _children(
        self, connection: duckdb.DuckDBPyConnection, stored: StoredColumns, chosen: str
    ) -> dict[int, list[str]]:
        """What reports rest on: those of the communities in theirs, else text units."""
        if "communities" not in self._index.tables:
            return {}
        number = stored.id("community")
        of_rows = dict(connection.execute(f"select {PLACE}, {number} {chosen}").fetchall())
        at = self.stored(connection, "communities")
        asked = [[*of_rows.values()]]
        communities = f"""select {at.id("community", "id")} as number, {at.number("parent")}::varchar as parent,
            {"text_unit_ids" if at.has_items("text_unit_ids") else NO_TEXTS} as units, {PLACE} as n {at.all}"""
        below = f"""select parent, list(id order by n) from (
            select number, parent, n from ({communities}) where parent in (select unnest(?::varchar[]))
        ) join (select {number} as number, {stored.id("id")} as id {stored.all}) using (number) group by parent"""
        reports = dict(connection.execute(below, asked).fetchall())
        units = f"select number, units from ({communities}) where number in (select unnest(?::varchar[]))"
        of_communities = dict(connection.execute(units, asked).fetchall())
        return {
            place: reports.get(number) or [*self._reader.members(of_communities.get(number))]
            for place, number in of_rows.items()
        }
