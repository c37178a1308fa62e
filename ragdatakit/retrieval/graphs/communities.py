"""Communities of an undirected graph by the method of Leiden, in levels as GraphRAG has them.

Modularity with a resolution of 1. There is no chance in it: nodes are visited in their order, and of equal gains the
first one counts, so that the same graph gives the same communities everywhere. A community of more than `MOST` nodes is
parted again by its own edges, which makes the next level. (Traag, Waltman, van Eck: From Louvain to Leiden, 2019.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from ragdatakit.late_dataclasses import dataclass

MOST = 10
"""Nodes of a community that is not parted any more."""
_LEAST_GAIN = 1e-12
Edge = tuple[int, int, float]


@dataclass(frozen=True, slots=True)
class Cluster:
    """A community: ``parent`` is the number of the one that it is a part of, -1 on level 0; ``members`` ascend."""

    number: int
    level: int
    parent: int
    members: tuple[int, ...]


def clusters(count: int, edges: Iterable[Edge], most: int = MOST) -> list[Cluster]:
    """The communities of ``count`` nodes, level by level; a node without edges is one of its own.

    Edges are taken once each: a pair that comes again, in whatever direction, has the sum of the weights. Weights that
    are not above 0 do not count.
    """
    weights: dict[tuple[int, int], float] = {}
    for first, second, weight in edges:
        if first != second and weight > 0:
            pair = (first, second) if first < second else (second, first)
            weights[pair] = weights.get(pair, 0.0) + weight
    adjacent: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    for (first, second), weight in weights.items():
        adjacent[first].append((second, weight))
        adjacent[second].append((first, weight))
    for around in adjacent:
        around.sort()
    found = [Cluster(n, 0, -1, part) for n, part in enumerate(_parts(range(count), adjacent))]
    for cluster in found:  # grows while it is walked along
        if len(cluster.members) > most:
            parts = _parts(cluster.members, adjacent)
            if len(parts) > 1:
                found += [Cluster(len(found) + i, cluster.level + 1, cluster.number, p) for i, p in enumerate(parts)]
    return found


def _parts(nodes: Sequence[int], adjacent: Sequence[Sequence[tuple[int, float]]]) -> list[tuple[int, ...]]:
    """The communities among some nodes by the edges between them, each in order, ordered by their first nodes."""
    places = {node: place for place, node in enumerate(nodes)}
    inner = [[(places[other], w) for other, w in adjacent[node] if other in places] for node in nodes]
    graph = _Graph(inner, [0.0] * len(inner))
    labels = list(range(len(inner)))
    groups = [[node] for node in nodes]
    while True:
        _move(graph, labels)
        if len(set(labels)) == len(labels):
            break
        refined = _refined(graph, labels)
        if len(set(refined)) == len(refined):
            refined = labels
        graph, labels, groups = _merged(graph, labels, refined, groups)
    by_label: dict[int, list[int]] = {}
    for label, group in zip(labels, groups, strict=True):
        by_label.setdefault(label, []).extend(group)
    return sorted(tuple(sorted(part)) for part in by_label.values())


class _Graph:
    """Nodes by number: ``adjacent`` without loops, ``loops`` the weight within each, ``strength`` of all its edges."""

    def __init__(self, adjacent: list[list[tuple[int, float]]], loops: list[float]) -> None:
        self.adjacent, self.loops = adjacent, loops
        self.strength = [2 * loop + sum(w for _, w in around) for loop, around in zip(loops, adjacent, strict=True)]
        self.total = sum(self.strength) or 1.0


def _move(graph: _Graph, labels: list[int]) -> None:
    """Put nodes into the communities where they gain most, until none gains by moving."""
    strengths = [0.0] * len(labels)
    for node, label in enumerate(labels):
        strengths[label] += graph.strength[node]
    sizes = [0] * len(labels)
    for label in labels:
        sizes[label] += 1
    free = [label for label, size in enumerate(sizes) if not size]
    waiting = deque(range(len(labels)))
    queued = [True] * len(labels)
    while waiting:
        node = waiting.popleft()
        queued[node] = False
        own, strength = labels[node], graph.strength[node]
        strengths[own] -= strength
        around: dict[int, float] = {own: 0.0}
        for other, weight in graph.adjacent[node]:
            around[labels[other]] = around.get(labels[other], 0.0) + weight
        best, most = own, around[own] - strength * strengths[own] / graph.total
        for label, weight in around.items():
            gain = weight - strength * strengths[label] / graph.total
            if gain > most + _LEAST_GAIN:
                best, most = label, gain
        if most < -_LEAST_GAIN and free:
            best = free.pop()
        strengths[best] += strength
        if best == own:
            continue
        sizes[own] -= 1
        sizes[best] += 1
        if not sizes[own]:
            free.append(own)
        labels[node] = best
        for other, _ in graph.adjacent[node]:
            if labels[other] != best and not queued[other]:
                queued[other] = True
                waiting.append(other)


def _refined(graph: _Graph, labels: Sequence[int]) -> list[int]:
    """Communities parted into pieces that hold together: each node joins the piece where it gains most, once."""
    whole: dict[int, float] = {}
    for node, label in enumerate(labels):
        whole[label] = whole.get(label, 0.0) + graph.strength[node]
    pieces = list(range(len(labels)))
    strengths = list(graph.strength)
    alone = [True] * len(labels)
    cut = [sum(w for other, w in around if labels[other] == labels[node]) for node, around in enumerate(graph.adjacent)]

    def holds(piece: int, label: int) -> bool:
        return cut[piece] >= strengths[piece] * (whole[label] - strengths[piece]) / graph.total - _LEAST_GAIN

    for node, label in enumerate(labels):
        if not alone[node] or not holds(node, label):
            continue
        around: dict[int, float] = {}
        for other, weight in graph.adjacent[node]:
            if labels[other] == label:
                around[pieces[other]] = around.get(pieces[other], 0.0) + weight
        best, most = node, 0.0
        for piece, weight in around.items():
            gain = weight - strengths[node] * strengths[piece] / graph.total
            if piece != node and gain > most + _LEAST_GAIN and holds(piece, label):
                best, most = piece, gain
        if best != node:
            strengths[best] += strengths[node]
            cut[best] += cut[node] - 2 * around[best]
            pieces[node] = best
            alone[node] = alone[best] = False
    return pieces


def _merged(
    graph: _Graph, labels: Sequence[int], pieces: Sequence[int], groups: Sequence[Sequence[int]]
) -> tuple[_Graph, list[int], list[list[int]]]:
    """The graph of the pieces, in the communities of their nodes."""
    numbers: dict[int, int] = {}
    for piece in pieces:
        numbers.setdefault(piece, len(numbers))
    joined: list[dict[int, float]] = [{} for _ in numbers]
    loops = [0.0] * len(numbers)
    merged: list[list[int]] = [[] for _ in numbers]
    label_of = [0] * len(numbers)
    renumbered: dict[int, int] = {}
    for node, piece in enumerate(pieces):
        number = numbers[piece]
        merged[number] += groups[node]
        loops[number] += graph.loops[node]
        label_of[number] = renumbered.setdefault(labels[node], len(renumbered))
        for other, weight in graph.adjacent[node]:
            there = numbers[pieces[other]]
            if there == number:
                loops[number] += weight / 2
            else:
                joined[number][there] = joined[number].get(there, 0.0) + weight
    return _Graph([sorted(around.items()) for around in joined], loops), label_of, merged
