"""Nodes and edges as GraphRAG has them: entities with unique titles, relationships between titles, claims about them.

An index of GraphRAG keeps its ids, numbers and order. Anything else is brought into its shape: titles are upper case,
edges of one direction between two entities are one relationship, and what leads to a passage says where an entity is.
"""

from __future__ import annotations

import html
import math
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from ragdatakit.converters.free_names import FreeNames
from ragdatakit.converters.graphrag.columns import READ
from ragdatakit.files.containers.json_text import dumps
from ragdatakit.files.lightrag.names import SEPARATOR
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.written_files import Output
from ragdatakit.retrieval.graphrag.knowledge import attributes_of, description_of, passages_of
from ragdatakit.retrieval.graphs.building import DOCUMENT
from ragdatakit.schemas.canonical import MENTION, Edge, Node

RELATED = "RELATED"
"""What the edges of an index are called when it is read: GraphRAG has no names for relationships."""
_ENTITY = {"id", "human_readable_id", "frequency", "degree", "x", "y", "description", "passages", "claims"}
_PLACE = ("x", "y")
_RELATIONSHIP = {"id", "human_readable_id", "combined_degree", "rank", "description", "passages", "weight"}
_DESCRIPTIONS = ("description", "summary", "text", "content")


def made_id(kind: str, name: str) -> str:
    """An id in the shape of GraphRAG's: always the same for the same name."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"ragdata:{kind}:{sound_text(name)}"))


def sound_text(text: str) -> str:
    """A text with question marks for halves of characters, which Parquet cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def title_of(name: str) -> str:
    """A name as GraphRAG's clustering has it."""
    return sound_text(html.unescape(name).upper().strip())


@dataclass(slots=True)
class Entity:
    """An entity; ``given`` are the attributes that the index had."""

    name: str
    title: str
    entity_id: str
    kind: str = ""
    description: str = ""
    units: dict[str, None] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    claims: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Relationship:
    """A relationship; ``weight`` None: nothing was said of it."""

    relationship_id: str
    source: str
    target: str
    descriptions: dict[str, None] = field(default_factory=dict)
    weight: float | None = None
    units: dict[str, None] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)


