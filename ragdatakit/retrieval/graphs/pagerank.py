"""Personalised PageRank by power iteration over a sparse matrix: where a walk is found that starts at given nodes.

At each step the walk continues along an edge with the probability ``damping``, chosen by the weights of the edges, or
else jumps to a start node, chosen by their weights; so it does at a node without a way out. The result is the
probability to be at each node in the long run: what igraph and networkx compute, to the tolerance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.schemas.errors import MissingExtraError, RagdataError

if TYPE_CHECKING:
    import numpy.typing as npt

TOLERANCE = 1e-8
"""The sum of the differences to the exact probabilities is at most this."""
_MOST_STEPS = 10_000  # the error shrinks by `damping` a step: 0.999 needs 9,200 steps to a tolerance of 1e-4


class Walk:
    """Walks over a graph that is given by the rows of a CSR matrix: ``weights[indptr[i]:indptr[i + 1]]`` are those of
    the ways into node ``i`` from the nodes ``indices[...]``. (Of an undirected graph they are the ways out, as well.)

    Weights are 0 or above. Holds 8 bytes an entry; one walk at a time, as several at once take longer (measured).
    Raises `MissingExtraError` without scipy.
    """

    def __init__(
        self,
        indptr: npt.NDArray[np.integer[Any]],
        indices: npt.NDArray[np.integer[Any]],
        weights: npt.NDArray[np.floating[Any]],
    ) -> None:
        try:
            from scipy.sparse import csr_array
        except ImportError as error:
            raise MissingExtraError("retrieval", "scipy") from error
        self.nodes = len(indptr) - 1
        out = np.bincount(indices, weights, self.nodes) if len(indices) else np.zeros(self.nodes)
        if len(out) != self.nodes or bool((np.diff(indptr) < 0).any()):
            raise ValueError("these are not rows of a matrix with as many columns")
        self._dangling = np.flatnonzero(out == 0)
        share = np.divide(1.0, out, out=np.zeros(self.nodes), where=out > 0)[indices]
        share *= weights
        self._matrix = csr_array((share, indices, indptr), shape=(self.nodes, self.nodes))

    def scores(
        self,
        nodes: npt.NDArray[np.int64],
        weights: npt.NDArray[np.float64],
        damping: float = 0.5,
        tolerance: float = TOLERANCE,
    ) -> npt.NDArray[np.float64]:
        """The probabilities of all nodes (float64, of sum 1) of a walk from these start nodes.

        A node may be there several times; its weights add up. Raises `RagdataError` where ``damping`` is not from 0 to
        below 1, or where the weights are not at least 0 with a sum above 0.
        """
        check_damping(damping)
        total = float(weights.sum())
        if not 0 < total < np.inf or weights.min() < 0:
            raise RagdataError("the weights of the start nodes have to be at least 0, and one of them above")
        starts, places = np.unique(nodes, return_inverse=True)
        restart = np.bincount(places, weights / total)
        now = np.zeros(self.nodes)
        now[starts] = restart
        # What is away from the end shrinks by the damping at each step, at least.
        enough = tolerance * (1 - damping) / damping if damping else np.inf
        for _ in range(_MOST_STEPS):
            after = self._matrix @ now
            after *= damping
            after[starts] += restart * (1 - damping + damping * float(now[self._dangling].sum()))
            now -= after
            change = float(np.abs(now, out=now).sum())
            now = after
            if change <= enough:
                break
        now /= now.sum()
        return now


def check_damping(damping: float) -> None:
    """Raise `RagdataError` where it is no probability to walk on."""
    if not 0 <= damping < 1:
        raise RagdataError(f"damping is {damping}, expected a number from 0 to below 1")
