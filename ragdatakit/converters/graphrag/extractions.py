"""What a model extracted as rows of the canonical tables, merged as GraphRAG does it.

Entities of one title are one, whose first type counts; relationships of one source and target are one, with the sum of
the weights. Descriptions are one below the other: GraphRAG has a model make one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ragdatakit.files.containers.json_text import dumps
from ragdatakit.files.graphrag.extraction import Record, records
from ragdatakit.schemas.canonical import Edge, Node

Texts = Callable[[], Iterable[tuple[str, str]]]
"""The name of a text unit, and the text that was extracted from it."""
ENDING = ".tuples.txt"


def nodes_of(texts: Texts) -> Iterator[Node]:
    """The entities."""
    kinds: dict[str, str] = {}
    described: dict[str, dict[str, list[str]]] = {}
    for unit, record in _kept(texts, "entity"):
        name, kind, description = record.fields
        kinds.setdefault(name, kind)
        _add(described.setdefault(name, {"description": [], "passages": []}), unit, description)
    for name, kind in kinds.items():
        yield Node(name, kind or None, _attributes(described[name]))


def edges_of(texts: Texts, relation: str) -> Iterator[Edge]:
    """The relationships, in the directions in which they were reported."""
    weights: dict[tuple[str, str], float] = {}
    described: dict[tuple[str, str], dict[str, list[str]]] = {}
    for unit, record in _kept(texts, "relationship"):
        ends = record.fields[0], record.fields[1]
        weights[ends] = weights.get(ends, 0.0) + record.weight
        _add(described.setdefault(ends, {"description": [], "passages": []}), unit, record.fields[2])
    for ends, weight in weights.items():
        first = next(iter(described[ends]["passages"]), None)
        yield Edge(ends[0], relation, ends[1], _attributes(described[ends], weight=weight), None, first)


def _kept(texts: Texts, kind: str) -> Iterator[tuple[str, Record]]:
    for name, text in texts():
        for record in records(text):
            if record.kind == kind:
                yield name.removesuffix(ENDING), record


def _add(described: dict[str, list[str]], unit: str, description: str) -> None:
    for name, value in (("description", description), ("passages", unit)):
        if value and value not in described[name]:
            described[name].append(value)


def _attributes(described: dict[str, list[str]], **more: Any) -> str:
    return dumps({"description": "\n".join(described["description"]), **more, "passages": described["passages"]})
