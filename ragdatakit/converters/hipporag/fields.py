"""The fields of HippoRAG's records that a canonical table has columns for, and where the others go."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ragdatakit.converters.question_fields import ASIDE, BESIDE
from ragdatakit.files.containers.json_text import Raw, dumps, fields_of, loads, object_text, string_of
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.hipporag.passages import ANSWER_FIELDS, EVIDENCE_FIELDS, gold_answers
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.canonical import Document, Question
from ragdatakit.schemas.declarations import Record
from ragdatakit.schemas.hipporag.records import IDX, PASSAGE

_COLUMNS = ("question_id", "text", "answer", "aliases", "split")
_PASSAGE_FIELDS = ("title", "text", "idx")
_QUESTION_FIELDS = ("id", "_id", "question", "answer", "answer_aliases")
_MAY_BE_ASIDE = (*_QUESTION_FIELDS, *EVIDENCE_FIELDS, "question_decomposition")


def passage_metadata(fields: Mapping[str, Raw], taken: tuple[str, ...]) -> str | None:
    """The fields of a passage that have no column, under the names they had before they were set aside."""
    kept = {name: raw for name, raw in fields.items() if name not in taken}
    return object_text([(_own_name(name, _PASSAGE_FIELDS, kept), raw) for name, raw in kept.items()])


def document_of(fields: dict[str, Raw], text: str, place: str, *, by_idx: bool) -> Document:
    """A passage, called after its place or ``by_idx``."""
    title = string_of(fields.get("title"))
    taken = ("text",) if title is None else ("text", "title")
    if by_idx:
        return Document(id_of(fields.get("idx")) or "", text, title, passage_metadata(fields, (*taken, "idx")))
    return Document(place, text, title, passage_metadata(fields, taken))


def usual_passage(records: RecordReader, file: DataFile) -> tuple[Record, bool]:
    """What most passages of an array are, as the first one: with an idx or without; and whether they have one."""
    first = next(iter(records.unheard().objects(file, "json-array")), {})
    by_idx = id_of(first.get("idx")) is not None
    return replace(PASSAGE, extra="forbid", fields=(*PASSAGE.fields[:2], *([IDX] if by_idx else []))), by_idx


def text_of(records: RecordReader, file: DataFile, number: int, fields: Mapping[str, Raw]) -> str | None:
    """The text of a passage; one that has none is left out."""
    text = string_of(fields.get("text"))
    if text is None:
        title = string_of(fields.get("title"))
        records.tell_once("dropped", "documents", None, "it has no text", file, number, title)
    return text


def passage_extras(metadata: str | None) -> dict[str, Raw]:
    """What is written of it; names that passages have themselves are set aside."""
    found = fields_of(metadata) if metadata else {}
    return {_set_aside(name, _PASSAGE_FIELDS): raw for name, raw in found.items()}


def _own_name(name: str, taken: Collection[str], beside: Collection[str]) -> str:
    """The name that a field had before it was set aside, unless another field ``beside`` it has that name."""
    own = name.removeprefix(ASIDE)
    return own if own != name and _bare(name) in taken and own not in beside else name


def _set_aside(name: str, taken: Collection[str]) -> str:
    """A name under which `_own_name` finds it again; names that look set aside are, too."""
    return f"{ASIDE}{name}" if _bare(name) in taken else name


def _bare(name: str) -> str:
    while name.startswith(ASIDE):
        name = name.removeprefix(ASIDE)
    return name


def given_id(fields: Mapping[str, Raw]) -> tuple[str, str | None]:
    """The field that holds a question's id, and the id; None where it has none."""
    for name in ("id", "_id"):
        found = id_of(fields.get(name))
        if found is not None:
            return name, found
    return "", None


