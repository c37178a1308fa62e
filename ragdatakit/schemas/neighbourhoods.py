"""The part of a graph that a page takes along, for its reader to walk in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Neighbourhoods:
    """Nodes and edges between them; the whole graph where it is small.

    ``degrees`` are the nodes' edges in the whole graph (a self-loop counts twice), ``types`` their types, ``marks``
    say that a node is a ``start`` or a ``target`` of a question (or empty). ``edges`` are (source, relation, target)
    as ordinals of ``names`` and ``relations``. ``all_nodes`` and ``all_edges`` count the whole graph. ``labels`` are
    what files next to the graph call its nodes and relations, as far as they do.
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

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return len(self.names) == self.all_nodes and len(self.edges) == self.all_edges
