"""Paired tests: against scipy, against all sign patterns, against the bootstrap done by hand; wins, losses, ties."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from ragdatakit.retrieval.gold_and_metrics.comparisons import compare, interval, randomisation_test, t_test
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.evaluations import QuestionResult, RunResult, Sanity


def run_of(name: str, values: Sequence[float], first: int = 0) -> RunResult:
    questions = tuple(
        QuestionResult(f"q{n}", "", None, {"mrr": value}, (), (), None) for n, value in enumerate(values, first)
    )
    return RunResult(name, {}, {}, questions, Sanity({}, None, None), 100)


@pytest.mark.parametrize("size", [5, 10], ids=["five", "ten"])
def test_randomisation_is_that_of_all_signs(size: int) -> None:
    rng = np.random.default_rng(size)
    differences = rng.choice([-0.5, -0.25, 0.0, 0.25, 0.5, 1.0], size)
    seen = abs(differences.sum())
    sums = [abs(float(np.dot(signs, differences))) for signs in product((-1, 1), repeat=size)]
    exact = sum(total >= seen - 1e-9 for total in sums) / len(sums)

    assert randomisation_test(differences) == pytest.approx(exact, abs=0.02)


def test_tests_agree_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats", reason="needs ragdatakit[retrieval]")
    rng = np.random.default_rng(3)
    a, b = rng.random(200), rng.random(200) + 0.05
    mine = {c.test: c for c in compare(run_of("a", list(a)), run_of("b", list(b)), ["mrr"])}

    theirs = stats.permutation_test(
        (b - a,), np.mean, permutation_type="samples", n_resamples=20_000, vectorized=False, rng=1
    )

    assert mine["t"].p_value == pytest.approx(stats.ttest_rel(b, a).pvalue)
    assert mine["randomisation"].p_value == pytest.approx(theirs.pvalue, abs=0.02)
    assert mine["t"].difference == pytest.approx((b - a).mean())
    assert (mine["t"].wins, mine["t"].losses, mine["t"].ties) == (int((b > a).sum()), int((b < a).sum()), 0)


def test_interval_is_the_bootstraps() -> None:
    rng = np.random.default_rng(4)
    differences = rng.normal(0.1, 0.3, 300)

    low, high = interval(differences)

    resampled = differences[rng.integers(0, 300, (5000, 300))].mean(axis=1)
    assert (low, high) == pytest.approx(tuple(np.percentile(resampled, (2.5, 97.5))), abs=0.006)


def test_equal_runs_are_not_different() -> None:
    first, second = compare(run_of("a", [0.1, 0.2, 1 / 3]), run_of("b", [0.1, 0.2, 1 / 3 + 1e-12]), ["mrr"])

    assert (first.p_value, second.p_value, first.ties, first.wins) == (1.0, 1.0, 3, 0)
    assert (first.low, first.high, first.difference) == (0, 0, 0)


def test_a_constant_difference() -> None:
    differences = np.full(20, 0.25)

    assert t_test(differences) == 0.0
    assert randomisation_test(differences) < 0.001
    assert t_test(np.array([0.25])) == 1.0


def test_only_questions_of_both_count() -> None:
    found = compare(run_of("a", [0, 0, 1]), run_of("b", [1, 1, 1], first=1), ["mrr"])

    assert found[0].count == 2
    assert (found[0].mean_a, found[0].mean_b) == (0.5, 1.0)
    with pytest.raises(RagdataError, match="a and b have no question in common"):
        compare(run_of("a", [0]), run_of("b", [1], first=5), ["mrr"])


def test_the_same_seed_gives_the_same() -> None:
    a, b = run_of("a", [0.0, 0.5, 1.0, 0.25]), run_of("b", [1.0, 0.5, 0.0, 0.75])

    assert compare(a, b, ["mrr"], 5) == compare(a, b, ["mrr"], 5)
