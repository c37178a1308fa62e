"""Trees of summaries, searched as RAPTOR does it: all nodes at once (collapsed), or from the top down (traversal).

Vectors are those that come with the tree, where questions have some, too; those of an embedder; or else hashed words,
which need neither. Nodes are numbered as passages are: the leaves by their ordinals, the summaries behind them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ragdatakit.files.raptor.hashing import NAME, USUAL, hashed
from ragdatakit.files.texts import plain_tokens
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.user_cache import cache_folder
from ragdatakit.quick_values import NamedTuple
from ragdatakit.retrieval.index_parts import Ranking
from ragdatakit.retrieval.passages import Passage
from ragdatakit.retrieval.vectors.embedders import make_embedder
from ragdatakit.retrieval.vectors.given_vectors import QueryVectors
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.retrieved import ContextItem

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.index_parts import Progress
    from ragdatakit.retrieval.passages import Passages
    from ragdatakit.schemas.canonical import Summary
    from ragdatakit.schemas.options import SearchOptions
    from ragdatakit.schemas.retrieved import Query

LAYOUT = 1
BUDGET = 3500
"""Tokens that collapsed retrieval gives for a question."""
_TEXTS, _VECTORS, _FACTS = "summaries.jsonl", "vectors.npy", "facts.npz"
Vector = npt.NDArray[np.float64]


class TreeStep(NamedTuple):
    """A node that is found, or would be: its cosine, its place among how many nodes, and the node that led to it
    (-1: none). ``cut`` says why it is left out."""

    node: int
    nearness: float
    place: int
    among: int
    parent: int
    cut: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which nodes of a layer a traversal continues with: the ``k`` nearest (``limit`` is None), those at most so far
    from the question (1 - cosine), or those farther than that, which RAPTOR's own selection by threshold takes."""

    limit: float | None = None
    far: bool = False

    @classmethod
    def of(cls, words: str) -> Selection:
        """``top-k``, ``near:0.5`` or ``far:0.5``. Raises `RagdataError` for anything else."""
        kind, _, number = words.partition(":")
        if words == "top-k":
            return cls()
        with suppress(ValueError):
            if kind in ("near", "far") and 0 <= float(number) <= 2:
                return cls(float(number), kind == "far")
        raise RagdataError(
            f"the selection of nodes is {words!r}, expected top-k, near:DISTANCE or far:DISTANCE (0 to 2)"
        )

    def takes(self, distances: Vector) -> npt.NDArray[np.bool_]:
        """Which distances are taken."""
        assert self.limit is not None
        return distances > self.limit if self.far else distances <= self.limit


USUAL_SELECTION = Selection()


class Tree:
    """The nodes of one or several trees: their layers, children (as numbers of nodes), tokens, and vectors of length 1.

    ``tops`` are the nodes of the top layer of each tree, from which the traversal starts; ``depth`` is the highest
    layer. A vector of zeros is as far from every question as can be.
    """

    def __init__(
        self,
        layers: npt.NDArray[np.int64],
        children: Sequence[Sequence[int]],
        tokens: npt.NDArray[np.int64],
        vectors: npt.NDArray[Any],
        tops: Sequence[int],
    ) -> None:
        self.layers, self.children, self.tokens, self.vectors = layers, children, tokens, vectors
        self.tops = list(tops)
        self.depth = int(layers.max(initial=0))

    def nearness(self, question: Vector, nodes: Sequence[int] | None = None) -> Vector:
        """The cosine of nodes with a question; that of nodes without a direction is not a number."""
        rows = self.vectors if nodes is None else self.vectors[list(nodes)]
        found: Vector = rows @ (question / (np.linalg.norm(question) or 1.0)).astype(rows.dtype)
        found = found.astype(np.float64)
        found[~rows.any(axis=1)] = np.nan
        return found

    def collapsed(self, question: Vector, k: int, budget: int = BUDGET) -> list[tuple[int, float]]:
        """The ``k`` nearest of all nodes whose texts fit into the budget: the first that does not ends it."""
        return [(step.node, step.nearness) for step in self.collapsed_steps(question, k, budget) if not step.cut]

    def collapsed_steps(self, question: Vector, k: int, budget: int = BUDGET) -> Iterator[TreeStep]:
        """The same with what the budget leaves out."""
        nearness = self.nearness(question)
        order = np.argsort(-nearness, kind="stable")[:k].tolist()
        nearness = np.nan_to_num(nearness, nan=-1.0)
        used = 0
        for place, node in enumerate(order, 1):
            used += int(self.tokens[node])
            cut = f"beyond the budget of {budget:,} tokens ({used:,} with it)" if used > budget else ""
            yield TreeStep(node, float(nearness[node]), place, len(nearness), -1, cut)

    def traversal(self, question: Vector, k: int, select: Selection = USUAL_SELECTION) -> list[tuple[int, float]]:
        """The ``k`` nearest of the top layer, then of their children, and so on; all of them, without a budget.

        The score is the layer and what is left of the nearness, so that it falls from the top down. ``select`` may
        take all nodes by their distance instead.
        """
        return [
            (step.node, float(self.layers[step.node]) + (1 + step.nearness) / 2)
            for step in self.traversal_steps(question, k, select)
        ]

    def traversal_steps(self, question: Vector, k: int, select: Selection = USUAL_SELECTION) -> Iterator[TreeStep]:
        """The same, layer by layer."""
        parents = dict.fromkeys(self.tops, -1)
        for _ in range(self.depth + 1):  # children that go in circles end here
            nodes = list(parents)
            if not nodes:
                return
            nearness = self.nearness(question, nodes)
            order = np.argsort(-nearness, kind="stable")
            nearness = np.nan_to_num(nearness, nan=-1.0)
            best = order[:k] if select.limit is None else order[select.takes(1 - nearness[order])]
            below: dict[int, int] = {}
            for place, at in enumerate(best.tolist(), 1):
                yield TreeStep(nodes[at], float(nearness[at]), place, len(nodes), parents[nodes[at]])
                for child in self.children[nodes[at]]:
                    below.setdefault(child, nodes[at])
            parents = below


