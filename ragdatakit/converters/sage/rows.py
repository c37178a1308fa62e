"""One documented SAGE record as rows of the canonical tables, and rows as a record."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from ragdatakit.converters.sage.documents import KEPT_METADATA
from ragdatakit.converters.sage.generations import Fields, is_object, is_string, number_in, raw_of
from ragdatakit.files.containers import json_text
from ragdatakit.files.containers.json_text import Raw, items_of
from ragdatakit.schemas.canonical import Answer, Question, Run
from ragdatakit.schemas.sage.older import STAGES, TEXT_KEYS
from ragdatakit.schemas.sage.records import RECORD

KEPT_ORDER = "ragdata_field_order"
"""The member of ``question`` that holds the order of its source's fields, where it does not show it."""
OF_ANSWER = "answer_"
"""How keys of a record begin that are about its answer."""

_DOCUMENTED = frozenset(f.name for f in RECORD.fields)
_NAMES = {"question_id": "id", "text": "question", "answer": "answer", "split": "split"}
_COLUMNS = {name: column for column, name in _NAMES.items()}
_RESERVED = frozenset((*_COLUMNS, "references", KEPT_ORDER, KEPT_METADATA))
_LENGTHS = ("original_length", "refined_length", "compression_ratio")
_SCORES = ("score", "similarity_score", "relevance_score")
_TEXTS = ("text", *TEXT_KEYS)
_OBJECTS = msgspec.json.Decoder(list[Fields])


class _Usual(msgspec.Struct, forbid_unknown_fields=True):
    """A result as most are. Values of other types, and further fields, are for `_run`."""

    text: str
    score: int | float | msgspec.UnsetType = msgspec.UNSET
    id: str | msgspec.UnsetType = msgspec.UNSET
    metadata: Fields | msgspec.UnsetType = msgspec.UNSET


class _OnlyId(msgspec.Struct, forbid_unknown_fields=True):
    """Metadata that name a passage and say no more."""

    id: str


class _Named(msgspec.Struct, forbid_unknown_fields=True):
    """A result as most of those are that have metadata."""

    text: str
    metadata: _OnlyId
    score: int | float | msgspec.UnsetType = msgspec.UNSET


_ALL_NAMED = msgspec.json.Decoder(list[_Named])
_ALL_USUAL = msgspec.json.Decoder(list[_Usual])
_ANSWER_KEYS = ("generated", "prompt", "generation_time")


def id_in(raw: Raw | None) -> str | None:
    """The id in an object, numbers by their digits; None where it has none that can be one."""
    return _id_of(json_text.fields_of(raw)) if raw is not None and is_object(raw) else None


def _id_of(fields: Fields) -> str | None:
    found = fields.get("id")
    if is_string(found):
        return json_text.string_of(found)
    return json_text.compact(found) if found is not None and number_in(found) is not None else None


def has_parts(record: Fields) -> bool:
    """Whether a record gives rows that need the id of its question."""
    if any(key in record for key in _ANSWER_KEYS) or any(key.startswith(OF_ANSWER) for key in record):
        return True
    return any(items_of(record.get(f"{s}_results")) or items_of(record.get(f"{s}_docs")) for s in STAGES)


def question_of(record: Fields, question_id: str | None) -> Question:
    """The question; what else its sample and the record hold is metadata."""
    text = json_text.string_of(record.get("query")) or ""
    references = [
        r for item in items_of(record.get("references")) or () if (r := json_text.string_of(item)) is not None
    ]
    sample = json_text.fields_of(record["question"]) if is_object(record.get("question")) else {}
    order, known = _order_in(sample, text, references)
    metadata = {name: value for name, value in sample.items() if name not in known}
    if is_object(sample.get(KEPT_METADATA)):
        metadata |= json_text.fields_of(sample[KEPT_METADATA])
    for key, value in record.items():
        if key not in _DOCUMENTED and not _is_stage_key(key) and not key.startswith(OF_ANSWER):
            metadata[f"record_{key}" if key in metadata else key] = value
    if "input" in record:
        metadata["record_input" if "input" in metadata else "input"] = record["input"]
    answer = references[0] if references else "" if "answer" in known else None
    return Question(
        question_id,
        text,
        answer,
        tuple(references[1:]),
        json_text.string_of(sample.get("split")),
        json_text.object_text(metadata),
        order,
    )


def _is_stage_key(key: str) -> bool:
    stage, _, part = key.rpartition("_")
    return stage in STAGES and part in ("results", "docs", "time")


