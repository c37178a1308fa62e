"""Nodes and edges of a GraphML file, and what networkx stops at in it."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ragdatakit.late_dataclasses import dataclass


class Item:
    """One node or edge: its attributes as texts by name, and where it begins.

    ``name`` is the id of a node, ``ends`` are the two of an edge (of a node: empty). ``number`` counts nodes or edges.
    """

    __slots__ = ("attributes", "column", "ends", "faults", "line", "name", "number", "offset", "until")

    def __init__(self, name: str, ends: tuple[str, ...], number: int, line: int, column: int, offset: int) -> None:
        self.name = name
        self.ends = ends
        self.number = number
        self.line = line
        self.column = column
        self.offset = offset
        self.until = offset
        self.attributes: dict[str, str] = {}
        self.faults: list[Fault] = []


@dataclass(slots=True)
class Fault:
    """What networkx stops at, or reads otherwise: ``rule`` names it; ``attribute`` is the one of a node or an edge."""

    rule: str
    line: int
    offset: int
    column: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    attribute: str = ""
