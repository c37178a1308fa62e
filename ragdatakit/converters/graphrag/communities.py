"""Communities and their reports: those that are given, or some of the graph, with reports of the texts' sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ragdatakit.converters.graphrag.entities import Entity, Graph, Relationship, made_id, sound_text
from ragdatakit.files.containers.json_text import dumps
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.extraction.summaries import sentences, summary
from ragdatakit.retrieval.graphrag.knowledge import attributes_of
from ragdatakit.retrieval.graphs.communities import clusters

if TYPE_CHECKING:
    from ragdatakit.retrieval.extraction.asking import Asker
    from ragdatakit.retrieval.extraction.reports import Subject

PERIOD = "2000-01-01"
"""The day on which made communities were made: a fixed one, so that the same source gives the same files."""
RANK = 10.0
"""The rank of the report that covers most text units; the others have less, as they cover less."""
_KEPT = ("title", "summary", "rank", "full_content_json", "period")
_TITLED, _FINDINGS = 3, 5
_UNITS, _OF_UNIT = 8, 12
"""Text units of a community that a report is made of, and sentences of each."""
_SUMMARY_TOKENS, _FINDING_TOKENS = 120, 60


@dataclass(slots=True)
class Community:
    """A community; ``members`` are entities, ``parent`` and ``children`` numbers of communities."""

    number: int
    level: int
    members: list[Entity]
    parent: int = -1
    children: list[int] = field(default_factory=list)
    title: str = ""
    relationships: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    given: Mapping[str, Any] = field(default_factory=dict)
    own: list[Relationship] = field(default_factory=list)

    def row(self) -> dict[str, Any]:
        """The row of the table."""
        size = self.given.get("size")
        return {
            "id": str(self.given.get("id") or made_id("community", str(self.number))),
            "human_readable_id": self.number,
            "community": self.number,
            "level": self.level,
            "parent": self.parent,
            "children": self.children,
            "title": self.title or f"Community {self.number}",
            "entity_ids": [entity.entity_id for entity in self.members],
            "relationship_ids": self.relationships,
            "text_unit_ids": self.units,
            "period": str(self.given.get("period") or PERIOD),
            "size": size if isinstance(size, int) else len(self.members),
        }


def given_communities(tables: CanonicalTables, graph: Graph) -> list[Community]:
    """The communities of the tables. Ids that are no numbers become numbers."""
    found: list[Community] = []
    numbers: dict[str, int] = {}
    rows = list(tables.take("communities", "community_id", "level", "title", "parent", "members", "attributes"))
    taken = {int(row.community_id) for row in rows if row.community_id.isdecimal()}
    free = iter(range(max(taken, default=-1) + 1, 1 << 62))
    for row in rows:
        if row.community_id in numbers:
            tables.drop("communities", row, "another community has its id")
            continue
        number = int(row.community_id) if row.community_id.isdecimal() else next(free)
        if str(number) != row.community_id:
            why = "communities have numbers"
            tables.losses.add("coerced", "communities", "community_id", why, f"{row.community_id} became {number}")
        numbers[row.community_id] = number
        members = [graph.entities[name] for name in row.members if name in graph.entities]
        if len(members) < len(row.members):
            tables.losses.add("lost", "communities", "members", "they are no entities", row.community_id)
        given = attributes_of(row.attributes)
        made = Community(number, row.level, members, title=row.title or "", given=given)
        made.relationships, made.units = _texts(given.get("relationships")), _texts(given.get("passages"))
        made.children = [n for n in given.get("children") or () if isinstance(n, int)]
        found.append(made)
    for row, community in zip((r for r in rows if r.community_id in numbers), found, strict=False):
        community.parent = numbers.get(row.parent, -1) if row.parent is not None else -1
    _connect(tables, found)
    if not graph.is_own:
        _complete(found, graph)
    return found


def _connect(tables: CanonicalTables, communities: Sequence[Community]) -> None:
    """Give parents and children to communities that have none, as those before 1.0: the one above with most of their
    members."""
    above: dict[tuple[int, str], Community] = {}
    for community in communities:
        above.update(((community.level, entity.title), community) for entity in community.members)
    orphans = [community for community in communities if community.level > 0 and community.parent < 0]
    for community in orphans:
        around = (above.get((community.level - 1, entity.title)) for entity in community.members)
        counts = Counter(each.number for each in around if each is not None)
        community.parent = min(counts, key=lambda number: (-counts[number], number), default=-1)
    if orphans:
        why = "parents of communities: those with most of their members"
        tables.losses.add("derived", "communities", "parent", why, None, len(orphans))
    by_number = {community.number: community for community in communities}
    unknown = {community.number for community in communities if "children" not in community.given}
    for community in communities:
        if community.parent in unknown:
            by_number[community.parent].children.append(community.number)


def made_communities(tables: CanonicalTables, graph: Graph) -> list[Community]:
    """Communities of the relationships, by Leiden's method; an entity without any is one of its own."""
    entities = list(graph.entities.values())
    places = {entity.title: place for place, entity in enumerate(entities)}
    edges = (
        (places[each.source], places[each.target], graph.weight(each) or 1.0)
        for each in graph.relationships.values()
        if each.source in places and each.target in places
    )
    found = [
        Community(each.number, each.level, [entities[place] for place in each.members], each.parent)
        for each in clusters(len(entities), edges)
    ]
    for community in found:
        if community.parent >= 0:
            found[community.parent].children.append(community.number)
    _complete(found, graph)
    why = "communities of the graph, found without a model (Leiden's method)"
    tables.losses.add("derived", "communities", None, why, None, len(found))
    return found


