"""Reciprocal rank fusion: several rankings of the same passages become one, by their ranks alone.

Of Cormack, Clarke and Büttcher (2009): a passage's score is the sum of ``weight / (k + rank)`` over the rankings that
have it. Scores of different kinds never meet.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ragdatakit.retrieval.index_parts import Ranking

RRF_K = 60


def fuse(rankings: Mapping[str, Ranking], weights: Mapping[str, float], rrf_k: int = RRF_K, k: int = 10) -> Ranking:
    """The ``k`` best passages of all rankings together; ties go to the lower ordinal.

    ``weights`` are by the same names; a ranking without one has the weight 1.
    """
    filled = {name: ranking for name, ranking in rankings.items() if len(ranking.ordinals)}
    if not filled:
        return Ranking(np.empty(0, np.int64), np.empty(0, np.float64))
    ordinals = np.concatenate([r.ordinals for r in filled.values()])
    parts = [weights.get(n, 1.0) / (rrf_k + np.arange(1, len(r.ordinals) + 1)) for n, r in filled.items()]
    found, places = np.unique(ordinals, return_inverse=True)
    scores = np.bincount(places, np.concatenate(parts), len(found))
    order = np.argsort(-scores, kind="stable")[:k]  # ordinals ascend, and stay so where scores are equal
    return Ranking(found[order].astype(np.int64), scores[order].astype(np.float64))
