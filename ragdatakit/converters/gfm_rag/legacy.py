"""Reads the layout that GFM-RAG had up to release 1.0.0: `kg.txt`, `document2entities.json`, `dataset_corpus.json`."""

from __future__ import annotations

from collections.abc import Iterator

from ragdatakit.converters.gfm_rag.reading import DOCUMENT, ENTITY, Rows
from ragdatakit.files.containers import json_text
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.reading.noted_rows import Note
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.canonical import MENTION, Document, Edge, Node, Relation

KINDS = ("legacy-triples", "legacy-entities", "legacy-documents", "legacy-questions", "legacy-raw-questions")


class LegacyReader:
    """Documents and graph, as release 1.0.0 reads them: parts of a triple are not trimmed, its line is."""

    def __init__(self, dataset: Dataset, records: RecordReader, delimiter: str) -> None:
        self._dataset = dataset
        self._records = records
        self._delimiter = delimiter

    def sources(self) -> dict[str, Rows]:
        """What the dataset has files for."""
        triples, entities, documents = (bool(self._dataset.of_kind(kind)) for kind in KINDS[:3])
        found: dict[str, Rows] = {}
        if documents:
            found["documents"] = self.documents
        if triples:
            found |= {"nodes": self.nodes, "relations": self.relations, "edges": self.edges}
        elif entities:
            found["nodes"] = self.nodes
        return found

    def documents(self, notes: list[Note]) -> Iterator[Document]:
        """Titles and texts."""
        for file in self._dataset.of_kind("legacy-documents"):
            for title, raw in self._records.members(file):
                text = json_text.string_of(raw)
                if text is None:
                    notes.append(("dropped", "documents", None, "the text of the document is not a text", title))
                else:
                    yield Document(title, text, title)

    def nodes(self, notes: list[Note]) -> Iterator[Node]:
        """The entities of the triples. One that is called as a document is left to the document: names are unique."""
        titles = self._titles()
        seen = set()
        for head, _, tail in self._triples([]):
            for name in (head, tail):
                if name in titles and name not in seen:
                    notes.append(
                        ("coerced", "nodes", "type", "a document and an entity of one name are one node", name)
                    )
                elif name not in seen:
                    yield Node(name, ENTITY)
                seen.add(name)
        if not self._dataset.of_kind("legacy-documents"):
            for title in titles:
                yield Node(title, DOCUMENT)

    def relations(self, notes: list[Note]) -> Iterator[Relation]:
        """The relations of the triples, then the one that says which document mentions an entity."""
        seen = dict.fromkeys(relation for _, relation, _ in self._triples([]))
        if self._dataset.of_kind("legacy-entities"):
            seen.setdefault(MENTION)
        return (Relation(name) for name in seen)

    def edges(self, notes: list[Note]) -> Iterator[Edge]:
        """The triples in their order, then what the documents mention."""
        known = set()
        for head, relation, tail in self._triples(notes):
            known.add(head)
            known.add(tail)
            yield Edge(head, relation, tail)
        titles = self._titles() if self._dataset.of_kind("legacy-documents") else None
        for title, entities in self._entities(notes):
            if titles is not None and title not in titles:
                reason = "it is mentioned in a document that is not in the corpus"
                notes.extend(("dropped", "edges", None, reason, f"{entity}: {title}") for entity in entities)
                continue
            for entity in entities:
                if entity in known:
                    yield Edge(entity, MENTION, title)
                else:
                    reason = "the documents mention an entity that is in no triple"
                    notes.append(("dropped", "edges", None, reason, f"{entity}: {title}"))

    def _titles(self) -> dict[str, None]:
        kind = "legacy-documents" if self._dataset.of_kind("legacy-documents") else "legacy-entities"
        return {title: None for file in self._dataset.of_kind(kind) for title, _ in self._records.members(file)}

    def _triples(self, notes: list[Note]) -> Iterator[list[str]]:
        for file in self._dataset.of_kind("legacy-triples"):
            for line in self._records.lines(file):
                parts = line.strip().split(self._delimiter)
                if len(parts) == 3:
                    yield parts
                elif line.strip():
                    reason = f"not three parts between {self._delimiter!r}"
                    if self._delimiter == "," and len(line.strip().split(",,")) == 3:
                        reason += " (a fork of the framework separates by two commas: --option delimiter=,,)"
                    notes.append(("dropped", "edges", None, reason, line))

    def _entities(self, notes: list[Note]) -> Iterator[tuple[str, list[str]]]:
        for file in self._dataset.of_kind("legacy-entities"):
            for title, raw in self._records.members(file):
                names = json_text.loads(raw)
                if isinstance(names, str):
                    notes.append(("coerced", "edges", "source", "a text instead of a list of entities", names))
                    names = [names]
                listed = names if isinstance(names, list) else []
                yield title, list(dict.fromkeys(name for name in listed if isinstance(name, str)))
