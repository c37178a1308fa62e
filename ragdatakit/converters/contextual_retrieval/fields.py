"""Fields of contextual retrieval's documents, chunks and golden copies as values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

from ragdatakit.files.containers.json_text import Raw, compact, fields_of, object_text, string_of
from ragdatakit.files.containers.long_json import long_or_short
from ragdatakit.files.reading.noted_rows import Note
from ragdatakit.schemas.canonical import Chunk

Fields = dict[str, Raw]
OF_CHUNK = ("doc_id", "chunk_id", "original_index", "content", "original_content", "contextualized_content")
"""Fields of a chunk that have a place of their own, or repeat its document."""
OF_DOCUMENT = ("doc_id", "title", "content", "chunks")
"""Fields of a document that have a place of their own."""
_LIST = msgspec.json.Decoder(list[Raw])


class _UsualChunk(msgspec.Struct, forbid_unknown_fields=True):
    """A chunk of a document as the cookbook has it."""

    chunk_id: str
    original_index: Raw
    content: str


_USUAL = msgspec.json.Decoder(list[_UsualChunk])


def usual_chunks(raw: Raw | None, doc_id: str | None) -> list[Chunk] | None:
    """The chunks of a document, where all of them have the usual fields and nothing is to be reported."""
    try:
        usual = _USUAL.decode(raw) if raw is not None else []
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    found = [Chunk(each.chunk_id, each.content, doc_id, _index(each.original_index)) for each in usual]
    return found if all(chunk.ordinal is not None for chunk in found) else None


def chunks_in(raw: Raw | None, doc_id: str | None, notes: list[Note]) -> Iterator[Chunk | None]:
    """The chunks of any document; None for each that is left out, which is noted."""
    for place, item in enumerate(_items(raw, doc_id, notes)):
        fields = fields_in(item)
        if fields is None:
            notes.append(("dropped", "chunks", None, "no JSON object", f"{doc_id}: {bytes(item)[:80]!r}"))
        else:
            yield chunk_in(fields, doc_id, place, notes)


def chunk_in(fields: Fields, doc_id: str | None, place: int, notes: list[Note]) -> Chunk | None:
    """The chunk that fields of a document's list stand for; what it lacks and why it is left out is noted."""
    chunk_id = name_in(fields.get("chunk_id"))
    content = fields.get("original_content")
    text = text_in(content if content is not None else fields.get("content"))
    shown = chunk_id or f"{doc_id}, chunk {place}"
    if text is None:
        notes.append(("dropped", "chunks", None, "its content is not a text", shown))
        return None
    ordinal = _index(fields.get("original_index"))
    if ordinal is None:
        ordinal = place
        notes.append(("derived", "chunks", "ordinal", "its place, as original_index is not an index", shown))
    if chunk_id is None:
        if doc_id is None:
            notes.append(("dropped", "chunks", None, "it has neither chunk_id nor doc_id", text))
            return None
        chunk_id = f"{doc_id}_chunk_{ordinal}"
        notes.append(("derived", "chunks", "chunk_id", "made of the document's id and the index", chunk_id))
    left = {name: raw for name, raw in fields.items() if name not in OF_CHUNK}
    context = text_in(fields.get("contextualized_content"))
    return Chunk(chunk_id, text, doc_id, ordinal, context or None, metadata=object_text(left))


def meta_of(copy: Fields, without: tuple[str, ...]) -> Fields:
    """The meta of a golden copy."""
    return {name: raw for name, raw in (fields_in(copy.get("meta")) or {}).items() if name not in without}


def place_of(copy: Fields) -> tuple[str, int] | None:
    """The document's uuid and the index of a golden copy of a chunk."""
    uuid, index = name_in(copy.get("doc_uuid")), _index(copy.get("index"))
    return (uuid, index) if uuid is not None and index is not None else None


def items_in(raw: Raw | None) -> list[Raw]:
    """The items of a list; of anything else there are none."""
    return _listed(raw) or []


def lose(table: str, left: Fields, question_id: str, notes: list[Note]) -> None:
    """Note fields that only a golden copy has."""
    why = "only the golden copy in a question has it"
    notes += [("lost", table, "metadata", why, f"{question_id}: {name} {compact(raw)}") for name, raw in left.items()]


def _items(raw: Raw | None, doc_id: str | None, notes: list[Note]) -> list[Raw]:
    found = _listed(raw)
    if found is None:
        notes.append(("dropped", "chunks", None, "the document has no list of chunks", doc_id))
    return found or []


def _listed(raw: Raw | None) -> list[Raw] | None:
    with suppress(msgspec.DecodeError):
        return _LIST.decode(raw) if raw is not None else None
    return None


def golden_in(raw: Raw | None, question_id: str, notes: list[Note]) -> list[Any]:
    """The golden chunks of a question; that it has no list of them is noted."""
    with suppress(ValueError, RecursionError):
        value = long_or_short(raw) if raw is not None else None
        if isinstance(value, list):
            return value
    notes.append(("dropped", "qrels", None, "the question has no list of golden chunks", question_id))
    return []


def pair_of(value: Any) -> tuple[str, int] | None:
    """A document's uuid and a chunk's index."""
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        return None
    index = value[1]
    return (value[0], index) if isinstance(index, int) and not isinstance(index, bool) and index >= 0 else None


def _index(raw: Raw | None) -> int | None:
    text = bytes(raw) if raw is not None else b""
    return int(text) if text.isdigit() and len(text) <= 18 else None


def uuid_of(fields: Fields) -> str | None:
    """The uuid of a document."""
    return name_in(fields.get("original_uuid"))


def document_id_of(fields: Fields) -> str | None:
    """The id of a document: its ``doc_id``, else its uuid."""
    return name_in(fields.get("doc_id")) or uuid_of(fields)


def name_in(raw: Raw | None) -> str | None:
    """An id: a text, or a number as it stands."""
    if raw is None:
        return None
    data = bytes(raw)
    return text_in(raw) if data[:1] == b'"' else data.decode() if data[:1].isdigit() else None


def text_in(raw: Raw | None) -> str | None:
    """A text; None for what is none, or holds half a character."""
    try:
        return string_of(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def fields_in(raw: Raw | None) -> Fields | None:
    """The fields of an object, else None."""
    if raw is None:
        return None
    try:
        return fields_of(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
