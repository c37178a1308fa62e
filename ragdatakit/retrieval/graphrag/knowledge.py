"""What GraphRAG's modes search, out of the canonical tables and back from the file in which an index keeps it.

Any dataset with a graph will do. What GraphRAG has and others have not is made up where it says itself: ranks are the
numbers of relationships, and an entity is in the passages that it, its relationships and edges to passages name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ragdatakit.files.containers.json_text import fields_of, loads
from ragdatakit.retrieval.graphrag.context import (
    CLAIM_FIELDS,
    LEVEL,
    Claim,
    Community,
    Entity,
    Knowledge,
    Relationship,
    Report,
    Unit,
)
from ragdatakit.retrieval.graphs.building import DOCUMENT
from ragdatakit.schemas.canonical import MENTION

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.schemas.canonical import Edge

_TEXTS = ("description", "summary", "text", "content")
_ROWS: tuple[Callable[..., Any], ...] = (Entity, Relationship, Claim, Community, Report)
_UNNAMED = "RELATED"
"""What the edges of a GraphRAG index are called, which have no names of their own."""


def attributes_of(attributes: str | None) -> dict[str, Any]:
    """The attributes of a node or an edge as values."""
    return {name: loads(raw) for name, raw in fields_of(attributes).items()} if attributes else {}


def description_of(given: Mapping[str, Any]) -> str:
    """What is said of a node or an edge."""
    return next((given[name] for name in _TEXTS if isinstance(given.get(name), str)), "")


def passages_of(given: Mapping[str, Any], provenance: str | None = None) -> tuple[str, ...]:
    """The passages that a node or an edge names."""
    listed = given.get("passages")
    found = [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
    return tuple(dict.fromkeys([*([provenance] if provenance else []), *found]))


def write_knowledge(path: Path, tables: CanonicalTables) -> dict[str, int]:
    """Write the rows that `read_knowledge` reads; returns their counts."""
    counts: Counter[str] = Counter()
    reading = _Reading(tables)
    encoder = msgspec.json.Encoder()
    with path.open("wb") as file:
        for row in reading.rows():
            kind = type(row)
            file.write(encoder.encode([_ROWS.index(kind), *msgspec.to_builtins(row).values()]) + b"\n")
            counts[kind.__name__.lower()] += 1
    names = {"entity": "entities", "community": "communities"}
    return {names.get(name, f"{name}s"): count for name, count in counts.items()}


def read_knowledge(path: Path, units: Mapping[str, Unit], level: int = LEVEL) -> Knowledge:
    """The rows as what is searched, down to a level of communities."""
    found: tuple[list[Any], ...] = tuple([] for _ in _ROWS)
    decoder = msgspec.json.Decoder()
    with path.open("rb") as file:
        for line in file:
            kind, *values = decoder.decode(line)
            found[kind].append(_ROWS[kind](*(tuple(v) if isinstance(v, list) else v for v in values)))
    entities, relationships, claims, communities, reports = found
    return Knowledge(entities, relationships, communities, reports, units, claims, level)


class _Reading:
    def __init__(self, tables: CanonicalTables) -> None:
        self._tables = tables
        self._ids: dict[str, str] = {}
        self._numbers: dict[str, int] = {}

    def rows(self) -> Iterator[Any]:
        """All rows: entities first, as the others name them."""
        mentioned, degrees = self._of_edges()
        claims: list[tuple[int, Claim]] = []
        for number, node in enumerate(self._tables.peek("nodes")):
            if node.type == DOCUMENT:
                continue
            given = attributes_of(node.attributes)
            entity_id = _text(given.get("id")) or node.name
            self._ids.setdefault(node.name, entity_id)
            units = passages_of(given) or tuple(mentioned.get(node.name, ()))
            rank = _integer(given.get("degree"), degrees[node.name])
            shown = _text(given.get("human_readable_id")) or str(number)
            yield Entity(entity_id, node.name, description_of(given), shown, rank, units)
            listed = given.get("claims")
            own = [claim for claim in listed if isinstance(claim, dict)] if isinstance(listed, list) else []
            claims += [_claim(node.name, claim, _text(claim.get("object_id"))) for claim in own]
        yield from self._unnamed(mentioned, degrees)
        for number, edge in enumerate(self._tables.peek("edges")):
            given = attributes_of(edge.attributes)
            if "covariate_type" in given:
                claims.append(_claim(edge.source, given, edge.target))
            elif edge.relation != MENTION:
                yield self._relationship(number, edge, given, degrees)
        yield from (claim for _, claim in sorted(claims, key=lambda each: each[0]))
        yield from self._communities()
        yield from self._reports()

    def _of_edges(self) -> tuple[dict[str, dict[str, None]], Counter[str]]:
        """The passages that edges name for entities, and how many relationships each has."""
        mentioned: dict[str, dict[str, None]] = {}
        degrees: Counter[str] = Counter()
        for edge in self._tables.peek("edges"):
            if edge.relation == MENTION:
                mentioned.setdefault(edge.source, {})[edge.target] = None
                continue
            degrees.update(dict.fromkeys((edge.source, edge.target), 1))
            for unit in passages_of(attributes_of(edge.attributes), edge.provenance):
                for name in (edge.source, edge.target):
                    mentioned.setdefault(name, {})[unit] = None
        return mentioned, degrees

    def _unnamed(self, mentioned: Mapping[str, Iterable[str]], degrees: Mapping[str, int]) -> Iterator[Entity]:
        """The ends of edges that are no nodes: only where there are no nodes at all, as in sets of triples."""
        if not self._ids:
            for number, (name, rank) in enumerate(degrees.items()):
                yield Entity(name, name, "", str(number), rank, tuple(mentioned.get(name, ())))

    def _relationship(
        self, number: int, edge: Edge, given: Mapping[str, Any], degrees: Mapping[str, int]
    ) -> Relationship:
        weight = given.get("weight", edge.confidence)
        return Relationship(
            _text(given.get("id")) or str(number),
            edge.source,
            edge.target,
            description_of(given) or ("" if edge.relation == _UNNAMED else edge.relation),
            _text(given.get("human_readable_id")) or str(number),
            float(weight) if isinstance(weight, int | float) and math.isfinite(weight) else None,
            _integer(given.get("combined_degree"), degrees.get(edge.source, 0) + degrees.get(edge.target, 0)),
            passages_of(given, edge.provenance),
        )

    def _communities(self) -> Iterator[Community]:
        for row in self._tables.peek("communities"):
            members = tuple(self._ids.get(name, name) for name in row.members)
            yield Community(self._number(row.community_id), row.level, row.title or row.community_id, members)

    def _number(self, community_id: str) -> int:
        """The number of a community; where its id is none, one that is free."""
        if community_id.isdecimal():
            return int(community_id)
        return self._numbers.setdefault(community_id, -2 - len(self._numbers))

    def _reports(self) -> Iterator[Report]:
        """The summaries that are of communities."""
        for row in self._tables.peek("summaries"):
            given = attributes_of(row.metadata)
            community, level, rank = _text(given.get("community")), given.get("level"), given.get("rank")
            if not community:
                continue
            yield Report(
                self._number(community),
                level if isinstance(level, int) else 0,
                _text(given.get("title")),
                row.text,
                float(rank) if isinstance(rank, int | float) else None,
                row.summary_id,
            )


def _claim(subject: str, given: Mapping[str, Any], target: str) -> tuple[int, Claim]:
    """A claim, with its number in the table."""
    values = tuple(target if name == "object_id" else _text(given.get(name)) for name in CLAIM_FIELDS)
    number = _integer(given.get("human_readable_id"), 0)
    return number, Claim(subject, str(number), values)


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, bool | list | dict) else str(value)


def _integer(value: Any, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise
