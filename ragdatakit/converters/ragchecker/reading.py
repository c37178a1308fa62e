"""RAGChecker's files as canonical tables: questions, what was retrieved, what was answered, and what entails what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any

import msgspec

from ragdatakit.converters import Options
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
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.canonical import Answer, Chunk, Document, Qrel, Question, Run
from ragdatakit.schemas.errors import NotMeantError
from ragdatakit.schemas.ragchecker.format import RAGCHECKER
from ragdatakit.schemas.ragchecker.metrics import CLAIMS, entailed_by, labels_fit, relevant_passages

STAGE = "retrieval"
OF_ANSWER = ("response_claims", *CLAIMS, "metrics")
"""The fields of a row that are about the response and what was retrieved for it: they go with the answer."""
_OF_ROW = ("query_id", "query", "gt_answer", "response", "retrieved_context", *OF_ANSWER)
_OF_QUERY = ("query_id", "query", "gt_answer", "hits")
_Row = tuple[int, str, dict[str, Raw]]
_AT_ONCE = 1 << 22
"""Bytes of passages that are decoded at once."""
_NAMED = ("doc_id", "chunk_id", "text")


class _Passage(msgspec.Struct, forbid_unknown_fields=True):
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


class _OddPassage:
    """Any other one."""

    def __init__(self, fields: dict[str, Raw]) -> None:
        self._fields = fields

    @property
    def name(self) -> str | None:
        return _name(self._fields)

    @property
    def text(self) -> str | None:
        return string_of(self._fields.get("text"))

    @property
    def more(self) -> dict[str, Raw]:
        return {name: raw for name, raw in self._fields.items() if name not in _NAMED}


_PASSAGES = msgspec.json.Decoder(list[_Passage])
_Passages = Iterable[_Passage | _OddPassage]


def read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    """The tables of the one file of results that is read, and of what lies next to it."""
    results = dataset.of_kind("results")
    chosen = _chosen(results, options["file"], dataset)
    for file in results:
        if file is not chosen:
            why = f"a whole file of other results: --option file={file.name}"
            records.leave_out(file, 0, why, file.name)
    reading = RagCheckerReading(dataset, chosen, records, str(options["ids"]))
    found: dict[str, RowSource] = {"questions": reading.questions}
    if dataset.of_kind("corpus") or not dataset.of_kind("chunks"):
        found["documents"] = reading.documents
    if dataset.of_kind("chunks"):
        found["chunks"] = reading.chunks
    found["runs"] = reading.runs
    if chosen is not None:
        found |= {"qrels": reading.qrels, "answers": reading.answers}
    return found


def _chosen(results: list[DataFile], wanted: str | None, dataset: Dataset) -> DataFile | None:
    """The file that is asked for, or an output rather than an input."""
    if wanted:
        named = [f for f in results if f.name == wanted]
        if not named:
            names = ", ".join(f.name for f in results)
            raise NotMeantError(f"{dataset.display} has no results {wanted}; it has {names}")
        return named[0]
    return next((f for f in results if "output" in f.path.name), results[0] if results else None)


class RagCheckerReading:
    """Reads the files as often as is wanted, small ones once; what is to be said of a row is said once."""

    def __init__(self, dataset: Dataset, results: DataFile | None, records: RecordReader, ids: str) -> None:
        self._records = records
        self._results = results
        self._queries = dataset.of_kind("queries")
        self._corpus = dataset.of_kind("corpus")
        self._chunks = dataset.of_kind("chunks")
        self._ids = ids
        self._held: dict[str, list[_Row]] = {}

    def _rows(self, kind: str = "results") -> Iterator[_Row]:
        """Place, id and fields of each row."""
        if kind in self._held:
            yield from self._held[kind]
            return
        files = self._queries if kind == "queries" else [self._results] if self._results is not None else []
        number = size = 0
        held: list[_Row] = []
        for file in files:
            for fields in self._records.wrapped(file, RAGCHECKER.file(kind)):
                row = number, self._id(file, number, fields), fields
                size += sum(memoryview(raw).nbytes for raw in fields.values())
                if size <= self._records.most_held:
                    held.append(row)
                else:
                    held.clear()
                yield row
                number += 1
        if len(held) == number:
            self._held[kind] = held

    def _id(self, file: DataFile, number: int, fields: dict[str, Raw]) -> str:
        found = _value(fields.get("query_id"))
        if isinstance(found, str):
            return found
        made = str(found) if isinstance(found, int) and not isinstance(found, bool) else f"row-{number + 1}"
        why = "an id that is not a text became one" if made == str(found) else "rows without query_id have their place"
        self._records.tell_once("derived", "questions", "question_id", why, file, number, made)
        return made

    def questions(self) -> Iterator[Question]:
        """Those of the results, then those of the queries that have no result."""
        seen: set[str] = set()
        for number, question_id, fields in self._rows():
            seen.add(question_id)
            assert self._results is not None
            yield self._question(self._results, number, question_id, fields, _OF_ROW)
        for number, question_id, fields in self._rows("queries"):
            if question_id not in seen:
                yield self._question(self._queries[0], number, question_id, fields, _OF_QUERY)

    def _question(
        self, file: DataFile, number: int, question_id: str, fields: dict[str, Raw], known: tuple[str, ...]
    ) -> Question:
        text, answer = string_of(fields.get("query")), _value(fields.get("gt_answer"))
        if text is None:
            why = "a query that is not a text became an empty one"
            self._records.tell_once("coerced", "questions", "text", why, file, number, question_id)
        listed = [a for a in answer if isinstance(a, str)] if isinstance(answer, list) else []
        if not isinstance(answer, str) and answer is not None:
            why = "a right answer that is not a text became one"
            self._records.tell_once("coerced", "questions", "answer", why, file, number, question_id)
            answer = listed[0] if listed else dumps(answer)
        metadata = object_text([(name, raw) for name, raw in fields.items() if name not in known])
        return Question(question_id, text or "", answer, tuple(listed[1:]), metadata=metadata)

    def answers(self) -> Iterator[Answer]:
        """The responses; claims, labels and metrics are about them."""
        for _, question_id, fields in self._rows():
            if "response" not in fields:
                continue
            about = [(name, fields[name]) for name in OF_ANSWER if not is_null(fields.get(name))]
            yield Answer(question_id, string_of(fields["response"]), metadata=object_text(about))

    def _retrieved(self) -> Iterator[tuple[str, _Passages]]:
        """By question, what was retrieved for it."""
        seen: set[str] = set()
        for _, question_id, fields in self._rows():
            seen.add(question_id)
            yield question_id, _passages(fields.get("retrieved_context"))
        for _, question_id, fields in self._rows("queries"):
            if question_id not in seen and "hits" in fields:
                yield question_id, _passages(fields["hits"])

    @cached_property
    def _by_row(self) -> bool:
        """Whether ids are unique in their row only."""
        if self._corpus or self._chunks or self._ids == "all":
            return False
        if self._ids == "row":
            return True
        seen: dict[str, int] = {}
        for _, passages in self._retrieved():
            for passage in passages:
                name, text = passage.name, hash(passage.text)
                if name is not None and seen.setdefault(name, text) != text:
                    return True
        return False

    def runs(self) -> Iterator[Run]:
        """What was retrieved, in order."""
        by_row = self._by_row  # for which all rows are read: before one is held
        for question_id, passages in self._retrieved():
            for place, passage in enumerate(passages):
                more, score = passage.more, _value(passage.more.get("score"))
                scored = isinstance(score, int | float) and not isinstance(score, bool)
                rest = object_text([(name, raw) for name, raw in more.items() if not (scored and name == "score")])
                target, text = _target(question_id, place, passage.name, by_row), passage.text or ""
                yield Run(question_id, STAGE, place + 1, target, text, float(score) if scored else None, None, rest)

    def documents(self) -> Iterator[Document]:
        """The corpus; where there is none, every passage that was retrieved."""
        if self._corpus:
            for file in self._corpus:
                for number, fields in self._records.numbered(file, "ndjson"):
                    doc_id, text = _text_of(fields.get("doc_id")), string_of(fields.get("text"))
                    if doc_id is None or text is None:
                        self._records.leave_out(file, number, "it has no doc_id or no text", doc_id)
                        continue
                    more = [(n, raw) for n, raw in fields.items() if n not in ("doc_id", "title", "text")]
                    yield Document(doc_id, text, string_of(fields.get("title")), object_text(more))
            return
        seen: set[str] = set()
        file, by_row = self._results or self._queries[0], self._by_row
        for question_id, passages in self._retrieved():
            for place, passage in enumerate(passages):
                target = _target(question_id, place, passage.name, by_row)
                if target in seen:
                    continue
                seen.add(target)
                why = "the passages that were retrieved, as there is no corpus"
                self._records.tell_once("derived", "documents", None, why, file, len(seen), target)
                yield Document(target, passage.text or "", string_of(passage.more.get("title")))

    def chunks(self) -> Iterator[Chunk]:
        """The chunks of the corpus."""
        for file in self._chunks:
            for number, fields in self._records.numbered(file, "ndjson"):
                doc_id, text, place = _text_of(fields.get("doc_id")), string_of(fields.get("text")), _name(fields)
                ordinal = _value(fields.get("chunk_id"))
                if doc_id is None or text is None or place is None or not isinstance(ordinal, int):
                    self._records.leave_out(file, number, "it has no doc_id, chunk_id or text", doc_id)
                    continue
                titled = self._corpus or bytes(fields.get("title", b"")) == b"null"
                known = ("doc_id", "chunk_id", "text", *(("title",) if titled else ()))
                more = [(n, raw) for n, raw in fields.items() if n not in known]
                yield Chunk(place, text, doc_id, ordinal, metadata=object_text(more))

    def qrels(self) -> Iterator[Qrel]:
        """Passages that entail a claim of the right answer, as RAGChecker takes them for relevant."""
        kind, by_row, made = "chunk" if self._chunks else "document", self._by_row, 0
        for _, question_id, fields in self._rows():
            names = ("retrieved2answer", "gt_answer_claims")
            row: dict[str, Any] = {name: long_or_short(fields[name]) for name in names if name in fields}
            row["retrieved_context"] = passages = [*_passages(fields.get("retrieved_context"))]
            if row.get("retrieved2answer") is None or not labels_fit(row):
                continue
            relevant = relevant_passages(entailed_by(row["retrieved2answer"]))
            seen: set[str] = set()
            for place, (is_relevant, passage) in enumerate(zip(relevant, passages, strict=False)):
                if is_relevant:
                    target = _target(question_id, place, passage.name, by_row)
                    if target in seen:
                        continue
                    seen.add(target)
                    why = "passages that entail a claim of the right answer"
                    assert self._results is not None
                    self._records.tell_once(
                        "derived", "qrels", None, why, self._results, made, f"{question_id} {target}"
                    )
                    made += 1
                    yield Qrel(question_id, target, 1, kind)


def _target(question_id: str, place: int, name: str | None, by_row: bool) -> str:
    """What a passage is called: with its chunk's number where the corpus is cut, with its question where ids are of
    their row; by its place where it has no id."""
    if name is None:
        return f"{question_id}/{place:03}"
    return f"{question_id}/{name}" if by_row else name


def _value(raw: Raw | None) -> Any:
    return loads(raw) if raw is not None else None


def _text_of(raw: Raw | None) -> str | None:
    """An id as a text: one, or a number."""
    found = _value(raw)
    return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else None


def _name(passage: dict[str, Raw]) -> str | None:
    """What a passage or chunk is called by its own fields."""
    doc_id, chunk_id = _text_of(passage.get("doc_id")), _text_of(passage.get("chunk_id"))
    return f"{doc_id}-{chunk_id}" if doc_id is not None and chunk_id is not None else doc_id


def _passages(raw: Raw | None) -> _Passages:
    """The passages in a list; one that is null or anything else has no text."""
    if raw is not None and memoryview(raw).nbytes <= _AT_ONCE:
        with suppress(msgspec.DecodeError):
            return _PASSAGES.decode(raw)
    return (_OddPassage(fields_of(item) if begins(item, b"{") else {}) for item in items_of(raw) or ())
