"""What DataMind's benchmark makes of a question, a plain line, a result. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ragdatakit.files.texts.compared_answers import words_only
from ragdatakit.schemas.findings import Problem


def question_problems(value: Any) -> Iterator[Problem]:
    """The faults of one question that its declaration does not name."""
    if not isinstance(value, dict):
        return
    question = value.get("question")
    if isinstance(question, str) and question and not question.strip():
        yield Problem("missing-question", "/question", question)
    yield from reference_problems(value)


def reference_problems(value: Any) -> Iterator[Problem]:
    """References that match every reply, or far too many."""
    reference = value.get("reference_answer") if isinstance(value, dict) else None
    if not isinstance(reference, str):
        return
    words = words_only(reference)
    if not words:
        yield Problem("empty-reference", "/reference_answer", reference)
    elif len(words) <= 2 and words.isascii():
        # A name of two Chinese characters is no accident; "no" inside "know" is.
        yield Problem("short-reference", "/reference_answer", reference)


def plain_questions(data: bytes) -> Iterator[Problem]:
    """The faults of a question set of plain lines."""
    text = data.decode("utf-8", "replace")
    plain = 0
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        line = line.strip()
        if not line:
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            plain += 1
            continue
        yield from _json_line_problems(value, number)
    if plain:
        yield Problem("plain-text-questions", facts={"count": f"{plain:,}"})


def _json_line_problems(value: Any, line: int) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield Problem("question-line-not-object", value=value, line=line)
    elif not isinstance(value.get("question", ""), str):
        yield Problem("question-not-string", value=value["question"], line=line)
    elif not value.get("question", "").strip():
        yield Problem("missing-question", line=line)
    else:
        for problem in reference_problems(value):
            problem.line, problem.pointer = line, None
            yield problem
