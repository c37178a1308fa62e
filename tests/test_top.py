"""The best of many scores are those that sorting all of them gives."""

from __future__ import annotations

import numpy as np
import pytest

from ragdatakit.retrieval.best_scores import best_positive


@pytest.mark.parametrize("count", [0, 1, 5, 1000, 20_000])
@pytest.mark.parametrize("k", [1, 7, 100])
@pytest.mark.parametrize("values", [3, 1000, 0], ids=["many-ties", "some-ties", "no-ties"])
def test_best_are_those_of_a_sort(count: int, k: int, values: int) -> None:
    random = np.random.default_rng(count + k + values)
    scores = random.normal(size=count) if not values else random.integers(-values // 3, values, count) / 4
    scores[random.random(count) < 0.5] = 0
    expected = sorted((i for i in range(count) if scores[i] > 0), key=lambda i: (-scores[i], i))[:k]
    found = best_positive(scores, k)
    assert found.ordinals.tolist() == expected
    assert found.scores.tolist() == scores[expected].tolist() if expected else len(found.scores) == 0
    assert found.ordinals.dtype == np.int64 and found.scores.dtype == np.float64


def test_few_scores_above_zero_among_many() -> None:
    scores = np.zeros(50_000, np.float32)
    scores[[41_000, 7]] = 2.5, 0.5
    found = best_positive(scores, 10)
    assert found.ordinals.tolist() == [41_000, 7]
    assert found.scores.tolist() == [2.5, 0.5]
