"""Nodes and edges as LightRAG has them: one edge a pair, names as they are stored, weights that it accepts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from ragdatakit.files.containers.json_text import fields_of, loads
from ragdatakit.files.lightrag.names import SEPARATOR, normalised, pair_of
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import MENTION, Edge, Node

_KNOWN = {"description", "passages", "weight", "file_path", "created_at"}
_NAMED_FOR_DESCRIPTION = ("description", "summary", "text", "content")


_DOCUMENT = "document"


@dataclass(slots=True)
class Entity:
    """One node, as it is written."""

    name: str
    kind: str
    description: str
    passages: list[str]
    path: str = ""
    created: int | None = None


@dataclass(slots=True)
class Pair:
    """All edges between two nodes, as one."""

    source: str
    target: str
    keywords: dict[str, None] = field(default_factory=dict)
    descriptions: dict[str, None] = field(default_factory=dict)
    passages: dict[str, None] = field(default_factory=dict)
    weight: float = 0.0
    path: str = ""
    created: int | None = None

    @property
    def final_weight(self) -> float:
        """At least the number of sources, which LightRAG insists on."""
        return max(self.weight, float(len(self.passages)), 0.0) or 1.0


class Graph:
    """Takes the nodes and edges of the tables; what LightRAG cannot hold is accounted."""

    def __init__(self, tables: CanonicalTables, out: Output, passages: dict[str, str]) -> None:
        self._tables = tables
        self._out = out
        self._passages = passages
        self._names: dict[str, str] = {}
        self._renamed: set[str] = set()
        self._relations: set[str] = set()
        self._mentions: dict[str, dict[str, None]] = {}
        self._ends: set[str] = set()

    def pairs(self) -> dict[tuple[str, str], Pair]:
        """All edges, merged by their ends."""
        found: dict[tuple[str, str], Pair] = {}
        columns = ("source", "relation", "target", "attributes", "confidence", "provenance")
        for edge in self._tables.take("edges", *columns):
            if edge.relation == MENTION and edge.target in self._passages:
                self._mentions.setdefault(self._stored(edge.source), {}).setdefault(self._passages[edge.target])
                self._relations.add(edge.relation)
                continue
            source, target = self._stored(edge.source), self._stored(edge.target)
            if not source or not target or source == target:
                why = "it leads from a node to itself" if source else "nothing is left of a name"
                self._tables.drop("edges", edge, why)
                continue
            self._ends.update((source, target))
            pair = found.setdefault(pair_of(source, target), Pair(source, target))
            if pair.keywords:
                why = "LightRAG has one edge between two nodes: keywords and descriptions were merged"
                self._tables.losses.add("coerced", "edges", None, why, f"{source} → {target}")
            self._merge(pair, edge)
        for pair in found.values():
            if not pair.passages:
                self._find_passages(pair)
            if 0 < pair.weight < pair.final_weight:
                why = f"LightRAG's weight is at least the number of sources: {pair.final_weight:g}"
                self._tables.losses.add("coerced", "edges", "attributes", why, f"{pair.source} → {pair.target}")
        for relation in self._tables.take("relations", "name"):
            if relation.name not in self._relations:
                self._tables.drop("relations", relation, "no edge has it")
        return found

    def _find_passages(self, pair: Pair) -> None:
        """A relation that names no passage comes from those that mention both its ends."""
        of_target = self._mentions.get(pair.target, {})
        pair.passages = {p: None for p in self._mentions.get(pair.source, {}) if p in of_target}
        if pair.passages:
            why = "the passages that mention both its ends"
            self._tables.losses.add("derived", "edges", "provenance", why, f"{pair.source} → {pair.target}")

    def _merge(self, pair: Pair, edge: Edge) -> None:
        self._relations.add(edge.relation)
        attributes = _decoded(edge.attributes)
        pair.keywords.setdefault(edge.relation)
        description = _description(attributes)
        if description:
            pair.descriptions.setdefault(description)
        given = [edge.provenance, *_texts(attributes.get("passages"))]
        for passage in given:
            if passage is not None and passage in self._passages:
                pair.passages.setdefault(self._passages[passage])
            elif passage is not None:
                why = "it is no passage of the dataset"
                self._tables.losses.add("lost", "edges", "provenance", why, passage)
        weight = attributes.get("weight", edge.confidence)
        number = float(weight) if isinstance(weight, int | float) and math.isfinite(weight) else 0.0
        pair.weight += max(number, 0.0)
        pair.path, pair.created = pair.path or _path(attributes), pair.created or _created(attributes)
        self._account(attributes, "edges", f"{edge.source} → {edge.target}")

    def entities(self, pairs: dict[tuple[str, str], Pair]) -> Iterator[Entity]:
        """All nodes once, and the ends of edges that are no nodes."""
        seen: set[str] = set()
        for node in self._tables.take("nodes", "name", "type", "attributes"):
            name = self._stored(node.name)
            if not name or name in seen:
                why = "nothing is left of its name" if not name else "another node has this name"
                self._tables.drop("nodes", node, why)
                continue
            if node.type == _DOCUMENT and node.name in self._passages and name not in self._ends:
                why = "a node that stands for a passage is its chunk"
                self._tables.losses.add("coerced", "nodes", None, why, node.name)
                continue
            seen.add(name)
            yield self._entity(name, node)
        for pair in pairs.values():
            for name in (pair.source, pair.target):
                if name not in seen:
                    seen.add(name)
                    why = "an edge names it, and there is no such node"
                    self._tables.losses.add("derived", "nodes", None, why, name)
                    passages = dict.fromkeys((*pair.passages, *self._mentions.get(name, ())))
                    yield Entity(name, "UNKNOWN", name, list(passages))

    def _entity(self, name: str, node: Node) -> Entity:
        attributes = _decoded(node.attributes)
        passages = [self._passages[p] for p in _texts(attributes.get("passages")) if p in self._passages]
        passages = list(dict.fromkeys((*passages, *self._mentions.get(name, ()))))
        self._account(attributes, "nodes", node.name)
        kind, description = node.type or "UNKNOWN", _description(attributes)
        return Entity(name, kind, description, passages, _path(attributes), _created(attributes))

    def _account(self, attributes: dict[str, Any], table: str, shown: str) -> None:
        used = next((n for n in _NAMED_FOR_DESCRIPTION if isinstance(attributes.get(n), str)), "")
        others = [name for name in attributes if name not in _KNOWN and name != used]
        if others:
            why = f"attributes that are not written: {', '.join(sorted(others)[:5])}"
            self._tables.losses.add("lost", table, "attributes", why, shown)

    def _stored(self, name: str) -> str:
        """The name as LightRAG stores it."""
        if name not in self._names:
            stored = normalised(name.replace(SEPARATOR, " "))
            self._names[name] = stored
            if stored in self._renamed and stored != name:
                why = "two names became one, which goes back to the first"
                self._tables.losses.add("coerced", "nodes", "name", why, f"{name} became {stored}")
            elif stored and stored != name:
                self._renamed.add(stored)
                self._out.renamed("node", stored, name)
        return self._names[name]


def _decoded(attributes: str | None) -> dict[str, Any]:
    return {name: loads(raw) for name, raw in fields_of(attributes).items()} if attributes else {}


def _path(attributes: dict[str, Any]) -> str:
    path = attributes.get("file_path")
    return path if isinstance(path, str) else ""


def _created(attributes: dict[str, Any]) -> int | None:
    """Seconds since 1970."""
    created = attributes.get("created_at")
    return created if type(created) is int and 0 <= created < 1 << 40 else None


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _description(attributes: dict[str, Any]) -> str:
    return next((attributes[n] for n in _NAMED_FOR_DESCRIPTION if isinstance(attributes.get(n), str)), "")