def read_question(fields: Mapping[str, Raw]) -> Question:
    """The question of a record."""
    columns: dict[str, str] = {}
    own, question_id = given_id(fields)
    if own:
        columns[own] = "question_id"
    text = string_of(fields.get("question"))
    if text is not None:
        columns["question"] = "text"
    name, answers = gold_answers(decoded(fields, ANSWER_FIELDS))
    if answers is not None and name != "obj":
        columns[name] = "answer"
    aliases = _texts(fields.get("answer_aliases"))
    if aliases is not None:
        columns["answer_aliases"] = "aliases"
    right = answers or []
    extras, order = _beside(fields, columns)
    return Question(
        question_id=question_id,
        text=text or "",
        answer=right[0] if right and (right[0] or len(right) > 1 or aliases) else None,
        aliases=(*right[1:], *(aliases or ())),
        metadata=object_text(extras),
        field_order=tuple(order) if answers is None or name != "obj" else (*order, "answer"),
    )


def _beside(fields: Mapping[str, Raw], columns: Mapping[str, str]) -> tuple[list[tuple[str, Raw]], list[str]]:
    """The fields that have no column, and the order of all."""
    extras: list[tuple[str, Raw]] = []
    order: list[str] = []
    others = [name for name in fields if name not in columns]
    for name, raw in fields.items():
        if name in columns:
            order.append(columns[name])
            continue
        own = _own_name(name, _MAY_BE_ASIDE, others)
        extras.append((own, raw))
        order.append(BESIDE + own if own in _COLUMNS else own)
    return extras, order


def write_question(question: Question, number: int) -> dict[str, Raw]:
    """The record of a question, with the fields in the order of its source."""
    beside = fields_of(question.metadata) if question.metadata else {}
    columns = dict(_column_values(question, beside, number))
    others = {name: (_aside_of(name), raw) for name, raw in beside.items()}
    written: list[tuple[str, Raw]] = []
    for name in question.field_order:
        if name in columns:
            written.append(columns.pop(name))
        elif (own := name.removeprefix(BESIDE)) in others:
            written.append(others.pop(own))
    return dict([*written, *columns.values(), *others.values()])


def _aside_of(name: str) -> str:
    """Fields with passages keep their names, as long as they do not look set aside already."""
    return _set_aside(name, _QUESTION_FIELDS if name in _MAY_BE_ASIDE else _MAY_BE_ASIDE)


def _column_values(question: Question, beside: Mapping[str, Raw], number: int) -> Iterator[tuple[str, tuple[str, Raw]]]:
    """Column, and the name and value of its field."""
    order = question.field_order
    unnamed = order and "question_id" not in order and (question.question_id or "").rstrip("-") == made_id(number)
    if question.question_id is not None and not unnamed:
        yield "question_id", ("_id" if "supporting_facts" in beside else "id", _raw(question.question_id))
    yield "text", ("question", _raw(question.text))
    apart = "aliases" in order
    if question.answer is None:
        if question.aliases:
            yield "answer", ("answer", _raw([]))
            apart = True
        elif "answer" in order:
            yield "answer", ("answer", _raw(""))
    elif apart or (order and not question.aliases and not _is_generic(beside)):
        yield "answer", ("answer", _raw(question.answer))
    else:
        yield "answer", ("answer", _raw([question.answer, *question.aliases]))
    if apart:
        yield "aliases", ("answer_aliases", _raw(question.aliases))


def _is_generic(beside: Mapping[str, Raw]) -> bool:
    """Whether a question has the shape of HippoRAG's own sets, in which the answer is a list."""
    return "paragraphs" in beside and b'"paragraph_text"' not in bytes(beside["paragraphs"])


def _raw(value: Any) -> Raw:
    return Raw(dumps(value).encode())


def id_of(raw: Raw | None) -> str | None:
    """An integer or a text as an id; None for anything else."""
    found = loads(raw) if raw is not None else None
    return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else None


def _texts(raw: Raw | None) -> list[str] | None:
    found = loads(raw) if raw is not None else None
    return found if isinstance(found, list) and all(isinstance(v, str) for v in found) else None


def made_id(number: int) -> str:
    """The id of a question that has none; with hyphens behind it, where another one is called so."""
    return f"question-{number}"


def decoded(fields: Mapping[str, Raw], names: tuple[str, ...]) -> dict[str, Any]:
    """Some fields of a record, as values."""
    return {name: loads(fields[name]) for name in names if name in fields}
