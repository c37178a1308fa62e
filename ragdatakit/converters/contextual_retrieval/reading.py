"""Contextual-retrieval files as canonical tables: documents with their chunks, contexts, questions with golden chunks.

Gold is joined by a document's uuid and a chunk's index. Contexts are read from files of them or, where there is none,
from a store of vectors; the vectors are no table. What the golden copies in questions say in the ``meta`` of a document
or a chunk is part of its metadata.

A long module, because what one reading of the documents finds out serves all tables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragdatakit.converters import Options
from ragdatakit.converters.contextual_retrieval.both_tables import BothTables, KnownChunks
from ragdatakit.converters.contextual_retrieval.fields import (
    OF_DOCUMENT,
    Fields,
    chunk_in,
    chunks_in,
    document_id_of,
    fields_in,
    golden_in,
    items_in,
    lose,
    name_in,
    pair_of,
    place_of,
    text_in,
    usual_chunks,
    uuid_of,
)
from ragdatakit.converters.contextual_retrieval.golden_copies import GoldenCopies, Place
from ragdatakit.files.containers.json_text import dumps, fields_of, object_text
from ragdatakit.files.containers.pickles import PickleError
from ragdatakit.files.contextual_retrieval.vector_stores import VectorStore, opened_store
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.detection.sniffing import json_container
from ragdatakit.files.paths.folders import size_of
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.files.reading.noted_rows import Note, NotedReading, NotedRows
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.tables_together import Filling, SharedRows
from ragdatakit.schemas.canonical import Chunk, Document, Qrel, Question

if TYPE_CHECKING:
    from ragdatakit.database.columns import PackedColumn

_OF_QUESTION = ("id", "query", "answer", "aliases", "split", "meta", "golden_doc_uuids", "golden_chunk_uuids",
                "golden_documents", "golden_chunks")  # fmt: skip
"""Fields that have a place of their own, or repeat the corpus."""
_GOLDEN_NAMES = {"index": "original_index", "content": "content"}
"""Fields of the chunk of a golden document, and what they are called in the corpus."""
_OF_COPY = ("uuid", "content", "chunks", "meta")
_OF_COPIED_CHUNK = ("doc_uuid", "index", "content")
"""Fields of the golden documents and chunks of a question that repeat the corpus, or are read into it."""
_AT_ONCE, _FEW = 1 << 22, 1 << 13
"""Bytes of documents, and chunks with a context, whose rows are given together."""
_WORTH = 1 << 20
"""Bytes of documents below which reading rows takes no longer than columns."""


def read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    """The tables of the files that there are."""
    for file in dataset.ignored:
        why = "a link that leads out of the folder, or no regular file"
        records.losses.add("dropped", "documents", None, why, file.name)
    reading = _Reading(dataset, records)
    found: dict[str, RowSource] = {}
    if dataset.of_kind("documents") or reading.golden_alone:
        found["documents"] = SharedRows(reading, "documents", reading.columns)
    if reading.golden_alone or any(map(dataset.of_kind, ("documents", "contexts", "contextual-vectors"))):
        found["chunks"] = SharedRows(reading, "chunks", reading.columns)
    if dataset.of_kind("questions"):
        found |= {
            "questions": NotedRows(records.losses, reading.questions),
            "qrels": NotedRows(records.losses, reading.qrels),
        }
    return found


def _fields_of_chunks(store: VectorStore) -> Iterator[Fields]:
    for chunk in store.chunks():
        plain = {name: found for name, found in (chunk or {}).items() if isinstance(found, str | int)}
        if chunk is not None:
            with suppress(UnicodeEncodeError):  # half a character
                yield fields_of(dumps(plain))


class _Reading:
    """Reads the files, as often as is wanted. Memory holds the ids of the chunks that questions name, for the join."""

    def __init__(self, dataset: Dataset, records: RecordReader) -> None:
        self._dataset = dataset
        self._records = records
        self._by_place: dict[Place, str] | None = None
        self._copies = GoldenCopies(lambda: self._objects("questions"))
        of_corpus = any(map(dataset.of_kind, ("documents", "contexts", "contextual-vectors")))
        self.golden_alone = bool(dataset.of_kind("questions")) and not of_corpus
        """Whether there are no documents but those that the questions have a copy of."""
        self._of_corpus = {
            "documents": NotedRows(records.losses, self._documents),
            "chunks": NotedRows(records.losses, self._chunks),
        }

    def rows(self, table: str) -> Iterator[Any]:
        """The documents, whole, or their chunks."""
        return self._of_corpus[table]()

    def together(self, tables: Collection[str]) -> Iterator[Mapping[str, Sequence[Any]]]:
        """Both, of documents that are read once."""
        both = self._together()
        for some in self._stored_together(both):
            yield {"chunks": some}
        made: dict[str, list[Any]] = {"documents": [], "chunks": []}
        size = 0
        for fields in self._whole_documents():
            both.add(made, fields)
            size += sum(memoryview(value).nbytes for value in fields.values())
            if size > _AT_ONCE:
                yield made
                made, size = {"documents": [], "chunks": []}, 0
        yield made
        self._end(both)

    def _together(self) -> BothTables:
        documents, chunks = (NotedReading(self._of_corpus[table]) for table in ("documents", "chunks"))
        return BothTables(documents, chunks, self._documents_of, self._chunks_of)

    def _stored_together(self, both: BothTables) -> Iterator[list[Chunk]]:
        """The chunks that have a context, some thousand at a time."""
        stored = both.chunks.told(self._stored_chunks(both.known, both.chunks.notes))
        while some := list(islice(stored, _FEW)):
            yield some

    def _end(self, both: BothTables) -> None:
        both.end()
        self._by_place = both.known.by_place

    def columns(self, tables: Mapping[str, Filling]) -> Iterator[Mapping[str, Iterator[Sequence[PackedColumn]]]]:
        """The same for a report, as columns."""
        from ragdatakit.converters.contextual_retrieval.scanned_documents import DocumentColumns  # needs numpy
        from ragdatakit.database.dataset_database import Unproved
        from ragdatakit.database.row_batches import row_batches

        files = self._dataset.of_kind("documents")
        are_arrays = all(json_container(file.path, file.boundary) == "json-array" for file in files)
        is_worth = sum(size_of(file.path) for file in files) >= _WORTH
        if not is_worth or not are_arrays or not all(table.facts.apart(files) for table in tables.values()):
            raise Unproved
        both = self._together()
        for some in self._stored_together(both):
            yield {"chunks": row_batches("chunks", iter(some), tables["chunks"].losses)}
        yield from DocumentColumns(files, self._records, tables, both, self._copies).batches()
        self._end(both)

    def _objects(self, kind: str) -> Iterator[Fields]:
        for file in self._dataset.of_kind(kind):
            yield from self._records.objects(file)

    def _documents(self, notes: list[Note]) -> Iterator[Document]:
        for fields in self._whole_documents():
            yield from self._documents_of(fields, notes)

    def _documents_of(self, fields: Fields, notes: list[Note]) -> Iterator[Document]:
        """The document that has these fields, if it is one."""
        doc_id, text = document_id_of(fields), text_in(fields.get("content"))
        if doc_id is None:
            notes.append(("dropped", "documents", None, "it has neither doc_id nor original_uuid", text))
        elif text is None:
            notes.append(("dropped", "documents", None, "its content is not a text", doc_id))
        else:
            left = {name: raw for name, raw in fields.items() if name not in OF_DOCUMENT}
            left = {**self._copies.of_document(uuid_of(fields)), **left}
            yield Document(doc_id, text, text_in(fields.get("title")) or None, object_text(left))

    def _whole_documents(self) -> Iterator[Fields]:
        """The documents of the corpus, or else the golden ones, each once, in the form of the corpus."""
        yield from self._objects("documents")
        seen: set[str] = set()
        for fields in self._objects("questions") if self.golden_alone else ():
            for raw in items_in(fields.get("golden_documents")):
                golden = fields_in(raw) or {}
                uuid = name_in(golden.get("uuid"))
                if uuid is None or uuid in seen:
                    continue
                seen.add(uuid)
                chunks = [
                    {_GOLDEN_NAMES[n]: raw for n, raw in chunk.items() if n in _GOLDEN_NAMES}
                    for each in items_in(golden.get("chunks"))
                    if (chunk := fields_in(each)) is not None
                ]
                yield fields_of(dumps({"original_uuid": golden["uuid"], "content": golden.get("content"),
                                       "chunks": chunks}))  # fmt: skip

    def _chunks(self, notes: list[Note]) -> Iterator[Chunk]:
        """The chunks: those with a context, then those of the documents that are not among them."""
        known = KnownChunks()
        yield from self._stored_chunks(known, notes)
        for fields in self._whole_documents():
            yield from self._chunks_of(fields, known, notes)
        self._by_place = known.by_place

    def _stored(self, notes: list[Note]) -> Iterator[Fields]:
        """The chunks with their contexts: those of files, or else of stores of vectors."""
        yield from self._objects("contexts")
        for file in () if self._dataset.of_kind("contexts") else self._dataset.of_kind("contextual-vectors"):
            try:
                with opened_store(file.path, file.boundary) as store:
                    yield from _fields_of_chunks(store)
            except (PickleError, OSError) as error:
                notes.append(("dropped", "chunks", None, f"the contexts of a store of vectors: {error}", file.name))

    def _stored_chunks(self, known: KnownChunks, notes: list[Note]) -> Iterator[Chunk]:
        """The chunks that have a context."""
        for fields in self._stored(notes):
            place = len(known.with_context)
            named = {
                n: raw for n, raw in fields.items() if n != "original_uuid" or not self._dataset.of_kind("documents")
            }
            uuid = uuid_of(fields)
            made = self._with_origin(chunk_in(named, document_id_of(fields), place, notes), uuid)
            if made is not None:
                known.with_context.add(made.chunk_id)
                self._copies.remember(known.by_place, (uuid or made.doc_id or "", made.ordinal or 0), made.chunk_id)
                yield made

    def _chunks_of(self, fields: Fields, known: KnownChunks, notes: list[Note]) -> Iterator[Chunk]:
        """The chunks of a document that are not among those."""
        doc_id, uuid = document_id_of(fields), uuid_of(fields)
        for chunk in usual_chunks(fields.get("chunks"), doc_id) or chunks_in(fields.get("chunks"), doc_id, notes):
            made = self._with_origin(chunk, uuid)
            if made is not None and made.chunk_id not in known.with_context:
                self._copies.remember(known.by_place, (uuid or doc_id or "", made.ordinal or 0), made.chunk_id)
                yield made

    def _with_origin(self, chunk: Chunk | None, uuid: str | None) -> Chunk | None:
        """The chunk with what golden copies say of it."""
        origin = self._copies.of_chunk(uuid, chunk.ordinal) if chunk is not None else {}
        if chunk is None or not origin:
            return chunk
        own = fields_of(chunk.metadata) if chunk.metadata else {}
        return chunk._replace(metadata=object_text({**origin, **own}))

    def questions(self, notes: list[Note]) -> Iterator[Question]:
        """The questions; one without an id is called after its place."""
        for question_id, text, fields in self._asked():
            if text is None:
                notes.append(("dropped", "questions", None, "it has no query", question_id))
                continue
            if "id" not in fields:
                notes.append(("derived", "questions", "question_id", "the place of the record, which has no id", None))
            left = {name: raw for name, raw in fields.items() if name not in _OF_QUESTION}
            left = {**(fields_in(fields.get("meta")) or {}), **left}
            self._tell_lost(fields, question_id, notes)
            answer, split = text_in(fields.get("answer")), text_in(fields.get("split")) or None
            aliases = tuple(alias for raw in items_in(fields.get("aliases")) if (alias := text_in(raw)) is not None)
            yield Question(question_id, text, answer, aliases, split, object_text(left))

    def _tell_lost(self, fields: Fields, question_id: str, notes: list[Note]) -> None:
        """What the copies of golden documents and chunks say that is not in their metadata: beside ``meta``, or other
        than what the first copy says."""
        chunks = items_in(fields.get("golden_chunks"))
        for raw in items_in(fields.get("golden_documents")):
            copy = fields_in(raw) or {}
            chunks += items_in(copy.get("chunks"))
            origin = self._copies.of_document(name_in(copy.get("uuid")))
            meta = fields_in(copy.get("meta"))
            left = {n: v for n, v in copy.items() if n not in _OF_COPY or (n == "meta" and meta is None)}
            left |= {n: v for n, v in (meta or {}).items() if n != "num_chunks" and origin.get(n) != v}
            lose("documents", left, question_id, notes)
        for raw in chunks:
            copy = fields_in(raw) or {}
            meta, place = fields_in(copy.get("meta")), place_of(copy)
            known = self._copies.of_chunk(*place) if place is not None and place in self._chunk_ids() else {}
            left = {n: v for n, v in copy.items() if n not in _OF_COPIED_CHUNK and (n != "meta" or meta is None)}
            left |= {n: v for n, v in (meta or {}).items() if known.get(n) != v}
            lose("chunks", left, question_id, notes)

    def qrels(self, notes: list[Note]) -> Iterator[Qrel]:
        """The golden chunks. One that the corpus does not have keeps an id made of its uuid and index."""
        known = self._chunk_ids()
        for question_id, text, fields in self._asked():
            if text is None:
                continue
            named: set[str] = set()
            for value in golden_in(fields.get("golden_chunk_uuids"), question_id, notes):
                pair = pair_of(value)
                if pair is None:
                    why = "no pair of a document's uuid and a chunk's index"
                    notes.append(("dropped", "qrels", None, why, f"{question_id}: {value}"))
                    continue
                target = known.get(pair)
                if target is None:
                    target = f"{pair[0]}_chunk_{pair[1]}"
                    why = "made of uuid and index, as no chunk of the corpus has them"
                    notes.append(("derived", "qrels", "target_id", why, f"{question_id}: {target}"))
                if target in named:
                    notes.append(("dropped", "qrels", None, "the question names the chunk twice", question_id))
                    continue
                named.add(target)
                yield Qrel(question_id, target, 1, "chunk", text_in(fields.get("split")) or None)

    def _asked(self) -> Iterator[tuple[str, str | None, Fields]]:
        """Every record of a question: its id, its text if it has one, its fields."""
        for number, fields in enumerate(self._objects("questions"), 1):
            yield name_in(fields.get("id")) or f"q{number:04}", text_in(fields.get("query")), fields

    def _chunk_ids(self) -> dict[Place, str]:
        """The id of each chunk that a question names by its place; of several chunks at a place the first."""
        if self._by_place is None:
            for _ in self._chunks([]):
                pass
        return self._by_place or {}
