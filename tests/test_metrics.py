"""Metrics are what their definitions say, computed here a second time; names, intervals, bad input."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.retrieval.gold_and_metrics.metrics import depth_of, mean_score, measure, metric, metric_names
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from tests.broad import examples

pytest.importorskip("pytrec_eval", reason="needs ragdatakit[retrieval]")

NAMES = (
    *(f"{family}@{k}" for family in ("recall", "ndcg", "success", "precision", "map", "mrr") for k in (1, 3, 10)),
    "mrr",
    "map",
    "ndcg",
)


def defined(ranked: Sequence[str], grades: Mapping[str, int], name: str) -> float:
    """A metric from its definition."""
    family, _, cut = name.partition("@")
    k = int(cut) if cut else None
    top = [max(grades.get(target, 0), 0) for target in ranked[:k]]
    relevant = sum(grade > 0 for grade in grades.values())
    hits = [place for place, grade in enumerate(top, 1) if grade > 0]
    if family == "recall":
        return len(hits) / relevant
    if family == "precision":
        return len(hits) / (k or 1)
    if family == "success":
        return float(bool(hits))
    if family == "mrr":
        return 1 / hits[0] if hits else 0.0
    if family == "map":
        return sum(number / place for number, place in enumerate(hits, 1)) / relevant
    ideal = sorted((max(grade, 0) for grade in grades.values()), reverse=True)[:k]
    return gain(top) / gain(ideal)


def gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(place + 1) for place, grade in enumerate(grades, 1))


TARGETS = [f"d{n}" for n in range(16)]
GRADES = st.dictionaries(st.sampled_from(TARGETS), st.integers(-2, 4), min_size=1).filter(
    lambda grades: any(grade > 0 for grade in grades.values())
)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.tuples(GRADES, st.lists(st.sampled_from(TARGETS), unique=True)), min_size=1, max_size=5))
def test_metrics_are_as_defined(asked: list[tuple[dict[str, int], list[str]]]) -> None:
    grades = {f"q{n}": judged for n, (judged, _) in enumerate(asked)}
    run = {f"q{n}": ranked for n, (_, ranked) in enumerate(asked)}

    found = measure(run, grades, NAMES)

    for name in NAMES:
        expected = [defined(run[q], grades[q], name) for q in grades]
        np.testing.assert_allclose(found[name], expected, rtol=0, atol=1e-9, err_msg=name)


def test_a_question_that_nothing_was_found_for_has_zero() -> None:
    found = measure({"a": ["x"], "b": []}, {"b": {"x": 1}, "c": {"x": 1}, "a": {"x": 1}}, ["ndcg@10", "mrr", "map"])

    assert {name: list(values) for name, values in found.items()} == {
        "ndcg@10": [0, 0, 1],
        "mrr": [0, 0, 1],
        "map": [0, 0, 1],
    }


def test_many_questions_keep_their_order() -> None:
    grades = {f"q{n}": {"x": 1} for n in range(4500)}
    run = {f"q{n}": ["y"] * (n % 2) + ["x"] for n in range(4500)}

    values = measure(run, grades, ["mrr"])["mrr"]

    assert list(values) == [1 / (1 + n % 2) for n in range(4500)]


def test_of_an_id_that_comes_twice_the_first_counts() -> None:
    found = measure({"q": ["y", "y", "x", "x"]}, {"q": {"x": 1, "z": 1}}, ["mrr", "recall@2", "precision@5", "map"])

    assert {name: values[0] for name, values in found.items()} == {
        "mrr": 0.5,
        "recall@2": 0.5,
        "precision@5": 0.2,
        "map": 0.25,
    }


@pytest.mark.parametrize(
    "name", ["", "\ud800", "a b", "x\0y", "0", "-1", "港", "e\u0301"], ids=lambda name: ascii(name).strip("'")
)
def test_any_text_is_an_id(name: str) -> None:
    assert measure({name: ["other", name]}, {name: {name: 1, "\0": 2}}, ["mrr", "recall@5"])["mrr"][0] == 0.5


def test_a_grade_that_would_take_the_memory_is_refused() -> None:
    with pytest.raises(
        RagdataError, match=r"question 'q' has a judgement of grade 2,147,483,648; at most 10,000 works"
    ):
        measure({"q": ["x"]}, {"q": {"x": 2**31}}, ["ndcg@10"])
    assert measure({"q": ["x"]}, {"q": {"x": 10_000, "y": -(2**70)}}, ["ndcg@10"])["ndcg@10"][0] == 1


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("recall@10", "recall@10"),
        ("Recall@010", "recall@10"),
        (" nDCG@5 ", "ndcg@5"),
        ("MRR", "mrr"),
        ("hit@3", "success@3"),
        ("P@3", "precision@3"),
        ("r@2", "recall@2"),
    ],
)
def test_names(word: str, name: str) -> None:
    assert metric(word).name == name


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("recal@5", "recall@5"),
        ("ndgc@10", "ndcg@10"),
        ("recall", "recall@10"),
        ("mapp", "map"),
        ("recall@0", "recall@10"),
        ("recall@-1", "recall@10"),
        ("mrr@1e9", "mrr@10"),
    ],
)
def test_unknown_names(word: str, near: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        metric(word)

    assert near in error.value.suggestions


def test_what_is_computed_by_default() -> None:
    assert metric_names() == (
        "ndcg@10",
        *(f"recall@{k}" for k in (1, 2, 5, 10, 20, 100)),
        "success@10",
        "mrr@10",
        "mrr",
        "map",
    )
    assert metric_names(cutoffs=(3, 7, 3)) == (
        "ndcg@3",
        "ndcg@7",
        "recall@3",
        "recall@7",
        "success@3",
        "success@7",
        "mrr@10",
        "mrr",
        "map",
    )
    assert metric_names(["recall,mrr", "MRR", "p@5"], (2, 4)) == (
        "recall@2",
        "recall@4",
        "mrr@2",
        "mrr@4",
        "precision@5",
    )
    assert metric_names(["mrr", "recall"]) == ("mrr", "recall@10")
    assert depth_of(["mrr", "recall@50", "map"]) == 50
    with pytest.raises(RagdataError, match="cut-off 0 is below 1"):
        metric_names(cutoffs=[0])
    with pytest.raises(UnknownNameError):
        metric_names(["mrr,none"])


def test_the_interval_of_a_mean_is_the_bootstraps() -> None:
    rng = np.random.default_rng(1)
    values = rng.choice([0.0, 0.25, 1.0], size=400, p=[0.5, 0.2, 0.3])

    score = mean_score(values)

    resampled = values[rng.integers(0, 400, (5000, 400))].mean(axis=1)
    low, high = np.percentile(resampled, (2.5, 97.5))
    assert score.mean == pytest.approx(values.mean())
    assert (score.low, score.high) == (pytest.approx(low, abs=0.006), pytest.approx(high, abs=0.006))
    assert score.count == 400
    assert score == mean_score(values)


def test_the_interval_covers_the_true_mean() -> None:
    rng = np.random.default_rng(2)
    scores = [mean_score((rng.random(60) < 0.3).astype(float), seed) for seed in range(300)]

    covered = sum(score.low <= 0.3 <= score.high for score in scores)

    assert 0.88 <= covered / 300 <= 0.99


def test_intervals_of_few_values() -> None:
    assert mean_score(np.array([0.5])).low == 0.5
    assert mean_score(np.array([1.0, 1.0])).high == 1.0
    with pytest.raises(ValueError, match="no values"):
        mean_score(np.array([]))
