"""Builds the graph of an index: from the nodes and edges of the dataset, or from the names in its texts."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.files.containers.json_text import fields_of, loads
from ragdatakit.retrieval.extraction.names import extract_names, name_key, title_names
from ragdatakit.retrieval.graphs.passage_graph import PART, Edges, write_graph
from ragdatakit.retrieval.graphs.string_table import StringTable, write_strings
from ragdatakit.retrieval.linking import NodeLinker, Terms
from ragdatakit.schemas.canonical import MENTION
from ragdatakit.schemas.texts import text_hash

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.index_parts import Progress
    from ragdatakit.retrieval.passages import Passage, Passages

DOCUMENT = "document"
"""The type of nodes that are documents."""
_LEAST_PASSAGES = 2
"""Passages that a name connects; titles need only one."""
_STEP = 4096


def has_graph(tables: CanonicalTables) -> bool:
    """Whether the dataset has edges, or nodes that show their passages."""
    return tables.any("edges") or any(_passages_of(node.attributes) for node in tables.peek("nodes"))


def build_given(
    folder: Path, passages: Passages, tables: CanonicalTables, tokenizer: Terms, progress: Progress | None
) -> dict[str, Any]:
    """Write the graph that the dataset gives; returns facts about it.

    A node of type ``document`` that is called like a passage is that passage; where there are such nodes, or edges
    ``is_mentioned_in``, every name of an edge that is a passage's id stands for the passage. Entities are joined to the
    passages that edges name as their provenance, and to those in their attribute ``passages``; a document that was cut
    into chunks becomes a node between. Where nothing says what belongs to which passage, an entity belongs to those
    passages in whose texts its name is.
    """
    building = _Given(passages, tables, progress)
    building.read()
    return building.write(folder, tokenizer)


class _Given:
    def __init__(self, passages: Passages, tables: CanonicalTables, progress: Progress | None) -> None:
        self._passages, self._tables = passages, tables
        self._progress = progress or _silent
        self._ordinals: dict[str, int] = {}
        self._names: list[str] = []
        self._edges = Edges()
        self._documents: frozenset[str] | None = None
        self._document_nodes: dict[str, int] = {}
        self._are_documents: set[int] = set()
        self._names_documents = False
        self._last: tuple[str | None, int | None] = (None, None)
        self._linked = self._unknown = 0

    def read(self) -> None:
        """Nodes, then edges, then what joins passages to their documents."""
        self._names_documents = any(relation.name == MENTION for relation in self._tables.peek("relations"))
        for number, node in enumerate(self._tables.peek("nodes")):
            if number % _STEP == 0:
                self._progress("reading nodes", number, 0)
            is_document = node.type == DOCUMENT
            self._names_documents |= is_document
            ordinal = self._node(node.name, is_document)
            for passage_id in _passages_of(node.attributes):
                self._join(ordinal, self._text(passage_id))
        first, documents = len(self._passages), self._are_documents
        for number, edge in enumerate(self._tables.peek("edges")):
            if number % _STEP == 0:
                self._progress("reading edges", number, 0)
            mentions = edge.relation == MENTION
            source = self._node(edge.source, self._names_documents and not mentions)
            target = self._node(edge.target, self._names_documents)
            self._edges.add(source, edge.relation, target)
            if source < first or target < first or (documents and (source in documents or target in documents)):
                self._linked += 1
            elif edge.provenance is not None:
                text = self._text_before(edge.provenance)
                self._join(source, text)
                self._join(target, text)
        if self._document_nodes:
            for ordinal, document_id in enumerate(self._passages.documents()):
                found = self._document_nodes.get(document_id)
                if found is not None:
                    self._edges.add(ordinal, PART, found)

    def _node(self, name: str, may_be_text: bool) -> int:
        """The ordinal of a node; of a passage or a document that is called so, where it may be one."""
        found = self._ordinals.get(name)
        if found is None:
            found = self._text(name) if may_be_text else None
            self._ordinals[name] = found = self._new(name) if found is None else found
        return found

    def _new(self, name: str) -> int:
        self._names.append(name)
        return len(self._passages) + len(self._names) - 1

    def _text(self, text_id: str) -> int | None:
        """The passage of this id, or the node for the document of this id that was cut into passages."""
        found = self._passages.ordinal(text_id)
        if found is not None or self._passages.unit != "chunk":
            return found
        if self._documents is None:
            self._documents = frozenset(self._passages.documents())
        if text_id in self._documents and text_id not in self._document_nodes:
            self._document_nodes[text_id] = found = self._new(text_id)
            self._are_documents.add(found)
        return self._document_nodes.get(text_id)

    def _text_before(self, text_id: str) -> int | None:
        """The same for an edge's provenance: edges of one text follow each other."""
        if self._last[0] != text_id:
            self._last = text_id, self._text(text_id)
        return self._last[1]

    def _join(self, entity: int, text: int | None) -> None:
        """Join an entity to the passage or document that it comes from."""
        if text is None:
            self._unknown += 1
        elif text != entity:
            self._linked += 1
            self._edges.add(entity, MENTION, text)

    def write(self, folder: Path, tokenizer: Terms) -> dict[str, Any]:
        """Write graph and linker; returns the facts."""
        self._ordinals.clear()
        self._documents = None
        write_strings(folder, "node", self._names)
        facts: dict[str, Any] = {"graph": "given", "links": "given" if self._linked else "names in texts"}
        if self._unknown:
            facts["unknown_passages"] = self._unknown
        self._progress("linking names", 0, len(self._names))
        names = StringTable(folder, "node")
        linker = NodeLinker(names, tokenizer)
        linker.save(folder)
        if not self._linked:
            self._link_texts(linker)
        return facts | write_graph(folder, len(self._passages), len(self._names), self._edges)

    def _link_texts(self, linker: NodeLinker) -> None:
        first, total = len(self._passages), len(self._passages)
        for ordinal, nodes in enumerate(linker.named(passage.searched for passage in self._passages)):
            if ordinal % _STEP == 0:
                self._progress("finding names in texts", ordinal, total)
            for node in nodes:
                self._edges.add(first + node, MENTION, ordinal)


