"""64-bit codes of the ids in the tables, made in one pass over each: by them tables are compared.

Two texts have the same code with a chance of 5e-20; among a million ids one dangling reference in 2e7 is missed.
"""

from __future__ import annotations

from functools import cached_property

from ragdatakit.database.sql_text import sql_name
from ragdatakit.validators.graphrag.sql_tables import SqlTables, code_of

_CODED = {
    "documents": ("id",),
    "text-units": ("id", "document_id"),
    "entities": ("id", "title"),
    "relationships": ("id", "source", "target"),
    "communities": ("id", "title"),
    "reports": (),
    "covariates": ("id", "text_unit_id", "subject_id"),
}
"""Texts that are compared."""
_NUMBERS = {
    "documents": ("human_readable_id",),
    "entities": ("human_readable_id", "degree", "frequency"),
    "relationships": ("human_readable_id", "combined_degree"),
    "communities": ("community", "level", "parent"),
    "reports": ("community",),
    "covariates": ("human_readable_id",),
}
_LISTS = {
    "documents": ("text_unit_ids",),
    "text-units": ("document_ids", "entity_ids", "relationship_ids", "covariate_ids"),
    "entities": ("text_unit_ids",),
    "relationships": ("text_unit_ids",),
    "communities": ("entity_ids", "relationship_ids", "text_unit_ids"),
}
_TITLES = "create table titles as select title, min(row) as row from k_entities where title is not null group by title"
_EDGES = (
    "create table edges as select r.row, s.row as s, t.row as t from k_relationships r "
    "left join titles s on r.source = s.title left join titles t on r.target = t.title"
)


class Codes:
    """``k_KIND`` has the codes of each row, ``l_KIND_COLUMN`` those of each member of a list; ``edges`` has the rows of
    the entities at the ends ``s`` and ``t`` of each relationship, where there are both tables."""

    def __init__(self, tables: SqlTables) -> None:
        self.tables = tables
        for kind in _CODED:
            if kind in tables:
                self._make(kind)
        self.has_edges = self.has("relationships", "source", "target") and self.has("entities", "title")
        if self.has_edges:
            tables.run(_TITLES)
            tables.run(_EDGES)

    def _make(self, kind: str) -> None:
        table = self.tables[kind]
        columns = [f"{code_of(sql_name(c))} as {c}" for c in _CODED[kind] if table.has(c)]
        columns += [f"length({c}) as length" for c in ("id",) if table.has(c) and c in _CODED[kind]]
        columns += [c for c in _NUMBERS.get(kind, ()) if table.has(c)]
        columns += [f"len({c}) as n_{c}" for c in _LISTS.get(kind, ()) if table.has(c)]
        self.tables.run(f"create table {key_table(kind)} as select {', '.join(['row', *columns])} from {table.name}")
        for column in _LISTS.get(kind, ()):
            if table.has(column):
                self.tables.run(
                    f"create table {list_table(kind, column)} as select row, {code_of('member')} as code "
                    f"from (select row, unnest({column}) as member from {table.name})"
                )

    def has(self, kind: str, *columns: str) -> bool:
        """Whether a table is there with these columns."""
        return self.tables.has(kind, *columns)

    def is_list(self, kind: str, column: str) -> bool:
        """Whether a column holds lists."""
        return column in _LISTS.get(kind, ())

    def lengths(self, kind: str) -> list[tuple[int, int]]:
        """The two most frequent lengths of the ids of a table, with their numbers."""
        return self._lengths.get(kind, [])

    @cached_property
    def _lengths(self) -> dict[str, list[tuple[int, int]]]:
        queries = [
            f"select '{kind}' as kind, length, count(*) as n from {key_table(kind)} where length is not null group by 2"
            for kind in ("text-units", "entities", "relationships", "communities")
            if self.has(kind, "id")
        ]
        found: dict[str, list[tuple[int, int]]] = {}
        for kind, length, number in (
            self.tables.rows(f"{' union all '.join(queries)} order by n desc") if queries else ()
        ):
            found.setdefault(kind, []).append((length, number))
        return found


def key_table(kind: str) -> str:
    """The name of the table of the codes of a table."""
    return f"k_{kind.replace('-', '_')}"


def list_table(kind: str, column: str) -> str:
    """The name of the table of the codes in a list."""
    return f"l_{kind.replace('-', '_')}_{column}"
