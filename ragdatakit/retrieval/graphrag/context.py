"""What GraphRAG 3 gives a model for a question, in its order, its tables and its budgets.

`local` starts from the entities nearest to a question and takes the reports of their communities, their relationships,
the claims about them and their text units. `batches` are what global search hands to a model one after the other: all
reports down to a level, by how much of the text their communities cover. Texts are those of GraphRAG's context builders
to the byte (`tests/graphrag_contexts.json` has recorded ones).
"""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property

from ragdatakit.late_dataclasses import dataclass

LEVEL = 2
"""The lowest level of communities that is looked at, where nothing else is said: that of GraphRAG's command line."""
_SEED = 86
_REPORTS, _ENTITIES, _RELATIONSHIPS, _CLAIMS, _SOURCES = "Reports", "Entities", "Relationships", "claims", "Sources"
_RANK = "number of relationships"
_WEIGHT = "occurrence weight"
_NO_REPORTS = "[]"
"""What GraphRAG puts where no report fits: its empty list, as text."""
CLAIM_FIELDS = ("object_id", "status", "start_date", "end_date", "description")


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity; ``shown`` is the number it is cited by, ``rank`` the number of its relationships."""

    entity_id: str
    title: str
    description: str = ""
    shown: str = ""
    rank: int = 0
    units: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship of two entities, by their titles; ``rank`` is the sum of their ranks."""

    relationship_id: str
    source: str
    target: str
    description: str = ""
    shown: str = ""
    weight: float | None = None
    rank: int = 0
    units: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed of an entity; ``values`` are those of `CLAIM_FIELDS`."""

    subject: str
    shown: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """A text unit; ``shown`` is the number it is cited by, its place in the table."""

    unit_id: str
    text: str
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Community:
    """A community and the ids of its entities."""

    number: int
    level: int
    title: str
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The report on a community; one without a rank is in no context."""

    community: int
    level: int
    title: str
    content: str
    rank: float | None = None
    report_id: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """GraphRAG's own defaults. ``count`` counts the tokens of a text; ``tokens`` are those of a context or a batch."""

    tokens: int = 12_000
    units_share: float = 0.5
    reports_share: float = 0.15
    entities: int = 20
    relationships: int = 10
    level: int = LEVEL
    count: Callable[[str], int] = len


@dataclass(slots=True)
class Context:
    """What is found for a question: ``entities`` are those that it starts from, of which ``shown_entities`` fit."""

    entities: list[Entity] = field(default_factory=list)
    shown_entities: list[Entity] = field(default_factory=list)
    relationships: list[Relationship] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    text: str = ""


class Knowledge:
    """The tables of an index down to a level of communities, as GraphRAG reads them for a search.

    An entity in no community of these levels is not there, nor is a report whose community has no title of its own.
    Where there are no communities at all, all entities are there.
    """

    def __init__(
        self,
        entities: Iterable[Entity],
        relationships: Iterable[Relationship],
        communities: Sequence[Community],
        reports: Iterable[Report],
        units: Mapping[str, Unit],
        claims: Iterable[Claim] = (),
        level: int = LEVEL,
    ) -> None:
        known = [community for community in communities if community.level <= level]
        everyone = not communities
        memberships: dict[str, list[float]] = {}
        for community in known:
            for entity_id in community.entities:
                memberships.setdefault(entity_id, []).append(float(community.number))
        by_id = {entity.entity_id: entity for entity in entities if everyone or entity.entity_id in memberships}
        self.entities = {entity_id: by_id[entity_id] for entity_id in sorted(by_id)}
        # a set of numbers, for it is its order in which GraphRAG goes through the communities of an entity
        self.communities = {name: [int(n) for n in set(memberships.get(name, ()))] for name in self.entities}
        last: dict[str, int] = {}
        for community in known:
            last[community.title] = max(community.number, last.get(community.title, community.number))
        wanted = set(last.values())
        self.reports = [report for report in reports if report.level <= level and report.community in wanted]
        self.report_of = {report.community: report for report in self.reports}
        self.relationships = list({each.relationship_id: each for each in relationships}.values())
        self.units = units
        self._adjacent: dict[str, list[int]] = {}
        for place, each in enumerate(self.relationships):
            for title in dict.fromkeys((each.source, each.target)):
                self._adjacent.setdefault(title, []).append(place)
        self._claims: dict[str, list[Claim]] = {}
        for claim in claims:
            self._claims.setdefault(claim.subject, []).append(claim)

    def places_of(self, titles: Iterable[str]) -> list[int]:
        """The relationships that one of the titles is an end of, by their places."""
        return sorted({place for title in titles for place in self._adjacent.get(title, ())})

    def relationships_of(self, title: str) -> list[Relationship]:
        """The relationships that a title is an end of."""
        return [self.relationships[place] for place in self._adjacent.get(title, ())]

    def claims_of(self, title: str) -> Sequence[Claim]:
        """The claims about an entity."""
        return self._claims.get(title, ())

    @property
    def has_claims(self) -> bool:
        """Whether there are claims at all."""
        return bool(self._claims)

    def by_rank(self, k: int) -> list[Entity]:
        """The entities with most relationships: where an empty question starts."""
        return sorted(self.entities.values(), key=lambda entity: entity.rank, reverse=True)[:k]

    @cached_property
    def weights(self) -> dict[int, float]:
        """How much of the text the entities of each community are in, as a part of the most."""
        units: dict[int, set[str]] = {}
        for entity in self.entities.values():
            for number in self.communities[entity.entity_id]:
                units.setdefault(number, set()).update(entity.units)
        counts = {report.community: len(units.get(report.community, ())) for report in self.reports}
        most = max(counts.values(), default=0)
        return {number: count / most if most else 0.0 for number, count in counts.items()}


