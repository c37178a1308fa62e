"""The best of many scores, in the one order that rankings have: by falling score, then by ordinal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.retrieval.index_parts import Ranking

if TYPE_CHECKING:
    import numpy.typing as npt


_ROW = 256  # scores whose maximum is taken first: rows below the k-th maximum are never sorted


def no_ranking() -> Ranking:
    """Nothing was found."""
    return Ranking(np.empty(0, np.int64), np.empty(0, np.float64))


def in_order(ordinals: npt.NDArray[np.int64], scores: npt.NDArray[np.float64], k: int) -> Ranking:
    """The ``k`` best of a few passages."""
    order = np.lexsort((ordinals, -scores))[:k]
    return Ranking(ordinals[order].astype(np.int64), scores[order].astype(np.float64))


def best_positive(scores: npt.NDArray[Any], k: int) -> Ranking:
    """The ``k`` best of all passages by ordinal, of those with a score above 0."""
    floor = _floor(scores, k)
    found = np.flatnonzero(scores >= floor) if floor > 0 else np.flatnonzero(scores > 0)
    values = scores[found]
    if len(found) > k:
        least = np.partition(values, len(values) - k)[len(values) - k]
        above = values > least
        above[np.flatnonzero(values == least)[: k - int(above.sum())]] = True
        found, values = found[above], values[above]
    return in_order(found, values.astype(np.float64), k)


def _floor(scores: npt.NDArray[Any], k: int) -> float:
    """A score that ``k`` passages have at least: the k-th of the highest scores of rows. Twenty times as fast as to
    sort all scores out; 0 where there are too few rows."""
    rows = len(scores) // _ROW
    if rows < 2 * k:
        return 0.0
    highest = scores[: rows * _ROW].reshape(rows, _ROW).max(axis=1)
    return float(np.partition(highest, rows - k)[rows - k])
