"""The part of a graph that a page takes along, for its reader to walk in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ragdatakit.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NodeNeighbour:
    """A neighbour of a node, by one edge. ``forward`` is false where the edge comes from the neighbour."""

    name: str
    relation: str
    forward: bool
    type: str | None = None


@dataclass(frozen=True, slots=True)
class NodeAround:
    """A node that was asked for: what the graph says of it (cut), its edges, and the first of its neighbours.

    ``degree`` counts its edges, a self-loop twice. ``communities`` are the titles, or ids, of those that it is in.
    """

    name: str
    type: str | None
    description: str | None
    degree: int
    neighbours: tuple[NodeNeighbour, ...]
    communities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbourhoods:
    """Nodes and edges between them; the whole graph where it is small.

    ``degrees`` are the nodes' edges in the whole graph (a self-loop counts twice), ``types`` their types, ``marks``
    say that a node is a ``start`` or a ``target`` of a question (or empty). ``edges`` are (source, relation, target)
    as ordinals of ``names`` and ``relations``. ``all_nodes`` and ``all_edges`` count the whole graph. ``labels`` are
    what files next to the graph call its nodes and relations, as far as they do. ``texts`` are what the graph says
    about nodes (cut), by ordinal; ``first`` is the node to begin with (empty: the one with most edges).
    """

    names: tuple[str, ...]
    degrees: tuple[int, ...]
    types: tuple[str | None, ...]
    marks: tuple[str, ...]
    relations: tuple[str, ...]
    edges: tuple[tuple[int, int, int], ...]
    all_nodes: int
    all_edges: int
    labels: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[int, str] = field(default_factory=dict)
    first: str = ""

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return len(self.names) == self.all_nodes and len(self.edges) == self.all_edges
