"""SAGE's benchmark files and profiling dumps made into pipeline records."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from ragdatakit.converters.sage.generations import (
    Changed,
    Fields,
    Refuse,
    is_object,
    is_string,
    number_in,
    raw_of,
    text_in,
    texts_of_stage,
    to_documented,
)
from ragdatakit.files.containers import json_text
from ragdatakit.files.containers.json_text import Raw, items_of
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.row_groups import RowGroups

_PREDICTIONS = ("prediction", "model_output")
_RETRIEVED = ("retrieved_docs", "retrieved_context")


def benchmark_records(
    questions: Iterable[DataFile], results: Iterable[DataFile], records: RecordReader, refuse: Refuse
) -> Iterator[tuple[str, Changed]]:
    """Place and record of every question, with the first result of the same id and text; then the other results."""
    for place, fields in _benchmark_records(questions, results, records):
        if (changed := to_documented(fields, place, refuse, complete=True)) is not None:
            yield place, changed


def _benchmark_records(
    questions: Iterable[DataFile], results: Iterable[DataFile], records: RecordReader
) -> Iterator[tuple[str, Fields]]:
    found = _Results(results, records)
    for file in questions:
        for number, entry in enumerate(records.objects(file), 1):
            place = f"{file.display} record {number}"
            asked = _of_question(entry)
            answered = found.pop(_key(entry), json_text.string_of(entry.get("question")))
            yield place, _merged(asked, answered)
    yield from found.rest()


def _key(entry: Fields) -> str:
    return json_text.compact(entry["id"]) if "id" in entry else ""


def _of_question(entry: Fields) -> Fields:
    left = dict(entry)
    record: Fields = {"query": left.pop("question", Raw(b"null"))}
    if "answers" in left:
        record["golds"] = left.pop("answers")
    contexts = items_of(left.get("ctxs"))
    if contexts is not None:
        del left["ctxs"]
        record["retrieval_results"] = raw_of([_of_context(c) for c in contexts])
    if left:
        record["question"] = raw_of(left)
    return record


def _of_context(context: Raw) -> Raw:
    """A passage as a result: whatever is neither text nor score is its metadata."""
    if not is_object(context):
        return context
    fields = json_text.fields_of(context)
    result: Fields = {"text": fields.pop("text")} if "text" in fields else {}
    if number_in(fields.get("score")) is not None:
        result["score"] = fields.pop("score")
    if fields:
        result["metadata"] = raw_of(fields)
    return raw_of(result)


class _Results:
    """The results of benchmark runs, which are files of one JSON value each, by the id of their sample."""

    def __init__(self, files: Iterable[DataFile], records: RecordReader) -> None:
        self._found: dict[str, deque[tuple[str, Fields]]] = {}
        for file in files:
            for count, whole in enumerate(records.objects(file)):
                results = items_of(whole.get("results")) or []
                about_run = _about_run(file, count, whole, bool(results), records)
                for number, item in enumerate(results):
                    if is_object(item):
                        fields = json_text.fields_of(item)
                        place = f"{file.display}, result {number + 1}"
                        self._found.setdefault(_key(fields), deque()).append((place, _of_result(fields, about_run)))
                    else:
                        why = f"result {number + 1} is not an object"
                        records.tell_once("dropped", file.kind, "results", why, file, count, json_text.compact(item))

    def pop(self, key: str, question: str | None) -> Fields | None:
        """The first result of this sample that is about this question."""
        waiting = self._found.get(key)
        if not key or not waiting:
            return None
        asked = json_text.string_of(waiting[0][1].get("query"))
        return waiting.popleft()[1] if asked in (None, question) else None

    def rest(self) -> Iterator[tuple[str, Fields]]:
        """What no question was found for."""
        for waiting in self._found.values():
            yield from waiting


def _about_run(file: DataFile, count: int, whole: Fields, any_results: bool, records: RecordReader) -> Fields:
    """What a file says of its run, for the record of each result; what would weigh each of them down is reported as
    lost.

    ``count`` says which JSON value of the file ``whole`` is.
    """
    kept = json_text.fields_of(whole["metadata"]) if is_object(whole.get("metadata")) else {}
    lost = {key: value for key, value in whole.items() if key != "results" and (key != "metadata" or not kept)}
    for name, value in kept.items():
        if not any_results or bytes(value)[:1] in (b"{", b"["):
            lost[f"metadata.{name}"] = value
    for column, value in lost.items():
        if bytes(value) not in (b"{}", b"[]", b"null"):
            why = "it is about the run as a whole, and has no place in records of single questions"
            records.tell_once("lost", file.kind, column, why, file, count, json_text.compact(value))
    return {name: value for name, value in kept.items() if f"metadata.{name}" not in lost}


def _beside(record: Fields, name: str, value: Raw) -> None:
    """Keep a value of a benchmark's files under a key that nothing else in the record has."""
    key, turn = f"benchmark_{name}", 1
    while key in record:
        turn += 1
        key = f"benchmark_{name}_{turn}"
    record[key] = value


