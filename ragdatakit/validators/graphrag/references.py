"""Ids and what refers to them, as set operations on 64-bit codes of the ids: no text is held for a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.texts import many
from ragdatakit.validators.excerpts import show
from ragdatakit.validators.graphrag.codes import Codes
from ragdatakit.validators.graphrag.proofs import Proofs
from ragdatakit.validators.graphrag.sql_tables import code_of


class Found(NamedTuple):
    """A fault at a row of the table of a kind."""

    kind: str
    rule: str
    column: str
    row: int
    line: int | None
    value: Any
    facts: dict[str, Any]


class Question(NamedTuple):
    """A query that gives a row for each fault, and what reports them where there are any."""

    odd: str
    answer: Callable[[], Iterator[Found]]


Asked = Callable[[], "Question | None"]
"""A question whose SQL is not made yet; None where there is nothing to ask."""


class Reference(NamedTuple):
    """A column whose texts (those in it, where it is a list) are ids of another table."""

    kind: str
    column: str
    to_kind: str
    rule: str
    to_column: str = "id"


_REFERENCES = (
    Reference("text-units", "document_id", "documents", "unknown-document"),
    Reference("text-units", "document_ids", "documents", "unknown-document"),
    Reference("entities", "text_unit_ids", "text-units", "unknown-text-unit"),
    Reference("relationships", "text_unit_ids", "text-units", "unknown-text-unit"),
    Reference("communities", "text_unit_ids", "text-units", "unknown-text-unit"),
    Reference("communities", "entity_ids", "entities", "unknown-member"),
    Reference("covariates", "text_unit_id", "text-units", "unknown-text-unit"),
    Reference("covariates", "subject_id", "entities", "unknown-subject", "title"),
)
_UNIQUE = (
    ("documents", "id", "repeated-id"),
    ("text-units", "id", "repeated-text-unit"),
    ("entities", "id", "repeated-id"),
    ("entities", "title", "repeated-title"),
    ("relationships", "id", "repeated-id"),
    ("communities", "community", "repeated-id"),
    ("communities", "title", "repeated-community-title"),
    ("reports", "community", "repeated-report"),
    ("entities", "human_readable_id", "repeated-number"),
    ("relationships", "human_readable_id", "repeated-number"),
    ("covariates", "human_readable_id", "repeated-number"),
)
_IDENTIFIED = ("documents", "text-units", "entities", "relationships")
_SHAPES = {36: "a UUID", 32: "32 digits", 128: "128 digits"}
"""Lengths of the ids that GraphRAG makes."""
_SUMMED = "select row, bit_xor(code) as x, count(*) as n from {} where code is not null group by row"


def answers(codes: Codes, questions: Iterable[Asked]) -> Iterator[Found]:
    """What is wrong, after one look at all questions together: mostly nothing is."""
    asked = [question for ask in questions if (question := ask()) is not None]
    if not asked:
        return
    counts = codes.tables.one(f"select {', '.join(f'(select count(*) from ({q.odd}))' for q in asked)}")
    for question, count in zip(asked, counts, strict=True):
        if count:
            yield from question.answer()


class ReferenceChecks:
    """What the codes show about ids, and of what refers to them; tables in ``unreliable`` were not read whole."""

    def __init__(self, codes: Codes, unreliable: set[str]) -> None:
        self._codes = codes
        self._tables = codes.tables
        self._unreliable = unreliable

    def questions(self, proofs: Proofs) -> Iterator[Asked]:
        """What is not proved."""
        for kind, column, rule in _UNIQUE:
            if not self._codes.has(kind, column) or proofs.is_unique(kind, column):
                continue
            yield partial(self._repeated, kind, column, rule)
        for kind in _IDENTIFIED:
            if self._codes.has(kind, "id") and not proofs.has(kind, "id"):
                yield partial(self._missing_id, kind)
        for to in _REFERENCES:
            is_there = self._codes.has(to.kind, to.column) and self._is_known(to.to_kind, to.to_column)
            if is_there and not proofs.resolves(to.kind, to.column, to.to_kind, to.to_column):
                yield partial(self._dangling, to)
        if self._codes.has_edges and "entities" not in self._unreliable and not proofs.has_ends():
            yield self._unknown_ends
        if not ("entities" in self._tables and self._tables["entities"].stored.is_csv and proofs.has_words("entities")):
            yield self._numeric_ids
        for kind in ("text-units", "entities", "relationships", "communities"):
            if self._codes.has(kind, "id") and not proofs.has_like_lengths(kind, min(_SHAPES)):
                yield partial(self._odd_ids, kind)
        yield from self._mirrored(proofs)
        yield from self._degrees(proofs)

    def _is_numbered(self, kind: str, column: str) -> bool:
        """Whether a column has the numbers of the rows, which are unique."""
        if column != "human_readable_id":
            return False
        odd = f"select count(*) from {self._codes.keys(kind)} where human_readable_id is distinct from row"
        return bool(self._tables.one(odd)[0] == 0)

    def _is_known(self, kind: str, column: str = "id") -> bool:
        """Whether a table was read whole, so that what is not in it is nowhere."""
        return self._codes.has(kind, column) and kind not in self._unreliable

    def _detailed(self, kind: str, column: str, rows: str, *facts: str) -> Iterator[tuple[Any, ...]]:
        """Row, line, value of the column, and facts, of rows that a query gives as ``row`` and facts; in order."""
        further = "".join(f", b.{fact}" for fact in facts)
        return self._tables.rows(
            f"select v.row, v.line, v.{sql_name(column)}{further} from {self._tables[kind].name} v "
            f"join ({rows}) b on v.row = b.row order by v.row"
        )

    def _repeated(self, kind: str, column: str, rule: str) -> Question | None:
        if self._is_numbered(kind, column):
            return None
        keys = self._codes.keys(kind)
        odd = (
            f"select k.row, m.first from {keys} k join (select {column} as code, min(row) as first from {keys} "
            f"where {column} is not null group by {column} having count(*) > 1) m on k.{column} = m.code "
            "where k.row <> m.first"
        )

        def answer() -> Iterator[Found]:
            for row, line, value, first in self._detailed(kind, column, odd, "first"):
                facts = {
                    "first": first + 1,
                    "column": column,
                    "reason": f"the {column} {show(value)} is that of row {first + 1}, too",
                }
                yield Found(kind, rule, column, row, line, value, facts)

        return Question(odd, answer)

    def _missing_id(self, kind: str) -> Question:
        odd = f"select row from {self._codes.keys(kind)} where id is null"

        def answer() -> Iterator[Found]:
            for row, line, _ in self._detailed(kind, "id", odd):
                yield Found(kind, "repeated-id", "id", row, line, None, {"column": "id", "reason": "the id is null"})

        return Question(odd, answer)

    def _dangling(self, reference: Reference) -> Question:
        kind, column, to = reference.kind, reference.column, reference.to_kind
        known = f"(select {reference.to_column} from {self._codes.keys(to)} where {reference.to_column} is not null)"
        view = self._tables[kind].name
        if self._codes.is_list(kind, column):
            members = self._codes.members(kind, column)
            odd = f"select row, code from {members} where code is not null and code not in {known}"
        else:
            odd = f"select row from {self._codes.keys(kind)} where {column} is not null and {column} not in {known}"
        if reference.rule == "unknown-subject":  # empty ones are another fault
            odd += f" and {column} <> {code_of(chr(39) * 2)}"

        def answer() -> Iterator[Found]:
            if self._codes.is_list(kind, column):
                found = self._tables.rows(
                    f"with bad as materialized (select distinct row, code from ({odd})) select u.row, u.line, u.member "
                    f"from (select row, line, unnest({column}) as member, generate_subscripts({column}, 1) as place "
                    f"from {view} where row in (select row from bad)) u "
                    f"join bad b on b.row = u.row and b.code = {code_of('u.member')} order by u.row, u.place"
                )
            else:
                found = self._detailed(kind, column, odd)
            for row, line, value in found:
                yield Found(kind, reference.rule, column, row, line, value, {"column": column})

        return Question(odd, answer)

    def _unknown_ends(self) -> Question:
        return Question(f"select row from {self._codes.edges()} where s is null or t is null", self._endpoints)

    def _endpoints(self) -> Iterator[Found]:
        spelled = code_of("upper(trim(n.name))")
        has_id = self._codes.has("entities", "id")
        same = f"n.code in (select id from {self._codes.keys('entities')} where id is not null)" if has_id else "false"
        query = f"""
            with bad as materialized (select * from edges where s is null or t is null),
            ends as materialized (
                select v.row, v.line, v.source, v.target, b.s, b.t
                from {self._tables["relationships"].name} v join bad b on v.row = b.row),
            names as materialized (
                select distinct name, {code_of("name")} as code from (
                    select source as name from ends where s is null union all
                    select target from ends where t is null) where name is not null),
            why as materialized (
                select n.name, case when {same} then 'the id of an entity'
                    when {spelled} in (select title from titles) then 'its title in another spelling' end as reason
                from names n)
            select e.row, e.line, e.source, e.target, e.s is null, e.t is null, a.reason, b.reason from ends e
            left join why a on e.s is null and a.name = e.source left join why b on e.t is null and b.name = e.target
            order by e.row"""
        kind = "relationships"
        for row, line, source, target, no_source, no_target, of_source, of_target in self._tables.rows(query):
            ends = [("source", source, no_source, of_source), ("target", target, no_target, of_target)]
            for column, value, is_unknown, reason in ends:
                if is_unknown and reason is not None:
                    yield Found(kind, "misnamed-endpoint", column, row, line, value, {"reason": reason})
            if no_source and no_target and of_source is None and of_target is None:
                yield Found(kind, "stray-relationship", "source", row, line, source, {"other": target})
                continue
            for column, value, is_unknown, reason in ends:
                if is_unknown and reason is None:
                    yield Found(kind, "unknown-endpoint", column, row, line, value, {})

    def _numeric_ids(self) -> Question | None:
        """Ids of entities that pandas takes for numbers, which it does not merge with texts."""
        if not self._codes.has("entities", "id") or not self._codes.has("communities", "entity_ids"):
            return None
        entities, communities = self._tables["entities"], self._tables["communities"]
        if entities.stored.is_csv:
            odd = (
                f"select 1 from {entities.name} having count(*) > 0 and count(*) = count(try_cast(trim(id) as double))"
            )
        else:
            listed = communities.types["entity_ids"].removesuffix("[]")
            odd = "select 1" if (entities.types["id"] == "VARCHAR") != (listed == "VARCHAR") else ""

        def answer() -> Iterator[Found]:
            texts = entities.types["id"] == "VARCHAR" and not entities.stored.is_csv
            facts = {"column": "entity_ids", "ids": "texts" if texts else "numbers"}
            yield Found("entities", "numeric-ids", "id", 0, None, None, facts)

        return Question(odd, answer) if odd else None

    def _odd_ids(self, kind: str) -> Question | None:
        """Ids of another length than most of a table, where most have a length that GraphRAG gives them."""
        lengths = self._codes.lengths(kind)
        if len(lengths) > 1 and lengths[0][0] in _SHAPES and lengths[0][1] > 2 * lengths[1][1]:
            return self._odd_id(kind, lengths[0][0])
        return None

    def _odd_id(self, kind: str, usual: int) -> Question:
        odd = f"select row from {self._tables[kind].name} where length(id) <> {usual}"

        def answer() -> Iterator[Found]:
            for row, line, value in self._detailed(kind, "id", odd):
                yield Found(kind, "odd-id", "id", row, line, value, {"shape": _SHAPES[usual]})

        return Question(odd, answer)

    def _mirrored(self, proofs: Proofs) -> Iterator[Asked]:
        codes, rule = self._codes, "links-unlike-units"
        for kind, column in (("entities", "entity_ids"), ("relationships", "relationship_ids")):
            if codes.has("text-units", column, "id") and codes.has(kind, "text_unit_ids", "id"):
                yield from self._unlike(proofs, "text-units", column, kind, "text_unit_ids", rule)
        if codes.has("covariates", "id", "text_unit_id") and codes.has("text-units", "covariate_ids", "id"):
            yield from self._unlike(proofs, "text-units", "covariate_ids", "covariates", "text_unit_id", rule)
        if codes.has("documents", "text_unit_ids", "id") and codes.has("text-units", "id"):
            for column in ("document_id", "document_ids"):
                if codes.has("text-units", column):
                    rule = "documents-unlike-units"
                    yield from self._unlike(proofs, "documents", "text_unit_ids", "text-units", column, rule)
                    return

    def _unlike(self, proofs: Proofs, kind: str, column: str, other: str, named: str, rule: str) -> Iterator[Asked]:
        if {kind, other}.isdisjoint(self._unreliable) and not proofs.mirrors(kind, column, other, named):
            yield partial(self._unmirrored, kind, column, other, named, rule)

    def _unmirrored(self, kind: str, column: str, other: str, named: str, rule: str) -> Question:
        """Rows whose list is not made of the rows of another table that name them in the column ``named``.

        Sums of codes are compared first, as most lists are alike; the members are looked at where they differ.
        """
        lists, keys, others = self._codes.members(kind, column), self._codes.keys(kind), self._codes.keys(other)
        back = f"select k.row, o.id as code from {others} o join {keys} k on o.{named} = k.id"
        if self._codes.is_list(other, named):
            within = self._codes.members(other, named)
            back = f"select k.row, o.id as code from {within} l join {others} o on o.row = l.row "
            back += f"join {keys} k on l.code = k.id"
        odd = (
            f"select coalesce(a.row, b.row) as row from ({_SUMMED.format(lists)}) a "
            f"full join ({_SUMMED.format(f'({back})')}) b on a.row = b.row where a.x is distinct from b.x or a.n <> b.n"
        )
        query = f"""
            with odd as materialized ({odd}),
            here as materialized (
                select distinct row, code from {lists} where code is not null and row in (select row from odd)),
            there as materialized (
                select distinct row, code from ({back}) where code is not null and row in (select row from odd)),
            more as (select row, count(*) as n, min(code) as code
                from (select * from here except select * from there) group by row),
            less as materialized (select row, count(*) as n, min(code) as code
                from (select * from there except select * from here) group by row),
            lost as (select l.row, any_value(o.id) as id from less l join {others} k on k.id = l.code
                join {self._tables[other].name} o on o.row = k.row group by l.row)
            select v.row, v.line, coalesce(m.n, 0), {member_of(f"v.{column}", "m.code")}, coalesce(l.n, 0), o.id
            from {self._tables[kind].name} v
            left join more m on v.row = m.row left join less l on v.row = l.row left join lost o on v.row = o.row
            where m.n is not null or l.n is not null order by v.row"""

        def answer() -> Iterator[Found]:
            for row, line, more, listed, less, lost in self._tables.rows(query):
                words = (
                    [f"lists {counted(column, more, listed)} that {'does' if more == 1 else 'do'} not name it"]
                    if more
                    else []
                )
                words += [f"lacks {counted(column, less, lost)} that name{'s' if less == 1 else ''} it"] if less else []
                yield Found(kind, rule, column, row, line, None, {"reason": f"{column} {' and '.join(words)}"})

        return Question(odd, answer)

    def _degrees(self, proofs: Proofs) -> Iterator[Asked]:
        codes = self._codes
        if codes.has("entities", "text_unit_ids") and not proofs.has_text_units():
            yield self._nowhere_named
        if codes.has("entities", "frequency", "text_unit_ids") and not proofs.has_frequencies():
            yield self._frequencies
        if not codes.has_edges or not {"entities", "relationships"}.isdisjoint(self._unreliable):
            return
        if codes.has("entities", "degree") and not proofs.has_degrees():
            yield self._entity_degrees
        if codes.has("relationships", "combined_degree") and not proofs.has_combined_degrees():
            yield self._combined_degrees

    def _nowhere_named(self) -> Question:
        entities = self._codes.keys("entities")
        odd = f"select 1 from {entities} having count(*) > 0 and coalesce(sum(n_text_unit_ids), 0) = 0"
        return Question(odd, self._unnamed)

    def _frequencies(self) -> Question:
        entities = self._codes.keys("entities")
        odd = f"select row, n_text_unit_ids as counted from {entities} where frequency <> n_text_unit_ids"
        return self._odd_degree("entities", "frequency", odd)

    def _entity_degrees(self) -> Question:
        odd = (
            f"select e.row, coalesce(d.n, 0) as counted from {self._codes.keys('entities')} e "
            f"left join {self._codes.degrees()} d on e.title = d.name where e.degree <> coalesce(d.n, 0)"
        )
        return self._odd_degree("entities", "degree", odd)

    def _combined_degrees(self) -> Question:
        odd = (
            f"select r.row, coalesce(s.n, 0) + coalesce(t.n, 0) as counted from {self._codes.keys('relationships')} r "
            f"left join {self._codes.degrees()} s on r.source = s.name left join degrees t on r.target = t.name "
            "where r.combined_degree <> coalesce(s.n, 0) + coalesce(t.n, 0)"
        )
        return self._odd_degree("relationships", "combined_degree", odd)

    def _unnamed(self) -> Iterator[Found]:
        yield Found("entities", "no-named-text-unit", "text_unit_ids", 0, None, None, {})

    def _odd_degree(self, kind: str, column: str, odd: str) -> Question:
        def answer() -> Iterator[Found]:
            for row, line, value, counted in self._detailed(kind, column, odd, "counted"):
                facts = {"column": column, "counted": counted}
                yield Found(kind, "odd-degree", column, row, line, value, facts)

        return Question(odd, answer)


def counted(column: str, count: int, one: str) -> str:
    """How many members of a column of ids there are, in words, and ``one`` of them."""
    word = column.removesuffix("_ids").replace("_", " ")
    found = many(count, word, f"{word[:-1]}ies" if word.endswith("y") else f"{word}s")
    return f"{found} ({show(one)}{', …' if count > 1 else ''})"


def member_of(members: str, code: str) -> str:
    """The member of a list of texts that has a code, in SQL; null where none does."""
    return f"list_filter({members}, lambda member: {code_of('member')} = {code})[1]"
