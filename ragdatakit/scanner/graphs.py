"""The edges of a graph by their nodes, by the compiled library."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ragdatakit.scanner.library import ScannerError, called, library

Nodes = npt.NDArray[np.int32]
Rows = npt.NDArray[np.int64]


def ends_by_node(nodes: int, sources: Nodes, targets: Nodes, relations: Nodes | None) -> tuple[Rows, Nodes] | None:
    """The other ends of each node's edges side by side, and where those of each begin (and end, one more). An edge
    that has an end or a relation below zero is left out. None where there is no library.

    Raises `ScannerError` where an end is no node.
    """
    found = library()
    if found is None:
        return None
    edges = len(sources)
    given = [None if them is None else np.ascontiguousarray(them, np.int32) for them in (sources, targets, relations)]
    if any(them is not None and len(them) != edges for them in given):
        raise ScannerError("ends and relations are not as many of each")
    begins, others = np.empty(nodes + 1, np.int64), np.empty(2 * edges, np.int32)
    addresses = [None if them is None else them.ctypes.data for them in given]
    status = found.rd_ends_by_node(*addresses, edges, nodes, begins.ctypes.data, others.ctypes.data, len(others))
    called(status)
    return begins, others[: begins[-1]]
