"""The shape of a big graph, over arrays of node numbers: millions of edges in fractions of a second.

The compiled library looks at all edges at once; without it they are looked at in chunks that stay in the processor's
cache. What questions reach is followed among the edges near to them or, where these are most of a graph, among all of
them, sorted by node. Answers are those of `ragdatakit.arrays.small_graphs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.codes import Codes, are_among, distinct, mix
from ragdatakit.arrays.keys import NumpyIndex
from ragdatakit.arrays.small_graphs import Components, RepeatedEdges
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.graphs import EdgeArrays, ends_by_node, nodes_beside, part_labels, rows_among, rows_of_repeats

Nodes = npt.NDArray[np.int32]
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

_CHUNK = 1 << 16  # edges looked at together, whose arrays fit the cache
_SIEVED = 1 << 14  # few enough for their own little table to tell most of a chunk's edges apart
_DOWNWARD_ROUNDS = 3  # most graphs are done by then; a long chain takes a round for each edge if it continues so
_WORDS = 4  # 64 questions each: what one look at a node's row of 32 bytes shows
_WORTH_SORTING = 3000  # questions from which sorting the edges by node costs less than looking through them again
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 by the golden ratio: neighbouring node numbers fall far apart


class NumpyGraph:
    """A graph given by arrays of its edges' ends (and relations, where they matter), which are not copied."""

    def __init__(
        self,
        node_count: int,
        source: npt.NDArray[np.int32],
        target: npt.NDArray[np.int32],
        relation: npt.NDArray[np.int32] | None = None,
    ) -> None:
        self.node_count = node_count
        self._source, self._target, self._relation = source, target, relation
        self._edges = EdgeArrays(node_count, source, target, relation)
        self._labels: Nodes | None = None
        self._by_node: _EdgesByNode | None = None

    def _chunks(self, step: int = _CHUNK) -> Iterator[tuple[Rows | slice, Nodes, Nodes]]:
        """Rows, sources and targets of the usable edges, a chunk at a time."""
        for first in range(0, len(self._source), step):
            chunk = slice(first, first + step)
            source, target = self._source[chunk], self._target[chunk]
            signs = source | target
            if self._relation is not None:
                signs |= self._relation[chunk]
            if len(signs) and signs.min() >= 0:
                yield slice(first, first + len(source)), source, target
            else:
                rows = np.flatnonzero(signs >= 0)
                yield rows + first, source[rows], target[rows]

    def usable(self) -> int:
        """How many edges have both ends and a relation."""
        return sum(len(source) for _, source, _ in self._chunks())

    def components(self) -> Components:
        """The connected parts."""
        labels = self._component_labels()
        sizes = np.bincount(labels, minlength=self.node_count)
        roots = np.flatnonzero(sizes)
        return Components(labels, roots, sizes[roots])

    def _component_labels(self) -> Nodes:
        """For each node the smallest of its part."""
        if self._labels is None:
            labels = part_labels(self._edges)
            self._labels = self._joined() if labels is None else labels
        return self._labels

    def _joined(self) -> Nodes:
        """The same without the library: a sample of the edges joins most nodes; of the other edges only those between
        parts are then looked at again."""
        parent = np.arange(self.node_count, dtype=np.int32)
        step = max(1, len(self._source) // (self.node_count + 1))
        if step > 1:
            source, target = self._source[::step], self._target[::step]
            signs = source | target
            if self._relation is not None:
                signs |= self._relation[::step]
            if signs.min(initial=0) < 0:
                rows = np.flatnonzero(signs >= 0)
                source, target = source[rows], target[rows]
            del signs
            _join(parent, source, target)
        firsts, seconds = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for _, source, target in self._chunks():
            source, target = parent.take(source), parent.take(target)
            apart = np.flatnonzero(source != target)
            if len(apart):
                firsts.append(source[apart])
                seconds.append(target[apart])
        _join(parent, np.concatenate(firsts), np.concatenate(seconds))
        smallest = np.empty(self.node_count, np.int32)
        # backwards: of the nodes of a part the first remains
        smallest[parent[::-1]] = np.arange(self.node_count - 1, -1, -1, dtype=np.int32)
        return smallest.take(parent)

    def self_loops(self) -> Rows:
        """Rows of the edges from a node to itself, in order."""
        found = [np.empty(0, np.int64)]
        for rows, source, target in self._chunks():
            loops = np.flatnonzero(source == target)
            if len(loops):
                found.append(loops + rows.start if isinstance(rows, slice) else rows[loops])
        return np.concatenate(found)

    def repeated_edges(self) -> RepeatedEdges:
        """Edges listed twice, in this or the other direction, ordered by row."""
        rows = rows_of_repeats(self._edges)
        if rows is None:
            rows = self._rows_of_repeats()
        return self._directed(rows) if len(rows) else RepeatedEdges(*[np.empty(0, np.int64)] * 4)

    def _rows_of_repeats(self) -> Rows:
        """Those that may repeat, or be repeated, without the library."""
        index = NumpyIndex(lookups=False, integers=False)
        nodes = np.uint64(max(self.node_count, 1))
        highest = 0 if self._relation is None or not len(self._relation) else int(self._relation.max())
        exact = (highest + 1) * self.node_count**2 < 1 << 64
        for rows, source, target in self._chunks(_SIEVED):
            low, high = np.minimum(source, target), np.maximum(source, target)
            codes: Codes = low.astype(np.uint64) * nodes + high.astype(np.uint64)
            if self._relation is not None:
                relation = self._relation[rows].astype(np.uint64)
                codes = codes * np.uint64(highest + 1) + relation if exact else mix(codes, relation)
            codes = _scattered(codes) if codes.dtype == np.uint64 else codes
            index.add(codes, range(rows.start, rows.stop) if isinstance(rows, slice) else rows)
        index.freeze()
        return distinct(np.concatenate(index.repeats()))

    def _directed(self, rows: Rows) -> RepeatedEdges:
        """What repeats among these rows, taking the direction into account."""
        source, target = self._source[rows], self._target[rows]
        relation = np.zeros(len(rows), np.int32) if self._relation is None else self._relation[rows]
        # backward edges after the forward ones between the same nodes: a part is the edges of both directions
        low, high, backward = np.minimum(source, target), np.maximum(source, target), source > target
        order = np.lexsort((backward, high, low, relation))
        kinds = [a[order] for a in (relation, low, high)]
        new_part = np.r_[True, np.logical_or.reduce([a[1:] != a[:-1] for a in kinds])]
        turned = backward[order]
        new_kind = new_part | np.r_[True, turned[1:] != turned[:-1]]
        ordered = rows[order]
        # rows are in order within a kind, so the first of a kind is where it begins
        firsts = np.repeat(ordered[new_kind], np.diff(np.r_[np.flatnonzero(new_kind), len(rows)]))
        part = np.cumsum(new_part) - 1
        first_of = np.full((int(part[-1]) + 1, 2), np.iinfo(np.int64).max)
        first_of[part, turned.astype(np.intp)] = firsts
        other = first_of[part, 1 - turned.astype(np.intp)]
        again, back = ordered != firsts, other < ordered
        return RepeatedEdges(*_by_row(ordered[again], firsts[again]), *_by_row(ordered[back], other[back]))

    def unreachable(
        self, starts: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], max_hops: int | None = None
    ) -> list[list[int]]:
        """For each question the positions of its targets that no start of it reaches in ``max_hops`` edges.

        Edges may be walked both ways; None is any number of hops. Unknown nodes (-1) are passed over, and nothing is
        said of a question without a known start.
        """
        begin, end = _Named.of(starts), _Named.of(targets)
        has_start = np.zeros(len(targets), np.bool_)
        has_start[begin.questions] = True
        end = end.only(has_start[end.questions])
        labels = self._component_labels()
        nodes = np.int64(max(self.node_count, 1))
        parts = distinct(begin.questions * nodes + labels[begin.nodes])
        away = ~are_among(end.questions * nodes + labels[end.nodes], parts)
        missed = [end.only(away)]
        if max_hops is not None:
            missed += self._walk(begin, end.only(~away), max_hops)
        result: list[list[int]] = [[] for _ in targets]
        for few in missed:
            for question, position in zip(few.questions.tolist(), few.positions.tolist(), strict=True):
                result[question].append(position)
        for question in distinct(missed[0].questions).tolist():
            result[question].sort()
        return result

    def _walk(self, begin: _Named, end: _Named, max_hops: int) -> list[_Named]:
        """The targets not reached, of questions whose targets are somewhere in the parts of their starts."""
        if near := self._near(np.concatenate((begin.nodes, end.nodes)), max_hops):
            graph, numbers = near
            return graph._walk(begin.at(numbers), end.at(numbers), max_hops)
        questions = distinct(end.questions)
        if self._by_node is None and len(questions):
            sorted_ = ends_by_node(self._edges)
            if sorted_ is not None:
                self._by_node = _EdgesByNode(*sorted_)
            elif len(questions) >= _WORTH_SORTING:
                self._by_node = _EdgesByNode.of(self.node_count, self._chunks(1 << 20), self.usable())
        missed = []
        walk: _Walk | None = None
        # edges by node take memory, too, and each look at them is at few
        together = 64 * (_WORDS if self._by_node is None else _WORDS // 2)
        for first in range(0, len(questions), together):
            some = questions[first : first + together]
            if walk is None or walk.words != -(-len(some) // 64):
                walk = _Walk(self, -(-len(some) // 64))
            missed.append(walk.missed(_numbered(begin, some), _numbered(end, some), max_hops).renamed(some))
        return missed

    def _near(self, nodes: Rows, max_hops: int) -> tuple[NumpyGraph, Nodes] | None:
        """The edges that walks between these nodes may take, where they leave out half of the nodes or more; and what
        number each of the other nodes has there."""
        marks = np.zeros(self.node_count, np.bool_)
        marks[nodes] = True
        for _ in range(max_hops // 2):  # each step of a walk is so near to its begin, or to its end
            beside = nodes_beside(self._edges, marks) if 2 * np.count_nonzero(marks) < self.node_count else None
            if beside is None:
                return None
            marks = beside
        rows = rows_among(self._edges, marks) if 2 * np.count_nonzero(marks) < self.node_count else None
        if rows is None:
            return None
        numbers = np.cumsum(marks, dtype=np.int32) - np.int32(1)
        source, target = numbers[self._source[rows]], numbers[self._target[rows]]
        return NumpyGraph(int(numbers[-1]) + 1, source, target), numbers

    def edges_around(self, nodes: Mask) -> Iterator[tuple[Nodes, Nodes]]:
        """Edges with an end among the marked nodes, as (that end, the other end); an edge between two comes twice."""
        if self._by_node is not None:
            chosen = np.flatnonzero(nodes)
            if self._by_node.degree(chosen) < len(self._source) // 2:
                yield from self._by_node.around(chosen)
                return
        for _, source, target in self._chunks():
            for near, far in ((source, target), (target, source)):
                found = np.flatnonzero(nodes.take(near))
                if len(found):
                    yield near[found], far[found]


def _join(parent: Nodes, first: Nodes, second: Nodes) -> None:
    """Give the nodes of parts joined by edges between ``first`` and ``second`` (roots) one root.

    Each round hangs larger roots under the smallest they touch. Where that does not end soon, rounds may hang smaller
    roots under larger ones instead, whichever joins more, so that at least half of the roots with edges go.
    """
    rounds = 0
    while len(first):
        low, high = np.minimum(first, second), np.maximum(first, second)
        if rounds < _DOWNWARD_ROUNDS:
            np.minimum.at(parent, high, low)
        elif _distinct(low, len(parent)) > _distinct(high, len(parent)):
            parent[low] = high
        else:
            parent[high] = low
        rounds += 1
        while True:
            above = parent.take(parent)
            if np.array_equal(above, parent):
                break
            parent[:] = above
        first, second = parent.take(first), parent.take(second)
        apart = np.flatnonzero(first != second)
        first, second = first[apart], second[apart]


def _distinct(nodes: Nodes, node_count: int) -> int:
    marks = np.zeros(node_count, np.bool_)
    marks[nodes] = True
    return int(np.count_nonzero(marks))


def _scattered(codes: Words) -> Words:
    """Codes with all their bits stirred; no two become one."""
    codes ^= codes >> np.uint64(31)
    codes *= _SPREAD
    codes ^= codes >> np.uint64(29)
    codes *= _SPREAD
    return codes


def _by_row(rows: Rows, firsts: Rows) -> tuple[Rows, Rows]:
    order = np.argsort(rows)
    return rows[order], firsts[order]


@dataclass(frozen=True)
class _Named:
    """Known nodes that questions name: (question, node, position among the question's), ordered by question."""

    questions: Rows
    nodes: Rows
    positions: Rows

    @staticmethod
    def of(lists: Sequence[Sequence[int]]) -> _Named:
        sizes = np.fromiter(map(len, lists), np.int64, len(lists))
        total = int(sizes.sum())
        nodes = np.fromiter((node for items in lists for node in items), np.int64, total)
        begins = np.repeat(np.cumsum(sizes) - sizes, sizes)
        named = _Named(np.repeat(np.arange(len(lists)), sizes), nodes, np.arange(total) - begins)
        return named.only(nodes >= 0)

    def only(self, chosen: Mask) -> _Named:
        return _Named(self.questions[chosen], self.nodes[chosen], self.positions[chosen])

    def at(self, numbers: Nodes) -> _Named:
        """The same with other numbers of the nodes."""
        return _Named(self.questions, numbers[self.nodes].astype(np.int64), self.positions)

    def renamed(self, questions: Rows) -> _Named:
        return _Named(questions[self.questions], self.nodes, self.positions)


def _numbered(named: _Named, questions: Rows) -> _Named:
    """What these questions name, the questions numbered from 0."""
    numbers = np.searchsorted(questions, named.questions)
    numbers[numbers == len(questions)] = 0
    there = questions[numbers] == named.questions
    return _Named(numbers[there], named.nodes[there], named.positions[there])


class _Walk:
    """Walks from the starts of up to 256 questions at once: a node has a bit for each question that reaches it."""

    def __init__(self, graph: NumpyGraph, words: int) -> None:
        self.words = words
        self._graph = graph
        self._reached = np.zeros((graph.node_count, words), np.uint64)
        self._before = np.zeros((graph.node_count, words), np.uint64)
        self._touched: list[Nodes | Rows] = []

    def missed(self, begin: _Named, end: _Named, max_hops: int) -> _Named:
        """The targets not reached within so many hops."""
        words, bits = _bits(begin.questions)
        np.bitwise_or.at(self._reached, (begin.nodes, words), bits)
        self._before[begin.nodes] = self._reached[begin.nodes]
        self._touched.append(begin.nodes)
        fresh = np.zeros(self._graph.node_count, np.bool_)
        fresh[begin.nodes] = True
        end = self._still_open(end)
        # only neighbours of targets matter for the last hop; for so few hops it pays to know them
        near = self._beside(end) if 1 < max_hops < 5 and len(end.questions) else None
        for hop in range(max_hops):
            if not len(end.questions):
                break
            wanted = self._marks(end.nodes) if hop == max_hops - 1 else near if hop == max_hops - 2 else None
            reached = self._step(fresh, wanted, self._open_bits(end))
            if reached is None:
                break
            fresh = reached
            end = self._still_open(end)
        for nodes in self._touched:
            self._reached[nodes] = self._before[nodes] = 0
        self._touched = []
        return end

    def _step(self, fresh: Mask, wanted: Mask | None, open_bits: Words) -> Mask | None:
        """Go on by one edge from the nodes newly reached, towards the wanted nodes; those reached now, if any."""
        touched = []
        for near, far in self._graph.edges_around(fresh):
            if wanted is not None:
                chosen = np.flatnonzero(wanted.take(far))
                near, far = near[chosen], far[chosen]
            bits = self._before.take(near, axis=0) & open_bits
            bits &= ~self._reached.take(far, axis=0)
            chosen = np.flatnonzero(bits.any(axis=1))
            if len(chosen):
                far, bits = far[chosen], bits[chosen]
                order = np.argsort(far)
                far = far[order]
                begins = np.flatnonzero(np.r_[True, far[1:] != far[:-1]])
                far = far[begins]
                self._reached[far] |= np.bitwise_or.reduceat(bits[order], begins, axis=0)
                touched.append(far)
        if not touched:
            return None
        fresh = np.zeros(len(fresh), np.bool_)
        for nodes in touched:
            fresh[nodes] = True
            self._before[nodes] = self._reached[nodes]
        self._touched += touched
        return fresh

    def _beside(self, end: _Named) -> Mask:
        beside = self._marks(end.nodes)
        for _, far in self._graph.edges_around(beside.copy()):
            beside[far] = True
        return beside

    def _marks(self, nodes: Rows) -> Mask:
        marks = np.zeros(self._graph.node_count, np.bool_)
        marks[nodes] = True
        return marks

    def _open_bits(self, end: _Named) -> Words:
        open_bits = np.zeros(self.words, np.uint64)
        np.bitwise_or.at(open_bits, *_bits(end.questions))
        return open_bits

    def _still_open(self, end: _Named) -> _Named:
        words, bits = _bits(end.questions)
        return end.only(self._reached[end.nodes, words] & bits == 0)


def _bits(questions: Rows) -> tuple[Rows, Words]:
    return questions >> 6, np.uint64(1) << (questions & 63).astype(np.uint64)


class _EdgesByNode:
    """The other ends of each node's edges, side by side: 8 bytes an edge."""

    _AT_ONCE = 1 << 17

    def __init__(self, begins: Rows, others: Nodes) -> None:
        self._begins, self._others = begins, others

    @staticmethod
    def of(node_count: int, chunks: Iterator[tuple[Rows | slice, Nodes, Nodes]], edge_count: int) -> _EdgesByNode:
        packed = np.empty(2 * edge_count, np.uint64)
        filled = 0
        degrees = np.zeros(node_count + 1, np.int64)
        for _, source, target in chunks:
            for near, far in ((source, target), (target, source)):
                place = packed[filled : filled + len(near)]
                np.left_shift(near.astype(np.uint64), np.uint64(32), out=place)
                place |= far.astype(np.uint64)
                degrees[1:] += np.bincount(near, minlength=node_count)
                filled += len(near)
        packed.sort()
        return _EdgesByNode(np.cumsum(degrees), packed.astype(np.uint32).view(np.int32))

    def degree(self, nodes: Rows) -> int:
        """Edges that the nodes have together."""
        return int((self._begins[nodes + 1] - self._begins[nodes]).sum())

    def around(self, nodes: Rows) -> Iterator[tuple[Nodes, Nodes]]:
        """Edges of the nodes, as (node, other end), in pieces."""
        sizes = self._begins[nodes + 1] - self._begins[nodes]
        ends = np.cumsum(sizes)
        first = 0
        while first < len(nodes):
            before = int(ends[first] - sizes[first])
            last = max(int(np.searchsorted(ends, before + self._AT_ONCE, side="right")), first + 1)
            some, counts = nodes[first:last], sizes[first:last]
            within = np.arange(int(counts.sum())) - np.repeat(ends[first:last] - counts - before, counts)
            yield np.repeat(some.astype(np.int32), counts), self._others[np.repeat(self._begins[some], counts) + within]
            first = last
