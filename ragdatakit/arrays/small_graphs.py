"""What the shape of a small graph shows: its parts, its idle nodes, its repeated edges, what lies within a few hops.

Nodes and relations are numbers from 0; -1 stands for a name that is not defined, and an edge with one is no edge. For
millions of edges `ragdatakit.arrays.graphs` answers the same questions with the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from ragdatakit.late_dataclasses import dataclass

_QUESTIONS_AT_ONCE = 1024  # a bit each of an int per node: one walk over the edges serves them all


@dataclass(frozen=True, slots=True)
class Components:
    """The connected parts of a graph, its edges taken as undirected.

    ``labels`` has for each node the smallest node of its part, ``roots`` those smallest nodes in order and ``sizes``
    how many nodes each part has (lists, or arrays). A node without edges is a part of its own.
    """

    labels: Any
    roots: Any
    sizes: Any

    @property
    def count(self) -> int:
        """How many parts there are."""
        return len(self.roots)

    @property
    def largest(self) -> int:
        """Nodes of the largest part, 0 in a graph without nodes."""
        return int(max(self.sizes)) if len(self.sizes) else 0


@dataclass(frozen=True, slots=True)
class RepeatedEdges:
    """Edge rows that list again what an earlier row lists, and those first rows, side by side (lists, or arrays).

    ``duplicates`` have the source, the relation and the target of ``duplicate_firsts``; ``reversals`` have the same
    relation and the ends swapped, and are no self-loops. The first rows are the first of their kind.
    """

    duplicates: Any
    duplicate_firsts: Any
    reversals: Any
    reversal_firsts: Any


class Graph(Protocol):
    """A graph of ``node_count`` nodes."""

    node_count: int

    def usable(self) -> int:
        """How many edges have both ends and a relation."""

    def components(self) -> Components:
        """The connected parts."""

    def self_loops(self) -> Any:
        """Rows of the edges from a node to itself, in order."""

    def repeated_edges(self) -> RepeatedEdges:
        """Edges listed twice, in this or the other direction, ordered by row."""

    def unreachable(
        self, starts: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], max_hops: int | None = None
    ) -> list[list[int]]:
        """For each question the positions of its targets that no start of it reaches in ``max_hops`` edges.

        Edges may be walked both ways; None is any number of hops. Unknown nodes (-1) are passed over, and nothing is
        said of a question without a known start.
        """


class PlainGraph:
    """A graph held in Python's own lists, for datasets too small to pay for loading numpy."""

    def __init__(
        self, node_count: int, source: Sequence[int], target: Sequence[int], relation: Sequence[int] | None = None
    ) -> None:
        self.node_count = node_count
        relations: Iterable[int] = [0] * len(source) if relation is None else relation
        triples = enumerate(zip(source, relations, target, strict=True))
        self._edges = [(row, *triple) for row, triple in triples if min(triple) >= 0]
        self._labels: list[int] | None = None
        self._neighbours: list[list[int]] | None = None

    def usable(self) -> int:
        """How many edges have both ends and a relation."""
        return len(self._edges)

    def components(self) -> Components:
        """The connected parts."""
        labels = self._component_labels()
        sizes = dict.fromkeys(sorted(set(labels)), 0)
        for label in labels:
            sizes[label] += 1
        return Components(labels, list(sizes), list(sizes.values()))

    def _component_labels(self) -> list[int]:
        """For each node the smallest of its part: the smaller root always takes in the larger."""
        if self._labels is None:
            parent = list(range(self.node_count))
            for _, source, _, target in self._edges:
                first, second = _root(parent, source), _root(parent, target)
                if first < second:
                    parent[second] = first
                else:
                    parent[first] = second
            self._labels = [_root(parent, node) for node in range(self.node_count)]
        return self._labels

    def self_loops(self) -> list[int]:
        """Rows of the edges from a node to itself, in order."""
        return [row for row, source, _, target in self._edges if source == target]

    def repeated_edges(self) -> RepeatedEdges:
        """Edges listed twice, in this or the other direction, ordered by row."""
        first_rows: dict[tuple[int, int, int], int] = {}
        found: tuple[list[int], list[int], list[int], list[int]] = ([], [], [], [])
        for row, *triple in self._edges:
            source, relation, target = triple
            first = first_rows.setdefault((source, relation, target), row)
            if first != row:
                found[0].append(row)
                found[1].append(first)
            reverse = first_rows.get((target, relation, source)) if source != target else None
            if reverse is not None:
                found[2].append(row)
                found[3].append(reverse)
        return RepeatedEdges(*found)

    def unreachable(
        self, starts: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], max_hops: int | None = None
    ) -> list[list[int]]:
        """For each question the positions of its targets that no start of it reaches in ``max_hops`` edges.

        Edges may be walked both ways; None is any number of hops. Unknown nodes (-1) are passed over, and nothing is
        said of a question without a known start.
        """
        labels = self._component_labels()
        result: list[list[int]] = []
        open_questions: list[int] = []
        for question, (begin, end) in enumerate(zip(starts, targets, strict=True)):
            parts = {labels[node] for node in begin if node >= 0}
            away = [at for at, node in enumerate(end) if parts and node >= 0 and labels[node] not in parts]
            result.append(away)
            if parts and max_hops is not None and any(node >= 0 and labels[node] in parts for node in end):
                open_questions.append(question)
        for first in range(0, len(open_questions), _QUESTIONS_AT_ONCE):
            self._walk(open_questions[first : first + _QUESTIONS_AT_ONCE], starts, targets, max_hops or 0, result)
        return result

    def _walk(
        self,
        questions: list[int],
        starts: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        max_hops: int,
        result: list[list[int]],
    ) -> None:
        """Walk from the starts of many questions at once: each node has an integer with a bit per question."""
        reached: dict[int, int] = {}
        for bit, question in enumerate(questions):
            for node in starts[question]:
                if node >= 0:
                    reached[node] = reached.get(node, 0) | 1 << bit
        neighbours = self._adjacency()
        fresh = dict(reached)
        for _ in range(max_hops):
            pushed: dict[int, int] = {}
            for node, bits in fresh.items():
                for other in neighbours[node]:
                    pushed[other] = pushed.get(other, 0) | bits
            fresh = {}
            for node, bits in pushed.items():
                known = reached.get(node, 0)
                if bits & ~known:
                    reached[node] = known | bits
                    fresh[node] = bits & ~known
            if not fresh:
                break
        for bit, question in enumerate(questions):
            result[question] = [
                at for at, node in enumerate(targets[question]) if node >= 0 and not reached.get(node, 0) >> bit & 1
            ]

    def _adjacency(self) -> list[list[int]]:
        if self._neighbours is None:
            self._neighbours = [[] for _ in range(self.node_count)]
            for _, source, _, target in self._edges:
                self._neighbours[source].append(target)
                self._neighbours[target].append(source)
        return self._neighbours


def _root(parent: list[int], node: int) -> int:
    while parent[node] != node:
        parent[node] = node = parent[parent[node]]
    return node
