"""Distributions of numbers in bins, with quantiles and means, against pandas; how many different texts there are."""

from __future__ import annotations

import math

import duckdb
import pytest

from ragdatakit.database.dataset_database import DatasetDatabase
from ragdatakit.reports.summary.columns import distinct_texts
from ragdatakit.reports.summary.numbers import of_counts, of_numbers
from ragdatakit.schemas.canonical import Document
from tests.conversion_tools import tables_of

pd = pytest.importorskip("pandas")
from tests.summary_oracle import check_distribution  # noqa: E402 - it needs pandas


@pytest.mark.parametrize(
    "values",
    [
        [0], [5] * 9, [1, 2, 3], list(range(200)), [1] * 1000 + [10_000], [0.0, 1e-9], [-5.5, 3.25, 1e6], [0.1] * 3,
        [1e300, -1e300], [2**40, 2**40 + 1], [0, 0, 0, 100_000], [7.5], [0.0, 5e-324], [1.0, 1.0000000000000002],
        [1e18, 1e18 + 128, 1e18 + 256], [*[1.0] * 5, 1e300], [3, 103, 53.0],
    ],
    ids=str,
)  # fmt: skip
def test_bins_hold_all_values(values: list[float]) -> None:
    import numpy as np

    found = of_numbers(np.array(values), "n", "t", "u")
    assert found is not None
    check_distribution(found, pd.Series(values, dtype=float))
    assert 1 <= len(found.bins) <= 64
    assert all(a.low < a.high == b.low for a, b in zip(found.bins, found.bins[1:], strict=False))


def test_the_greatest_numbers_have_bins_and_a_mean() -> None:
    """Their sum and their difference are beyond what a float holds."""
    import numpy as np

    apart = of_numbers(np.array([1.7e308, -1.7e308]), "n", "t", "u")
    assert apart is not None
    assert (apart.mean, apart.quantiles[50]) == (0, 0)
    assert sum(one.count for one in apart.bins) == 2
    assert all(math.isfinite(one.low) and one.low < one.high < math.inf for one in apart.bins)

    alike = of_numbers(np.array([1.7e308] * 3), "n", "t", "u")
    assert alike is not None
    assert alike.mean == pytest.approx(1.7e308)

    skewed = of_numbers(np.array([*[1.0] * 9, 1.7e308]), "n", "t", "u")
    assert skewed is not None
    assert skewed.logarithmic
    assert len(skewed.bins) <= 64
    assert all(math.isfinite(one.high) for one in skewed.bins)


def test_integers_around_zero_have_no_more_bins_than_others() -> None:
    import numpy as np

    around = of_numbers(np.arange(-100, 101), "n", "t", "u")

    assert around is not None and len(around.bins) <= 21


def test_counts_are_weights() -> None:
    import numpy as np

    weighed = of_counts(np.array([1, 2, 9]), np.array([3, 1, 6]), "n", "t", "u")
    assert weighed == of_numbers(np.array([1, 1, 1, 2, *[9] * 6]), "n", "t", "u")


@pytest.mark.parametrize(
    "value", ["'x' || i", "case when i % 97 = 0 then 'same' when i % 50 <> 0 then 'x' || i end", "'x' || i % 9", "null"]
)
def test_distinct_texts_by_hashes(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setattr("ragdatakit.reports.summary.columns._WORTH_HASHES", 0)
    query = f"select ({value})::varchar from range(1000) given(i)"
    with duckdb.connect() as connection:
        texts = [text for (text,) in connection.execute(query).fetchall()]

    with DatasetDatabase(tables_of(documents=[Document(f"d{i}", text) for i, text in enumerate(texts)])) as database:
        assert distinct_texts(database, "documents", "text") == len({*texts} - {None})
