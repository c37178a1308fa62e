"""DataMind's question sets and the results of its benchmark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from ragdatakit.converters.question_fields import ASIDE, QuestionFields
from ragdatakit.files.containers.json_text import Raw, dumps, fields_of, loads, object_text, string_of, without_nan
from ragdatakit.files.texts.compared_answers import words_only
from ragdatakit.schemas.canonical import Answer, Question

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.outputs.written_files import Output

QUESTIONS = QuestionFields(
    names={
        "question_id": "question_id",
        "text": "question",
        "answer": "reference_answer",
        "aliases": "aliases",
        "split": "split",
    },
    order=("question", "reference_answer", "question_id"),
    ids=("question_id",),
    answers=("reference_answer",),
)
QUESTION_COLUMNS = ("question_id", "text", "answer", "aliases", "split", "metadata")
ANSWER_COLUMNS = ("question_id", "text", "seconds", "metadata")
_JOINT = "; "
_ANSWER = "reference_answer"
_UNUSABLE = ASIDE + _ANSWER
"""Holds an answer without words, which the benchmark would find in any reply."""


def question_rows(files: list[DataFile], records: RecordReader) -> Iterator[Question]:
    """The questions of all sets; a line that is not JSON is a question itself."""
    for file in files:
        for number, line in enumerate(records.lines(file)):
            line = line.strip()
            if not line:
                continue
            fields = _fields(line)
            if fields is None:
                yield Question(None, line)
            elif (string_of(fields.get("question")) or "").strip():
                yield QUESTIONS.read(_with_answer(fields))
            else:
                records.leave_out(file, number, "a line without a question", line)


def _with_answer(fields: dict[str, Raw]) -> dict[str, Raw]:
    """The fields with an answer that was set aside in its place."""
    aside = string_of(fields.get(_UNUSABLE))
    if aside is None or _ANSWER in fields or words_only(aside):
        return fields
    return {_ANSWER if name == _UNUSABLE else name: value for name, value in fields.items()}


def _fields(line: str) -> dict[str, Raw] | None:
    """The fields of a line, none where it is JSON and no object; None where it is text."""
    for text in dict.fromkeys((line, without_nan(line.encode()).decode())):
        with suppress(ValueError, RecursionError):
            return fields_of(text)
    try:
        json.loads(line)
    except ValueError:
        return None
    except RecursionError:
        pass
    return {}  # no object, or one with text that is none


def result_rows(files: list[DataFile], records: RecordReader) -> Iterator[Answer]:
    """What the benchmark wrote; where it has no question's id, the number of the question stands for it."""
    for file in files:
        for number, fields in records.numbered(file):
            raw = fields.get("question_id", fields.get("index"))
            value = loads(raw) if raw is not None else None
            if value is None or isinstance(value, list | dict):
                records.leave_out(file, number, "a result that does not name its question", value)
                continue
            text, seconds = string_of(fields.pop("answer", None)), fields.get("latency_s")
            taken = loads(seconds) if seconds is not None else None
            if isinstance(taken, int | float) and not isinstance(taken, bool):
                del fields["latency_s"]
            else:
                taken = None
            if isinstance(value, str):
                del fields["question_id" if "question_id" in fields else "index"]
            yield Answer(str(value), text, None, taken, object_text(fields))


def write_questions(
    tables: CanonicalTables, out: Output, path: str, *, answer: str, extras: bool, assign_ids: bool
) -> None:
    """One line a question, with all it has beside or only with what the benchmark reads."""
    columns = QUESTION_COLUMNS if extras else QUESTION_COLUMNS[:3]
    rows = _usable(tables, columns, answer, assign_ids)
    first = next(rows, None)
    if first is None:
        return
    with out.lines(path) as writer:
        writer.write(_record(tables, first, extras))
        for question in rows:
            writer.write(_record(tables, question, extras))


def _record(tables: CanonicalTables, question: Question, extras: bool) -> dict[str, Raw]:
    fields = QUESTIONS.write(question, extras)
    answer = string_of(fields.get(_ANSWER))
    if answer is None or words_only(answer):
        return fields
    why = "an answer without words is contained in any reply"
    if extras:
        tables.losses.add("coerced", "questions", "answer", f"{why}; it is in {_UNUSABLE}", dumps(answer))
        return {_UNUSABLE if name == _ANSWER else name: value for name, value in fields.items()}
    tables.losses.add("lost", "questions", "answer", why, dumps(answer))
    return {name: value for name, value in fields.items() if name != _ANSWER}


def _usable(tables: CanonicalTables, columns: tuple[str, ...], answer: str, assign_ids: bool) -> Iterator[Question]:
    losses = tables.losses
    taken = {q.question_id for q in tables.peek("questions")} if assign_ids else set()
    number = 0
    for question in tables.take("questions", *columns):
        if not question.text or question.text.isspace():
            tables.drop("questions", question, "the question has no text")
            continue
        if question.aliases and answer == "join":
            question = question._replace(answer=_JOINT.join(a for a in (question.answer, *question.aliases) if a))
            losses.add("coerced", "questions", "answer", "several answers are joined", dumps(question.answer))
        if question.question_id is None and assign_ids:
            while str(number) in taken:
                number += 1
            taken.add(str(number))
            losses.add("derived", "questions", "question_id", "the number of the question", str(number))
            question = question._replace(question_id=str(number))
        yield question
