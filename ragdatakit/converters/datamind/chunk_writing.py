"""Writes chunks, or documents as chunks, to a DataMind profile, so that `chunks` knows them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ragdatakit.converters.datamind.chunks import BLANK_TEXT
from ragdatakit.converters.question_fields import ASIDE
from ragdatakit.files.containers.json_text import compact, fields_of, string_of
from ragdatakit.schemas.canonical import Chunk, Document

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.outputs.file_writers import LineWriter
    from ragdatakit.outputs.written_files import Output

CHUNK_COLUMNS = Chunk._fields
DOCUMENT_COLUMNS = Document._fields
_WITHOUT_METADATA = frozenset({"ordinal", "context", "title", "metadata"})
_OURS = frozenset({"source", "source_id", "arag_id", "document", "ordinal", "context", "title"})
_THEIRS = frozenset(
    {"", "chroma:document", "source_file", "image_path", "modality", "image_description", "doc_id", "document_id"}
) | {"ref_doc_id"}
_MODALITIES = ("text", "image", "text_image")
_ENCODER = msgspec.json.Encoder()


class ChunkWriting:
    """Writes one chunk file of a profile; ``name`` is the dataset's.

    ``images`` maps the images that go along to their paths in the profile. Without ``metadata`` only the texts, their
    ids and sources are written, and the ids are mapped in a file.
    """

    def __init__(
        self, tables: CanonicalTables, out: Output, name: str, images: Mapping[str, str], metadata: bool, of_arag: bool
    ) -> None:
        self._tables, self._out, self._name, self._images = tables, out, name, images
        self._source = _ENCODER.encode(name)
        self._metadata = metadata
        self._of_arag = of_arag
        self._ids = _Ids()
        self._titles: dict[str, str] = {}
        self.table = "chunks"

    def write(self, table: str, path: str) -> None:
        """Write the rows of ``chunks``, or of ``documents``, to a file of the output."""
        self.table = table
        columns = CHUNK_COLUMNS if table == "chunks" else DOCUMENT_COLUMNS
        kept = [c for c in columns if self._metadata or c not in _WITHOUT_METADATA]
        if table == "chunks" and self._metadata and "documents" in self._tables:
            self._titles = self._tables.titles_of_documents()
            if "documents" in self._tables.covered:
                self._tables.covered["documents"] |= {"title"}
        to_line: Callable[[Any], bytes | None] = self._chunk if table == "chunks" else self._document
        if table == "chunks" and self._of_arag and self._metadata:
            to_line = self._arag_chunk
        rows = self._tables.take(table, *kept)
        line: bytes | None = None
        for row in rows:  # a file is begun when there is something to write
            line = to_line(row)
            if line is not None:
                break
        if line is None:
            return
        with self._out.lines(path) as writer:
            writer.put(line)
            writer.records += 1
            self._rest(rows, to_line, writer)

    @staticmethod
    def _rest(rows: Iterator[Any], to_line: Callable[[Any], bytes | None], writer: LineWriter) -> None:
        put, number = writer.put, 0
        for row in rows:
            line = to_line(row)
            if line is not None:
                put(line)
                number += 1
        writer.records += number

    def _arag_chunk(self, chunk: Chunk) -> bytes | None:
        """The usual chunk of A-RAG, which is an id and a text."""
        chunk_id, text = chunk[0], chunk[1]
        if chunk[2:] != _NOTHING_ELSE or not text or text.isspace() or self._ids.is_known(chunk_id):
            return self._chunk(chunk)
        self._ids.add(chunk_id)
        encode = _ENCODER.encode
        source = self._source
        return b'{"id":%b,"text":%b,"source":%b,"metadata":{"source":%b,"arag_id":%b}}\n' % (
            encode(f"{self._name}-{chunk_id}"),
            encode(text),
            source,
            source,
            encode(chunk_id),
        )

    def _chunk(self, chunk: Chunk) -> bytes | None:
        text, image_path = chunk.text, self._image(chunk)
        if (not text or text.isspace()) and image_path and chunk.image_description:
            text = chunk.image_description
            self._coerced(chunk, "text", "an image without text is dropped; its description became the text")
        if not text or text.isspace():
            self._tables.drop("chunks", chunk, BLANK_TEXT)
            return None
        source = chunk.doc_id or self._name
        record: dict[str, Any] = {"id": self._unique_id(chunk.chunk_id), "text": text, "source": source}
        if self._metadata:
            record["metadata"] = self._chunk_metadata(chunk, source)
        if image_path:
            record["image_path"] = image_path
        if chunk.image_description is not None:
            record["image_description"] = chunk.image_description
        if chunk.modality is not None and self._has_place(chunk, image_path):
            record["modality"] = chunk.modality
        return _ENCODER.encode(record) + b"\n"

    def _document(self, document: Document) -> bytes | None:
        if not document.text or document.text.isspace():
            self._tables.drop("documents", document, BLANK_TEXT)
            return None
        record: dict[str, Any] = {"id": self._unique_id(document.doc_id), "text": document.text, "source": self._name}
        if self._metadata:
            metadata: dict[str, Any] = {"source": self._name, "source_id": document.doc_id}
            if document.title is not None:
                metadata["title"] = document.title
            record["metadata"] = {**metadata, **self._flat(document)}
        return _ENCODER.encode(record) + b"\n"

    def _chunk_metadata(self, chunk: Chunk, source: str) -> dict[str, Any]:
        metadata: dict[str, Any] = {"source": source}
        metadata["arag_id" if self._of_arag else "source_id"] = chunk.chunk_id
        if chunk.doc_id if self._of_arag else source == self._name:  # the source does not tell it
            metadata["document"] = chunk.doc_id or ""
        if chunk.ordinal is not None:
            metadata["ordinal"] = chunk.ordinal
        if chunk.context is not None:
            metadata["context"] = chunk.context
        flat = self._flat(chunk)
        if chunk.doc_id in self._titles:
            self._add_title(flat, chunk.doc_id)
        return {**metadata, **flat}

    def _add_title(self, flat: dict[str, Any], doc_id: str) -> None:
        """The title of a chunk's document, under a name that the chunk's own metadata does not have."""
        title = self._titles[doc_id]
        for name in ("title", "document_title"):
            if name not in flat:
                flat[name] = title
                self._tables.losses.add("derived", "chunks", "metadata", "the title of a chunk's document", title)
                return
            if not isinstance(flat[name], str) and string_of(flat[name]) == title:
                return
        del self._titles[doc_id]  # written once, not for each chunk
        if "documents" in self._tables.covered:
            why = "its chunks have other titles in their metadata"
            self._tables.losses.add("lost", "documents", "title", why, f"{doc_id}: {title}")

    def _flat(self, row: Chunk | Document) -> dict[str, Any]:
        if not row.metadata:
            return {}
        flat: dict[str, Any] = {}
        taken = _OURS if self.table == "documents" else _OURS - {"title"}
        for key, raw in fields_of(row.metadata).items():
            aside = key in taken or key in _THEIRS or key.startswith(("_", ASIDE))
            value: Any = raw
            if bytes(raw)[:1] in b"[{":
                value = compact(raw)
                self._coerced(row, "metadata", "the loaders take flat metadata only; it is kept as JSON text", value)
            flat[ASIDE + key if aside else key] = value
        return flat

    def _image(self, chunk: Chunk) -> str | None:
        if not chunk.image_path:
            return None
        path = self._images.get(chunk.image_path)
        if path is None:
            self._lost("image_path", "there is no such image in the dataset", chunk.image_path)
        elif path != chunk.image_path:
            self._coerced(chunk, "image_path", "images are in images/", chunk.image_path)
        return path

    def _has_place(self, chunk: Chunk, image_path: str | None) -> bool:
        if chunk.modality not in _MODALITIES:
            self._lost("modality", "the loaders know text, image and text_image", chunk.modality)
            return False
        if chunk.modality != "text" and not image_path:
            self._lost("modality", "there is no image", chunk.modality)
            return False
        return True

    def _unique_id(self, given: str) -> str:
        """The id in the profile: two of the same make v2 stop."""
        wanted, count = given, 1
        while self._ids.is_known(wanted):
            count += 1
            wanted = f"{given}~{count}"
        self._ids.add(wanted)
        chunk_id = f"{self._name}-{wanted}"
        if wanted != given or not self._metadata:
            self._out.renamed("passage", chunk_id, given)
        return chunk_id

    def _coerced(self, row: Chunk | Document, column: str, why: str, example: object = None) -> None:
        self._tables.losses.add("coerced", self.table, column, why, example or row[0])

    def _lost(self, column: str, why: str, example: object) -> None:
        self._tables.losses.add("lost", self.table, column, why, example)


_NOTHING_ELSE = Chunk("", "")[2:]


class _Ids:
    """Which ids were given; 0, 1, 2 … in order take no memory."""

    def __init__(self) -> None:
        self._next = 0
        self._others: set[str] = set()

    def is_known(self, given: str) -> bool:
        """Whether an id was added."""
        if given in self._others:
            return True
        decimal = given.isascii() and given.isdecimal() and len(given) < 19
        return decimal and int(given) < self._next and str(int(given)) == given

    def add(self, given: str) -> None:
        """Remember an id."""
        if given == str(self._next):
            self._next += 1
        else:
            self._others.add(given)
