"""DataMind's chunk files: into chunks, or into the documents that they were written from, and out of them.

A chunk that ragdata writes has its source's id in the metadata, under ``arag_id`` or ``source_id``, and its own id is
that one with the file's name before it. That is how it is distinguished from others when it is read again. Metadata
must be flat, and some keys are taken by the loaders or by ragdata: those get ``meta.`` before their name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeGuard

import msgspec

from ragdatakit.converters.question_fields import ASIDE
from ragdatakit.files.containers.json_text import (
    Raw,
    compact,
    compact_values,
    dumps,
    fields_of,
    loads,
    object_text,
    string_of,
)
from ragdatakit.schemas.canonical import Chunk, Document

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.files.reading.kept_rows import Columns
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.outputs.file_writers import LineWriter
    from ragdatakit.outputs.written_files import Output

CHUNK_COLUMNS = Chunk._fields
DOCUMENT_COLUMNS = Document._fields
_WITHOUT_METADATA = frozenset({"ordinal", "context", "title", "metadata"})
_OURS = frozenset({"source", "source_id", "arag_id", "document", "ordinal", "context", "title"})
_THEIRS = frozenset(
    {"", "chroma:document", "source_file", "image_path", "modality", "image_description", "doc_id", "document_id"}
) | {"ref_doc_id"}
_OURS_FIRST = ("source", "arag_id", "source_id")
_FIELDS = ("id", "text", "source", "metadata", "image_path", "image_description", "modality")
_MODALITIES = ("text", "image", "text_image")
_BLANK_TEXT = "a chunk without text is dropped by the loaders"
_ENCODER = msgspec.json.Encoder()
_OBJECTS = msgspec.json.Decoder(list[dict[str, Raw]])


class _Line(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A chunk as most sets have it, which is read at once; others are read field by field."""

    text: str
    id: str = ""
    source: str | None = None
    metadata: Raw = Raw(b"{}")
    image_path: str | None = None
    image_description: str | None = None
    modality: str | None = None


_LINE = msgspec.json.Decoder(_Line)


def is_of_documents(file: DataFile, records: RecordReader) -> bool:
    """Whether a file was written from documents, recognised from its first record."""
    fields = next(records.objects(file), None)
    if fields is None:
        return False
    own = _Own.found(fields, _stem(file))
    return own is not None and own.is_document


def chunk_blocks(files: list[DataFile], records: RecordReader) -> Iterator[Columns]:
    """The chunks of all files as columns, in the order of the files' names and of the lines."""
    ordinals: dict[str, int] = {}
    for file in files:
        stem = _stem(file) if len(files) == 1 else None
        names = file_names(file)
        for first, lines in records.shaped_blocks(file, _LINE):
            if _are_plain(lines):
                columns = _plain_columns(lines, names, stem, ordinals)
                if columns is None:
                    columns = list(zip(*(_plain(line, names, stem, ordinals) for line in lines), strict=True))
                yield columns
                continue
            for number, fields in enumerate(lines, first):
                if isinstance(fields, dict):
                    chunk = chunk_of(file, stem is not None, records, ordinals, number, fields)
                else:
                    chunk = _given(file, records, number, _plain(fields, names, stem, ordinals))
                if chunk is not None:
                    yield list(zip(chunk, strict=True))


def _are_plain(lines: Sequence[_Line | dict[str, Raw]]) -> TypeGuard[Sequence[_Line]]:
    """Whether these lines are chunks of which there is nothing to say."""
    return all(isinstance(line, _Line) and (line.text or line.image_path) for line in lines)


def chunk_of(
    file: DataFile, alone: bool, records: RecordReader, ordinals: dict[str, int], number: int, fields: dict[str, Raw]
) -> Chunk | None:
    """The chunk that a record is; None where it is left out. ``alone``: ragdata may have written its file."""
    own = _Own.found(fields, _stem(file)) if alone else None
    return _given(file, records, number, own.chunk(fields) if own else _foreign(fields, file_names(file), ordinals))


def _given(file: DataFile, records: RecordReader, number: int, chunk: Chunk) -> Chunk | None:
    if chunk.text or chunk.image_path:
        return chunk
    records.leave_out(file, number, _BLANK_TEXT, chunk.chunk_id)
    return None


