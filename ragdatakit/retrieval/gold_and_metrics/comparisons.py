"""Two runs on the same questions: paired tests of their difference, its interval, wins and losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from ragdatakit.retrieval.gold_and_metrics.metrics import resampled_means
from ragdatakit.schemas.errors import MissingExtraError, RagdataError
from ragdatakit.schemas.evaluations import Comparison

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.schemas.evaluations import RunResult

PERMUTATIONS = 10_000
TESTS: tuple[Literal["randomisation", "t"], ...] = ("randomisation", "t")
SAME = 1e-9
"""Values that differ by less are a tie."""


def compare(a: RunResult, b: RunResult, names: Sequence[str], seed: int = 13) -> list[Comparison]:
    """Run ``b`` against run ``a``, by metric: first the randomisation test, then the t-test, both paired, two-sided.

    Only questions that both have are compared. Raises `RagdataError` where there is none, `MissingExtraError` where
    scipy is not installed.
    """
    values_a = {q.question_id: q.values for q in a.questions}
    values_b = {q.question_id: q.values for q in b.questions}
    shared = [question for question in values_a if question in values_b]
    if not shared:
        raise RagdataError(f"{a.name} and {b.name} have no question in common")
    found = []
    for name in names:
        column_a = np.array([values_a[q][name] for q in shared])
        column_b = np.array([values_b[q][name] for q in shared])
        found += _compared(a.name, b.name, name, column_a, column_b, seed)
    return found


def _compared(
    a: str, b: str, name: str, values_a: npt.NDArray[np.float64], values_b: npt.NDArray[np.float64], seed: int
) -> list[Comparison]:
    differences = values_b - values_a
    differences[np.abs(differences) < SAME] = 0.0
    low, high = interval(differences, seed)
    p_values = {"randomisation": randomisation_test(differences, seed), "t": t_test(differences)}
    return [
        Comparison(
            a,
            b,
            name,
            float(values_a.mean()),
            float(values_b.mean()),
            float(differences.mean()),
            low,
            high,
            p_values[test],
            int((differences > 0).sum()),
            int((differences < 0).sum()),
            int((differences == 0).sum()),
            test,
            len(differences),
        )
        for test in TESTS
    ]


def interval(differences: npt.NDArray[np.float64], seed: int = 13) -> tuple[float, float]:
    """The 95 % confidence interval of the mean difference: percentile bootstrap over questions."""
    distinct, counts = np.unique(np.round(differences, 12), return_counts=True)
    if len(distinct) == 1:
        return float(distinct[0]), float(distinct[0])
    if len(distinct) > 2000:
        distinct, counts = np.unique(np.round(differences, 3), return_counts=True)
    low, high = np.percentile(resampled_means(distinct, counts, seed), (2.5, 97.5))
    return float(low), float(high)


def randomisation_test(differences: npt.NDArray[np.float64], seed: int = 13) -> float:
    """The two-sided p-value of Fisher's paired randomisation test, with 10,000 draws and the one that was seen.

    Were the runs alike, the sign of each difference would be a coin's. How many of equal size are positive has a
    binomial distribution, which is drawn directly; differences of 0 do not matter.
    """
    sizes, counts = np.unique(np.round(np.abs(differences[differences != 0]), 12), return_counts=True)
    if not len(sizes):
        return 1.0
    seen = abs(float(differences.sum()))
    rng = np.random.default_rng(seed)
    extreme, step = 0, max(1, 4_000_000 // len(sizes))
    for start in range(0, PERMUTATIONS, step):
        rows = min(step, PERMUTATIONS - start)
        positive = rng.binomial(counts, 0.5, size=(rows, len(sizes)))
        sums = (2 * positive - counts) @ sizes
        extreme += int((np.abs(sums) >= seen - 1e-9).sum())
    return (extreme + 1) / (PERMUTATIONS + 1)


def t_test(differences: npt.NDArray[np.float64]) -> float:
    """The two-sided p-value of the paired t-test; 1 where all differences are 0, or there is only one question."""
    try:
        from scipy.special import stdtr
    except ImportError:
        raise MissingExtraError("retrieval", "scipy") from None
    if len(differences) < 2 or not differences.any():
        return 1.0
    spread = float(differences.std(ddof=1))
    if spread < SAME:
        return 0.0
    t = float(differences.mean()) / (spread / np.sqrt(len(differences)))
    return float(2 * stdtr(len(differences) - 1, -abs(t)))
