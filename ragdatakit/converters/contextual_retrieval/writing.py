"""Canonical tables as contextual-retrieval files: documents with chunks, contexts, questions with golden chunks.

Chunks are put next to their documents by way of a scratch file, so that they may come in any order: memory holds their
ids and places.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ragdatakit.converters import Options
from ragdatakit.converters.chunking import chunk_id_of
from ragdatakit.converters.free_names import FreeNames
from ragdatakit.files.containers.json_text import Raw, dumps, fields_of, loads
from ragdatakit.files.contextual_retrieval.contexts import extractive_context
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.file_writers import LineWriter
from ragdatakit.outputs.scratch import ScratchFolder
from ragdatakit.outputs.written_files import Output
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.canonical import Chunk, Document, Question
from ragdatakit.schemas.contextual_retrieval.format import CONTEXTS, CORPUS, QUESTIONS
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.retrieval.extraction.asking import Asker
    from ragdatakit.retrieval.extraction.texts import Situated

CHUNK = ("chunk_id", "text", "doc_id", "ordinal", "context", "metadata")
DOCUMENT = ("doc_id", "text", "title", "metadata")
QUESTION = ("question_id", "text", "answer", "aliases", "split", "metadata")
QREL = ("question_id", "target_id", "grade", "target_kind", "split")
_OF_DOCUMENT = frozenset(("doc_id", "original_uuid", "title", "content", "chunks"))
_OF_CHUNK = frozenset((
    "doc_id", "original_uuid", "chunk_id", "original_index", "content", "original_content", "contextualized_content"
))  # fmt: skip


class _Golden(NamedTuple):
    """Where a chunk is that a question names: its document's uuid, its index, its document in the scratch file."""

    uuid: str
    number: int
    place: int


