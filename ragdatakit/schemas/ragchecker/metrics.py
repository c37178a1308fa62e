"""RAGChecker's metrics, computed from the labels of a row as the tool does it, to the last digit."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from operator import and_, eq, or_
from typing import Any

_LARGEST = sys.float_info.max

ENTAILED = "Entailment"
LABELS = (ENTAILED, "Neutral", "Contradiction")
_KNOWN = frozenset(LABELS)

CLAIMS = {
    "answer2response": "response_claims",
    "response2answer": "gt_answer_claims",
    "retrieved2response": "response_claims",
    "retrieved2answer": "gt_answer_claims",
}
"""The label sets of a row, and the claims that each has a label (or a row of labels) for."""
LISTS, MATRICES = tuple(CLAIMS)[:2], tuple(CLAIMS)[2:]
SAME_ROWS = {"retrieved2response": "answer2response", "retrieved2answer": "response2answer"}

GROUPS = {
    "overall_metrics": ("precision", "recall", "f1"),
    "retriever_metrics": ("claim_recall", "context_precision"),
    "generator_metrics": (
        "context_utilization",
        "noise_sensitivity_in_relevant",
        "noise_sensitivity_in_irrelevant",
        "hallucination",
        "self_knowledge",
        "faithfulness",
    ),
}
LEGACY_GROUPS = {"overall": "overall_metrics", "retriever": "retriever_metrics", "generator": "generator_metrics"}
METRICS = tuple(name for names in GROUPS.values() for name in names)


def is_complete(row: Mapping[str, Any]) -> bool:
    """Whether a row has all four label sets, so that no model is asked about it."""
    return all(row.get(name) is not None for name in CLAIMS)


def row_metrics(row: Mapping[str, Any]) -> dict[str, float]:
    """The metrics of a row by those of its label sets that are there; their shapes must fit each other."""
    found: dict[str, float] = {}
    right = _entailed(row.get("answer2response"))
    given = _entailed(row.get("response2answer"))
    of_response, of_answer = (_matrix(row.get(name)) for name in MATRICES)
    if right is not None:
        found["precision"] = _mean(right)
    if given is not None:
        found["recall"] = _mean(given)
    if right is not None and given is not None:
        precision, recall = found["precision"], found["recall"]
        found["f1"] = 2 * precision * recall / (precision + recall) if precision > 0 and recall > 0 else 0.0
    if of_answer is not None:
        found["claim_recall"] = _mean([any(claim) for claim in of_answer]) if _width(of_answer) else 0.0
        found["context_precision"] = _mean(relevant_passages(of_answer))
    if of_answer is not None and given is not None:
        recalled = [any(claim) for claim in of_answer]
        used = sum(map(and_, recalled, given))
        found["context_utilization"] = used / sum(recalled) if any(recalled) else 0.0
    if of_response is not None and right is not None:
        found |= _of_response(of_response, right, of_answer)
    if of_response is not None:
        found["faithfulness"] = _mean([any(claim) for claim in of_response]) if _width(of_response) else 0.0
    return {name: found[name] for name in METRICS if name in found}


def _of_response(
    of_response: list[list[bool]], right: list[bool], of_answer: list[list[bool]] | None
) -> dict[str, float]:
    """The metrics of claims of the response that no passage says, and of wrong ones that one does."""
    supported = [any(claim) for claim in of_response]
    known = _width(of_response) > 0
    found = {
        "hallucination": _mean([not s and not r for s, r in zip(supported, right, strict=False)]) if known else 0.0,
        "self_knowledge": _mean([not s and r for s, r in zip(supported, right, strict=False)]) if known else 0.0,
    }
    if of_answer is None:
        return found
    relevant = relevant_passages(of_answer)
    by_relevant = [any(map(and_, claim, relevant)) for claim in of_response]
    both = list(zip(by_relevant, supported, right, strict=False)) if known and of_answer else []
    found["noise_sensitivity_in_relevant"] = _mean([by and not ok for by, _, ok in both])
    found["noise_sensitivity_in_irrelevant"] = _mean([said and not by and not ok for by, said, ok in both])
    return found


def relevant_passages(of_answer: Iterable[Sequence[bool]]) -> list[bool]:
    """By passage, whether any claim of the answer is entailed by it."""
    claims = iter(of_answer)
    found = list(next(claims, ()))
    for claim in claims:
        found = [*map(or_, found, claim)]
    return found


def entailed_by(labels: Any) -> Iterator[list[bool]]:
    """The rows of a matrix of labels as truths; none where there is none."""
    rows = labels if isinstance(labels, list) else ()
    return (_truths(row) for row in rows if isinstance(row, list))


def group_means(rows: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """The groups that the tool writes: means in percent with one decimal, of the values of each metric."""
    import numpy as np

    found: dict[str, dict[str, float]] = {}
    for group, names in GROUPS.items():
        for name in names:
            if len(rows.get(name, ())):
                mean = np.mean(np.asarray(rows[name], dtype=np.float64)) * 100
                found.setdefault(group, {})[name] = float(round(mean, 1))
    return found


def _entailed(labels: Any) -> list[bool] | None:
    return _truths(labels) if isinstance(labels, list) else None


def _truths(labels: list[Any]) -> list[bool]:
    return [*map(eq, labels, repeat(ENTAILED))]


def _matrix(labels: Any) -> list[list[bool]] | None:
    return list(entailed_by(labels)) if isinstance(labels, list) else None


def _width(matrix: list[list[bool]]) -> int:
    return len(matrix[0]) if matrix else 0


def _mean(truths: Sequence[bool]) -> float:
    return sum(truths) / len(truths) if truths else 0.0


_TOGETHER = (
    ("claim_recall", "context_precision"),
    ("noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant"),
    ("hallucination", "self_knowledge"),
    ("faithfulness", ""),
)
"""Metrics that the tool computes at once, so that it keeps stored ones only where both are; the last one never."""


def kept_metrics(row: Mapping[str, Any]) -> dict[str, float]:
    """The metrics that the tool continues with: those that are stored in a row, and what it computes of the others."""
    computed = row_metrics(row)
    given = row.get("metrics")
    stored = {k: float(v) for k, v in given.items() if is_number(v)} if isinstance(given, dict) else {}
    for pair in _TOGETHER:
        if not stored.keys() >= set(pair) and all(name in computed for name in pair if name):
            stored = {k: v for k, v in stored.items() if k not in pair}
    found = computed | stored
    if "f1" not in stored and "f1" in computed:
        precision, recall = found["precision"], found["recall"]
        found["f1"] = 2 * precision * recall / (precision + recall) if precision > 0 and recall > 0 else 0.0
    return {name: found[name] for name in METRICS if name in found}


def is_number(value: Any) -> bool:
    """Whether a metric is a finite number as such: not a text of one, nor a truth."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def labels_fit(row: Mapping[str, Any]) -> bool:
    """Whether the label sets of a row are lists of known labels that fit its claims and passages and each other."""
    claims = {name: row.get(name) for name in dict.fromkeys(CLAIMS.values())}
    passages = row.get("retrieved_context")
    widths = {len(passages)} if isinstance(passages, list) and passages else set()
    for name in LISTS:
        labels = row.get(name)
        if labels is not None and not (_are_labels([labels]) and _as_many(labels, claims[CLAIMS[name]])):
            return False
    for name in MATRICES:
        matrix = row.get(name)
        if matrix is None:
            continue
        if not isinstance(matrix, list) or not _are_labels(matrix):
            return False
        if not _as_many(matrix, claims[CLAIMS[name]]) or not _as_many(matrix, row.get(SAME_ROWS[name])):
            return False
        widths.update(map(len, matrix))
    return len(widths) < 2


def _are_labels(lists: list[Any]) -> bool:
    """Whether these are lists of known labels, which may be very long."""
    if not all(map(isinstance, lists, repeat(list))):
        return False
    of_all = chain.from_iterable
    return {*map(type, of_all(lists))} <= {str} and _KNOWN.issuperset(of_all(lists))


def _as_many(labels: list[Any], others: Any) -> bool:
    return not isinstance(others, list) or len(labels) == len(others)
