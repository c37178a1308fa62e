"""Communities: their members, how they lie within each other, and their reports."""

from __future__ import annotations

from collections.abc import Iterator

from ragdatakit.validators.graphrag.references import Codes, Found
from ragdatakit.validators.graphrag.row_checks import USUAL_LEVEL

_MEMBERS = """
    create table members as select distinct l.row, e.row as entity from l_communities_entity_ids l
    join (select id, min(row) as row from k_entities where id is not null group by id) e on l.code = e.id"""
_HIERARCHY = """
    select v.row, v.line, v.community, v.level, v.parent, cast(v."raw parent" as varchar), p.level
    from {view} v left join (select community, min(level) as level from k_communities group by community) p
    on v.parent = p.community
    where v."raw parent" is not null and v.level is not null and (v.parent is null
    or (v.parent = -1 and v.level <> 0) or (v.parent <> -1 and (p.level is null or p.level <> v.level - 1)))
    order by v.row"""
_CHILDREN = """
    with listed as (select distinct row, community, unnest(children) as child from {view}),
    told as (select distinct p.row, k.community as child from k_communities k join {view} p on k.parent = p.community
             where k.parent <> -1 and k.community is not null),
    more as (select l.row, count(*) as n, min(l.child) as child from listed l
             left join told t on l.row = t.row and l.child = t.child where t.row is null group by l.row),
    less as (select t.row, count(*) as n, min(t.child) as child from told t
             left join listed l on l.row = t.row and l.child = t.child where l.row is null group by t.row)
    select v.row, v.line, v.community, m.n, m.child, l.n, l.child from {view} v
    left join more m on v.row = m.row left join less l on v.row = l.row
    where m.n is not null or l.n is not null order by v.row"""
_STRAY = """
    with within as materialized (
        select l.row, l.code, r.row as relationship, e.s, e.t from l_communities_relationship_ids l
        left join (select id, min(row) as row from k_relationships group by id) r on l.code = r.id
        left join edges e on e.row = r.row where l.code is not null),
    unknown as (select row, count(*) as n from within where relationship is null group by row),
    outside as (select w.row, count(*) as n from within w
        left join members a on a.row = w.row and a.entity = w.s left join members b on b.row = w.row and b.entity = w.t
        where w.relationship is not null and (a.row is null or b.row is null) group by w.row)
    select v.row, v.line, coalesce(u.n, 0), coalesce(o.n, 0) from {view} v
    left join unknown u on v.row = u.row left join outside o on v.row = o.row
    where u.n is not null or o.n is not null order by v.row"""
_NOT_IN_PARENT = """
    with lost as materialized (
        select k.row, m.entity, k.parent from k_communities k
        join (select community, min(row) as row from k_communities group by community) p on p.community = k.parent
        join members m on m.row = k.row left join members q on q.row = p.row and q.entity = m.entity
        where q.row is null)
    select v.row, v.line, e.{name}, l.parent from lost l join {view} v on v.row = l.row
    join {entities} e on e.row = l.entity order by v.row, l.entity"""


