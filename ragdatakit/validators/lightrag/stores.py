"""One record of the stores of documents, chunks and statuses. What is said of it goes by what was read before."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ragdatakit.files.lightrag.names import base_name, hashed
from ragdatakit.files.texts.codes import code_of
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.lacking import unusable
from ragdatakit.validators.lightrag.known import Known

STATUSES = frozenset({"pending", "parsing", "analyzing", "processing", "preprocessed", "processed", "failed"})
_MANY = 10_000_000
_READ = (
    *("content", "file_path", "tokens", "chunk_order_index", "full_doc_id", "source_id", "llm_cache_list"),
    *("status", "content_summary", "content_length", "chunks_count", "chunks_list", "created_at", "updated_at"),
)
_TYPES: dict[str, type] = {"tokens": int, "chunk_order_index": int, "full_doc_id": str}


def document_problems(doc_id: str, document: dict[str, Any]) -> Iterator[Problem]:
    """The faults of one document."""
    content = document.get("content")
    if not isinstance(content, str):
        yield unusable("document-without-content", "/document", document, "content", _READ)
    elif not _is_own_id(doc_id, content, document.get("file_path")):
        yield Problem("unlike-document-id", "/doc_id", doc_id)


def _is_own_id(doc_id: str, content: str, path: Any) -> bool:
    if isinstance(path, str) and doc_id == hashed("doc-", base_name(path)):
        return True
    return doc_id in (hashed("doc-", content), hashed("doc-", content.strip()))


class ChunkStore:
    """The chunks of one directory, one after the other; `gaps` says what is known when all are read."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._places: dict[str, set[int]] = {}
        self._unplaced: set[str | None] = set()  # documents with a chunk that has no place; None: one of them all

    def problems(self, chunk_id: str, chunk: dict[str, Any]) -> Iterator[Problem]:
        """The faults of one chunk, which is remembered."""
        content = chunk.get("content")
        again = self._known.chunks is not None and chunk_id in self._known.chunks
        if self._known.chunks is not None:
            self._known.chunks[self._known.one(chunk_id)] = (
                code_of(content) if isinstance(content, str) and content else 0
            )
        if not isinstance(content, str) or not content:
            yield unusable("chunk-without-content", "/chunk", chunk, "content", _READ)
        if isinstance(chunk.get("file_path"), list | dict):
            yield Problem("path-not-text", "/chunk/file_path", chunk["file_path"])
        for name, kind in _TYPES.items():
            value = chunk.get(name)
            # what ainsert_custom_kg of old releases stored has a source_id instead of these
            may_lack = name not in chunk and "source_id" in chunk
            if not may_lack and (type(value) is not kind or (isinstance(value, int) and value < 0)):
                yield unusable("unusable-chunk-field", "/chunk", chunk, name, _READ)
        document = chunk.get("full_doc_id")
        if isinstance(document, str):
            yield from self._document(document, chunk, again)
            if isinstance(content, str) and content and not _is_chunk_id(chunk_id, content, chunk):
                yield Problem("unlike-chunk-id", "/chunk_id", chunk_id)
        elif "source_id" not in chunk:
            self._unplaced.add(None)

    def _document(self, document: str, chunk: dict[str, Any], again: bool) -> Iterator[Problem]:
        known = self._known.documents
        custom = "source_id" in chunk
        if known is not None and document not in known:
            rule = "chunk-without-document" if custom else "unknown-document"
            yield Problem(rule, "/chunk/full_doc_id", document)
        place = chunk.get("chunk_order_index")
        if custom or again:
            return
        if type(place) is not int or not 0 <= place < _MANY:
            self._unplaced.add(document)
            return
        places = self._places.setdefault(document, set())
        if place in places:
            yield Problem("repeated-chunk-order", "/chunk/chunk_order_index", place, {"document": document})
        places.add(place)

    def gaps(self) -> Iterator[Problem]:
        """Documents in whose places something is missing, as far as all of their chunks have one."""
        for document, places in self._places.items():
            if self._unplaced.isdisjoint((document, None)) and max(places) + 1 > len(places):
                missing = next(place for place in range(max(places)) if place not in places)
                facts = {"document": document, "found": len(places), "missing": missing}
                yield Problem("gap-in-chunks", None, max(places), facts)


def _is_chunk_id(chunk_id: str, content: str, chunk: dict[str, Any]) -> bool:
    document, place = chunk["full_doc_id"], chunk.get("chunk_order_index")
    if chunk_id.startswith(f"{document}-chunk-"):
        return type(place) is not int or chunk_id == f"{document}-chunk-{place:03d}"
    return chunk_id in (hashed("chunk-", content), hashed("chunk-", content.strip()))


def status_problems(doc_id: str, status: dict[str, Any], known: Known) -> Iterator[Problem]:
    """The faults of one status."""
    state = status.get("status")
    if not isinstance(state, str) or state not in STATUSES:
        yield unusable("unknown-status", "/status", status, "status", _READ)
    for name in ("created_at", "updated_at"):
        time = status.get(name)
        if name in status and not _is_time(time):
            yield Problem("time-not-iso", f"/status/{name}", time, {"field": name})
    if known.documents is not None and doc_id not in known.documents:
        yield Problem("status-without-document", "/doc_id", doc_id)
    chunks, count = status.get("chunks_list"), status.get("chunks_count")
    if not isinstance(chunks, list):
        return
    if isinstance(count, int) and count != len(chunks):
        yield Problem("chunk-count-differs", "/status/chunks_count", count, {"found": len(chunks)})
    for i, chunk in enumerate(chunks if known.chunks is not None else ()):
        if not isinstance(chunk, str) or chunk not in (known.chunks or {}):
            yield Problem("unknown-status-chunk", f"/status/chunks_list/{i}", chunk)


def _is_time(time: Any) -> bool:
    if not isinstance(time, str):
        return False
    try:
        datetime.fromisoformat(time)
    except ValueError:
        return False
    return True