class TreePart:
    """The tree of an index, for both ways to search it."""

    kind = "tree"

    def __init__(self, options: SearchOptions) -> None:
        self._options = options
        self.selection = Selection.of(options.tree_select)

    @property
    def source(self) -> str:
        """Where the vectors come from: ``embedder``, ``given`` or ``hashing``."""
        if self._options.embedder:
            return "embedder"
        return "given" if self._options.query_vectors is not None else NAME

    @property
    def settings(self) -> Mapping[str, Any]:
        """The source of the vectors."""
        found: dict[str, Any] = {"layout": LAYOUT, "vectors": self.source}
        return {**found, **self._embedder().settings} if self.source == "embedder" else found

    def _embedder(self) -> Any:
        return make_embedder(self._options, cache_folder() / "vectors")

    def build(
        self, folder: Path, passages: Passages, tables: Callable[[], CanonicalTables], progress: Progress | None
    ) -> Mapping[str, Any]:
        """Write summaries and vectors. Raises `RagdataError` where the dataset has no summaries, or no vectors are
        given."""
        read = tables()
        rows: list[Summary] = sorted(read.peek("summaries"), key=lambda row: row.level)
        if not rows:
            raise RagdataError(f"{read.name} has no summaries: there is no tree to search")
        numbers = {passage.passage_id: n for n, passage in enumerate(_all(passages))}
        trees = {n: passage.document_id or "" for n, passage in enumerate(_all(passages))}
        layers = [0] * len(passages)
        children: list[list[int]] = [[] for _ in layers]
        for row in rows:
            numbers.setdefault(row.summary_id, len(layers))
            found = [numbers[child] for child in row.children if child in numbers]
            trees[len(layers)] = trees.get(found[0], "") if found else ""
            layers.append(row.level)
            children.append(found)
        texts = [passage.text for passage in _all(passages)] + [row.text for row in rows]
        vectors = self._vectors(read, rows, texts, progress)
        with (folder / _TEXTS).open("w", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps([row.summary_id, row.text], ensure_ascii=True) + "\n")
        np.save(folder / _VECTORS, vectors, allow_pickle=False)
        np.savez(
            folder / _FACTS,
            layers=np.array(layers, np.int64),
            tokens=np.array([plain_tokens.count(text) for text in texts], np.int64),
            ends=np.cumsum([len(each) for each in children]),
            children=np.array([c for each in children for c in each], np.int64),
            tops=np.array(_tops(layers, trees), np.int64),
        )
        return {"summaries": len(rows), "layers": max(layers), "vectors": self.source, "dimensions": vectors.shape[1]}

    def _vectors(
        self, tables: CanonicalTables, rows: Sequence[Summary], texts: Sequence[str], progress: Progress | None
    ) -> npt.NDArray[np.float32]:
        if self.source == NAME:
            found = np.stack([hashed(text) for text in texts])
        elif self.source == "given":
            metadata = [row.metadata for row in (*tables.peek("chunks"), *rows)]
            found = _given([json.loads(each).get("embeddings") if each else None for each in metadata])
        else:
            if progress is not None:
                progress("embedding the tree", 0, len(texts))
            found = self._embedder().embed(texts).astype(np.float64)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        usable = np.isfinite(lengths) & (lengths > 0)
        return np.where(usable, found / np.where(usable, lengths, 1), 0).astype(np.float32)

    def open(self, folder: Path, passages: Passages) -> TreeRankers:
        """Open the tree."""
        return TreeRankers(folder, passages, self)

    def question(self, query: Query, given: QueryVectors | None) -> Vector:
        """The vector of a question."""
        if self.source == NAME:
            return hashed(query.text, USUAL)
        if self.source == "given" and given is not None:
            found = given.dense(query.question_id, query.text)
            if found is None:
                raise RagdataError(f"{given.path} has no vector for {query.text[:60]!r}")
            return np.asarray(found, np.float64)
        return np.asarray(self._embedder().embed([query.text], "query")[0], np.float64)

    def query_vectors(self) -> QueryVectors | None:
        """The vectors of questions that are given."""
        return QueryVectors(self._options.query_vectors) if self._options.query_vectors is not None else None