def _complete(communities: Sequence[Community], graph: Graph) -> None:
    """Add the relationships within each community, and their text units; else those of its members."""
    by_level: dict[int, dict[str, Community]] = {}
    for community in communities:
        by_level.setdefault(community.level, {}).update((entity.title, community) for entity in community.members)
    for each in graph.relationships.values():
        for of_title in by_level.values():
            both = of_title.get(each.source)
            if both is not None and both is of_title.get(each.target):
                both.own.append(each)
    for community in communities:
        community.relationships = sorted(each.relationship_id for each in community.own)
        units = {unit for each in community.own for unit in each.units}
        community.units = sorted(units or {unit for entity in community.members for unit in entity.units})


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


# -- reports


def given_reports(tables: CanonicalTables, communities: Iterable[Community]) -> Iterator[dict[str, Any]]:
    """The reports among the summaries; others are of no community, and dropped."""
    by_number = {str(community.number): community for community in communities}
    for row in tables.take("summaries", "summary_id", "level", "text", "children", "metadata"):
        given = attributes_of(row.metadata)
        community = by_number.get(str(given.get("community")))
        if "rank_explanation" in given:
            why = "rank_explanation is called rating_explanation now"
            tables.losses.add("coerced", "summaries", "metadata", why, row.summary_id)
        if "community" not in given or (community is None and tables.format != "graphrag"):
            tables.drop("summaries", row, "it is no report on a community")
            continue
        number, level = given["community"], given.get("level")
        size = given.get("size", len(community.members) if community is not None else 0)
        yield {
            **{name: given.get(name) for name in _KEPT},
            "id": row.summary_id,
            "human_readable_id": number,
            "community": number,
            "level": level if isinstance(level, int) else row.level,
            "parent": community.parent if community is not None else -1,
            "children": community.children if community is not None else [],
            "full_content": row.text,
            "rating_explanation": given.get("rating_explanation", given.get("rank_explanation")),
            "findings": _findings(tables, given.get("findings"), row.summary_id),
            "size": int(size) if isinstance(size, int | float) else 0,
        }


def _findings(tables: CanonicalTables, value: Any, shown: str) -> list[dict[str, Any]]:
    """The findings of a report; those of CSV are a text, as Python or numpy prints them."""
    if isinstance(value, str):
        from ragdatakit.files.containers.python_literals import judge

        value = judge(value.replace("}\n {", "}, {")).value
        tables.losses.add("coerced", "summaries", "metadata", "findings that were a text are a list", shown)
    return [finding for finding in value if isinstance(finding, dict)] if isinstance(value, list) else []


def made_reports(
    tables: CanonicalTables,
    communities: Sequence[Community],
    graph: Graph,
    texts: Mapping[str, str],
    asker: Asker | None = None,
) -> Iterator[dict[str, Any]]:
    """A report on each community: by a language model where there is one, else of descriptions and of sentences that
    name its members. Memory holds the texts. Raises `RagdataError` where the model fails too often."""
    sentences_of = lru_cache(maxsize=1 << 10)(lambda unit: sentences(sound_text(texts.get(unit, ""))))
    most = max((len(community.units) for community in communities), default=0)
    if asker is not None:
        yield from _asked_reports(tables, communities, graph, asker, lambda c: _report(c, graph, sentences_of, most))
        return
    why = "reports of sentences of the texts, made without a model"
    tables.losses.add("derived", "summaries", None, why, None, len(communities))
    for community in communities:
        yield _report(community, graph, sentences_of, most)