class Graph:
    """Takes the nodes and edges of the tables. ``units`` leads from ids of passages to those of text units; ``claims``
    are those of an index about what is not an entity."""

    def __init__(
        self,
        tables: CanonicalTables,
        out: Output,
        units: Mapping[str, str],
        claims: Iterable[dict[str, Any]],
        has_places: bool,
    ) -> None:
        self.tables, self._out, self._units, self._has_places = tables, out, units, has_places
        self.is_own = tables.format == "graphrag"
        self.entities: dict[str, Entity] = {}
        self.relationships: dict[Any, Relationship] = {}
        self.claims = list(claims)
        self._free = FreeNames(form="{} ({})")
        self._titles: dict[str, str] = {}
        self._relations: set[str] = set()
        self._mentions = 0
        for node in tables.take("nodes", "name", "type", "attributes"):
            self._add_node(node)
        for edge in tables.take("edges", "source", "relation", "target", "attributes", "confidence", "provenance"):
            self._add_edge(edge)
        self._take_relations()
        self._place()
        self.claims.sort(key=lambda claim: _integer(claim.get("human_readable_id"), 1 << 62))
        self.degrees = self._degrees()

    # nodes

    def _add_node(self, node: Node) -> None:
        if node.type == DOCUMENT and node.name in self._units:
            self.tables.drop("nodes", node, "it stands for a passage, which is a text unit here")
            return
        given = attributes_of(node.attributes)
        if not title_of(node.name) or node.name in self.entities:
            why = "another node has this name" if node.name in self.entities else "nothing is left of its name"
            self.tables.drop("nodes", node, why)
            return
        entity = self._new(node.name)
        entity.kind, entity.description = node.type or "", _description(given)
        if self.is_own:
            entity.given = given
            entity.entity_id = str(given.get("id") or entity.entity_id)
        entity.units = self._known(passages_of(given), "nodes", node.name)
        claims = given.get("claims") if self.is_own else None
        for claim in claims if isinstance(claims, list) else ():
            if isinstance(claim, dict):
                self.claims.append({**claim, "subject_id": entity.title})
        self._account(given, "nodes", node.name, self._kept(given))

    def _new(self, name: str) -> Entity:
        title = name if self.is_own else self._free(title_of(name))
        self._titles[name] = title
        if sound_text(name) != name:
            why = "halves of characters cannot be written: they are question marks now"
            self.tables.losses.add("coerced", "nodes", "name", why, title)
        elif title != name:
            self._out.renamed("node", title, name)
        entity = self.entities[name] = Entity(name, title, made_id("entity", title))
        return entity

    def _entity(self, name: str) -> str | None:
        """The title of the end of an edge, which becomes an entity where it is none; an index keeps it as it is."""
        if name in self.entities:
            return self.entities[name].title
        if self.is_own:
            return name
        if not title_of(name):
            return None
        why = "an edge names it, and there is no such node"
        self.tables.losses.add("derived", "nodes", None, why, name)
        return self._new(name).title

    # edges

    def _add_edge(self, edge: Edge) -> None:
        given = attributes_of(edge.attributes)
        if not self.is_own:
            of_passages = [edge.relation == MENTION and edge.target in self._units, *map(self._is_passage, edge[0:3:2])]
            if any(of_passages):
                self._add_mention(edge)
                return
        source, target = self._entity(edge.source), self._entity(edge.target)
        if source is None or target is None:
            self.tables.drop("edges", edge, "nothing is left of a name")
        elif self.is_own and "covariate_type" in given:
            self._relations.add(edge.relation)
            claim = {**given, "type": edge.relation, "subject_id": source, "object_id": target}
            self.claims.append({**claim, "text_unit_id": edge.provenance})
        else:
            self._relate(edge, source, target, given)

    def _is_passage(self, name: str) -> bool:
        return name in self._units and name not in self.entities

    def _add_mention(self, edge: Edge) -> None:
        name, passage = (edge.target, edge.source) if self._is_passage(edge.source) else (edge.source, edge.target)
        if self._is_passage(name):
            self.tables.drop("edges", edge, "it leads from one passage to another")
            return
        if self._entity(name) is None:
            self.tables.drop("edges", edge, "nothing is left of a name")
            return
        self.entities[name].units[self._units[passage]] = None
        self._mentions += 1
        self._relations.add(edge.relation)
        why = "an edge to a passage is a text unit of the entity here"
        self.tables.losses.add("coerced", "edges", None, why, f"{edge.source} → {edge.target}")

    def _relate(self, edge: Edge, source: str, target: str, given: Mapping[str, Any]) -> None:
        shown = f"{edge.source} → {edge.target}"
        key: Any = len(self.relationships) if self.is_own else (source, target)
        found = self.relationships.get(key)
        if found is None:
            made = made_id("relationship", f"{source}\t{target}")
            found = self.relationships[key] = Relationship(
                str(given.get("id") or made) if self.is_own else made, source, target
            )
        else:
            why = "GraphRAG has one relationship of a direction: descriptions were joined, weights added"
            self.tables.losses.add("coerced", "edges", None, why, shown)
        description = _description(given)
        if not self.is_own and edge.relation and edge.relation != RELATED:
            relation = sound_text(edge.relation)
            description = f"{relation}: {description}" if description else relation
            why = "relationships have no names: the relation is part of the description"
            self.tables.losses.add("coerced", "edges", "relation", why, edge.relation)
        self._relations.add(edge.relation)
        if description or self.is_own:
            found.descriptions.setdefault(description)
        weight = given.get("weight", edge.confidence)
        if isinstance(weight, int | float) and math.isfinite(weight):
            found.weight = float(weight) + (found.weight or 0.0)
        if self.is_own:
            found.given = given
        found.units |= self._known(passages_of(given, edge.provenance), "edges", shown)
        self._account(given, "edges", shown, _RELATIONSHIP if self.is_own else {"passages", "weight"})

    def _take_relations(self) -> None:
        for relation in self.tables.take("relations", "name"):
            if relation.name not in self._relations:
                self.tables.drop("relations", relation, "no edge has it")

    # where they are

    def _known(self, passages: tuple[str, ...], table: str, shown: str) -> dict[str, None]:
        """The text units among passages; an index keeps also ids that no text unit has."""
        found: dict[str, None] = {}
        for passage in passages:
            if passage in self._units or self.is_own:
                found[self._units.get(passage, passage)] = None
            else:
                why = "it is no passage of the dataset"
                column = "attributes" if table == "nodes" else "provenance"
                self.tables.losses.add("lost", table, column, why, f"{shown}: {passage}")
        return found

    def _place(self) -> None:
        """Give entities the text units of their relationships, where nothing else is said; then the names in texts."""
        if self.is_own:
            return
        by_title = {entity.title: entity for entity in self.entities.values()}
        alone = {entity.title for entity in self.entities.values() if not entity.units}
        for each in self.relationships.values():
            for title in (each.source, each.target):
                if title in alone:
                    by_title[title].units |= each.units
        alone = {title for title in alone if not by_title[title].units}
        if alone and len(alone) == len(by_title):
            self._find_in_texts()
        for each in self.relationships.values():
            both = by_title[each.source].units.keys() & by_title[each.target].units.keys()
            if self._mentions or not each.units:
                each.units |= {unit: None for unit in by_title[each.source].units if unit in both}

    def _find_in_texts(self) -> None:
        """Nothing says where an entity is: it is where its name is."""
        from ragdatakit.retrieval.linking import names_in_texts

        entities = list(self.entities.values())
        passages = [passage for passage in self.tables.peek_passages() if passage.doc_id in self._units]
        texts = (f"{passage.title or ''}\n{passage.text}" for passage in passages)
        named = names_in_texts([entity.name for entity in entities], texts)
        for passage, found in zip(passages, named, strict=True):
            for place in found:
                entities[place].units[self._units[passage.doc_id]] = None
        why = "text units of an entity: those in which its name stands"
        self.tables.losses.add("derived", "nodes", None, why, None, sum(len(each.units) for each in entities))

    def _degrees(self) -> dict[str, int]:
        """How many entities each title is related to."""
        pairs = {(min(each.source, each.target), max(each.source, each.target)) for each in self.relationships.values()}
        return Counter(title for pair in pairs for title in dict.fromkeys(pair))

    def _kept(self, given: Mapping[str, Any]) -> set[str]:
        """The attributes of an entity that are written: places only as numbers, and by releases that have them."""
        if not self.is_own:
            return {"passages"}
        are_places = self._has_places and all(isinstance(given.get(axis, 0.0), int | float) for axis in _PLACE)
        return _ENTITY if are_places else _ENTITY - {*_PLACE}

    def _account(self, given: Mapping[str, Any], table: str, shown: str, kept: set[str]) -> None:
        used = next((n for n in _DESCRIPTIONS if isinstance(given.get(n), str)), "")
        others = sorted(name for name in given if name not in kept and name != used)
        if others:
            why = f"attributes that are not written: {', '.join(others[:5])}"
            self.tables.losses.add("lost", table, "attributes", why, shown)

    # rows

    def entity_rows(self) -> Iterator[dict[str, Any]]:
        """The rows of the entities."""
        if not self.is_own:
            why = "ids, numbers, frequencies and degrees"
            self.tables.losses.add("derived", "nodes", None, why, None, len(self.entities))
        for number, entity in enumerate(self.entities.values()):
            given = entity.given
            yield {
                "id": entity.entity_id,
                "human_readable_id": _integer(given.get("human_readable_id"), number),
                "title": entity.title,
                "type": entity.kind,
                "description": entity.description,
                "text_unit_ids": list(entity.units),
                "frequency": _integer(given.get("frequency"), len(entity.units)),
                "degree": _integer(given.get("degree"), self.degrees.get(entity.title, 0)),
                **{axis: given.get(axis, 0.0) for axis in _PLACE},
            }

    def relationship_rows(self) -> Iterator[dict[str, Any]]:
        """The rows of the relationships; what says nothing of its weight weighs as much as it has text units."""
        if not self.is_own:
            made = sum(each.weight is None for each in self.relationships.values())
            why = "weights: the number of text units that mention both ends"
            if made:
                self.tables.losses.add("derived", "edges", None, why, None, made)
        for number, each in enumerate(self.relationships.values()):
            degree = self.degrees.get(each.source, 0) + self.degrees.get(each.target, 0)
            yield {
                "id": each.relationship_id,
                "human_readable_id": _integer(each.given.get("human_readable_id"), number),
                "source": each.source,
                "target": each.target,
                "description": "\n".join(each.descriptions),
                "weight": self.weight(each),
                "combined_degree": _integer(each.given.get("combined_degree", each.given.get("rank")), degree),
                "text_unit_ids": list(each.units),
            }

    def weight(self, each: Relationship) -> float | None:
        """The weight of a relationship."""
        return each.weight if each.weight is not None or self.is_own else float(max(len(each.units), 1))

    def claim_rows(self) -> Iterator[dict[str, Any]]:
        """The rows of the claims."""
        for number, claim in enumerate(self.claims):
            found = {name: claim.get(name) for name in READ["covariates"]}
            found["id"] = str(claim.get("id") or made_id("claim", dumps(claim)))
            found["human_readable_id"] = _integer(claim.get("human_readable_id"), number)
            yield found


def _description(given: Mapping[str, Any]) -> str:
    """The description; of several that were joined as LightRAG joins them, one on each line."""
    return sound_text(description_of(given).replace(SEPARATOR, "\n"))


def _integer(value: Any, otherwise: int) -> int:
    """A number, also one that is text, as before 0.5."""
    if isinstance(value, str) and value.isdecimal() and value.isascii():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise
