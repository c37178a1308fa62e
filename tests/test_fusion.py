"""Reciprocal rank fusion: the formula of its authors, weights, ties."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.retrieval.fusion import fuse
from tests.search_tools import ranking

RANKINGS = st.dictionaries(
    st.sampled_from(["bm25", "dense", "graph"]), st.lists(st.integers(0, 30), unique=True, max_size=20), max_size=3
)


def fused(given_rankings: dict[str, Sequence[int]], k: int = 10, **weights: float) -> list[tuple[int, float]]:
    found = fuse({name: ranking(listed) for name, listed in given_rankings.items()}, weights, 60, k)
    return list(zip(found.ordinals.tolist(), found.scores.tolist(), strict=True))


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    assert fused({"bm25": [4, 7], "dense": [7, 9]}) == [(7, 1 / 62 + 1 / 61), (4, 1 / 61), (9, 1 / 62)]


def test_weights() -> None:
    assert fused({"bm25": [4], "dense": [7]}, dense=2.0) == [(7, 2 / 61), (4, 1 / 61)]


def test_ties_go_to_the_lower_ordinal_also_at_the_end() -> None:
    assert [ordinal for ordinal, _ in fused({"bm25": [9, 2], "dense": [3, 1]}, k=3)] == [3, 9, 1]


def test_nothing_to_fuse() -> None:
    assert fused({}) == []
    assert fused({"bm25": []}) == []
    assert fused({"bm25": [5], "dense": []}) == [(5, 1 / 61)]


@given(RANKINGS, st.integers(1, 40), st.floats(0.1, 9))
def test_as_by_the_definition(rankings: dict[str, list[int]], k: int, weight: float) -> None:
    weights = {"dense": weight}
    scores: dict[int, float] = {}
    for name, listed in rankings.items():
        for rank, ordinal in enumerate(listed, 1):
            scores[ordinal] = scores.get(ordinal, 0.0) + weights.get(name, 1.0) / (60 + rank)
    expected = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:k]

    assert fused(rankings, k, **weights) == expected
