"""What the copies of golden documents and chunks in questions say, and which chunks the questions name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ragdatakit.converters.contextual_retrieval.fields import (
    OF_CHUNK,
    Fields,
    fields_in,
    golden_in,
    items_in,
    meta_of,
    name_in,
    pair_of,
    place_of,
)
from ragdatakit.schemas.errors import skip_unreadable

_NO_ORIGIN = ("num_chunks", "doc_id", "original_uuid", "title", "content", "chunks")
_OF_CORPUS_CHUNK = (*OF_CHUNK, "original_uuid")
Place = tuple[str, int]
"""A document's uuid and a chunk's index."""


class GoldenCopies:
    """What the first copy of each document and chunk says, among all ``questions``, which are read once, when somebody
    asks: as far as they can be read, which their own table says."""

    def __init__(self, questions: Callable[[], Iterator[Fields]]) -> None:
        self._questions = questions
        self._documents: dict[str, Fields] | None = None
        self._chunks: dict[Place, Fields] = {}
        self._named: set[Place] = set()
        self._uuids: set[str] = set()

    def of_document(self, uuid: str | None) -> Fields:
        """What the questions say of a document: where it comes from."""
        return self._collected().get(uuid or "", {})

    def of_chunk(self, uuid: str | None, index: int | None) -> Fields:
        """What they say of a chunk, such as ``hash_id``."""
        self._collected()
        return self._chunks.get((uuid or "", -1 if index is None else index), {})

    def names(self, uuid: str) -> bool:
        """Whether a question names a chunk of a document, or has a copy of one."""
        self._collected()
        return uuid in self._uuids

    def remember(self, names: dict[Place, str], place: Place, chunk_id: str) -> None:
        """Remember what the first chunk at a place is called, if a question names it."""
        self._collected()
        if place in self._named:
            names.setdefault(place, chunk_id)

    def _collected(self) -> dict[str, Fields]:
        if self._documents is None:
            documents: dict[str, Fields] = {}
            with skip_unreadable():
                for fields in self._questions():
                    self._collect(fields, documents)
            self._documents = documents
            self._uuids = {uuid for uuid, _ in self._named}
        return self._documents

    def _collect(self, fields: Fields, documents: dict[str, Fields]) -> None:
        chunks = items_in(fields.get("golden_chunks"))
        for raw in items_in(fields.get("golden_documents")):
            golden = fields_in(raw) or {}
            chunks += items_in(golden.get("chunks"))
            name = name_in(golden.get("uuid"))
            if name is not None and name not in documents:
                documents[name] = meta_of(golden, _NO_ORIGIN)
        for raw in chunks:
            copy = fields_in(raw) or {}
            place, meta = place_of(copy), meta_of(copy, _OF_CORPUS_CHUNK)
            if place is not None:
                self._named.add(place)
                if meta:
                    self._chunks.setdefault(place, meta)
        pairs = map(pair_of, golden_in(fields.get("golden_chunk_uuids"), "", []))
        self._named.update(pair for pair in pairs if pair is not None)
