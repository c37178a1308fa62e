"""Ids and what refers to them, as set operations on 64-bit codes of the ids: no text is held for a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ragdatakit.database.sql_text import sql_name
from ragdatakit.validators.graphrag.sql_tables import SqlTables, code_of

Found = tuple[str, str, str, int, int | None, Any, dict[str, Any]]
"""Kind of the table, rule, column, row, line, value, facts."""

_CODED = {
    "documents": ("id",),
    "text-units": ("id", "document_id"),
    "entities": ("id", "title"),
    "relationships": ("id", "source", "target"),
    "communities": ("title",),
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


@dataclass(frozen=True, slots=True)
class Reference:
    """A column whose texts (those in it, where it is a list) are ids of another table."""

    kind: str
    column: str
    to_kind: str
    rule: str
    to_column: str = "id"
    facts: dict[str, Any] = field(default_factory=dict)


REFERENCES = (
    Reference("text-units", "document_id", "documents", "unknown-document"),
    Reference("text-units", "document_ids", "documents", "unknown-document"),
    Reference("entities", "text_unit_ids", "text-units", "unknown-text-unit"),
    Reference("relationships", "text_unit_ids", "text-units", "unknown-text-unit"),
    Reference("communities", "text_unit_ids", "text-units", "unknown-text-unit"),
    Reference("communities", "entity_ids", "entities", "unknown-member"),
    Reference("covariates", "text_unit_id", "text-units", "unknown-text-unit"),
    Reference("covariates", "subject_id", "entities", "unknown-subject", "title"),
)


class Codes:
    """Tables of the codes of ids: ``k_KIND`` has a row for each row, ``l_KIND_COLUMN`` one for each member of a
    list."""

    def __init__(self, tables: SqlTables) -> None:
        self.tables = tables
        for kind in _CODED.keys() | _NUMBERS.keys():
            if kind in tables:
                self._make(kind)

    def _make(self, kind: str) -> None:
        table = self.tables[kind]
        columns = [f"{code_of(sql_name(c))} as {c}" for c in _CODED.get(kind, ()) if table.has(c)]
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

    def is_list(self, reference: Reference) -> bool:
        """Whether the column of a reference holds lists."""
        return reference.column in _LISTS.get(reference.kind, ())


def key_table(kind: str) -> str:
    """The name of the table of the codes of a table."""
    return f"k_{kind.replace('-', '_')}"


def list_table(kind: str, column: str) -> str:
    """The name of the table of the codes in a list."""
    return f"l_{kind.replace('-', '_')}_{column}"


class ReferenceChecks:
    """What `Codes` tell of ids, and of what refers to them."""

    def __init__(self, codes: Codes, unreliable: set[str]) -> None:
        self._codes = codes
        self._tables = codes.tables
        self._unreliable = unreliable
        self.has_edges = False

    def found(self) -> Iterator[Found]:
        """All faults; ``has_edges`` then tells whether there is a table ``edges`` of the ends of relationships."""
        yield from self._repeated("documents", "id", "repeated-id")
        yield from self._repeated("text-units", "id", "repeated-text-unit")
        yield from self._repeated("entities", "id", "repeated-id")
        yield from self._repeated("entities", "title", "repeated-title")
        yield from self._repeated("relationships", "id", "repeated-id")
        yield from self._repeated("communities", "community", "repeated-id")
        yield from self._repeated("communities", "title", "repeated-community-title")
        yield from self._repeated("reports", "community", "repeated-report")
        for kind in ("entities", "relationships", "covariates"):
            yield from self._repeated(kind, "human_readable_id", "repeated-number")
        for kind in ("documents", "text-units", "entities", "relationships"):
            yield from self._missing_ids(kind)
        for reference in REFERENCES:
            yield from self._dangling(reference)
        yield from self._endpoints()
        yield from self._odd_ids()
        yield from self._mirrored()
        yield from self._degrees()

    def _repeated(self, kind: str, column: str, rule: str) -> Iterator[Found]:
        if not self._codes.has(kind, column):
            return
        keys = key_table(kind)
        again = (
            f"select k.row, m.first from {keys} k join (select {column} as code, min(row) as first from {keys} "
            f"where {column} is not null group by {column} having count(*) > 1) m on k.{column} = m.code "
            "where k.row <> m.first"
        )
        for row, line, value, first in self._detailed(kind, column, again, ("first",)):
            facts = {"first": first, "column": column, "reason": f"is that of row {first}, too"}
            yield kind, rule, column, row, line, value, facts

    def _detailed(self, kind: str, column: str, rows: str, facts: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
        """Row, line, value of the column, and facts, of rows that a query gives as ``row`` and facts; in order."""
        if self._tables.one(f"select count(*) from ({rows})")[0] == 0:
            return
        further = "".join(f", b.{fact}" for fact in facts)
        yield from self._tables.rows(
            f"select v.row, v.line, v.{sql_name(column)}{further} from {self._tables[kind].name} v "
            f"join ({rows}) b on v.row = b.row order by v.row"
        )

    def _missing_ids(self, kind: str) -> Iterator[Found]:
        if self._codes.has(kind, "id"):
            for row, line, _ in self._detailed(kind, "id", f"select row from {key_table(kind)} where id is null"):
                yield kind, "repeated-id", "id", row, line, None, {"column": "id", "reason": "is missing"}

    def _is_known(self, kind: str, column: str = "id") -> bool:
        """Whether a table was read whole, so that what is not in it is nowhere."""
        return self._codes.has(kind, column) and kind not in self._unreliable

    def _dangling(self, reference: Reference) -> Iterator[Found]:
        kind, column, to = reference.kind, reference.column, reference.to_kind
        if not self._codes.has(kind, column) or not self._is_known(to, reference.to_column):
            return
        known = f"(select {reference.to_column} from {key_table(to)} where {reference.to_column} is not null)"
        view = self._tables[kind].name
        if self._codes.is_list(reference):
            bad = f"select row, code from {list_table(kind, column)} where code is not null and code not in {known}"
            if not self._tables.one(f"select count(*) from ({bad})")[0]:
                return
            found = self._tables.rows(
                f"with bad as materialized (select distinct row, code from ({bad})) select u.row, u.line, u.member "
                f"from (select row, line, unnest({column}) as member from {view} "
                f"where row in (select row from bad)) u join bad b on b.row = u.row and b.code = {code_of('u.member')} "
                "order by u.row"
            )
        else:
            bad = f"select row from {key_table(kind)} where {column} is not null and {column} not in {known}"
            if kind == "covariates" and column == "subject_id":
                bad += f" and row not in (select row from {view} where subject_id = '')"
            found = self._detailed(kind, column, bad)
        for row, line, value in found:
            yield kind, reference.rule, column, row, line, value, {"column": column}

    def _endpoints(self) -> Iterator[Found]:
        if not self._codes.has("relationships", "source", "target") or not self._is_known("entities", "title"):
            return
        self._tables.run(
            "create table titles as select title, min(row) as row from k_entities "
            "where title is not null group by title"
        )
        self._tables.run(
            "create table edges as select r.row, s.row as s, t.row as t from k_relationships r "
            "left join titles s on r.source = s.title left join titles t on r.target = t.title"
        )
        self.has_edges = True
        if not self._tables.one("select count(*) from edges where s is null or t is null")[0]:
            return
        spelled = code_of("upper(trim(n.name))")
        has_id = self._codes.has("entities", "id")
        same = "n.code in (select id from k_entities where id is not null)" if has_id else "false"
        view = self._tables["relationships"].name
        query = f"""
            with bad as materialized (select * from edges where s is null or t is null),
            ends as materialized (
                select v.row, v.line, v.source, v.target, b.s, b.t from {view} v join bad b on v.row = b.row),
            names as materialized (
                select distinct name, {code_of("name")} as code from (
                    select source as name from ends where s is null union all
                    select target from ends where t is null) where name is not null),
            told as materialized (
                select n.name, case when {same} then 'the id of an entity'
                    when {spelled} in (select title from titles) then 'its title in another spelling' end as reason
                from names n)
            select e.row, e.line, e.source, e.target, e.s is null, e.t is null, a.reason, b.reason from ends e
            left join told a on e.s is null and a.name = e.source left join told b on e.t is null and b.name = e.target
            order by e.row"""
        for row, line, source, target, no_source, no_target, of_source, of_target in self._tables.rows(query):
            ends = [("source", source, no_source, of_source), ("target", target, no_target, of_target)]
            for column, value, is_unknown, reason in ends:
                if is_unknown and reason is not None:
                    yield "relationships", "misnamed-endpoint", column, row, line, value, {"reason": reason}
            if no_source and no_target and of_source is None and of_target is None:
                yield "relationships", "stray-relationship", "source", row, line, source, {"other": target}
            else:
                for column, value, is_unknown, reason in ends:
                    if is_unknown and reason is None:
                        yield "relationships", "unknown-endpoint", column, row, line, value, {}

    def _odd_ids(self) -> Iterator[Found]:
        """Ids of another length than most of a table, where most have a length that GraphRAG gives them."""
        for kind in ("text-units", "entities", "relationships", "communities"):
            if not self._codes.has(kind, "id"):
                continue
            view = self._tables[kind].name
            lengths = self._tables.run(
                f"select length(id), count(*) as n from {view} where id is not null group by 1 order by n desc limit 2"
            ).fetchall()
            if len(lengths) < 2 or lengths[0][0] not in _SHAPES or lengths[0][1] < 2 * lengths[1][1]:
                continue
            usual = lengths[0][0]
            for row, line, value in self._tables.rows(
                f"select row, line, id from {view} where length(id) <> {usual} order by row"
            ):
                yield kind, "odd-id", "id", row, line, value, {"shape": _SHAPES[usual]}

    def _mirrored(self) -> Iterator[Found]:
        for kind, column, rule in (
            ("entities", "entity_ids", "links-unlike-units"),
            ("relationships", "relationship_ids", "links-unlike-units"),
        ):
            if self._codes.has("text-units", column, "id") and self._codes.has(kind, "text_unit_ids", "id"):
                back = (
                    f"select k.row, t.id as code from {list_table(kind, 'text_unit_ids')} l "
                    f"join k_text_units k on l.code = k.id join {key_table(kind)} t on t.row = l.row"
                )
                yield from self._unlike("text-units", column, back, rule)
        if self._codes.has("covariates", "id", "text_unit_id") and self._codes.has("text-units", "covariate_ids", "id"):
            back = "select k.row, c.id as code from k_covariates c join k_text_units k on c.text_unit_id = k.id"
            yield from self._unlike("text-units", "covariate_ids", back, "links-unlike-units")
        if self._codes.has("documents", "text_unit_ids", "id") and self._codes.has("text-units", "id"):
            if self._codes.has("text-units", "document_id"):
                back = "select d.row, u.id as code from k_text_units u join k_documents d on u.document_id = d.id"
            elif self._codes.has("text-units", "document_ids"):
                back = (
                    "select d.row, u.id as code from l_text_units_document_ids l join k_text_units u on u.row = l.row "
                    "join k_documents d on l.code = d.id"
                )
            else:
                return
            yield from self._unlike("documents", "text_unit_ids", back, "documents-unlike-units")

    def _unlike(self, kind: str, column: str, back: str, rule: str) -> Iterator[Found]:
        """Rows whose list is not what ``back`` (a query of row and code) gives for them.

        Sums of codes are compared first, as most lists are alike; the members are looked at where they differ.
        """
        lists = list_table(kind, column)
        summed = "select row, bit_xor(code) as x, count(*) as n from ({}) where code is not null group by row"
        differ = (
            f"select coalesce(a.row, b.row) as row from ({summed.format(f'select * from {lists}')}) a "
            f"full join ({summed.format(back)}) b on a.row = b.row where a.x is distinct from b.x or a.n <> b.n"
        )
        if not self._tables.one(f"select count(*) from ({differ})")[0]:
            return
        query = f"""
            with odd as materialized ({differ}),
            here as materialized (
                select distinct row, code from {lists} where code is not null and row in (select row from odd)),
            there as materialized (
                select distinct row, code from ({back}) where code is not null and row in (select row from odd)),
            more as (select row, count(*) as n from (select * from here except select * from there) group by row),
            less as (select row, count(*) as n from (select * from there except select * from here) group by row)
            select v.row, v.line, coalesce(m.n, 0), coalesce(l.n, 0) from {self._tables[kind].name} v
            left join more m on v.row = m.row left join less l on v.row = l.row
            where m.n is not null or l.n is not null order by v.row"""
        for row, line, more, less in self._tables.rows(query):
            words = [f"lists {more} that do not name it"] if more else []
            words += [f"lacks {less} that name it"] if less else []
            yield kind, rule, column, row, line, None, {"reason": f"{column} {' and '.join(words)}"}

    def _degrees(self) -> Iterator[Found]:
        if self._codes.has("entities", "frequency", "text_unit_ids"):
            odd = "select row, n_text_unit_ids as counted from k_entities where frequency <> n_text_unit_ids"
            for row, line, value, counted in self._detailed("entities", "frequency", odd, ("counted",)):
                yield "entities", "odd-degree", "frequency", row, line, value, _counted("frequency", counted)
        if not self._codes.has("relationships", "source", "target") or not self._is_known("entities", "title"):
            return
        if "relationships" in self._unreliable:
            return
        combined = self._codes.has("relationships", "combined_degree")
        if not combined and not self._codes.has("entities", "degree"):
            return
        self._tables.run(
            "create table degrees as select name, count(*) as n from (select unnest([source, target]) as name from ("
            "select distinct least(source, target) as source, greatest(source, target) as target from k_relationships"
            " where source is not null and target is not null)) group by name"
        )
        if self._codes.has("entities", "degree"):
            odd = (
                "select e.row, coalesce(d.n, 0) as counted from k_entities e left join degrees d on e.title = d.name "
                "where e.degree <> coalesce(d.n, 0)"
            )
            for row, line, value, counted in self._detailed("entities", "degree", odd, ("counted",)):
                yield "entities", "odd-degree", "degree", row, line, value, _counted("degree", counted)
        if combined:
            odd = (
                "select r.row, coalesce(s.n, 0) + coalesce(t.n, 0) as counted from k_relationships r "
                "left join degrees s on r.source = s.name left join degrees t on r.target = t.name "
                "where r.combined_degree <> coalesce(s.n, 0) + coalesce(t.n, 0)"
            )
            column = "combined_degree"
            for row, line, value, counted in self._detailed("relationships", column, odd, ("counted",)):
                yield "relationships", "odd-degree", column, row, line, value, _counted(column, counted)


_SHAPES = {36: "a UUID", 32: "32 digits", 128: "128 digits"}
"""Lengths of the ids that GraphRAG makes."""


def _counted(column: str, counted: int) -> dict[str, Any]:
    return {"column": column, "counted": counted}