def local(knowledge: Knowledge, selected: Sequence[Entity], settings: Settings) -> Context:
    """The context for the entities that a question leads to, nearest first."""
    found = Context(entities=list(selected))
    parts = [
        _reports(knowledge, found, int(settings.tokens * settings.reports_share), settings),
        _tables(knowledge, found, _share(settings), settings),
        _units(knowledge, found, int(settings.tokens * settings.units_share), settings),
    ]
    found.text = "\n\n".join(part for part in parts if part.strip())
    return found


def _share(settings: Settings) -> int:
    """What is left for entities, relationships and claims."""
    return max(int(settings.tokens * (1 - settings.reports_share - settings.units_share)), 0)


def _head(name: str, columns: Iterable[str]) -> str:
    return f"-----{name}-----\n{'|'.join(columns)}\n"


def _fitting(head: str, rows: Iterable[str], most: int, count: Callable[[str], int]) -> tuple[str, int]:
    """A table of the first rows that fit, and how many these are."""
    text, used, number = [head], count(head), 0
    for row in rows:
        tokens = count(row)
        if used + tokens > most:
            break
        text.append(row)
        used += tokens
        number += 1
    return "".join(text), number


# -- reports


def _reports(knowledge: Knowledge, found: Context, most: int, settings: Settings) -> str:
    matches: dict[int, int] = {}
    for entity in found.entities:
        for number in knowledge.communities[entity.entity_id]:
            matches[number] = matches.get(number, 0) + 1
    reports = [knowledge.report_of[number] for number in matches if number in knowledge.report_of]
    reports = [report for report in reports if _is_ranked(report)]
    reports.sort(key=lambda report: (matches[report.community], report.rank), reverse=True)
    columns = ("id", "title", "content")
    rows = [[str(report.community), report.title, report.content] for report in reports]
    lines = ("|".join(row) + "\n" for row in rows)
    number = _fitting(_head(_REPORTS, columns), lines, most, settings.count)[1]
    found.reports = reports[:number]
    if not number:
        return _NO_REPORTS if found.entities and knowledge.reports else ""
    return f"-----{_REPORTS}-----\n{_csv(columns, rows[:number])}"


def _is_ranked(report: Report) -> bool:
    return report.rank is not None and report.rank >= 0


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter="|", lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


# -- entities, relationships, claims


def _tables(knowledge: Knowledge, found: Context, most: int, settings: Settings) -> str:
    """The entities that fit; and for as many of them as fit together, their relationships and claims."""
    entities = found.entities
    text = ""
    if entities:
        head = _head(_ENTITIES, ("id", "entity", "description", _RANK))
        text, number = _fitting(head, map(entity_row, entities), most, settings.count)
        found.shown_entities = entities[:number]
    used = settings.count(text)
    kept: list[str] = []
    links: dict[str, int] = {}
    for number in range(1, len(entities) + 1):
        table, relationships = _relationships(knowledge, entities[:number], links, most, settings)
        parts, claims = [table], found.claims
        if knowledge.has_claims:
            table, claims = _claims(knowledge, entities[:number], most, settings)
            parts.append(table)
        if used + sum(map(settings.count, parts)) > most:
            break
        kept, found.relationships, found.claims = parts, relationships, claims
    return f"{text}\n\n" + "\n\n".join(kept)


def entity_row(entity: Entity) -> str:
    """An entity as a line of its table."""
    return f"{entity.shown}|{entity.title}|{entity.description}|{entity.rank}\n"


def _relationships(
    knowledge: Knowledge, entities: Sequence[Entity], links: dict[str, int], most: int, settings: Settings
) -> tuple[str, list[Relationship]]:
    """The relationships of some entities as a table: those between them, then those that lead out.

    ``links`` keeps what was counted for fewer entities, as GraphRAG does: a relationship that led out then may be
    between them now, and still shows its number.
    """
    selected = _by_importance(knowledge, entities, links, settings.relationships)
    if not selected:
        return "", []
    columns = ["id", "source", "target", "description", "weight"]
    with_links = selected[0].relationship_id in links
    columns += ["links"] if with_links else []
    rows = (_relationship_row(each, links if with_links else None) for each in selected)
    text, number = _fitting(_head(_RELATIONSHIPS, columns), rows, most, settings.count)
    return text, selected[:number]