class TreeRankers:
    """Ranks the nodes of a tree in both ways; `way` gives the ranker of one of them."""

    def __init__(self, folder: Path, passages: Passages, part: TreePart) -> None:
        self._passages, self._part = passages, part
        with np.load(folder / _FACTS, allow_pickle=False) as facts:
            ends, flat = facts["ends"].tolist(), facts["children"].tolist()
            children = [flat[start:end] for start, end in zip([0, *ends], ends, strict=False)]
            vectors = np.load(folder / _VECTORS, mmap_mode="r", allow_pickle=False)
            self.tree = Tree(facts["layers"], children, facts["tokens"], vectors, facts["tops"].tolist())
        lines = (folder / _TEXTS).read_text(encoding="utf-8").splitlines()
        self._summaries = [Passage(name, text) for name, text in map(json.loads, lines)]
        self._given = part.query_vectors()

    def passage(self, number: int) -> Passage:
        """A node as a passage."""
        leaves = len(self._passages)
        return self._passages[number] if number < leaves else self._summaries[number - leaves]

    def nodes(self, query: Query, mode: str, k: int) -> Ranking:
        """The nodes that are found for a question, by their numbers."""
        vector = self._vector(query)
        if mode == "collapsed":
            found = self.tree.collapsed(vector, k)
        else:
            found = self.tree.traversal(vector, k, self._part.selection)
        return Ranking(np.array([n for n, _ in found], np.int64), np.array([s for _, s in found], np.float64))

    def _vector(self, query: Query) -> Vector:
        vector = self._part.question(query, self._given)
        if len(vector) != self.tree.vectors.shape[1]:
            raise RagdataError(
                f"the question's vector has {len(vector):,} dimensions, those of the tree "
                f"{self.tree.vectors.shape[1]:,}: they are of different models"
            )
        return vector

    def explain(self, query: Query, mode: str, k: int) -> tuple[ContextItem, ...]:
        """Every node that is found and why; in mode collapsed also those that the budget leaves out."""
        tree, vector = self.tree, self._vector(query)
        of_all = mode == "collapsed"
        steps = tree.collapsed_steps(vector, k) if of_all else tree.traversal_steps(vector, k, self._part.selection)
        found = []
        for number, step in enumerate(steps, 1):
            layer = int(tree.layers[step.node])
            by = self.passage(step.parent).passage_id if step.parent >= 0 else ""
            among = "all nodes" if of_all else f"the children of {by} and its neighbours" if by else "the top layer"
            why = f"layer {layer}, place {step.place:,} of {step.among:,} among {among}"
            kind = "summary" if layer else "chunk"
            name = self.passage(step.node).passage_id
            found.append(ContextItem(kind, name, number, why, step.nearness, int(tree.tokens[step.node]), step.cut))
        return tuple(found)

    def way(self, mode: str) -> _Way:
        """The ranker of passages of one way."""
        return _Way(self, mode)

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """Collapsed retrieval."""
        return self.way("collapsed").rank(queries, k)


class _Way:
    def __init__(self, rankers: TreeRankers, mode: str) -> None:
        self.rankers, self._mode = rankers, mode

    def nodes(self, query: Query, k: int) -> Ranking:
        """The nodes that are found for a question, by their numbers."""
        return self.rankers.nodes(query, self._mode, k)

    def passage(self, number: int) -> Passage:
        """A node as a passage."""
        return self.rankers.passage(number)

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """The leaves among the nodes that are found: summaries are no passages, and still take places."""
        leaves = len(self.rankers._passages)
        found = [self.nodes(query, k) for query in queries]
        return [Ranking(r.ordinals[r.ordinals < leaves], r.scores[r.ordinals < leaves]) for r in found]

    def explain(self, query: Query, k: int) -> tuple[ContextItem, ...]:
        """Every node that is found, and why."""
        return self.rankers.explain(query, self._mode, k)


def _all(passages: Passages) -> Iterator[Passage]:
    return (passages[n] for n in range(len(passages)))


def _tops(layers: Sequence[int], trees: Mapping[int, str]) -> list[int]:
    """The nodes of the top layer of each tree."""
    highest: dict[str, int] = {}
    for number, layer in enumerate(layers):
        highest[trees[number]] = max(layer, highest.get(trees[number], 0))
    return [number for number, layer in enumerate(layers) if layer == highest[trees[number]]]


def _given(embeddings: Sequence[Mapping[str, list[float]] | None]) -> npt.NDArray[np.float64]:
    """The vectors in the metadata, under the name that all nodes have."""
    names = [set(each) for each in embeddings if each]
    common = sorted(set.intersection(*names)) if len(names) == len(embeddings) else []
    lengths = {len(each[common[0]]) for each in embeddings if each} if common else set()
    if len(lengths) != 1:
        raise RagdataError(
            "not all nodes of the tree come with vectors of one name and length "
            "(--option keep-vectors=true reads them; without --query-vectors hashed words are used)"
        )
    return np.array([each[common[0]] for each in embeddings if each], np.float64)
