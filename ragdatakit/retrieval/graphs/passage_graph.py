"""A graph over the passages of an index and the nodes of its dataset, on disk, to walk on in both directions.

Nodes are known by ordinals: the passages have their own (0 to their number), entities those behind. Entities are all
nodes that are no passages. Names are compared as they are; only `ragdatakit.retrieval.linking` is more lenient.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.retrieval.graphs.string_table import StringTable, write_strings
from ragdatakit.schemas.canonical import MENTION

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.retrieval.passages import Passages

VERSION = 1
"""Of the files: part of what a graph is known by."""
PART = "is_part_of"
"""The relation of a passage to its document, where the document is a node, too."""

_AT_ONCE = 1 << 21
"""Ends of edges that are sorted at once: 24 bytes each."""


class Edges:
    """The edges of a graph while it is built: 12 bytes each, and every relation name once."""

    def __init__(self) -> None:
        self.sources, self.targets, self.kinds = array("i"), array("i"), array("i")
        self.relations: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.sources)

    def add(self, source: int, relation: str, target: int) -> None:
        """An edge between two ordinals."""
        self.sources.append(source)
        self.targets.append(target)
        self.kinds.append(self.relations.setdefault(relation, len(self.relations)))

    def extend(self, sources: npt.NDArray[np.int32], relation: str, targets: npt.NDArray[np.int32]) -> None:
        """Edges of one relation."""
        kind = self.relations.setdefault(relation, len(self.relations))
        self.sources.frombytes(sources.tobytes())
        self.targets.frombytes(targets.tobytes())
        self.kinds.extend([kind] * len(sources))


def write_graph(folder: Path, passages: int, entities: int, edges: Edges) -> dict[str, int]:
    """Write the edges as rows of neighbours, in both directions; returns how many there are of what.

    Edges of a node to itself are left out. Several edges between two nodes become one: between entities with their
    number as its weight, between a passage and another node with weight 1. Its relation is that of the first which
    points away from the row's node, else of the first.
    """
    total = passages + entities
    source, target, kind = (
        np.frombuffer(a, np.int32) if a else np.empty(0, np.int32) for a in (edges.sources, edges.targets, edges.kinds)
    )
    away = source != target
    source, target, kind = source[away], target[away], kind[away]
    del away
    ends = np.bincount(source, minlength=total) + np.bincount(target, minlength=total)
    indptr = np.zeros(total + 1, np.int64)
    parts: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.float32], npt.NDArray[np.int32]]] = []
    for first, last in _blocks(np.cumsum(ends)):
        out, back = (source >= first) & (source < last), (target >= first) & (target < last)
        keys = np.concatenate(
            (source[out] * np.int64(total) + target[out], target[back] * np.int64(total) + source[back])
        )
        kinds = np.concatenate((kind[out] * 2, kind[back] * 2 + 1))
        order = np.argsort(keys, kind="stable")
        keys, kinds = keys[order], kinds[order]
        begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
        weights = np.diff(np.append(begins, len(keys))).astype(np.float32)
        rows, columns = np.divmod(keys[begins], np.int64(total))
        weights[(rows < passages) | (columns < passages)] = 1
        indptr[first + 1 : last + 1] = np.bincount(rows - first, minlength=last - first)
        parts.append((columns.astype(np.int32), weights, kinds[begins]))
    np.cumsum(indptr, out=indptr)
    indices, weights, relations = (np.concatenate(found) for found in zip(*parts, strict=True))
    np.save(folder / "indptr.npy", indptr, allow_pickle=False)
    np.save(folder / "indices.npy", indices, allow_pickle=False)
    np.save(folder / "weights.npy", weights, allow_pickle=False)
    np.save(folder / "relations.npy", relations, allow_pickle=False)
    write_strings(folder, "relation", edges.relations)
    return {
        "entities": entities,
        "edges": len(source),
        "joined_pairs": len(indices) // 2,
        "passages_with_edges": int((np.diff(indptr[: passages + 1]) > 0).sum()),
    }


def _blocks(ends: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Runs of nodes (first, last + 1) with about `_AT_ONCE` ends of edges; ``ends`` counts them up to each node."""
    first = 0
    while True:
        before = int(ends[first - 1]) if first else 0
        last = min(max(int(ends.searchsorted(before + _AT_ONCE)), first + 1), len(ends))
        yield first, last
        if last >= len(ends):
            return
        first = last


class Graph:
    """A graph that was written: rows of neighbours, memory-mapped.

    ``indptr`` (int64), ``indices`` (int32), ``weights`` (float32) are a symmetric CSR matrix; ``relations`` (int32)
    has for each neighbour twice the number of the relation, plus 1 where the edge points from the neighbour.
    """

    def __init__(self, folder: Path, passages: Passages) -> None:
        self.passages = passages
        self.names = StringTable(folder, "node")
        self.relation_names = StringTable(folder, "relation")
        self.indptr: npt.NDArray[np.int64] = _mapped(folder, "indptr")
        self.indices: npt.NDArray[np.int32] = _mapped(folder, "indices")
        self.weights: npt.NDArray[np.float32] = _mapped(folder, "weights")
        self.relations: npt.NDArray[np.int32] = _mapped(folder, "relations")
        total = len(passages) + len(self.names)
        if len(self.indptr) != total + 1 or len(self.indices) != int(self.indptr[-1]):
            raise ValueError("the graph does not belong to these passages")
        self._mention = next((2 * n for n, name in enumerate(self.relation_names) if name == MENTION), -1)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def name(self, ordinal: int) -> str:
        """The id of a passage, the name of another node."""
        number = ordinal - len(self.passages)
        return self.names[number] if number >= 0 else self.passages.id(ordinal)

    def texts_of(self, ordinal: int) -> int:
        """How many passages, or documents that were cut into passages, are neighbours of a node."""
        row = slice(int(self.indptr[ordinal]), int(self.indptr[ordinal + 1]))
        return int(np.count_nonzero((self.indices[row] < len(self.passages)) | (self.relations[row] == self._mention)))


def _mapped(folder: Path, name: str) -> Any:
    return np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False).view(np.ndarray)
