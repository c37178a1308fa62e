"""Communities: their members, how they lie within each other, and their reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ragdatakit.validators.graphrag.codes import Codes
from ragdatakit.validators.graphrag.proofs import Proofs
from ragdatakit.validators.graphrag.references import Asked, Found, Question, counted, member_of
from ragdatakit.validators.graphrag.row_checks import USUAL_LEVEL

_HIERARCHY = """
    select v.row, v.line, v.community, v.level, v.parent, cast(v."raw parent" as varchar), p.level
    from {view} v left join (select community, min(level) as level from {keys} group by community) p
    on v.parent = p.community
    where v."raw parent" is not null and v.level is not null and (v.parent is null
    or (v.parent = -1 and v.level <> (select min(level) from {keys}))
    or (v.parent <> -1 and (p.level is null or p.level <> v.level - 1)))
    order by v.row"""
_CHILDREN = """
    with listed as (select distinct row, community, unnest(children) as child from {view}),
    named as (select distinct p.row, k.community as child from {keys} k join {view} p on k.parent = p.community
             where k.parent <> -1 and k.community is not null),
    more as (select l.row, count(*) as n, min(l.child) as child from listed l
             left join named t on l.row = t.row and l.child = t.child where t.row is null group by l.row),
    less as (select t.row, count(*) as n, min(t.child) as child from named t
             left join listed l on l.row = t.row and l.child = t.child where l.row is null group by t.row)
    select v.row, v.line, v.community, m.n, m.child, l.n, l.child from {view} v
    left join more m on v.row = m.row left join less l on v.row = l.row
    where m.n is not null or l.n is not null order by v.row"""
_STRAY = """
    with within as (
        select l.row, l.code, e.row as relationship, (l.row << 32) + e.s as s, (l.row << 32) + e.t as t
        from {listed} l left join {edges} e on l.code = e.id where l.code is not null),
    odd as materialized (
        select row, code, relationship from within where relationship is null or s is null or t is null
        or s not in (select key from {within}) or t not in (select key from {within})),
    counted as materialized (
        select row, count_if(relationship is null) as unknown, count(relationship) as outside,
        min(code) filter (relationship is null) as first_unknown,
        min(code) filter (relationship is not null) as first_outside from odd group by row)
    select v.row, v.line, c.unknown, {first_unknown}, c.outside, {first_outside}
    from {view} v join counted c on v.row = c.row order by v.row"""
_NOT_IN_PARENT = """
    with lost as materialized (
        select k.row, m.entity, k.parent from {keys} k
        join (select community, min(row) as row from {keys} group by community) p on p.community = k.parent
        join {within} m on m.row = k.row left join {within} q on q.row = p.row and q.entity = m.entity
        where q.row is null)
    select v.row, v.line, e.{name}, l.parent from lost l join {view} v on v.row = l.row
    join {entities} e on e.row = l.entity order by v.row, l.entity"""

_NO_TOP = """
    select 1 from {keys} having count(level) > 0 and count_if(level = 0 and {known}) = 0"""
_OUTSIDERS = """
    select row, line, {name} from {entities} where row not in (select entity from {within}) and id is not null
    order by row"""
_UNREPORTED = """
    select row, line, community from {view} where community is not null
    and community not in (select community from {other} where community is not null) order by row"""


class CommunityChecks:
    """What the codes show about communities and reports; tables in ``unreliable`` were not read whole."""

    def __init__(self, codes: Codes, unreliable: set[str], generation: str) -> None:
        self._codes = codes
        self._tables = codes.tables
        self._unreliable = unreliable
        self._generation = generation

    def questions(self, proofs: Proofs) -> Iterator[Asked]:
        """What is not proved."""
        if "communities" not in self._tables:
            return
        has = self._codes.has
        reported = has("reports", "community") and has("communities", "community")
        if reported:
            yield from self._reports(proofs)
        if "communities" in self._unreliable:
            return
        reported = reported and "reports" not in self._unreliable
        if has("communities", "level") and not proofs.has_top_level(reported):
            yield partial(self._no_top, reported)
        if has("communities", "community", "level", "parent"):
            if not proofs.has_hierarchy():
                yield partial(self._asked, _HIERARCHY, self._hierarchy)
            if has("communities", "children") and not proofs.has_children():
                yield partial(self._asked, _CHILDREN, self._children)
        if not has("communities", "entity_ids") or not has("entities", "id"):
            return
        if "entities" not in self._unreliable:
            if not proofs.has_all_entities():
                yield partial(self._asked, _OUTSIDERS, self._outsiders)
            if has("communities", "community", "parent") and not proofs.has_members_in_parents():
                yield partial(self._asked, _NOT_IN_PARENT, self._parents)
        is_there = self._codes.has_edges and has("relationships", "id") and has("communities", "relationship_ids")
        if (
            is_there
            and {"entities", "relationships"}.isdisjoint(self._unreliable)
            and not proofs.has_own_relationships()
        ):
            yield self._strays

    def _asked(self, query: str, found_by: Callable[[str], Iterator[Found]]) -> Question:
        made = query.format(
            view=self._tables["communities"].name,
            keys=self._codes.keys("communities"),
            **self._of_members() if "{within}" in query else {},
        )
        return Question(made, lambda: found_by(made))

    def _of_members(self) -> dict[str, str]:
        name = "title" if self._codes.has("entities", "title") else "id"
        return {"entities": self._tables["entities"].name, "name": name, "within": self._codes.within()}

    def _no_top(self, reported: bool) -> Question:
        known = f"community in (select community from {self._codes.keys('reports')})" if reported else "true"
        return Question(_NO_TOP.format(known=known, keys=self._codes.keys("communities")), self._levels)

    def _strays(self) -> Question:
        query = _STRAY.format(
            view=self._tables["communities"].name,
            listed=self._codes.members("communities", "relationship_ids"),
            edges=self._codes.edges(),
            within=self._codes.within(),
            first_unknown=member_of("v.relationship_ids", "c.first_unknown"),
            first_outside=member_of("v.relationship_ids", "c.first_outside"),
        )
        return Question(query, lambda: self._relationships(query))

    def _reports(self, proofs: Proofs) -> Iterator[Asked]:
        for kind, other, rule in (
            ("reports", "communities", "unknown-community"),
            ("communities", "reports", "community-without-report"),
        ):
            if other not in self._unreliable and not proofs.resolves(kind, "community", other, "community"):
                yield partial(self._found, kind, other, rule)

    def _found(self, kind: str, other: str, rule: str) -> Question:
        query = _UNREPORTED.format(view=self._tables[kind].name, other=self._codes.keys(other))

        def answer() -> Iterator[Found]:
            for row, line, value in self._tables.rows(query):
                yield Found(kind, rule, "community", row, line, value, {})

        return Question(query, answer)

    def _levels(self) -> Iterator[Found]:
        row, lowest = self._tables.one(f"select min_by(row, level), min(level) from {self._codes.keys('communities')}")
        rule = "no-community-in-reach" if lowest > USUAL_LEVEL else "no-top-level"
        reason = f"the lowest level is {lowest}" if lowest else "no community on level 0 has a report"
        yield Found("communities", rule, "level", row, None, lowest, {"reason": reason})

    def _hierarchy(self, query: str) -> Iterator[Found]:
        for row, line, number, level, parent, raw, above in self._tables.rows(query):
            name = f"community {number} on level {level}"
            if parent is None:
                reason = f"{name} has the parent {raw}, which is no number"
            elif parent == -1:
                reason = f"{name} has no parent"
            elif above is None:
                reason = f"{name} has the parent {parent}, which does not exist"
            else:
                reason = f"{name} has the parent {parent}, which is on level {above}"
            yield Found("communities", "broken-hierarchy", "parent", row, line, parent, {"reason": reason})

    def _children(self, query: str) -> Iterator[Found]:
        for row, line, number, more, wrong, less, missing in self._tables.rows(query):
            words = [f"lists {_several(more, wrong)}, whose parent it is not"] if more else []
            words += [f"does not list {_several(less, missing)}, whose parent it is"] if less else []
            facts = {"reason": f"community {number} {' and '.join(words)}"}
            yield Found("communities", "children-unlike-parents", "children", row, line, None, facts)

    def _outsiders(self, query: str) -> Iterator[Found]:
        if not self._tables.one(f"select count(*) from {self._codes.within()}")[0]:
            return  # all are: that is reported of the members
        for row, line, value in self._tables.rows(query):
            yield Found("entities", "entity-without-community", "id", row, line, value, {})

    def _relationships(self, query: str) -> Iterator[Found]:
        for row, line, unknown, first_unknown, outside, first_outside in self._tables.rows(query):
            if self._generation < "1.0":  # which lists all relationships of a member
                outside = 0
            if not unknown and not outside:
                continue
            words = []
            if unknown:
                found = counted("relationship_ids", unknown, first_unknown)
                words.append(f"{found} that do{'es' if unknown == 1 else ''} not exist")
            if outside:
                words.append(f"{counted('relationship_ids', outside, first_outside)} with an end that is no member")
            facts = {"reason": f"relationship_ids lists {' and '.join(words)}"}
            yield Found("communities", "stray-community-relationship", "relationship_ids", row, line, None, facts)

    def _parents(self, query: str) -> Iterator[Found]:
        for row, line, value, parent in self._tables.rows(query):
            yield Found("communities", "member-not-in-parent", "entity_ids", row, line, value, {"parent": parent})


def _several(number: int, first: int) -> str:
    return str(first) if number == 1 else f"{first} and {number - 1} more"
