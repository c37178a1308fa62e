"""DataMind's chunk files: into chunks, or into the documents that they were written from.

A chunk that ragdata writes has its source's id in the metadata, under ``arag_id`` or ``source_id``, and its own id is
that one with the file's name before it. That is how it is distinguished from others when it is read again. Metadata
must be flat, and some keys are taken by the loaders or by ragdata: those get ``meta.`` before their name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeGuard

import msgspec

from ragdatakit.converters.question_fields import ASIDE
from ragdatakit.files.containers.json_text import Raw, compact_values, dumps, fields_of, loads, object_text, string_of
from ragdatakit.schemas.canonical import Chunk, Document

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.files.reading.kept_rows import Columns
    from ragdatakit.files.reading.record_reading import RecordReader

_OURS_FIRST = ("source", "arag_id", "source_id")
_FIELDS = ("id", "text", "source", "metadata", "image_path", "image_description", "modality")
BLANK_TEXT = "a chunk without text is dropped by the loaders"
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
    records.leave_out(file, number, BLANK_TEXT, chunk.chunk_id)
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
                records.leave_out(file, number, BLANK_TEXT, chunk.chunk_id)


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