class _Spool:
    """Records on disk, which are found again by their places."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("w+b")
        self._end = 0

    def add(self, value: Any) -> int:
        """Keep a record; returns its place."""
        place, data = self._end, dumps(value).encode() + b"\n"
        self._file.write(data)
        self._end += len(data)
        return place

    def line(self, place: int) -> bytes:
        """The record at a place, as JSON."""
        self._file.seek(place)
        return self._file.readline()

    def begin_reading(self) -> None:
        """What was written is on disk."""
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def write(tables: CanonicalTables, out: Output, options: Options) -> None:
    """Write a corpus, the contexts of its chunks, and questions where there are any."""
    if not (tables.any("documents") or tables.any("chunks") or tables.any("questions")):
        raise RagdataError(f"{tables.name} has no texts and no questions: there is nothing to write")
    with ScratchFolder() as scratch, ExitStack() as stack:
        chunks, golden = _Spool(scratch / "chunks"), _Spool(scratch / "golden")
        stack.callback(chunks.close)
        stack.callback(golden.close)
        corpus = _CorpusWriter(tables, out, options, chunks, golden)
        if tables.any("documents") or tables.any("chunks"):
            corpus.write()
        if tables.any("questions"):
            _write_questions(tables, out, corpus)


@dataclass(slots=True)
class _CorpusWriter:
    """Writes documents and contexts; ``golden`` are the places of the chunks that are judged, by their ids."""

    tables: CanonicalTables
    out: Output
    options: Options
    chunks: _Spool
    documents: _Spool
    golden: dict[str, _Golden] = field(default_factory=dict)
    _by_document: dict[str, array[int]] = field(default_factory=dict)
    _judged: set[str] = field(default_factory=set)
    _uuids: FreeNames = field(default_factory=FreeNames)
    _chunk_ids: FreeNames = field(default_factory=FreeNames)
    _contexts: LineWriter | None = None

    def write(self) -> None:
        """Write all of them."""
        self._judged = {qrel.target_id for qrel in self.tables.peek_passage_qrels()}
        for chunk in self.tables.take("chunks", *CHUNK):
            place = self.chunks.add(chunk)
            name = chunk.doc_id if chunk.doc_id is not None else chunk.chunk_id
            self._by_document.setdefault(name, array("Q")).append(place)
        self.chunks.begin_reading()
        asker = self.options.asker
        if asker is not None and self.tables.passages == "documents":
            reason = f"{self.tables.name} has whole documents, and contexts are those of chunks"
            raise RagdataError(f"{reason}; cut them into chunks with --chunk-size N")
        made = asker is not None or self.options["contexts"] == "extractive"
        with_context = made or any(c.context for c in self.tables.peek("chunks"))
        with ExitStack() as stack:
            file = stack.enter_context(self.out.array(CORPUS))
            self._contexts = stack.enter_context(self.out.lines(CONTEXTS)) if with_context else None
            grouped = self._grouped()
            for document, chunks in grouped if asker is None else self._with_contexts(grouped, asker):
                file.write(self._document(document, chunks))
        self.documents.begin_reading()

    def _grouped(self) -> Iterator[tuple[Document, list[Chunk]]]:
        """Each document with its chunks, then those that only chunks name."""
        seen: set[str] = set()
        whole = self.tables.passages == "documents"
        losses = self.tables.losses
        for document in self.tables.take("documents", *DOCUMENT):
            if document.doc_id in seen:
                self.tables.drop("documents", document, "a document with this id comes before")
                continue
            seen.add(document.doc_id)
            chunks = self._chunks_of(document.doc_id)
            if whole:
                losses.add("derived", "chunks", None, "a document without chunks is one chunk", document.doc_id)
                chunks = [Chunk(document.doc_id, document.text, document.doc_id, 0)]
            yield document, chunks
        for name in list(self._by_document):
            chunks = self._chunks_of(name)
            text = "\n".join(chunk.text for chunk in chunks)
            losses.add("derived", "documents", "text", "a document that is not there is made of its chunks", name)
            uuid = next((u for c in chunks if isinstance(u := _decoded(c.metadata).get("original_uuid"), str)), None)
            yield Document(name, text, None, dumps({"original_uuid": uuid}) if uuid else None), chunks

    def _with_contexts(
        self, grouped: Iterable[tuple[Document, list[Chunk]]], asker: Asker
    ) -> Iterator[tuple[Document, list[Chunk]]]:
        """The same, with the contexts that a model writes for chunks that have none; of several documents at once."""
        from ragdatakit.retrieval.extraction.texts import context_task, situated

        waiting: deque[tuple[Document, list[Chunk]]] = deque()

        def items() -> Iterator[Situated]:
            for document, chunks in grouped:
                waiting.append((document, chunks))
                yield from situated(document.text, chunks, asker.options.document_tokens)

        asking = asker.begin(context_task(asker), sum(1 for _ in self.tables.peek("chunks")))
        made: list[Chunk] = []
        for answer in asking.answers(items()):
            made.append(self._with_context(answer.item, answer.reply, answer.failure, asker))
            while waiting and len(made) >= len(waiting[0][1]):
                document, chunks = waiting.popleft()
                yield document, made[: len(chunks)]
                del made[: len(chunks)]
        yield from waiting  # documents without chunks
        asking.finish()

    def _with_context(self, item: Situated, context: str | None, failure: str, asker: Asker) -> Chunk:
        chunk, losses = item.chunk, self.tables.losses
        if failure:
            losses.add("lost", "chunks", "context", "the model gave no context of it", f"{chunk.chunk_id}: {failure}")
        if context is None:
            return chunk
        of = ", of a part of its document" if item.cut else ""
        losses.add("derived", "chunks", "context", f"written by {asker.options.model}{of}", chunk.chunk_id)
        return chunk._replace(context=context)

    def _chunks_of(self, name: str) -> list[Chunk]:
        """The chunks of a document, in order, with the places that they are written with."""
        places = self._by_document.pop(name, ())
        chunks = [Chunk(*loads(self.chunks.line(place))) for place in places]
        ordinals = [chunk.ordinal for chunk in chunks]
        if all(isinstance(o, int) and o >= 0 for o in ordinals) and len(set(ordinals)) == len(ordinals):
            return sorted(chunks, key=lambda chunk: chunk.ordinal or 0)
        self.tables.losses.add("derived", "chunks", "ordinal", "its place among the chunks of its document", name)
        return [chunk._replace(ordinal=place) for place, chunk in enumerate(chunks)]

    def _document(self, document: Document, chunks: list[Chunk]) -> dict[str, Any]:
        extras = self._extras("documents", document.doc_id, document.metadata, _OF_DOCUMENT - {"original_uuid"})
        given = loads(extras.pop("original_uuid")) if "original_uuid" in extras else None
        uuid = self._uuids(given if isinstance(given, str) and given else document.doc_id)
        written = [self._chunk(document, uuid, chunk) for chunk in chunks]
        if any(chunk.chunk_id in self._judged for chunk in chunks):
            meta = {**extras, "num_chunks": len(chunks)}
            golden = [_golden_copy(uuid, chunk) for chunk in written]
            place = self.documents.add({"uuid": uuid, "content": document.text, "chunks": golden, "meta": meta})
            for chunk in chunks:
                if chunk.chunk_id in self._judged:
                    self.golden.setdefault(chunk.chunk_id, _Golden(uuid, chunk.ordinal or 0, place))
        title = {"title": document.title} if document.title else {}
        names = {"doc_id": document.doc_id, "original_uuid": uuid, **title}
        return {**names, **extras, "content": document.text, "chunks": written}

    def _chunk(self, document: Document, uuid: str, chunk: Chunk) -> dict[str, Any]:
        made_up = chunk.chunk_id in (document.doc_id, chunk_id_of(document.doc_id, chunk.ordinal or 0))
        name = self._chunk_ids(f"{document.doc_id}_chunk_{chunk.ordinal}" if made_up else chunk.chunk_id)
        if name != chunk.chunk_id:
            self.out.renamed("passage", name, chunk.chunk_id)
        extras = self._extras("chunks", chunk.chunk_id, chunk.metadata, _OF_CHUNK - {"original_uuid"})
        extras.pop("original_uuid", None)
        context = chunk.context
        if not context and self.options["contexts"] == "extractive":
            length, metadata = self.options["context-length"], _decoded(document.metadata)
            context = extractive_context(document.text, chunk.text, document.title, metadata, length) or document.doc_id
            self.tables.losses.add("derived", "chunks", "context", "made of the beginning of the document", name)
        if self._contexts is not None and context:
            names = {"doc_id": document.doc_id, "original_uuid": uuid, "chunk_id": name}
            texts = {"original_content": chunk.text, "contextualized_content": context}
            self._contexts.write({**names, "original_index": chunk.ordinal, **extras, **texts})
        return {"chunk_id": name, "original_index": chunk.ordinal, **extras, "content": chunk.text}

    def _extras(self, table: str, name: str, metadata: str | None, taken: frozenset[str]) -> dict[str, Raw]:
        """The fields of the metadata, except for those whose names are taken."""
        found = fields_of(metadata) if metadata else {}
        for each in found.keys() & taken:
            why = f"the target has a field {each} of its own"
            self.tables.losses.add("lost", table, "metadata", why, f"{name}: {bytes(found[each])[:60]!r}")
        return {n: raw for n, raw in found.items() if n not in taken}


def _golden_copy(uuid: str, chunk: dict[str, Any]) -> dict[str, Any]:
    """A chunk as golden documents have it; ``meta`` is what it has besides its text, such as ``hash_id``."""
    meta = {name: value for name, value in chunk.items() if name not in _OF_CHUNK}
    copy = {"doc_uuid": uuid, "index": chunk["original_index"], "content": chunk["content"]}
    return {**copy, "meta": meta} if meta else copy


def _decoded(metadata: str | None) -> dict[str, Any]:
    found = loads(metadata) if metadata else {}
    return found if isinstance(found, dict) else {}


@dataclass(slots=True)
class _Asked:
    """What is judged of one question."""

    golden: dict[str, None] = field(default_factory=dict)
    split: str | None = None


def _write_questions(tables: CanonicalTables, out: Output, corpus: _CorpusWriter) -> None:
    judged = _judged(tables, corpus)
    names = FreeNames()
    with out.lines(QUESTIONS) as lines:
        for number, question in enumerate(tables.take("questions", *QUESTION), 1):
            asked = judged.get(question.question_id or "", _Asked())
            lines.write(_question(tables, out, question, number, asked, corpus, names))


def _question(
    tables: CanonicalTables, out: Output, question: Question, number: int, asked: _Asked, corpus: _CorpusWriter,
    names: FreeNames,
) -> dict[str, Any]:  # fmt: skip
    usual = f"q{number:04}"
    record: dict[str, Any] = {}
    if question.question_id is not None and (name := names(question.question_id)) != usual:
        record["id"] = name
        if name != question.question_id:
            out.renamed("question", name, question.question_id)
    record["query"] = question.text
    if question.answer is not None:
        record["answer"] = question.answer
    if question.aliases:
        record["aliases"] = list(question.aliases)
    if split := question.split or asked.split:
        record["split"] = split
    places = [corpus.golden[name] for name in asked.golden]
    documents = dict.fromkeys((golden.uuid, golden.place) for golden in places)
    record["golden_doc_uuids"] = [uuid for uuid, _ in documents]
    record["golden_chunk_uuids"] = [[golden.uuid, golden.number] for golden in places]
    record["golden_documents"] = [Raw(corpus.documents.line(place).rstrip(b"\n")) for _, place in documents]
    if question.metadata:
        record["meta"] = Raw(question.metadata.encode())
    if not places:
        why = "a question without a golden chunk: Pass@k counts it as missed"
        tables.losses.add("derived", "questions", None, why, question.question_id or usual)
    return record


def _judged(tables: CanonicalTables, corpus: _CorpusWriter) -> dict[str, _Asked]:
    """The golden chunks by question."""
    asked = {q.question_id for q in tables.peek("questions")}
    found: dict[str, _Asked] = {}
    for qrel in tables.take_passage_qrels(*QREL):
        if qrel.grade < 1:
            tables.drop("qrels", qrel, "a judgement below 1: there are golden chunks only")
            continue
        if qrel.question_id not in asked or qrel.target_id not in corpus.golden:
            what = "question" if qrel.question_id not in asked else "chunk"
            tables.drop("qrels", qrel, f"its {what} is not in the dataset")
            continue
        judged = found.setdefault(qrel.question_id, _Asked(split=qrel.split))
        if qrel.target_id in judged.golden:
            tables.drop("qrels", qrel, "a judgement of the same chunk comes before")
            continue
        if qrel.split != judged.split:
            tables.losses.add("lost", "qrels", "split", "a question has one split", f"{qrel.question_id}: {qrel.split}")
        if qrel.grade > 1:
            shown = f"{qrel.question_id} {qrel.target_id} {qrel.grade}"
            tables.losses.add("coerced", "qrels", "grade", "grades above 1 become 1", shown)
        judged.golden[qrel.target_id] = None
    return found
