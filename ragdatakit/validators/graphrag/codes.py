"""64-bit codes of the ids in the tables, by which tables are compared.

Two texts have the same code with a chance of 5e-20; among a million ids one dangling reference in 2e13 is missed.
"""

from __future__ import annotations

from ragdatakit.files.paths.sql_text import sql_name
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
    "communities": ("community", "level", "parent", "size"),
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


class Codes:
    """Tables of codes, each made when it is first asked for."""

    def __init__(self, tables: SqlTables) -> None:
        self.tables = tables
        self._made: set[str] = set()
        self.has_edges = self.has("relationships", "source", "target") and self.has("entities", "title")

    def _make(self, name: str, query: str) -> str:
        if name not in self._made:
            self.tables.run(f"create table {name} as {query}")
            self._made.add(name)
        return name

    def keys(self, kind: str) -> str:
        """The name of a table with the codes of each row of a table: ``k_KIND``."""
        table = self.tables[kind]
        columns = [f"{code_of(sql_name(c))} as {c}" for c in _CODED[kind] if table.has(c)]
        columns += [
            f"least(length({c}), 65535)::usmallint as length" for c in ("id",) if table.has(c) and c in _CODED[kind]
        ]
        columns += [c for c in _NUMBERS.get(kind, ()) if table.has(c)]
        columns += [f"len({c}) as n_{c}" for c in _LISTS.get(kind, ()) if table.has(c)]
        name = f"k_{kind.replace('-', '_')}"
        return self._make(name, f"select {', '.join(['row', *columns])} from {table.name}")

    def members(self, kind: str, column: str) -> str:
        """The name of a table with the code of each member of a list: ``l_KIND_COLUMN``; lists of text units have that
        of the row itself as ``own``."""
        table = self.tables[kind]
        own = code_of("id") if table.has("id") and column == "text_unit_ids" else "null::ubigint"
        query = (
            f"select row, own, {code_of('member')} as code "
            f"from (select row, {own} as own, unnest({column}) as member from {table.name})"
        )
        return self._make(f"l_{kind.replace('-', '_')}_{column}", query)

    def titles(self) -> str:
        """The name of a table of the titles of entities, with the first row of each."""
        query = "select title, min(row) as row from {} where title is not null group by title"
        return self._make("titles", query.format(self.keys("entities")))

    def edges(self) -> str:
        """The name of a table with the rows of the entities at the ends ``s`` and ``t`` of each relationship, where
        there are both tables."""
        own = "r.id" if self.has("relationships", "id") else "null::ubigint"
        titles, relationships = self.titles(), self.keys("relationships")
        query = (
            f"select r.row, {own} as id, s.row as s, t.row as t from {relationships} r "
            f"left join {titles} s on r.source = s.title left join {titles} t on r.target = t.title"
        )
        return self._make("edges", query)

    def degrees(self) -> str:
        """The name of a table with the degree of each name that a relationship has at an end."""
        pairs = (
            f"select distinct least(source, target) as source, greatest(source, target) as target "
            f"from {self.keys('relationships')} where source is not null and target is not null"
        )
        names = f"select unnest([source, target]) as name from ({pairs})"
        return self._make("degrees", f"select name, count(*) as n from ({names}) group by name")

    def within(self) -> str:
        """The name of a table with the rows of communities and of the entities in them; ``key`` is both in one."""
        listed, entities = self.members("communities", "entity_ids"), self.keys("entities")
        first = f"select id, min(row) as row from {entities} where id is not null group by id"
        query = (
            "select distinct l.row, e.row as entity, (l.row << 32) + e.row as key "
            f"from {listed} l join ({first}) e on l.code = e.id"
        )
        return self._make("members", query)

    def has(self, kind: str, *columns: str) -> bool:
        """Whether a table is there with these columns."""
        return self.tables.has(kind, *columns)

    def is_list(self, kind: str, column: str) -> bool:
        """Whether a column holds lists."""
        return column in _LISTS.get(kind, ())

    def lengths(self, kind: str) -> list[tuple[int, int]]:
        """The lengths of the ids of a table, each with how often it occurs, the most frequent first."""
        counted = f"select length, count(*) as n from {self.keys(kind)} where length is not null group by 1"
        return list(self.tables.rows(f"{counted} order by n desc"))


def compared_columns(kind: str) -> list[str]:
    """The columns of a table that are compared with those of others."""
    found = [*_CODED.get(kind, ()), *_NUMBERS.get(kind, ()), *_LISTS.get(kind, ())]
    return [*found, "children"] if kind == "communities" else found