def _relationship_row(each: Relationship, links: Mapping[str, int] | None) -> str:
    cells = [each.shown, each.source, each.target, each.description, str(each.weight) if each.weight else ""]
    if links is not None:
        cells.append(str(links.get(each.relationship_id) or ""))
    return "|".join(cells) + "\n"


def _by_importance(
    knowledge: Knowledge, entities: Sequence[Entity], links: dict[str, int], most: int
) -> list[Relationship]:
    titles = {entity.title for entity in entities}
    near = [knowledge.relationships[place] for place in knowledge.places_of(titles)]
    inside = [each for each in near if each.source in titles and each.target in titles]
    outside = [each for each in near if each.source in titles and each.target not in titles]
    outside += [each for each in near if each.target in titles and each.source not in titles]
    inside.sort(key=lambda each: each.rank, reverse=True)
    outside.sort(key=lambda each: each.rank, reverse=True)
    if len(outside) <= 1:
        return inside + outside
    neighbours: dict[str, set[str]] = {}
    for each in outside:
        out, entity = (each.source, each.target) if each.source not in titles else (each.target, each.source)
        neighbours.setdefault(out, set()).add(entity)
    for each in outside:
        out = each.source if each.source not in titles else each.target
        links[each.relationship_id] = len(neighbours[out])
    outside.sort(key=lambda each: (links[each.relationship_id], each.rank), reverse=True)
    return inside + outside[: most * len(entities)]


def _claims(knowledge: Knowledge, entities: Sequence[Entity], most: int, settings: Settings) -> tuple[str, list[Claim]]:
    claims = [claim for entity in entities for claim in knowledge.claims_of(entity.title)]
    head = _head(_CLAIMS, ("id", "entity", *CLAIM_FIELDS))
    rows = ("|".join((claim.shown, claim.subject, *claim.values)) + "\n" for claim in claims)
    text, number = _fitting(head, rows, most, settings.count)
    return text, claims[:number]


# -- text units


def ranked_units(knowledge: Knowledge, entities: Iterable[Entity]) -> list[str]:
    """The text units of some entities: by the first that names them, then by how many relationships of it they mention.

    GraphRAG counts them by the list of the unit, which mirrors those of the relationships that are counted here.
    """
    ranked: list[tuple[int, int, str]] = []
    seen: set[str] = set()
    for place, entity in enumerate(entities):
        uses = Counter(unit for each in knowledge.relationships_of(entity.title) for unit in dict.fromkeys(each.units))
        for unit_id in entity.units:
            if unit_id in knowledge.units and unit_id not in seen:
                seen.add(unit_id)
                ranked.append((place, -uses[unit_id], unit_id))
    ranked.sort(key=lambda each: each[:2])
    return [unit_id for _, _, unit_id in ranked]


def _units(knowledge: Knowledge, found: Context, most: int, settings: Settings) -> str:
    units = [knowledge.units[unit_id] for unit_id in ranked_units(knowledge, found.entities)]
    if not units:
        return ""
    rows = (f"{unit.shown}|{unit.text}\n" for unit in units)
    text, number = _fitting(_head(_SOURCES, ("id", "text")), rows, most, settings.count)
    found.units = units[:number]
    return text


# -- all reports


@dataclass(frozen=True, slots=True)
class Batch:
    """Reports that a model reads together, and the text that it gets."""

    reports: tuple[Report, ...]
    text: str


def batches(knowledge: Knowledge, settings: Settings) -> Iterator[Batch]:
    """The batches of global search: reports are shuffled, always in the same way, and sorted within each batch."""
    weights = knowledge.weights
    reports = [report for report in knowledge.reports if _is_ranked(report)]
    random.Random(_SEED).shuffle(reports)
    columns = ("id", "title", _WEIGHT, "content", "rank")
    used = empty = settings.count(_head(_REPORTS, columns))
    batch: list[Report] = []
    for report in reports:
        cells = (report.title, str(weights[report.community]), report.content, str(report.rank))
        tokens = settings.count("|".join((str(report.community), *cells)) + "\n")
        if used + tokens > settings.tokens:
            if batch:
                yield _batch(batch, weights, columns)
            batch, used = [], empty
        batch.append(report)
        used += tokens
    if batch:
        yield _batch(batch, weights, columns)


def _batch(reports: Iterable[Report], weights: Mapping[int, float], columns: Sequence[str]) -> Batch:
    ranked = sorted(reports, key=lambda report: (-weights[report.community], -(report.rank or 0.0)))
    rows = [(r.community, r.title, weights[r.community], r.content, r.rank) for r in ranked]
    return Batch(tuple(ranked), _csv(columns, rows))
