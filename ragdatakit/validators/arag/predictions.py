"""What A-RAG's evaluation makes of one line of predictions, and how it agrees with the questions."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from ragdatakit.schemas.findings import Problem

MAX_REMEMBERED = 1_000_000
"""Questions of which fingerprints are kept (some 100 bytes each); further ones are not compared."""


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


class Remembered:
    """Fingerprints of the questions, and which of them one file of predictions has answered."""

    def __init__(self) -> None:
        self._questions: dict[str, tuple[bytes, bytes]] = {}
        self._answered: dict[str, int] = {}

    def add_question(self, key: str, question: Any, gold: Any) -> None:
        """Keep the first question of an id."""
        if key not in self._questions and len(self._questions) < MAX_REMEMBERED:
            self._questions[key] = _digest(question), _digest(gold)

    def forget_predictions(self) -> None:
        """A file of predictions ends."""
        self._answered.clear()

    def first_row(self, key: str | None, row: int) -> int:
        """The row of this file that answered the question first: this one, or an earlier one."""
        if key is None or len(self._answered) >= MAX_REMEMBERED:
            return self._answered.get(key, row) if key is not None else row
        return self._answered.setdefault(key, row)

    def compare(self, key: str, value: dict[str, Any]) -> Iterator[Problem]:
        """A prediction that is about another question than the one of its id."""
        known = self._questions.get(key, (b"", b""))
        for field, digest in zip(("question", "gold_answer"), known, strict=True):
            found = _digest(value.get(field))
            if digest and found and found != digest:
                facts = {"field": field, "qid": f'"{key}"'}
                yield Problem("prediction-of-other-question", f"/{field}", value[field], facts)


def _digest(value: Any) -> bytes:
    """A fingerprint of a text; empty for anything else, which has a finding of its own."""
    if not isinstance(value, str):
        return b""
    return blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()