def _passages_of(attributes: str | None) -> list[str]:
    """The ids in a node's attribute ``passages``."""
    if attributes is None or '"passages"' not in attributes:
        return []
    raw = fields_of(attributes).get("passages")
    found = loads(raw) if raw is not None else None
    return [p for p in found if isinstance(p, str)] if isinstance(found, list) else []


def build_names(folder: Path, passages: Passages, tokenizer: Terms, progress: Progress | None) -> dict[str, Any]:
    """Write the graph of the names in the texts: each joined to the passages that have it; returns facts about it.

    Names are those of `extract_names`, spellings with the same `name_key` are one. Kept are names of at least two
    passages, and titles. Memory: 20 bytes for each name of a passage.
    """
    progress = progress or _silent
    hashes, owners, titles = array("Q"), array("i"), array("Q")

    def mentioned() -> Iterator[str]:
        for ordinal, passage in enumerate(passages):
            if ordinal % _STEP == 0:
                progress("finding names", ordinal, len(passages))
            spelled = {name_key(name): name for name in reversed(extract_names(passage.title, _own_text(passage)))}
            titles.extend({text_hash(name_key(name)) for name in title_names(passage.title)})
            for key, name in spelled.items():
                hashes.append(text_hash(key))
                owners.append(ordinal)
                yield name

    write_strings(folder, "mentioned", mentioned())
    found = np.frombuffer(hashes, np.uint64) if hashes else np.empty(0, np.uint64)
    known, first, which, counts = np.unique(found, return_index=True, return_inverse=True, return_counts=True)
    kept = (counts >= _LEAST_PASSAGES) | np.isin(known, np.frombuffer(titles, np.uint64) if titles else known[:0])
    order = np.flatnonzero(kept)[np.argsort(first[kept], kind="stable")]
    numbers = np.full(len(known), -1, np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32) + len(passages)
    spellings = StringTable(folder, "mentioned")
    write_strings(folder, "node", (spellings[int(place)] for place in first[order]))
    del spellings
    for ending in (".bin", ".offsets.npy"):
        (folder / f"mentioned{ending}").unlink()
    edges = Edges()
    sources = numbers[which]
    is_kept = sources >= 0
    edges.extend(sources[is_kept], MENTION, np.frombuffer(owners, np.int32)[is_kept] if owners else sources)
    progress("linking names", 0, len(order))
    NodeLinker(StringTable(folder, "node"), tokenizer).save(folder)
    facts = {"graph": "names", "links": "names in texts", "names_found": len(known)}
    return facts | write_graph(folder, len(passages), len(order), edges)


def _own_text(passage: Passage) -> str:
    return f"{passage.context}\n{passage.text}" if passage.context else passage.text


def _silent(what: str, done: int, total: int) -> None:
    pass