def document_rows(files: list[DataFile], records: RecordReader) -> Iterator[Document]:
    """The documents that were written as chunks."""
    for file in files:
        for number, fields in records.numbered(file):
            own = _Own.found(fields, _stem(file))
            chunk = own.chunk(fields) if own else _foreign(fields, file_names(file), {})
            if chunk.text:
                yield Document(chunk.chunk_id, chunk.text, own.title if own else None, chunk.metadata)
            else:
                records.leave_out(file, number, _BLANK_TEXT, chunk.chunk_id)


def _stem(file: DataFile) -> str:
    return PurePosixPath(file.name).stem


def file_names(file: DataFile) -> tuple[str, str]:
    """The name of a file, with and without its ending."""
    return PurePosixPath(file.name).name, _stem(file)


class _Own:
    """A record that ragdata wrote: its id in the source, and the metadata that is the source's."""

    __slots__ = ("_given", "_metadata", "is_document", "source_id", "title")

    def __init__(self, source_id: str, given: dict[str, Raw], metadata: dict[str, Raw], is_document: bool) -> None:
        self.source_id = source_id
        self._given, self._metadata = given, metadata
        self.is_document = is_document
        self.title = string_of(given.get("title")) if is_document else None

    @classmethod
    def found(cls, fields: Mapping[str, Raw], stem: str | None) -> _Own | None:
        """What the record says of itself; None where ragdata did not write it."""
        raw = fields.get("metadata")
        if stem is None or raw is None or bytes(raw)[:1] != b"{":
            return None
        metadata = fields_of(raw)
        source_id = string_of(metadata.get("arag_id") or metadata.get("source_id"))
        source = string_of(fields.get("source"))
        if source_id is None or string_of(fields.get("id")) != f"{stem}-{source_id}":
            return None
        if source is None or string_of(metadata.get("source")) != source:
            return None
        given: dict[str, Raw] = {k: metadata.pop(k) for k in _OURS_FIRST if k in metadata}
        is_document = "arag_id" not in given and source == stem and "document" not in metadata
        mine: tuple[str, ...] = ("title",) if is_document else ("document", "ordinal", "context")
        given.update((k, metadata.pop(k)) for k in mine if k in metadata)
        if "arag_id" not in given and not is_document and "document" not in given:
            given["document"] = Raw(dumps(source))
        return cls(source_id, given, {k.removeprefix(ASIDE): v for k, v in metadata.items()}, is_document)

    def chunk(self, fields: Mapping[str, Raw]) -> Chunk:
        """The record as a chunk."""
        ordinal = self._given.get("ordinal")
        return Chunk(
            self.source_id,
            string_of(fields.get("text")) or "",
            string_of(self._given.get("document")) or None,
            loads(ordinal) if ordinal is not None else None,
            string_of(self._given.get("context")),
            string_of(fields.get("modality")),
            string_of(fields.get("image_path")) or None,
            string_of(fields.get("image_description")),
            object_text(self._metadata),
        )


def _plain(line: _Line, names: tuple[str, str], stem: str | None, ordinals: dict[str, int]) -> Chunk:
    """What `_Own.found` and `_foreign` make of its fields; ``names`` are the file's, whole and without its ending."""
    data = bytes(line.metadata)
    if stem is not None and (b"arag_id" in data or b"source_id" in data):
        fields = fields_of(_ENCODER.encode(line))
        own = _Own.found(fields, stem)
        return own.chunk(fields) if own else _foreign(fields, names, ordinals)
    metadata, source = None, line.source or None
    document = source
    if data != b"{}" and data[:1] == b"{":
        metadata, named = metadata_and_source(data, source is not None)
        document = source or named
    document, ordinal = placed(document, names, ordinals)
    return Chunk(
        line.id or made_id(source or names[0], line.text),
        line.text,
        document,
        ordinal,
        None,
        line.modality,
        line.image_path or None,
        line.image_description,
        metadata,
    )


