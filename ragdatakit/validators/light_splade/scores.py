"""Teacher scores that were scanned: which rows surely say what they should, so that no check need look at them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScannedScores:
    """The scores of consecutive rows, one behind the other: documents, numbers, and the rows from ``first_row`` on."""

    first_row: int
    length: int
    documents: npt.NDArray[np.uint64]
    numbers: npt.NDArray[np.float64]
    owners: npt.NDArray[np.int64]

    def suspects(self, positives: Mapping[int, tuple[int, ...]], index: Any | None) -> dict[int, Any]:
        """The rows, as records, whose query has positives of which one has no score, or whose other documents are
        none, or not all known, or have the better scores."""
        owners, count = self.owners, self.length
        places = index.find(self.documents).astype(np.int64) if index is not None else self._unknown()
        wanted = np.zeros(count, np.int64)
        rows: list[int] = []
        documents: list[int] = []
        for row, those in positives.items():
            wanted[row - self.first_row] = len(those)
            rows += [row - self.first_row] * len(those)
            documents += those
        named = np.array(documents, np.int64).view(np.uint64)
        found = index.find(named).astype(np.int64) if index is not None else np.full(len(named), -1)
        pairs = np.sort(np.array(rows, np.int64)[found >= 0] << 32 | found[found >= 0])
        is_positive = _are_among(owners << 32 | np.maximum(places, 0), pairs)
        better, worse = np.full(count, -np.inf), np.full(count, np.inf)
        np.maximum.at(better, owners[is_positive], self.numbers[is_positive])
        np.minimum.at(worse, owners[~is_positive], self.numbers[~is_positive])
        hits = np.bincount(owners[is_positive], minlength=count)
        odd = (hits != wanted) | (np.bincount(owners, minlength=count) == hits) | (better < worse)
        odd[owners[places < 0]] = True
        odd &= wanted > 0
        return {row + self.first_row: {"scores": self._scores_of(row)} for row in np.flatnonzero(odd).tolist()}

    def _unknown(self) -> npt.NDArray[np.int64]:
        return np.full(len(self.documents), -1)

    def _scores_of(self, row: int) -> dict[str, float]:
        begin, end = np.searchsorted(self.owners, (row, row + 1)).tolist()
        of = self.documents[begin:end].view(np.int64).tolist()
        return dict(zip(map(str, of), self.numbers[begin:end].tolist(), strict=True))


def scanned_scores(batch: Any, seen: Mapping[int, Any]) -> ScannedScores:
    """The scores of a scanned batch, without those of the rows that Python has seen."""
    kept = []
    for name in ("@doc_ids", "@scores"):
        codes, owners = batch.lists[name]
        if seen:
            own = ~np.isin(owners, [*seen])
            codes, owners = codes[own], owners[own]
        kept.append((codes, owners))
    (documents, owners), (numbers, _) = kept
    return ScannedScores(batch.first_row, batch.length, documents, numbers.view(np.float64), owners)


def _are_among(pairs: npt.NDArray[np.int64], known: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which of the numbers are among those that are sorted."""
    if not len(known):
        return np.zeros(len(pairs), np.bool_)
    places = np.minimum(known.searchsorted(pairs), len(known) - 1)
    found: npt.NDArray[np.bool_] = known[places] == pairs
    return found
