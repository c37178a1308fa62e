"""What A-RAG's evaluation makes of one line of predictions, and how it agrees with the questions."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.arag.questions import id_key
from ragdatakit.validators.row_problems import RowProblems

MAX_REMEMBERED = 1_000_000
"""Questions of a small set of which fingerprints are kept (some 100 bytes each); further ones are not compared."""

COMPARED = ("question", "gold_answer")
"""The fields that are copies of those of a question."""

Differing = dict[str, list[int]]
"""By field, the rows of predictions in which it differs."""


def prediction_problems(value: Any) -> Iterator[Problem]:
    """Failures that evaluation counts as answers, and the traces of an evaluation."""
    if not isinstance(value, dict):
        return
    answer = value.get("pred_answer")
    if not isinstance(answer, str) or not answer or answer.isspace():
        pointer = "/pred_answer" if "pred_answer" in value else None
        yield Problem("empty-prediction", pointer, answer, {"found": _absence(value, answer)})
    elif answer.startswith("Error:"):
        yield Problem("failed-prediction", "/pred_answer", answer)
    if "status" in value:
        yield Problem("evaluated-predictions", "/status", value["status"])


def _absence(value: dict[str, Any], answer: Any) -> str:
    if "pred_answer" not in value:
        return "missing"
    if answer is None:
        return "null"
    return "blank" if isinstance(answer, str) else "not a string"


def other_question(field: str, rows: list[int]) -> RowProblems:
    """Predictions that are about another question than the one of their id."""
    facts = {"field": field, "qid": lambda value: f'"{id_key(value)}"'}
    return RowProblems("prediction-of-other-question", "predictions", field, rows, facts=[facts] * len(rows))


def repeated(rows: list[int], firsts: list[int]) -> RowProblems:
    """Predictions for a question that one file has answered before."""
    note = "first answered here"
    return RowProblems(
        "repeated-prediction", "predictions", "@qid", rows, firsts=firsts, first_kind="predictions", note=note
    )


class Remembered:
    """Fingerprints of the questions, and which of them one file of predictions has answered."""

    def __init__(self) -> None:
        self._questions: dict[str, tuple[bytes, bytes]] = {}
        self._answered: dict[str, int] = {}

    def add_question(self, key: str, question: Any, gold: Any) -> None:
        """Keep the first question of an id."""
        if key not in self._questions and len(self._questions) < MAX_REMEMBERED:
            self._questions[key] = _digest(question), _digest(gold)

    def repeats(self) -> RowProblems | None:
        """A file of predictions ends; those of one file are reported as they come."""
        self._answered.clear()
        return None

    def compare(self, predictions: list[tuple[int, Any]]) -> Iterator[RowProblems]:
        """What is wrong with these predictions, each with its row."""
        differing: Differing = {field: [] for field in COMPARED}
        repeats = []
        for row, value in predictions:
            if (key := id_key(value)) is None:
                continue
            if (first := self._first_row(key, row)) != row:
                repeats.append((row, first))
            for field, digest in zip(COMPARED, self._questions.get(key, (b"", b"")), strict=True):
                found = _digest(value.get(field))
                if digest and found and found != digest:
                    differing[field].append(row)
        yield from (other_question(field, rows) for field, rows in differing.items())
        yield repeated([row for row, _ in repeats], [first for _, first in repeats])

    def _first_row(self, key: str, row: int) -> int:
        """The row of this file that answered the question first: this one, or an earlier one."""
        if len(self._answered) >= MAX_REMEMBERED:
            return self._answered.get(key, row)
        return self._answered.setdefault(key, row)


def _digest(value: Any) -> bytes:
    """A fingerprint of a text; empty for anything else, which has a finding of its own."""
    if not isinstance(value, str):
        return b""
    return blake2b(value.encode("utf-8", "surrogatepass"), digest_size=16).digest()