def _asked_reports(
    tables: CanonicalTables,
    communities: Sequence[Community],
    graph: Graph,
    asker: Asker,
    without: Callable[[Community], dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """The reports that the model writes; where it gives none, those ``without`` it."""
    from ragdatakit.retrieval.extraction.reports import report_task

    asking = asker.begin(report_task(asker), len(communities))
    answers = asking.answers(_subject(community, graph) for community in communities)
    for community, answer in zip(communities, answers, strict=True):
        found = answer.reply
        if answer.failure:
            why = "the model gave no report; sentences of the texts take its place"
            tables.losses.add("lost", "summaries", "text", why, f"community {community.number}: {answer.failure}")
        if found is None:
            yield without(community)
            continue
        why = f"reports were written by {asker.options.model}"
        tables.losses.add("derived", "summaries", None, why, f"community {community.number}")
        findings = [{"summary": summary, "explanation": explanation} for summary, explanation in found.findings]
        yield _row(community, found.title, found.summary, found.rating, found.why, findings)
    asking.finish()


def _subject(community: Community, graph: Graph) -> Subject:
    """What a model gets to know about a community."""
    from ragdatakit.retrieval.extraction.reports import Subject

    relationships = sorted(
        community.own, key=lambda each: -(graph.degrees.get(each.source, 0) + graph.degrees.get(each.target, 0))
    )
    return Subject(
        community.number,
        [f"{entity.title}: {_on_one_line(entity.description)}" for entity in _ranked(community, graph)],
        [f"{each.source}, {each.target}: {_on_one_line(' '.join(each.descriptions))}" for each in relationships],
    )


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _ranked(community: Community, graph: Graph) -> list[Entity]:
    """The members, those with most relations first."""
    return sorted(community.members, key=lambda entity: -graph.degrees.get(entity.title, 0))


def _report(community: Community, graph: Graph, sentences_of: Any, most: int) -> dict[str, Any]:
    ranked = _ranked(community, graph)
    title = _listed([sound_text(entity.name) for entity in ranked[:_TITLED]], len(ranked))
    named = [entity.name.casefold() for entity in ranked]
    found = [entity.description for entity in ranked if entity.description]
    found += ["\n".join(each.descriptions) for each in community.own if each.descriptions and each.weight]
    about: dict[str, list[str]] = {}
    for unit in _fullest(community):
        of_unit = [(s, s.casefold()) for s in sentences_of(unit)]
        naming = [s for s, folded in of_unit if any(name in folded for name in named)][:_OF_UNIT]
        found += naming
        for entity, name in zip(ranked[:_FINDINGS], named, strict=False):
            about.setdefault(entity.title, []).extend(s for s, folded in of_unit if name in folded)
    short = summary(found, _SUMMARY_TOKENS) if found else f"{title}: {len(ranked):,} entities."
    findings = []
    for entity in ranked[:_FINDINGS]:
        texts = [entity.description] if entity.description else about.get(entity.title, [])[:_OF_UNIT]
        explanation = summary(texts, _FINDING_TOKENS) if texts else f"{sound_text(entity.name)} is one of the entities."
        findings.append({"summary": sound_text(entity.name), "explanation": explanation})
    rank = round(RANK * len(community.units) / most, 1) if most else 0.0
    why = f"Text units that it covers: {len(community.units):,}."
    return _row(community, title, short, rank, why, findings)


def _row(
    community: Community, title: str, short: str, rank: float, why: str, findings: list[dict[str, str]]
) -> dict[str, Any]:
    """The row of the table."""
    content = f"# {title}\n\n{short}\n\n" + "\n\n".join(f"## {f['summary']}\n\n{f['explanation']}" for f in findings)
    answer = {"title": title, "summary": short, "rating": rank, "rating_explanation": why, "findings": findings}
    return {
        "id": made_id("report", f"{community.number} {content}"),
        "human_readable_id": community.number,
        "community": community.number,
        "level": community.level,
        "parent": community.parent,
        "children": community.children,
        "title": title,
        "summary": short,
        "full_content": content,
        "rank": rank,
        "rating_explanation": why,
        "findings": findings,
        "full_content_json": dumps(answer),
        "period": PERIOD,
        "size": len(community.members),
    }


def _listed(names: Sequence[str], of: int) -> str:
    """Some names, and how many more there are."""
    more = of - len(names)
    if more:
        return f"{', '.join(names)} and {more:,} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _fullest(community: Community) -> list[str]:
    """The text units in which most members are."""
    counts = Counter(unit for entity in community.members for unit in entity.units)
    return sorted(counts, key=lambda unit: (-counts[unit], unit))[:_UNITS]
