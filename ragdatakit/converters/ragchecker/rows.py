"""What a row of RAGChecker's files gives: a question, an answer, results, and judgements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from ragdatakit.files.containers.json_text import (
    Raw,
    begins,
    dumps,
    fields_of,
    is_null,
    items_of,
    loads,
    object_text,
    string_of,
)
from ragdatakit.files.containers.long_json import long_or_short
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.canonical import Answer, Question, Run
from ragdatakit.schemas.ragchecker.metrics import CLAIMS, entailed_by, labels_fit, relevant_passages

STAGE = "retrieval"
OF_ANSWER = ("response_claims", *CLAIMS, "metrics")
"""The fields of a row that are about the response and what was retrieved for it: they go with the answer."""
OF_ROW = ("query_id", "query", "gt_answer", "response", "retrieved_context", *OF_ANSWER)
"""Those that do not go with the question as its metadata."""
WHY_DOCUMENT = "the passages that were retrieved, as there is no corpus"
WHY_QREL = "passages that entail a claim of the right answer"
_AT_ONCE = 1 << 22
"""Bytes of passages that are decoded at once."""
_NAMED = ("doc_id", "chunk_id", "text")


class Passage(msgspec.Struct, forbid_unknown_fields=True):
    """A passage as the tool writes it."""

    doc_id: str
    raw: Raw = msgspec.field(name="text")

    @property
    def text(self) -> str | None:
        """What it says."""
        return string_of(self.raw)

    @property
    def name(self) -> str | None:
        """What it is called."""
        return self.doc_id

    @property
    def more(self) -> dict[str, Raw]:
        """What else it has."""
        return {}


class OddPassage:
    """Any other one."""

    def __init__(self, fields: dict[str, Raw]) -> None:
        self._fields = fields

    @property
    def name(self) -> str | None:
        return name_of(self._fields)

    @property
    def text(self) -> str | None:
        return string_of(self._fields.get("text"))

    @property
    def more(self) -> dict[str, Raw]:
        return {name: raw for name, raw in self._fields.items() if name not in _NAMED}


_PASSAGES = msgspec.json.Decoder(list[Passage])
Passages = Iterable[Passage | OddPassage]


def id_of(records: RecordReader, file: DataFile, number: int, fields: dict[str, Raw]) -> str:
    """The id of a row, or what becomes it, which is reported: ``number`` is that of the row."""
    found = value_of(fields.get("query_id"))
    if isinstance(found, str):
        return found
    made = str(found) if isinstance(found, int) and not isinstance(found, bool) else f"row-{number + 1}"
    why = "an id that is not a text became one" if made == str(found) else "rows without query_id have their place"
    records.tell_once("derived", "questions", "question_id", why, file, number, made)
    return made


def question_of(
    question_id: str, fields: dict[str, Raw], known: Sequence[str], coerced: Callable[[str, str], None]
) -> Question:
    """The question of a row; fields that are not ``known`` are its metadata. ``coerced`` is given the columns that have
    something else than what is in the file, and why."""
    text, answer = string_of(fields.get("query")), value_of(fields.get("gt_answer"))
    if text is None:
        coerced("text", "a query that is not a text became an empty one")
    listed = [a for a in answer if isinstance(a, str)] if isinstance(answer, list) else []
    if not isinstance(answer, str) and answer is not None:
        coerced("answer", "a right answer that is not a text became one")
        answer = listed[0] if listed else dumps(answer)
    metadata = object_text([(name, raw) for name, raw in fields.items() if name not in known])
    return Question(question_id, text or "", answer, tuple(listed[1:]), metadata=metadata)


def answer_of(question_id: str, fields: dict[str, Raw]) -> Answer | None:
    """The response of a row, if it has one; claims, labels and metrics are about it."""
    if "response" not in fields:
        return None
    about = [(name, fields[name]) for name in OF_ANSWER if not is_null(fields.get(name))]
    return Answer(question_id, string_of(fields["response"]), metadata=object_text(about))


def runs_of(question_id: str, passages: Passages, by_row: bool) -> Iterator[Run]:
    """What was retrieved for a question, in order."""
    for place, passage in enumerate(passages):
        more, score = passage.more, value_of(passage.more.get("score"))
        scored = isinstance(score, int | float) and not isinstance(score, bool)
        rest = object_text([(name, raw) for name, raw in more.items() if not (scored and name == "score")])
        target, text = target_of(question_id, place, passage.name, by_row), passage.text or ""
        yield Run(question_id, STAGE, place + 1, target, text, float(score) if scored else None, None, rest)


def relevant_places(fields: Mapping[str, Raw], passages: Sequence[Any]) -> list[int]:
    """The places of the passages of a row that entail a claim of the right answer; none where the labels do not fit
    the passages."""
    names = ("retrieved2answer", "gt_answer_claims")
    row: dict[str, Any] = {name: long_or_short(fields[name]) for name in names if name in fields}
    row["retrieved_context"] = passages
    if row.get("retrieved2answer") is None or not labels_fit(row):
        return []
    relevant = relevant_passages(entailed_by(row["retrieved2answer"]))
    return [place for place, (is_one, _) in enumerate(zip(relevant, passages, strict=False)) if is_one]


def target_of(question_id: str, place: int, name: str | None, by_row: bool) -> str:
    """What a passage is called: with its chunk's number where the corpus is cut, with its question where ids are of
    their row; by its place where it has no id."""
    if name is None:
        return f"{question_id}/{place:03}"
    return f"{question_id}/{name}" if by_row else name


def value_of(raw: Raw | None) -> Any:
    """The value of a field; None of one that is not there."""
    return loads(raw) if raw is not None else None


def text_of(raw: Raw | None) -> str | None:
    """An id as a text: one, or a number."""
    found = value_of(raw)
    return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else None


def name_of(passage: dict[str, Raw]) -> str | None:
    """What a passage or chunk is called by its own fields."""
    doc_id, chunk_id = text_of(passage.get("doc_id")), text_of(passage.get("chunk_id"))
    return f"{doc_id}-{chunk_id}" if doc_id is not None and chunk_id is not None else doc_id


def passages_of(raw: Raw | None) -> Passages:
    """The passages in a list; one that is null or anything else has no text."""
    if raw is not None and memoryview(raw).nbytes <= _AT_ONCE:
        with suppress(msgspec.DecodeError):
            return _PASSAGES.decode(raw)
    return (OddPassage(fields_of(item) if begins(item, b"{") else {}) for item in items_of(raw) or ())