def _of_result(entry: Fields, about_run: Fields) -> Fields:
    left = dict(entry)
    record: Fields = {}
    if is_string(left.get("question")):
        record["query"] = left.pop("question")
    if "id" in left:
        record["question"] = raw_of({"id": left.pop("id")})
    if "ground_truth" in left:
        record["golds"] = left.pop("ground_truth")
    for key in _RETRIEVED:
        if "retrieved_docs" not in record and key in left:
            record["retrieved_docs"] = left.pop(key)
    for key in _PREDICTIONS:
        if "pred" not in record and key in left:
            record["pred"] = left.pop(key)
    for fields in (left, about_run):
        for name, value in fields.items():
            _beside(record, name, value)
    return record


def _merged(asked: Fields, answered: Fields | None) -> Fields:
    """A question with its result; where both have the same in other words, the result's is kept beside."""
    if answered is None:
        return asked
    left = dict(answered)
    for key in ("query", "question"):
        left.pop(key, None)
    given = _texts(left.get("golds"))
    if "golds" in asked and "golds" in left:
        value = left.pop("golds")
        if given != _texts(asked["golds"]):
            _beside(left, "ground_truth", value)
    if "retrieval_results" in asked and "retrieved_docs" in left:
        value = left.pop("retrieved_docs")
        if _texts(value) != texts_of_stage(asked, "retrieval"):
            _beside(left, "retrieved", value)
    return asked | left


def _texts(raw: Raw | None) -> list[str | None]:
    items = items_of(raw)
    return [text_in(item) for item in items] if items is not None else [text_in(raw)] if raw is not None else []


def dump_records(files: Iterable[DataFile], records: RecordReader, refuse: Refuse) -> Iterator[tuple[str, Changed]]:
    """What several operators logged of one query, joined: the first entry of each, then the second ones, and so on.

    Entries without a query are left out, too.
    """
    groups: dict[tuple[str, int], int] = {}
    logged: dict[tuple[str, str], int] = {}
    with RowGroups() as rows:
        for file in files:
            for count, entry in enumerate(records.objects(file), 1):
                operator, query = _operator(entry), json_text.string_of(entry.get("query"))
                if operator is None or query is None:
                    refuse(f"{file.display} record {count}", "an entry without a query", json_text.dumps(entry))
                    continue
                turn = logged[operator, query] = logged.get((operator, query), 0) + 1
                number = groups.setdefault((query, turn), len(groups))
                rows.add(number, [file.display, operator, json_text.object_text(entry)])
        for _, entries in rows:
            place = f"{entries[0][0]}, an entry of {entries[0][1]}"
            record: Fields = {}
            for _, operator, text in sorted(entries, key=lambda e: _OPERATORS.index(e[1])):
                _JOIN[operator](record, json_text.fields_of(text))
            if (changed := to_documented(record, place, refuse, complete=True)) is not None:
                yield place, changed


_OPERATORS = ("retriever", "refiner", "promptor", "generator")


def _operator(entry: Fields) -> str | None:
    for key, operator in (
        ("response", "generator"),
        ("input_docs", "refiner"),
        ("refined_docs", "refiner"),
        ("retrieval_results", "retriever"),
        ("documents", "retriever"),
        ("prompt", "promptor"),
    ):
        if key in entry:
            return operator
    return None


def _rest(record: Fields, entry: Fields, operator: str) -> None:
    record.setdefault("query", entry.pop("query"))
    for key, value in entry.items():
        record[f"{operator}_{key}"] = value


def _retriever(record: Fields, entry: Fields) -> None:
    for key in ("retrieval_results", "documents"):
        if key in entry and "retrieval_results" not in record:
            record["retrieval_results"] = entry.pop(key)
    _rest(record, entry, "retriever")


def _refiner(record: Fields, entry: Fields) -> None:
    source = entry.get("input_docs")
    if source is not None and _texts(source) == texts_of_stage(record, "retrieval"):
        del entry["input_docs"]
    elif source is not None and "retrieval_results" not in record:
        record["retrieved_docs"] = entry.pop("input_docs")
    if "refined_docs" in entry:
        record["refined_docs"] = entry.pop("refined_docs")
    _rest(record, entry, "refiner")


def _promptor(record: Fields, entry: Fields) -> None:
    if is_string(entry.get("prompt")):
        record["prompt"] = entry.pop("prompt")
    if "external_corpus" in entry:
        record["external_corpus"] = entry.pop("external_corpus")
    _rest(record, entry, "promptor")


def _generator(record: Fields, entry: Fields) -> None:
    if is_string(entry.get("prompt")):
        prompt = record.get("prompt")
        if prompt is not None and json_text.string_of(prompt) != json_text.string_of(entry["prompt"]):
            record["promptor_prompt"] = prompt
        record["prompt"] = entry.pop("prompt")
    record["pred"] = entry.pop("response")
    _rest(record, entry, "generator")


_JOIN: dict[str, Callable[[Fields, Fields], None]] = {
    "retriever": _retriever,
    "refiner": _refiner,
    "promptor": _promptor,
    "generator": _generator,
}