def _plain_columns(
    lines: Sequence[Any], names: tuple[str, str], stem: str | None, ordinals: dict[str, int]
) -> Columns | None:
    """The same of many lines, column by column; None where metadata must be looked at one by one."""
    data = [bytes(line.metadata) for line in lines]
    if stem is not None and any(b"arag_id" in one or b"source_id" in one for one in data):
        return None
    rows = [row for row, one in enumerate(data) if one != b"{}" and one[:1] == b"{"]
    found = plain_metadata([data[row] for row in rows])
    if found is None:
        return None
    sources = [line.source or None for line in lines]
    documents = sources.copy()
    metadata: list[str | None] = [None] * len(lines)
    for row, text, fields in zip(rows, *found, strict=True):
        metadata[row] = text.decode() if fields else None
        documents[row] = sources[row] or string_of(fields.get("source")) or None
    places = [placed(document, names, ordinals) for document in documents]
    return [
        [line.id or made_id(source or names[0], line.text) for line, source in zip(lines, sources, strict=True)],
        [line.text for line in lines],
        [document for document, _ in places],
        [ordinal for _, ordinal in places],
        [None] * len(lines),
        [line.modality for line in lines],
        [line.image_path or None for line in lines],
        [line.image_description for line in lines],
        metadata,
    ]


def metadata_and_source(data: bytes, has_source: bool) -> tuple[str | None, str | None]:
    """Metadata as they are kept, and the source that they name, unless the chunk ``has_source``."""
    fields = fields_of(data)
    return _as_written(data, fields), None if has_source else string_of(fields.get("source")) or None


def plain_metadata(data: Sequence[bytes]) -> tuple[list[bytes], list[dict[str, Raw]]] | None:
    """Metadata of several chunks as they are kept, and their fields; None where they must be looked at one by one, as
    names are escaped, or one is there twice."""
    texts = compact_values(data)
    if texts is None:
        return None
    whole = b"[%b]" % b",".join(texts)
    if b"\\" in whole:
        return None
    fields = _OBJECTS.decode(whole)
    return (texts, fields) if whole.count(b'":') == sum(map(len, fields)) else None


def placed(
    document: str | None, names: tuple[str, str], ordinals: dict[str, int], count: int = 1
) -> tuple[str | None, int | None]:
    """The document of a chunk, where the file's own names are none, and how many chunks of it came before; of ``count``
    chunks that follow each other that of the first."""
    if document is None or document in names:
        return None, None
    ordinal = ordinals.get(document, 0)
    ordinals[document] = ordinal + count
    return document, ordinal


def _as_written(data: bytes, fields: Mapping[str, Raw]) -> str | None:
    """What `object_text` gives of the fields of an object; where each is there once and names are plain, at once."""
    text = msgspec.json.format(data, indent=-1)
    if b"\\" in text or text.count(b'":') > len(fields):
        return object_text(fields)
    return text.decode() if fields else None


def _foreign(fields: Mapping[str, Raw], names: tuple[str, str], ordinals: dict[str, int]) -> Chunk:
    text = string_of(fields.get("text")) or ""
    raw = fields.get("metadata")
    metadata = fields_of(raw) if raw is not None and bytes(raw)[:1] == b"{" else {}
    source = string_of(fields.get("source")) or None
    document = source or string_of(metadata.get("source")) or None
    document, ordinal = placed(document, names, ordinals)
    for field, value in fields.items():
        if field not in _FIELDS and bytes(value) != b"null":
            metadata.setdefault(field, value)
    return Chunk(
        _id_of(fields.get("id"), source or names[0], text),
        text,
        document,
        ordinal,
        None,
        string_of(fields.get("modality")),
        string_of(fields.get("image_path")) or None,
        string_of(fields.get("image_description")),
        object_text(metadata),
    )


def _id_of(raw: Raw | None, source: str, text: str) -> str:
    """The id that v2 takes: the one given, as text, or else one made of source and text."""
    value = loads(raw) if raw is not None else None
    if value:
        return value if isinstance(value, str) else str(value)
    return made_id(source, text)


def made_id(source: str, text: str) -> str:
    """The id that v2 gives a chunk without one."""
    return hashlib.sha1(f"{source}\0{text.strip()}".encode(), usedforsecurity=False).hexdigest()[:16]


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
            self._titles = {d.doc_id: d.title for d in self._tables.peek("documents") if d.title}
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
            self._tables.drop("chunks", chunk, _BLANK_TEXT)
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
            self._tables.drop("documents", document, _BLANK_TEXT)
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