def _order_in(sample: Fields, text: str, references: list[str]) -> tuple[tuple[str, ...], set[str]]:
    """The order of the source's fields, if the sample shows it; and the members that columns hold."""
    known = {name for name in ("id", KEPT_ORDER) if name in sample}
    if "id" in known and not is_string(sample["id"]) and number_in(sample["id"]) is None:
        known.remove("id")
    if is_string(sample.get("split")):
        known.add("split")
    if "references" in sample and _same_references(sample["references"], references):
        known.add("references")
    if is_object(sample.get(KEPT_METADATA)):
        known.add(KEPT_METADATA)
    given = items_of(sample.get(KEPT_ORDER))
    if json_text.string_of(sample.get("question")) == text:
        known.add("question")
    if is_string(sample.get("answer")) and json_text.string_of(sample["answer"]) == (references or [""])[0]:
        known.add("answer")
    if given is not None:
        return tuple(json_text.string_of(item) or "" for item in given), known
    if "question" not in known:
        return (), known - {"answer"} if not references else known  # no column can say that an answer is there, empty
    return tuple(_COLUMNS[n] if n in known and n in _COLUMNS else n for n in sample if n != "references"), known


def _same_references(raw: Raw, references: list[str]) -> bool:
    found = [json_text.string_of(item) for item in items_of(raw) or ()]
    return sorted(map(repr, found)) == sorted(map(repr, references)) and bytes(raw)[:1] == b"["


def runs_of(record: Fields, question_id: str | None, tell: Callable[..., None]) -> Iterator[Run]:
    """What the stages found, best first."""
    for stage in STAGES:
        results, seconds = record.get(f"{stage}_results"), _seconds(record.get(f"{stage}_time"))
        if usual := _usual_runs(results, question_id or "", stage, seconds):
            yield from usual
            continue
        found: Sequence[Raw | Fields] = (
            _objects_in(results) or items_of(results) or items_of(record.get(f"{stage}_docs")) or ()
        )
        if seconds is not None and not found:
            reason = f"the {stage} found nothing to which it could belong"
            tell(("time", question_id, stage), "lost", "runs", "seconds", reason, f"{question_id}: {seconds}")
        for rank, item in enumerate(found, 1):
            yield _run(item, question_id or "", stage, rank, seconds)


def _usual_runs(results: Raw | None, question_id: str, stage: str, seconds: float | None) -> list[Run]:
    """The same as `_run` makes of results that are all as most are; none where one is not."""
    if results is None:
        return []
    try:
        return [
            Run(question_id, stage, rank, item.metadata.id, item.text, _given(item.score), seconds)
            for rank, item in enumerate(_ALL_NAMED.decode(results), 1)
        ]
    except msgspec.DecodeError:
        pass
    try:
        found = _ALL_USUAL.decode(results)
    except msgspec.DecodeError:
        return []
    runs = []
    for rank, item in enumerate(found, 1):
        score = _given(item.score)
        target, more = item.id if item.id is not msgspec.UNSET else None, None
        if item.metadata is not msgspec.UNSET:
            inner = item.metadata
            if target is not None or "metadata" in inner or KEPT_METADATA in inner:
                return []
            target = _id_of(inner)
            if target is not None and is_string(inner["id"]):
                del inner["id"]
            more = json_text.object_text(inner)
        runs.append(Run(question_id, stage, rank, target, item.text, score, seconds, more))
    return runs


def _given(score: float | msgspec.UnsetType) -> float | None:
    return None if score is msgspec.UNSET else score


def _objects_in(results: Raw | None) -> list[Fields] | None:
    """The fields of results that are all objects, as they usually are."""
    try:
        return _OBJECTS.decode(results) if results is not None else None
    except msgspec.DecodeError:
        return None


def _seconds(raw: Raw | None) -> float | None:
    value = number_in(raw)
    return value if value is not None and value >= 0 else None


def _run(item: Raw | Fields, question_id: str, stage: str, rank: int, seconds: float | None) -> Run:
    if isinstance(item, Raw):
        if not is_object(item):
            return Run(question_id, stage, rank, None, json_text.string_of(item), None, seconds)
        item = json_text.fields_of(item)
    fields = item
    used = next((key for key in _TEXTS if key in fields), None)
    text = json_text.string_of(fields.pop(used)) if used is not None else None
    score = None
    for key in _SCORES:
        if key in fields and (score := number_in(fields[key])) is not None:
            del fields[key]
            break
    inner = fields.get("metadata")
    more = json_text.fields_of(inner) if inner is not None and is_object(inner) else None
    target = _id_of(more) if more else None
    if target is None:
        target = _id_of(fields)
    if more is not None and fields.keys().isdisjoint(more):
        del fields["metadata"]
        if is_object(more.get(KEPT_METADATA)):
            beside = {name: raw for name, raw in more.items() if name not in ("id", KEPT_METADATA)}
            fields = beside | json_text.fields_of(more[KEPT_METADATA]) | fields
            return Run(question_id, stage, rank, target, text, score, seconds, json_text.object_text(fields))
        fields = more | fields
    if target is not None and "id" in fields and json_text.string_of(fields["id"]) == target:
        del fields["id"]
    return Run(question_id, stage, rank, target, text, score, seconds, json_text.object_text(fields))


