"""A-RAG into canonical tables and out of them: chunks, questions, predictions; the pickled index is never touched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ragdatakit.converters import Converter, Option, Options, container_option
from ragdatakit.converters.arag.predictions import (
    ANSWER_COLUMNS,
    has_gold_answers,
    predicted_answers,
    write_predictions,
)
from ragdatakit.converters.free_names import FreeNames
from ragdatakit.converters.question_fields import QuestionFields
from ragdatakit.files.containers.json_text import Raw, object_text, string_of
from ragdatakit.files.texts.compared_answers import without_articles
from ragdatakit.outputs.file_writers import ArrayWriter
from ragdatakit.outputs.parquet_container import PARQUET, put_into_parquet
from ragdatakit.schemas.arag.format import ARAG
from ragdatakit.schemas.arag.published import SUBSETS
from ragdatakit.schemas.canonical import Chunk, Edge, Node, Question
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.files.reading.canonical_tables import CanonicalTables, RowSource
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.outputs.written_files import Output

QUESTIONS = QuestionFields(
    names={"question_id": "id", "text": "question", "answer": "answer", "aliases": "aliases", "split": "split"},
    order=("id", "source", "question", "answer", "question_type", "evidence", "evidence_relations"),
    ids=("qid", "id"),
    answers=("answer", "gold_answer"),
)
_QUESTION_COLUMNS = ("question_id", "text", "answer", "aliases", "split", "metadata")
_WITHOUT_TEXTS = "A-RAG asks no questions where there is no chunks.json; predictions say what was asked"
_TRIPLES = msgspec.json.Decoder(list[Any])
_DECIMAL = re.compile(r"0|[1-9][0-9]*")
_NUMBER = re.compile(r"[0-9]+")
_INDENT_OF_QUESTIONS, _INDENT_OF_CHUNKS = 2, 4  # of the published files


def _read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    """Chunks, questions and predictions; the evidence as a graph where that is asked for."""
    chunks, questions = dataset.of_kind("chunks"), dataset.of_kind("questions")
    predictions = dataset.of_kind("predictions")
    sources: dict[str, RowSource] = {}
    if chunks:
        sources["chunks"] = lambda: _chunks(chunks, records)
    if questions:
        sources["questions"] = lambda: _questions(questions, records)
        if options["evidence-graph"]:
            sources["nodes"] = lambda: _evidence_nodes(questions, records)
            sources["edges"] = lambda: _evidence_edges(questions, records)
    if predictions:
        sources["answers"] = lambda: predicted_answers(predictions, records)
    return sources


def _chunks(files: list[DataFile], records: RecordReader) -> Iterator[Chunk]:
    for file in files:
        if has_objects(file, records):
            yield from chunk_objects(file, records)
            continue
        rows = (chunk_of(file, records, n, value) for n, value in records.numbered_values(file, "json-array"))
        yield from (row for row in rows if row is not None)


def has_objects(file: DataFile, records: RecordReader) -> bool:
    """Whether the chunks of a file are objects, not strings."""
    return isinstance(next(records.values(file, "json-array"), None), dict)


def chunk_of(file: DataFile, records: RecordReader, number: int, value: object) -> Chunk | None:
    """The chunk that a string is; None where it is none, which is reported."""
    chunk_id, colon, text = value.partition(":") if isinstance(value, str) else ("", "", "")
    if colon:
        return Chunk(chunk_id, text)
    records.leave_out(file, number, 'it is no "id:text" string', value)
    return None


def chunk_objects(file: DataFile, records: RecordReader) -> Iterator[Chunk]:
    """The chunks of a file that are objects."""
    for number, fields in records.numbered(file, "json-array"):
        chunk_id, text = string_of(fields.pop("id", None)), string_of(fields.pop("text", None))
        if chunk_id is None or text is None:
            records.leave_out(file, number, "its id or its text is not a string", chunk_id or text)
        else:
            yield Chunk(chunk_id, text, metadata=object_text(fields))


def _questions(files: list[DataFile], records: RecordReader) -> Iterator[Question]:
    for file in files:
        for fields in records.objects(file, "json-array"):
            yield QUESTIONS.read(fields)


def _evidence_nodes(files: list[DataFile], records: RecordReader) -> Iterator[Node]:
    seen: set[str] = set()
    for edge in _evidence_edges(files, records):
        for name in (edge.source, edge.target):
            if name not in seen:
                seen.add(name)
                yield Node(name)


def _evidence_edges(files: list[DataFile], records: RecordReader) -> Iterator[Edge]:
    """The triples that serve as evidence next to the questions: they are gold, and lead to the answers."""
    for file in files:
        for number, fields in records.numbered(file, "json-array"):
            question_id = QUESTIONS.read(fields).question_id
            for parts in _evidence_triples(file, number, fields, records):
                if all(part and not part.isspace() for part in parts):
                    yield Edge(*parts, provenance=question_id)


def _evidence_triples(
    file: DataFile, number: int, fields: Mapping[str, Raw], records: RecordReader
) -> Iterator[tuple[str, str, str]]:
    for value in _list(fields.get("evidence")):
        if isinstance(value, list) and len(value) == 3 and all(isinstance(v, str) for v in value):
            yield value[0], value[1], value[2]
    for value in _list(fields.get("evidence_triple")):
        if not isinstance(value, str):
            continue
        parts = value.strip().removesuffix(".").strip().removeprefix("(").removesuffix(")").split(",", 2)
        if len(parts) < 3:
            records.leave_out(file, number, "an evidence_triple has no three parts", value)
            continue
        if "," in parts[2]:
            records.tell_once("coerced", "edges", "target", "a triple with more than two commas", file, number, value)
        yield parts[0].strip(), parts[1].strip(), parts[2].strip()


def _list(raw: Raw | None) -> list[Any]:
    return _TRIPLES.decode(raw) if raw is not None and bytes(raw)[:1] == b"[" else []


def _write(tables: CanonicalTables, out: Output, options: Options) -> None:
    """chunks.json, questions.json, and predictions where there are any; without texts only predictions can be used."""
    answered = any(answer.question_id for answer in tables.peek("answers"))
    if not (answered or any(tables.any(table) for table in ("chunks", "documents", "questions"))):
        raise RagdataError(
            f"{tables.name} has neither chunks, documents, questions nor answers, which A-RAG is made of"
        )
    if not any(tables.any(t) for t in ("chunks", "documents", "questions")) and not has_gold_answers(tables):
        raise RagdataError(f"{tables.name} has answers without gold answers, by which A-RAG judges them")
    texts = tables.any(tables.passages)
    if tables.any("questions") and not texts and not (answered and has_gold_answers(tables)):
        raise RagdataError(f"{tables.name} has questions without texts: A-RAG stops where there is no chunks.json")
    questions = _Questions(tables, out)
    if tables.any("questions") and texts:
        questions.write()
    elif tables.any("questions"):
        for question in tables.take("questions", *_QUESTION_COLUMNS):
            tables.drop("questions", question, _WITHOUT_TEXTS)
    if texts:
        _write_chunks(tables, out, numbered_only=options["ids"] == "renumber" or not questions.written)
    if tables.any("answers"):
        write_predictions(tables, out, questions.renamed)
    if options["container"] == PARQUET:
        put_into_parquet(out, ARAG, tables.losses)


def _write_chunks(tables: CanonicalTables, out: Output, numbered_only: bool) -> None:
    """Ids come before the first colon: where one will not do, all are replaced by 0, 1, 2 … in reading order."""
    table = tables.passages
    usable = _Usable(numbered_only)
    wanted, keep = 0, True
    for row in tables.peek(table):
        wanted += not _is_blank(row.text)
        keep = keep and usable.take(row[0])
    if not wanted:
        raise RagdataError(f"no text of {tables.name} has more than white space: A-RAG stops at an empty chunks.json")
    number = 0
    with out.array("chunks.json", _INDENT_OF_CHUNKS) as writer:
        for row in tables.take(table, *CONVERTER.holds[table]):
            if _is_blank(row.text):
                tables.drop(table, row, "a chunk without text is never found")
                continue
            if keep:
                writer.write(f"{row[0]}:{row.text}")
            else:
                writer.write(f"{number}:{row.text}")
                if row[0] != str(number):
                    out.renamed("passage", str(number), row[0])
            number += 1


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


class _Usable:
    """Whether ids can come before a colon and be found: no colon, no blanks around, no zeros first, none twice."""

    def __init__(self, numbers_only: bool) -> None:
        self._numbers_only = numbers_only
        self._next = 0
        self._others: set[str] = set()

    def take(self, chunk_id: str) -> bool:
        """Whether one more id will do."""
        if chunk_id == str(self._next) and not self._others:
            self._next += 1  # 0, 1, 2 … need not be remembered
            return True
        decimal = _NUMBER.fullmatch(chunk_id) is not None
        if not decimal and (self._numbers_only or not chunk_id or ":" in chunk_id or chunk_id != chunk_id.strip()):
            return False
        if decimal and not _DECIMAL.fullmatch(chunk_id):
            return False
        if decimal and len(chunk_id) < 19 and int(chunk_id) < self._next:
            return False
        known = len(self._others)
        self._others.add(chunk_id)
        return len(self._others) > known


class _Questions:
    """Writes questions.json; ``renamed`` maps the ids that had to be given anew, ``written`` counts."""

    def __init__(self, tables: CanonicalTables, out: Output) -> None:
        self._tables, self._out = tables, out
        self._seen: set[str] = set()
        self.renamed: dict[str, str] = {}
        self.written = 0

    def write(self) -> None:
        """Write what A-RAG can ask and judge."""
        usable = [0, 0]
        seen: set[str | None] = set()
        for question in self._tables.peek("questions"):
            usable[0] += not _fault(question)
            usable[1] += 1
            seen.add(question.question_id)
        keep = usable[0] == usable[1] and len(seen) < usable[1] and self._is_published(usable[1])
        free = FreeNames({q for q in seen if q})
        rows = self._tables.take("questions", *_QUESTION_COLUMNS)
        if not usable[0]:
            for question in rows:
                self._tables.drop("questions", question, _fault(question))
            return
        with self._out.array("questions.json", _INDENT_OF_QUESTIONS) as writer:
            for number, question in enumerate(rows):
                if fault := _fault(question):
                    self._tables.drop("questions", question, fault)
                else:
                    writer.write(QUESTIONS.write(question if keep else self._with_own_id(question, number, free)))
        self.written = usable[0]

    def _is_published(self, count: int) -> bool:
        """Whether these are published questions, in one set of which an id appears twice."""
        digests = {s.questions_sha256 for s in SUBSETS if s.questions == count}
        if not digests:
            return False
        trial = ArrayWriter("questions.json", None, _INDENT_OF_QUESTIONS)
        for question in self._tables.peek("questions"):
            trial.write(QUESTIONS.write(question))
        trial.close()
        trial.flush()
        return trial.written().sha256 in digests

    def _with_own_id(self, question: Question, number: int, free: FreeNames) -> Question:
        """The question with an id that no other has; the runner takes those of one id, or without, for one."""
        old = question.question_id
        if old and old not in self._seen:
            self._seen.add(old)
            return question
        new = free(old or str(number))
        if old:
            self._out.renamed("question", new, old)
        else:
            self._tables.losses.add("derived", "questions", "question_id", "A-RAG needs an id; it got a number", new)
        return question._replace(question_id=new)


def _fault(question: Question) -> str:
    """Why A-RAG cannot use a question; empty where it can."""
    if _is_blank(question.text):
        return "the question has no text"
    if not question.answer:
        return "A-RAG has no questions without a gold answer"
    if not without_articles(question.answer):
        return "nothing is left of the gold answer when A-RAG compares it: any answer would be right"
    return ""


CONVERTER = Converter(
    name="arag",
    read=_read,
    write=_write,
    gives={
        "chunks": ("chunk_id", "text", "metadata"),
        "questions": _QUESTION_COLUMNS,
        "answers": ANSWER_COLUMNS,
        "nodes": ("name",),
        "edges": ("source", "relation", "target", "provenance"),
    },
    holds={
        "documents": ("doc_id", "text"),
        "chunks": ("chunk_id", "text"),
        "questions": _QUESTION_COLUMNS,
        "answers": ANSWER_COLUMNS,
    },
    options=(
        Option(
            "evidence-graph",
            "read",
            "also read the evidence of the questions as a graph; it is gold and leads to the answers",
            default=False,
        ),
        Option(
            "ids",
            "write",
            "keep ids of chunks that A-RAG can take, or number all chunks from 0 in reading order",
            default="keep",
            choices=("keep", "renumber"),
        ),
        container_option("json"),
    ),
)
