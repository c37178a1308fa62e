"""A working directory: documents, chunks, the graph, and vectors by an embedder, or of hashed words, which are marked
as such.

Hashed words let one try a directory without a model. To use it in earnest, its vectors are rebuilt with one
(lightrag.tools.rebuild_vdb).
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from hashlib import md5
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from ragdatakit.converters.lightrag.graph import Entity, Graph, Pair
from ragdatakit.files.containers.json_text import dumps, fields_of, string_of
from ragdatakit.files.lightrag.names import (
    NO_KEYWORDS,
    SEPARATOR,
    UNKNOWN_FILE,
    base_name,
    entity_id,
    hashed,
    pair_of,
    relation_ids,
    sanitized,
)
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import Chunk, Document

if TYPE_CHECKING:
    from ragdatakit.retrieval.extraction.text_vectors import ChosenEmbedder

MARK = "words hashed by ragdata, without a model"
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_TIME = "2000-01-01T00:00:00+00:00"
_SUMMARY = 100
_AT_ONCE = 1024
"""Texts whose vectors are held in memory."""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE_KEYS = ("entity_id", "entity_type", "description", "source_id", "file_path", "created_at")
_EDGE_KEYS = ("weight", "description", "keywords", "source_id", "file_path", "created_at")
_MOST_SOURCES = 200
"""Chunks that LightRAG names in the graph for an entity or a relation, the first ones; a store has all of them."""
_NUMBERS = {"weight": "double", "created_at": "long"}


def write_directory(
    tables: CanonicalTables, out: Output, dimension: int, embedder: ChosenEmbedder | None = None
) -> None:
    """Write all files."""
    maker = _VectorMaker(dimension, embedder)
    texts = _Texts(tables, out, maker)
    texts.write()
    graph = Graph(tables, out, texts.written)
    pairs = graph.pairs()
    _write_graph(tables, out, graph, pairs, texts, maker)
    more = "" if maker.by_model else "; rebuild them before use"
    tables.losses.add("derived", "chunks", None, f"vectors: {maker.mark}{more}")


class _VectorMaker:
    """Makes vectors, by the embedder that was chosen, else of hashed words; all have the same dimension."""

    def __init__(self, dimension: int, embedder: ChosenEmbedder | None) -> None:
        self.dimension = dimension
        self._embedder = embedder
        self.by_model = embedder.name if embedder is not None else ""

    @property
    def mark(self) -> str:
        """What the vectors are."""
        return f"made by {self.by_model}" if self.by_model else MARK

    def of(self, texts: list[str]) -> list[bytes]:
        """The vectors of texts, as 32-bit floats."""
        made = self._embedder.vectors(texts) if self._embedder is not None and texts else None
        if made is None:
            return [hashed_vector(text, self.dimension) for text in texts]
        self.dimension = made.shape[1]
        return [row.astype("<f4").tobytes() for row in made]


class _Vectors:
    """One store of vectors: rows while they come, the matrix at the end."""

    def __init__(self, maker: _VectorMaker) -> None:
        self._maker = maker
        self._texts: list[str] = []
        self._rows: list[bytes] = []
        self._matrix: list[bytes] = []

    def add(self, text: str, row: dict[str, str]) -> None:
        """A row with the vector of a text."""
        self._texts.append(text)
        self._rows.append(dumps(row).encode())
        if len(self._texts) >= _AT_ONCE:
            self._settle()

    def _settle(self) -> None:
        vectors = self._maker.of(self._texts)
        first = len(self._matrix)
        for place, vector in enumerate(vectors, first):
            self._rows[place] = self._rows[place][:-1] + b',"vector":"' + _packed(vector) + b'"}'
        self._matrix += vectors
        self._texts = []

    def write(self, out: Output, name: str) -> None:
        """Write the file."""
        self._settle()
        with out.lines(name) as file:
            file.put(b'{"embedding_dim": %d,\n "data": [\n  ' % self._maker.dimension)
            for i, row in enumerate(self._rows):
                file.put((b",\n  " if i else b"") + row)
            additional = dumps({"embedding": self._maker.mark}).encode()
            matrix = base64.b64encode(b"".join(self._matrix))
            file.put(b'\n ],\n "matrix": "%b",\n "additional_data": %b}\n' % (matrix, additional))
            file.records = len(self._rows)


def hashed_vector(text: str, dimension: int) -> bytes:
    """Words counted by their hashes, as a unit vector of 32-bit floats."""
    import numpy as np

    found = np.zeros(dimension, dtype="<f4")
    for word in _WORD.findall(text.lower()):
        found[int(md5(word.encode(), usedforsecurity=False).hexdigest(), 16) % dimension] += 1
    if not found.any():
        found[0] = 1
    return bytes((found / np.linalg.norm(found)).astype("<f4").tobytes())


def _packed(vector: bytes) -> bytes:
    """A vector as rows have it next to their matrix: half as wide, packed."""
    import numpy as np

    return base64.b64encode(zlib.compress(np.frombuffer(vector, dtype="<f4").astype("<f2").tobytes()))


class _Texts:
    """Documents and chunks; ``written`` leads from the ids of the source to those here."""

    def __init__(self, tables: CanonicalTables, out: Output, maker: _VectorMaker) -> None:
        self.tables = tables
        self.out = out
        self.written: dict[str, str] = {}
        self.paths: dict[str, str] = {}
        self._vectors = _Vectors(maker)
        self._documents: dict[str, str] = {}
        self._lists: dict[str, list[str]] = {}
        self._own = tables.format == "lightrag"

    def write(self) -> None:
        """Write documents, chunks and the vectors of chunks; then how far each document is."""
        alone = self.tables.passages == "documents"
        self._write_documents()
        with self.out.object("kv_store_text_chunks.json") as file:
            for chunk in self._whole_documents() if alone else self._chunks():
                file.write_member(*self._member(chunk))
        self._vectors.write(self.out, "vdb_chunks.json")
        if self._documents:
            with self.out.object("kv_store_doc_status.json") as file:
                for document in self.tables.peek("documents"):
                    if document.doc_id in self._documents:
                        file.write_member(*self._status(document))

    def _chunks(self) -> Iterator[Chunk]:
        columns = ("chunk_id", "text", "doc_id", "ordinal", "metadata")
        for chunk in self.tables.take("chunks", *columns):
            if chunk.chunk_id in self.written or not sanitized(chunk.text):
                why = "another text has its id" if chunk.chunk_id in self.written else "it is blank"
                self.tables.drop("chunks", chunk, why)
            else:
                yield chunk

    def _whole_documents(self) -> Iterator[Chunk]:
        for document in self.tables.peek("documents"):
            if document.doc_id in self._documents and sanitized(document.text):
                yield Chunk(document.doc_id, document.text, document.doc_id, 0)

    def _write_documents(self) -> None:
        if "documents" not in self.tables:
            return
        taken: set[str] = set()
        with self.out.object("kv_store_full_docs.json") as file:
            for document in self.tables.take("documents", "doc_id", "text", "title", "metadata"):
                if document.doc_id in self._documents:
                    self.tables.drop("documents", document, "another document has its id")
                    continue
                path = base_name(document.title or "") or UNKNOWN_FILE
                name = document.doc_id if self._own else hashed("doc-", path if path != UNKNOWN_FILE else document.text)
                if name in taken:
                    name = hashed("doc-", document.doc_id)
                taken.add(name)
                self._documents[document.doc_id] = name
                if name != document.doc_id:
                    self.out.renamed("passage", name, document.doc_id)
                fields = fields_of(document.metadata) if document.metadata else {}
                self.paths[name] = path
                file.write_member(name, {"content": document.text, "file_path": path, **fields})

    def _member(self, chunk: Chunk) -> tuple[str, dict[str, object]]:
        document = self._documents.get(chunk.doc_id or "")
        listed = self._lists.setdefault(document or "", [])
        ordinal = chunk.ordinal if chunk.ordinal is not None else len(listed)
        kept = fields_of(chunk.metadata) if chunk.metadata else {}
        path = string_of(kept.get("file_path")) or self.paths.get(document or "", UNKNOWN_FILE)
        name = chunk.chunk_id
        if not self._own:
            place = len(listed) if document else 0
            ordinal = place
            name = f"{document}-chunk-{place:03d}" if document else hashed("chunk-", chunk.text)
        if not self._own and name != chunk.chunk_id:
            self.out.renamed("passage", name, chunk.chunk_id)
        listed.append(name)
        self.written[chunk.chunk_id] = name
        self.paths[name] = path
        text = chunk.text
        self._vectors.add(text, {"__id__": name, "content": text, "full_doc_id": document or name, "file_path": path})
        tokens = len(_TOKEN.findall(text))
        fields: dict[str, object] = {"content": text, "tokens": tokens, "chunk_order_index": ordinal}
        fields |= {"full_doc_id": document or name, "file_path": path, "llm_cache_list": []}
        if document is None:
            fields["source_id"] = name
        others = {k: v for k, v in kept.items() if k not in fields}
        if others and not self._own:
            why = "the target has no place for it"
            self.tables.losses.add("lost", "chunks", "metadata", why, chunk.chunk_id)
        return name, fields | (others if self._own else {})

    def _status(self, document: Document) -> tuple[str, dict[str, object]]:
        name = self._documents[document.doc_id]
        chunks = self._lists.get(name, [])
        return name, {
            "status": "processed",
            "content_summary": document.text[:_SUMMARY],
            "content_length": len(document.text),
            "created_at": _TIME,
            "updated_at": _TIME,
            "file_path": self.paths.get(name, UNKNOWN_FILE),
            "chunks_count": len(chunks),
            "chunks_list": chunks,
        }


def _write_graph(
    tables: CanonicalTables,
    out: Output,
    graph: Graph,
    pairs: dict[tuple[str, str], Pair],
    texts: _Texts,
    maker: _VectorMaker,
) -> None:
    entities, relations = _Vectors(maker), _Vectors(maker)
    cut: dict[str, dict[str, list[str]]] = {"entity": {}, "relation": {}}
    with out.lines("graph_chunk_entity_relation.graphml") as file:
        file.put(_head().encode())
        for entity in graph.entities(pairs):
            values = _node_values(entity, texts.paths)
            if len(entity.passages) > _MOST_SOURCES:
                cut["entity"][entity.name] = entity.passages
            file.put(_element(f"node id={_quoted(entity.name)}", "n", _NODE_KEYS, values).encode())
            file.records += 1
            content = f"{entity.name}\n{values[2]}"
            row = {"__id__": entity_id(entity.name), "entity_name": entity.name, "content": content}
            entities.add(content, row | {"source_id": values[3], "file_path": values[4]})
        for pair in pairs.values():
            values = _edge_values(pair, texts.paths)
            ends = f"edge source={_quoted(pair.source)} target={_quoted(pair.target)}"
            file.put(_element(ends, "e", _EDGE_KEYS, values).encode())
            file.records += 1
            source, target = pair_of(pair.source, pair.target)
            if len(pair.passages) > _MOST_SOURCES:
                cut["relation"][f"{source}{SEPARATOR}{target}"] = list(pair.passages)
            content = f"{values[2]}\t{source}\n{target}\n{values[1]}"
            row = {"__id__": next(relation_ids(source, target)), "src_id": source, "tgt_id": target, "content": content}
            relations.add(content, row | {"source_id": values[3], "file_path": values[4]})
        file.put(b"  </graph>\n</graphml>\n")
    for kind, lists in cut.items():
        if lists:
            with out.object(f"kv_store_{kind}_chunks.json") as store:
                for name, chunks in lists.items():
                    store.write_member(name, {"chunk_ids": chunks, "count": len(chunks)})
    entities.write(out, "vdb_entities.json")
    relations.write(out, "vdb_relationships.json")


def _clean(text: str) -> str:
    """Text that XML can hold."""
    return _NOT_XML.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _node_values(entity: Entity, paths: dict[str, str]) -> list[str]:
    description = _clean(entity.description) or entity.name
    named = entity.passages[:_MOST_SOURCES]
    sources = SEPARATOR.join(named) or "UNKNOWN"
    path = entity.path or _joined_paths(named, paths)
    return [entity.name, _clean(entity.kind), description, sources, path, *_number(entity.created)]


def _edge_values(pair: Pair, paths: dict[str, str]) -> list[str]:
    keywords = _clean(",".join(k for k in pair.keywords if k)) or NO_KEYWORDS
    description = _clean(SEPARATOR.join(pair.descriptions)) or f"{pair.source} – {keywords} – {pair.target}"
    sources = list(pair.passages)[:_MOST_SOURCES]
    path = pair.path or _joined_paths(sources, paths)
    return [repr(pair.final_weight), description, keywords, SEPARATOR.join(sources), path, *_number(pair.created)]


def _number(value: int | None) -> list[str]:
    return [] if value is None else [str(value)]


def _joined_paths(passages: list[str], paths: dict[str, str]) -> str:
    return SEPARATOR.join(dict.fromkeys(paths.get(p, UNKNOWN_FILE) for p in passages)) or UNKNOWN_FILE


def _quoted(text: str) -> str:
    return quoteattr(_clean(text), {"\n": "&#10;", "\t": "&#9;"})


def _head() -> str:
    keys = [("n", "node", i, name) for i, name in enumerate(_NODE_KEYS)]
    keys += [("e", "edge", i, name) for i, name in enumerate(_EDGE_KEYS)]
    header = "<?xml version='1.0' encoding='utf-8'?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
    for letter, of, number, name in keys:
        kind = _NUMBERS.get(name, "string")
        header += f'  <key id="{letter}{number}" for="{of}" attr.name="{name}" attr.type="{kind}" />\n'
    return header + '  <graph edgedefault="undirected">\n'


def _element(head: str, letter: str, keys: tuple[str, ...], values: list[str]) -> str:
    inside = "".join(
        f'      <data key="{letter}{number}">{escape(_clean(value))}</data>\n'
        for number, (_, value) in enumerate(zip(keys, values, strict=False))
    )
    return f"    <{head}>\n{inside}    </{head.split(' ', 1)[0]}>\n"
