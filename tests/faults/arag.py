"""Clean A-RAG corpora of forty records a file, and what its own checks add to the declaration."""

from __future__ import annotations

from typing import Any

from ragdatakit.schemas.arag.format import ARAG
from tests.faults.drafts import Draft, DraftFile, Place, cell

SIZE = 40


def drafts() -> tuple[Draft, ...]:
    """Chunks as strings with questions and predictions, and chunks as objects."""
    strings = [f"{i}:{_text(i)}" for i in range(SIZE)]
    objects = [{"id": str(i), "text": _text(i)} for i in range(SIZE)]
    questions = [_question(i) for i in range(SIZE)]
    predictions = [_prediction(i) for i in range(SIZE)]
    counted = ("answers-in-chunks", "questions.json")
    of_strings = (
        _file("chunks.json", "chunks", strings),
        _file("questions.json", "questions", questions),
        _file("predictions.jsonl", "predictions", predictions),
    )
    of_objects = (_file("chunks.json", "chunks", objects), _file("questions.json", "questions", questions))
    as_objects = frozenset({counted, ("chunks-as-objects", "chunks.json")})
    return (
        Draft("arag strings", ARAG, of_strings, frozenset({counted}), _keys_of(str), _own_rules, _consequences, FIELDS),
        Draft("arag objects", ARAG, of_objects, as_objects, _keys_of(dict), _own_rules, _consequences, FIELDS),
    )


def _file(path: str, kind: str, values: list[Any]) -> DraftFile:
    return DraftFile(path, ARAG.file(kind), tuple(map(cell, values)))


def _text(i: int) -> str:
    return f"The lighthouse number {i} was lit in {1800 + i}. It burned whale oil."


def _question(i: int) -> dict[str, Any]:
    return {
        "id": f"s{i}",
        "source": "skarn",
        "question": f"When was the lighthouse number {i} lit?",
        "answer": f"in {1800 + i}",
        "question_type": "",
        "evidence": "",
    }


def _prediction(i: int) -> dict[str, Any]:
    return {
        "qid": f"s{i}",
        "question": f"When was the lighthouse number {i} lit?",
        "trajectory": [],
        "gold_answer": f"in {1800 + i}",
        "pred_answer": f"It was lit in {1800 + i}",
        "total_cost": 0.25,
        "loops": 2,
        "total_retrieved_tokens": 21,
        "retrieval_logs": [],
        "chunks_read_count": 1,
        "chunks_read_ids": [str(i)],
    }


def _keys_of(shape: type) -> Any:
    """The keys of records where the first chunk is of that shape: no reader keeps the others."""

    def derive(path: str, kind: str, value: Any) -> dict[str, Any]:
        if kind != "chunks":
            return _keys_of_question(value)
        name: Any = None
        text: Any = None
        if shape is str and isinstance(value, str) and ":" in value:
            name, text = value.split(":", 1)
        elif shape is dict and isinstance(value, dict):
            name, text = value.get("id"), value.get("text")
        found = text if isinstance(text, str) and text.strip() else None
        return {"@id": name if isinstance(name, str) else None, "@text": found}

    return derive


def _keys_of_question(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {}
    key = _id_of(value)
    asked = value.get("question")
    question = asked if isinstance(asked, str) and asked.strip() else None
    return {"@qid": key, "@own_qid": key, "@question": question}


def _id_of(value: dict[str, Any]) -> Any:
    """An id is a text or a number, and no number is a text."""
    found = value.get("qid") or value.get("id")
    if isinstance(found, int | float) and found:
        return (found, "number")
    return found if isinstance(found, str) else None


def _consequences(draft: Draft) -> set[Place]:
    """Predictions that differ from their question, or stand twice; an order of chunks that has gaps."""
    found: set[Place] = set()
    files = {f.kind.kind: f for f in draft.files}
    questions: dict[Any, dict[str, Any]] = {}
    for _, value in files["questions"].records():
        if isinstance(value, dict):
            questions.setdefault(_id_of(value), value)
    answered: set[Any] = set()
    predictions = files["predictions"].records() if "predictions" in files else iter(())
    for line, value in predictions:
        key = _id_of(value) if isinstance(value, dict) else None
        if key is None:
            continue
        asked = questions.get(key, {})
        pairs = [(asked.get("question"), value.get("question"))]
        pairs.append((asked.get("answer", ""), value.get("gold_answer")) if asked else (None, None))
        if any(isinstance(a, str) and isinstance(b, str) and a != b for a, b in pairs):
            found.add(Place("prediction-of-other-question", "predictions.jsonl", line))
        if key in answered:
            found.add(Place("repeated-prediction", "predictions.jsonl", line))
        answered.add(key)
    return found


def _own_rules(kind: str, name: str, variant: str) -> tuple[str, ...]:
    return tuple(OWN.get((kind, name, variant), "").split())


FIELDS = {
    "chunks @id": "id",
    "chunks @text": "text",
    "questions @own_qid": "id",
    "questions @qid": "id",
    "questions @question": "question",
    "predictions @qid": "qid",
}
_HUGE = ("2^53 + 1", "2^63", "2^70", "-2^63 - 1")
_ODD = ("NaN", "Infinity", "-Infinity", "1e400")
_NUMBERS = ("true", "a number", "a decimal", *_ODD, *_HUGE)
OWN: dict[tuple[str, str, str], str] = {
    ("chunks", "", "empty"): "chunk-without-colon",
    ("chunks", "", "blank"): "chunk-without-colon",
    ("chunks", "", "without colon"): "chunk-without-colon",
    ("chunks", "", "without text"): "empty-chunk",
    ("chunks", "", "without id"): "chunk-id-not-number",
    ("chunks", "", "padded id"): "padded-chunk-id",
    ("chunks", "", "leading zeros"): "padded-chunk-id",
    ("chunks", "", "an object"): "chunk-not-string",
    ("chunks", "", "a text among strings"): "chunk-without-colon",
    ("chunks", "", "a text among objects"): "chunk-not-object",
    ("chunks", "", "gone"): "chunk-ids-out-of-order",
    ("chunks", "id", "empty"): "chunk-id-not-number",
    ("chunks", "id", "blank"): "chunk-id-not-number padded-chunk-id",
    ("chunks", "id", "surrogate"): "chunk-id-not-number",
    ("chunks", "text", "blank"): "empty-chunk",
    ("questions", "question", "blank"): "question-without-text",
    ("questions", "id", "missing"): "question-without-id",
    ("questions", "id", "null"): "question-without-id",
    ("questions", "id", "empty"): "question-without-id",
    ("questions", "answer", "missing"): "question-without-answer",
    ("questions", "answer", "empty"): "question-without-answer",
    ("questions", "answer", "blank"): "vacuous-answer",
    ("questions", "answer", "null"): "null-answer",
    ("predictions", "pred_answer", "missing"): "empty-prediction",
    **{
        ("questions", "qid", v): "conflicting-question-ids"
        for v in ("true", "a number", "text", "blank", "surrogate", *_HUGE)
    },
    **{("questions", f, v): "unhashable-question-id" for f in ("qid", "id") for v in ("a list", "an object")},
    **{("questions", "answer", v): "number-answer" for v in _NUMBERS},
    **{("questions", "answer", v): "answer-not-text" for v in ("a list", "an object")},
    **{("questions", "evidence", v): "unusual-evidence" for v in ("null", "an object", *_NUMBERS)},
    **{
        ("predictions", "pred_answer", v): "empty-prediction"
        for v in ("null", "empty", "blank", "a list", "an object", *_NUMBERS)
    },
}
