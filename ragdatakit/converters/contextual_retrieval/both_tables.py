"""Documents and chunks of contextual-retrieval files that come of one reading of the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

from ragdatakit.converters.contextual_retrieval.fields import Fields
from ragdatakit.converters.contextual_retrieval.golden_copies import Place
from ragdatakit.files.reading.noted_rows import Note, NotedReading
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import Chunk, Document


@dataclass(slots=True)
class KnownChunks:
    """What is known of the chunks so far: the ids of those with a context, and the id of the first one at each place
    that a question names."""

    with_context: set[str] = field(default_factory=set)
    by_place: dict[Place, str] = field(default_factory=dict)


@dataclass(slots=True)
class BothTables:
    """One reading of both, and what gives the rows that one document has."""

    documents: NotedReading
    chunks: NotedReading
    documents_of: Callable[[Fields, list[Note]], Iterator[Document]]
    chunks_of: Callable[[Fields, KnownChunks, list[Note]], Iterator[Chunk]]
    known: KnownChunks = field(default_factory=KnownChunks)

    def add(self, made: dict[str, list[Any]], fields: Fields) -> None:
        """Add the rows of the next document, of which all is noted then."""
        made["documents"] += self.documents.told(self.documents_of(fields, self.documents.notes))
        made["chunks"] += self.chunks.told(self.chunks_of(fields, self.known, self.chunks.notes))

    def end(self) -> None:
        """There are no more documents."""
        self.documents.end()
        self.chunks.end()
