"""What the edges of a graph show, by the compiled library, over arrays of node numbers.

An edge that has an end or a relation below zero is left out. Every function gives None where there is no library, and
raises `ScannerError` where an end is no node.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.library import ScannerError, called, library

Nodes = npt.NDArray[np.int32]
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_MOST_COUNTS = 24
"""Bits of the number of words, of 32 places each, in which edges are counted: 8 to 16 places for each edge."""


@dataclass(frozen=True, slots=True)
class EdgeArrays:
    """The edges of a graph of so many ``nodes``: numbers of their ends and, where they matter, relations."""

    nodes: int
    sources: Nodes
    targets: Nodes
    relations: Nodes | None = None

    def __len__(self) -> int:
        return len(self.sources)


def ends_by_node(edges: EdgeArrays) -> tuple[Rows, Nodes] | None:
    """The other ends of each node's edges side by side, and where those of each begin (and end, one more)."""
    begins, others = np.empty(edges.nodes + 1, np.int64), np.empty(2 * len(edges), np.int32)
    if not _called("rd_ends_by_node", edges, begins, others, len(others)):
        return None
    return begins, others[: begins[-1]]


def part_labels(edges: EdgeArrays) -> Nodes | None:
    """For each node the smallest of its connected part."""
    labels = np.empty(edges.nodes, np.int32)
    return labels if _called("rd_parts", edges, labels) else None


def rows_of_repeats(edges: EdgeArrays) -> Rows | None:
    """The rows, in order, of edges with the two ends and the relation of another one, in any direction; by chance a few
    more."""
    # numpy asks for large pages, without which half of the time goes into finding places in memory
    counts = np.zeros(1 << min(max(len(edges).bit_length() - 2, 4), _MOST_COUNTS), np.uint64)
    marks = np.zeros(len(edges), np.bool_)
    return np.flatnonzero(marks) if _called("rd_repeated_edges", edges, counts, len(counts), marks) else None


def nodes_beside(edges: EdgeArrays, marks: Mask) -> Mask | None:
    """The marked nodes, and those that an edge joins to one of them."""
    beside = marks.copy()
    return beside if _called("rd_nodes_beside", edges, marks, beside) else None


def rows_among(edges: EdgeArrays, marks: Mask) -> Rows | None:
    """The rows, in order, of the edges between marked nodes."""
    rows, count = np.empty(len(edges), np.int64), ctypes.c_uint64()
    if not _called("rd_edges_among", edges, marks, rows, ctypes.addressof(count)):
        return None
    return rows[: count.value].copy()


def _called(name: str, edges: EdgeArrays, *more: Any) -> bool:
    """Call a function of the library over edges; False where there is none."""
    found = library()
    if found is None:
        return False
    ends = (edges.sources, edges.targets, edges.relations)
    given = [None if them is None else np.ascontiguousarray(them, np.int32) for them in ends]
    if any(them is not None and len(them) != len(edges) for them in given):
        raise ScannerError("ends and relations are not as many of each")
    addresses = [None if them is None else them.ctypes.data for them in given]
    words = [one.ctypes.data if isinstance(one, np.ndarray) else one for one in more]
    called(getattr(found, name)(*addresses, len(edges), edges.nodes, *words))
    return True
