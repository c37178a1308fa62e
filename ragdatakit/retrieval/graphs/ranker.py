"""Graph mode: from the nodes that a question names, a walk over the graph to the passages (personalised PageRank)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.retrieval import linking
from ragdatakit.retrieval.extraction.names import name_key, stands_as_name
from ragdatakit.retrieval.graphs import passage_graph as graph
from ragdatakit.retrieval.graphs.building import build_given, build_names, has_graph
from ragdatakit.retrieval.graphs.pagerank import Walk, check_damping
from ragdatakit.retrieval.index_parts import Progress, Ranking
from ragdatakit.retrieval.terms.tokens import Tokenizer
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.retrieved import PathStep, Query

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.passages import Passages

MODES = ("auto", "given", "names")
_MOST_SEEDS = 20
_MOST_STEPS = 6
_MOST_LOOKED_AT = 1 << 22
"""Neighbours that are looked at to find a way."""
_DIGITS = 12
"""Decimal places of a score: what differs less is a tie."""


class GraphPart:
    """The part of an index that graph mode searches.

    ``mode`` is ``given`` (the nodes and edges of the dataset), ``names`` (a graph of the names in the texts) or
    ``auto`` (the one that is given, else names). ``damping`` is the probability to walk on; the index does not depend
    on it. ``tokenizer`` gives the terms by which a question is linked that names no node (default: that of English).
    """

    def __init__(self, mode: str = "auto", damping: float = 0.5, tokenizer: Tokenizer | None = None) -> None:
        if mode not in MODES:
            raise RagdataError(f"graph is {mode!r}, expected one of {', '.join(MODES)}")
        check_damping(damping)
        self._mode, self._damping = mode, damping
        self._tokenizer = tokenizer or Tokenizer()

    @property
    def kind(self) -> str:
        """``graph``."""
        return "graph"

    @property
    def settings(self) -> Mapping[str, Any]:
        """The mode, the terms and the versions of the rules."""
        from ragdatakit.retrieval.extraction import names

        versions = {"files": graph.VERSION, "linking": linking.VERSION, "names": names.VERSION}
        return {"graph": self._mode, "tokenizer": self._tokenizer.settings, "versions": versions}

    def build(
        self, folder: Path, passages: Passages, tables: Callable[[], CanonicalTables], progress: Progress | None
    ) -> Mapping[str, Any]:
        """Write the graph; returns its counts. Raises `RagdataError` where ``given`` is asked for and nothing is."""
        if self._mode != "names":
            given = tables()
            if has_graph(given):
                return build_given(folder, passages, given, self._tokenizer, progress)
            if self._mode == "given":
                raise RagdataError(
                    f"{given.name} has no graph to search; --graph names makes one of the names in its texts"
                )
        return build_names(folder, passages, self._tokenizer, progress)

    def open(self, folder: Path, passages: Passages) -> GraphRanker:
        """Open the graph."""
        return GraphRanker(folder, passages, self._tokenizer, self._damping)


class GraphRanker:
    """Ranks passages by the probability that a walk from the question's nodes is there.

    The walk starts at the nodes that the dataset gives for the question, or else at those that its text names; each
    weighs 1 by the number of its passages, so that rare names count more. Safe to call from one thread at a time.
    """

    def __init__(self, folder: Path, passages: Passages, tokenizer: Tokenizer, damping: float) -> None:
        self.graph = graph.Graph(folder, passages)
        self._linker = linking.NodeLinker.open(folder, self.graph.names, tokenizer)
        self._damping = damping
        self._made: Walk | None = None
        self._reached: tuple[tuple[int, ...], _Ways] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the graph has no nodes besides the passages."""
        return not len(self.graph.names)

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """For each query the ``k`` best passages that the walk reaches; none where no node is linked."""
        number = len(self.graph.passages)
        found = []
        for scores in self._scores(queries):
            if scores is None:
                found.append(Ranking(np.empty(0, np.int64), np.empty(0)))
                continue
            best = _best(scores[:number], k)
            found.append(Ranking(best, scores[best]))
        return found

    def rank_nodes(self, queries: Sequence[Query], k: int) -> list[list[tuple[str, float]]]:
        """For each query the ``k`` best nodes, passages among them, by name."""
        return [
            [] if scores is None else [(self.graph.name(int(n)), float(scores[n])) for n in _best(scores, k)]
            for scores in self._scores(queries)
        ]

    def seeds(self, query: Query) -> tuple[str, ...]:
        """The nodes from which the walk starts, the heaviest first."""
        return tuple(self.graph.name(node) for node, _ in self._starts(query))

    def path(self, query: Query, ordinal: int) -> tuple[PathStep, ...]:
        """A shortest way of at most six edges from a start node to the passage; from the heaviest start of several.

        Empty where there is none, and where the walk starts at the passage.
        """
        starts = tuple(node for node, _ in self._starts(query))
        if self._reached is None or self._reached[0] != starts:
            self._reached = starts, _Ways(self.graph, starts)
        ways = self._reached[1]
        return tuple(self._step(*edge) for edge in ways.to(ordinal))

    def _step(self, source: int, place: int) -> PathStep:
        """The edge at a place of the rows, walked from its row."""
        kind = int(self.graph.relations[place])
        target = int(self.graph.indices[place])
        relation = self.graph.relation_names[kind // 2]
        return PathStep(self.graph.name(source), relation, self.graph.name(target), forward=kind % 2 == 0)

    def _starts(self, query: Query) -> list[tuple[int, float]]:
        """Start nodes with their weights, the heaviest first, then by ordinal."""
        first = len(self.graph.passages)
        linked: dict[int, float] = {}
        for name in query.start_nodes:
            node = self._node(name)
            if node is not None:
                linked[node] = 1.0
        if not linked:
            found = self._linker.link(query.text, _MOST_SEEDS)
            # "film" and "mother" are nodes, too, but not what the question names
            named = [pair for pair in found if stands_as_name(query.text, name_key(self.graph.names[pair[0]]))]
            linked = {first + node: weight for node, weight in named or found}
        weighed = [(node, weight / max(1, self.graph.texts_of(node))) for node, weight in linked.items()]
        return sorted(weighed, key=lambda pair: (-pair[1], pair[0]))

    def _node(self, name: str) -> int | None:
        """The ordinal of a node that the dataset names."""
        number = self._linker.exact(name)
        if number is not None and self.graph.names[number] == name:
            return len(self.graph.passages) + number
        passage = self.graph.passages.ordinal(name)
        if passage is not None:
            return passage
        return None if number is None else len(self.graph.passages) + number

    def _scores(self, queries: Sequence[Query]) -> Iterator[npt.NDArray[np.float64] | None]:
        for query in queries:
            starts = self._starts(query)
            if not starts:
                yield None
                continue
            nodes, weights = (np.array(values) for values in zip(*starts, strict=True))
            yield np.round(self._walk.scores(nodes, weights, self._damping), _DIGITS)

    @property
    def _walk(self) -> Walk:
        if self._made is None:
            self._made = Walk(self.graph.indptr, self.graph.indices, self.graph.weights)
        return self._made


def _best(scores: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.int64]:
    """The ordinals of the ``k`` highest scores above 0: by falling score, then by ordinal."""
    k = min(k, len(scores))
    if k < 1:
        return np.empty(0, np.int64)
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    found = np.flatnonzero((scores >= least) & (scores > 0))
    order = np.lexsort((found, -scores[found]))[:k]
    return found[order].astype(np.int64)


class _Ways:
    """Shortest ways from start nodes, found as far as they are asked for."""

    def __init__(self, graph_: graph.Graph, starts: tuple[int, ...]) -> None:
        self._graph = graph_
        self._before = np.full(len(graph_), -1, np.int32)
        """The node before each on its way, itself for a start."""
        self._edge = np.full(len(graph_), -1, np.int64)
        """The place of the edge from that node in the rows."""
        self._border = np.array(starts, np.int64)
        self._before[self._border] = self._border
        self._steps = 0

    def to(self, ordinal: int) -> list[tuple[int, int]]:
        """The edges of the way to a node, as (node, place of the edge in the rows)."""
        while self._before[ordinal] < 0 and self._steps < _MOST_STEPS and self._extend():
            self._steps += 1
        if self._before[ordinal] < 0:
            return []
        found = []
        while int(self._before[ordinal]) != ordinal:
            before = int(self._before[ordinal])
            found.append((before, int(self._edge[ordinal])))
            ordinal = before
        return found[::-1]

    def _extend(self) -> bool:
        """One step further: all neighbours of the border, in its order; false where there are none, or too many."""
        first = self._graph.indptr[self._border]
        counts = self._graph.indptr[self._border + 1] - first
        ends = np.cumsum(counts)
        if not len(ends) or not 0 < ends[-1] <= _MOST_LOOKED_AT:
            return False
        places = np.arange(int(ends[-1])) + np.repeat(first - (ends - counts), counts)
        nodes = self._graph.indices[places]
        new = np.flatnonzero(self._before[nodes] < 0)
        _, chosen = np.unique(nodes[new], return_index=True)
        chosen = new[np.sort(chosen)]
        owners = np.repeat(self._border, counts)
        self._before[nodes[chosen]] = owners[chosen]
        self._edge[nodes[chosen]] = places[chosen]
        self._border = nodes[chosen].astype(np.int64)
        return True