def answer_of(record: Fields, question_id: str | None) -> Answer | None:
    """The answer, with the keys that are about it; None where the record has none of these."""
    more = {key[len(OF_ANSWER) :]: value for key, value in record.items() if key.startswith(OF_ANSWER)}
    if question_id is None or not (more or any(key in record for key in _ANSWER_KEYS)):
        return None
    return Answer(
        question_id,
        json_text.string_of(record.get("generated")),
        json_text.string_of(record.get("prompt")),
        _seconds(record.get("generation_time")),
        json_text.object_text(more),
    )


def record_from(question: Question, runs: dict[str, list[Run]], answer: Answer | None) -> dict[str, Any]:
    """A documented record of a question, of what each stage found (texts given), and of the answer."""
    record: dict[str, Any] = {"query": question.text}
    sample = _sample(question)
    if sample:
        record["question"] = sample
    given = [question.answer, *question.aliases]
    record["references"] = [reference for reference in given if reference]
    for stage in STAGES:
        if runs.get(stage):
            record[f"{stage}_results"] = [_result(run, stage) for run in runs[stage]]
            record[f"{stage}_docs"] = [run.text for run in runs[stage]]
            seconds = seconds_of(runs[stage])
            if seconds is not None:
                record[f"{stage}_time"] = seconds
    if answer is not None:
        values = {"prompt": answer.prompt, "generated": answer.text}
        record |= {key: value for key, value in values.items() if value is not None}
        if is_seconds(answer.seconds):
            record["generation_time"] = answer.seconds
        for name, value in (json_text.fields_of(answer.metadata) if answer.metadata else {}).items():
            record[f"{OF_ANSWER}{name}"] = value
    return record


def seconds_of(runs: list[Run]) -> float | None:
    """What the stage of these runs took, as the first of them says that says it."""
    return next((run.seconds for run in runs if is_seconds(run.seconds)), None)


def is_seconds(value: float | None) -> bool:
    """Whether a number can be a time."""
    return value is not None and math.isfinite(value) and value >= 0


def _sample(question: Question) -> dict[str, Any]:
    """The sample that the question was taken from: all of its fields, in their order where that is known."""
    metadata = json_text.fields_of(question.metadata) if question.metadata else {}
    columns = {"id": question.question_id, "split": question.split}
    plain = {name: value for name, value in columns.items() if value is not None}
    if not question.field_order and _RESERVED.isdisjoint(metadata):
        return plain | metadata
    standard: dict[str, Any] = {"question": question.text, "answer": question.answer}
    known = {column: name for column, name in _NAMES.items() if (plain | standard).get(name) is not None}
    named = all(name in known or name in metadata for name in question.field_order)
    if not _RESERVED.isdisjoint(metadata) or not named or "text" not in question.field_order:
        kept = {KEPT_ORDER: list(question.field_order)} if question.field_order else {}
        return plain | kept | ({KEPT_METADATA: metadata} if metadata else {})
    values = plain | standard
    ordered: dict[str, Any] = {}
    for name in question.field_order:
        if name in known:
            ordered[known[name]] = values[known[name]]
        else:
            ordered[name] = metadata[name]
    return ordered | plain | metadata


def _result(run: Run, stage: str) -> dict[str, Any]:
    result: dict[str, Any] = {"text": run.text}
    if run.score is not None and math.isfinite(run.score):
        result["score"] = run.score
    metadata = json_text.fields_of(run.metadata) if run.metadata else {}
    if stage == "refining":
        result |= {key: metadata.pop(key) for key in _LENGTHS if key in metadata}
    if _is_mistakable(metadata, run.target_id):
        metadata = {KEPT_METADATA: raw_of(metadata)}
    if run.target_id is not None and "id" not in metadata:
        metadata = {"id": raw_of(run.target_id), **metadata}
    if metadata:
        result["metadata"] = metadata
    return result


def _is_mistakable(metadata: Fields, target: str | None) -> bool:
    """Whether reading would take a member for the id of what was found, or for others that are set aside."""
    if "metadata" in metadata or KEPT_METADATA in metadata:
        return True
    given = metadata.get("id")
    return given is not None and (is_string(given) or id_in(raw_of({"id": given})) != target)