class CommunityChecks:
    """What `Codes` tell of communities and reports."""

    def __init__(self, codes: Codes, unreliable: set[str], has_edges: bool, generation: str) -> None:
        self._codes = codes
        self._generation = generation
        self._tables = codes.tables
        self._unreliable = unreliable
        self._has_edges = has_edges

    def found(self) -> Iterator[Found]:
        """All faults."""
        yield from self._reports()
        if "communities" not in self._tables or "communities" in self._unreliable:
            return
        yield from self._levels()
        view = self._tables["communities"].name
        if self._codes.has("communities", "community", "level", "parent"):
            yield from self._hierarchy(view)
            if self._codes.has("communities", "children"):
                yield from self._children(view)
        if self._codes.has("communities", "entity_ids") and self._codes.has("entities", "id"):
            self._tables.run(_MEMBERS)
            yield from self._outsiders()
            if self._has_edges and self._codes.has("communities", "relationship_ids"):
                yield from self._relationships(view)
            if self._codes.has("communities", "community", "parent"):
                yield from self._parents(view)

    def _reports(self) -> Iterator[Found]:
        both = self._codes.has("reports", "community") and self._codes.has("communities", "community")
        if not both:
            return
        reports, communities = self._tables["reports"].name, self._tables["communities"].name
        known = "(select community from {} where community is not null)"
        if "communities" not in self._unreliable:
            for row, line, value in self._tables.rows(
                f"select row, line, community from {reports} where community is not null "
                f"and community not in {known.format('k_communities')} order by row"
            ):
                yield "reports", "unknown-community", "community", row, line, value, {}
        if "reports" not in self._unreliable and self._tables.one("select count(*) from k_reports")[0]:
            for row, line, value in self._tables.rows(
                f"select row, line, community from {communities} where community is not null "
                f"and community not in {known.format('k_reports')} order by row"
            ):
                yield "communities", "community-without-report", "community", row, line, value, {}

    def _levels(self) -> Iterator[Found]:
        if not self._codes.has("communities", "level"):
            return
        row, lowest = self._tables.one("select min_by(row, level), min(level) from k_communities")
        if lowest is not None and lowest != 0:
            rule = "no-community-in-reach" if lowest > USUAL_LEVEL else "no-top-level"
            yield "communities", rule, "level", row, None, lowest, {}

    def _hierarchy(self, view: str) -> Iterator[Found]:
        for row, line, number, level, parent, raw, above in self._tables.rows(_HIERARCHY.format(view=view)):
            name = f"community {number} on level {level}"
            if parent is None:
                reason = f"{name} has the parent {raw}, which is no number"
            elif parent == -1:
                reason = f"{name} has no parent"
            elif above is None:
                reason = f"{name} has the parent {parent}, which does not exist"
            else:
                reason = f"{name} has the parent {parent}, which is on level {above}"
            yield "communities", "broken-hierarchy", "parent", row, line, parent, {"reason": reason}

    def _children(self, view: str) -> Iterator[Found]:
        for row, line, number, more, wrong, less, missing in self._tables.rows(_CHILDREN.format(view=view)):
            words = [f"lists {_several(more, wrong)}, whose parent it is not"] if more else []
            words += [f"does not list {_several(less, missing)}, whose parent it is"] if less else []
            facts = {"reason": f"community {number} {' and '.join(words)}"}
            yield "communities", "children-unlike-parents", "children", row, line, None, facts

    def _outsiders(self) -> Iterator[Found]:
        if "entities" in self._unreliable or not self._tables.one("select count(*) from members")[0]:
            return
        title = "title" if self._codes.has("entities", "title") else "id"
        for row, line, value in self._tables.rows(
            f"select row, line, {title} from {self._tables['entities'].name} "
            "where row not in (select entity from members) and id is not null order by row"
        ):
            yield "entities", "entity-without-community", "id", row, line, value, {}

    def _relationships(self, view: str) -> Iterator[Found]:
        for row, line, unknown, outside in self._tables.rows(_STRAY.format(view=view)):
            if self._generation < "1.0":  # which lists all relationships of a member
                outside = 0
            if not unknown and not outside:
                continue
            words = [f"{unknown} that do not exist"] if unknown else []
            words += [f"{outside} with an end that is no member"] if outside else []
            facts = {"reason": f"relationship_ids lists {' and '.join(words)}"}
            yield "communities", "stray-community-relationship", "relationship_ids", row, line, None, facts

    def _parents(self, view: str) -> Iterator[Found]:
        name = "title" if self._codes.has("entities", "title") else "id"
        query = _NOT_IN_PARENT.format(view=view, entities=self._tables["entities"].name, name=name)
        for row, line, value, parent in self._tables.rows(query):
            yield "communities", "member-not-in-parent", "entity_ids", row, line, value, {"parent": parent}


def _several(number: int, first: int) -> str:
    return str(first) if number == 1 else f"{first} and {number - 1} more"
