"""The canonical tables as a payload of ainsert_custom_kg, or as a working directory with hashed vectors."""

from __future__ import annotations

from collections.abc import Iterator

from ragdatakit.converters import Options
from ragdatakit.converters.lightrag.directory import write_directory
from ragdatakit.converters.lightrag.graph import Graph
from ragdatakit.files.containers.json_text import dumps, fields_of, string_of
from ragdatakit.files.lightrag.names import NO_KEYWORDS, SEPARATOR, sanitized
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.outputs.file_writers import LineWriter
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import Document
from ragdatakit.schemas.errors import RagdataError

PAYLOAD = "custom_kg.json"


def write(tables: CanonicalTables, out: Output, options: Options) -> None:
    """Write the form that is asked for."""
    if not tables.any(tables.passages) and not tables.any("nodes") and not tables.any("edges"):
        raise RagdataError("LightRAG is made of texts and a graph, and the source has neither")
    if options["form"] == "directory" and not tables.any(tables.passages):
        reason = "a working directory needs chunks, and the source has none"
        raise RagdataError(f"{reason}; --option form=payload writes a graph alone")
    if options["form"] == "payload" and options.embedder is not None:
        raise RagdataError("--embedder makes vectors, and a payload has none: --option form=directory")
    if options["form"] == "directory":
        write_directory(tables, out, options["dimension"], options.embedder)
    else:
        _write_payload(tables, out)


def _write_payload(tables: CanonicalTables, out: Output) -> None:
    with out.lines(PAYLOAD) as file:
        file.put(b'{\n "chunks": [')
        passages = _write_all(file, _chunks(tables, out))
        graph = Graph(tables, out, passages)
        pairs = graph.pairs()
        file.put(b'\n ],\n "entities": [')
        separator = b"\n  "
        for entity in graph.entities(pairs):
            fields = {"entity_name": entity.name, "entity_type": entity.kind}
            if entity.description:
                fields["description"] = entity.description
            if entity.path:
                fields["file_path"] = entity.path
            if entity.created is not None:
                _lose_time(tables, "nodes", entity.name)
            if entity.passages:
                fields["source_id"] = entity.passages[0]
                _lose_passages(tables, "nodes", entity.name, len(entity.passages) - 1)
            file.put(separator + dumps(fields).encode())
            separator = b",\n  "
        file.put(b'\n ],\n "relationships": [')
        separator = b"\n  "
        for pair in pairs.values():
            keywords = ",".join(k for k in pair.keywords if k) or NO_KEYWORDS
            edge = {
                "src_id": pair.source,
                "tgt_id": pair.target,
                "description": SEPARATOR.join(pair.descriptions) or f"{pair.source} – {keywords} – {pair.target}",
                "keywords": keywords,
                "weight": pair.final_weight,
            }
            if pair.path:
                edge["file_path"] = pair.path
            if pair.created is not None:
                _lose_time(tables, "edges", f"{pair.source} → {pair.target}")
            if pair.passages:
                edge["source_id"] = next(iter(pair.passages))
                _lose_passages(tables, "edges", f"{pair.source} → {pair.target}", len(pair.passages) - 1)
            file.put(separator + dumps(edge).encode())
            separator = b",\n  "
        file.put(b"\n ]\n}\n")
        file.records = 1


def _lose_time(tables: CanonicalTables, table: str, shown: str) -> None:
    tables.losses.add("lost", table, "attributes", "a payload has no place for created_at", shown)


def _lose_passages(tables: CanonicalTables, table: str, shown: str, number: int) -> None:
    if number > 0:
        why = "a payload names one chunk as the source; the others are lost (--option form=directory keeps them)"
        tables.losses.add("lost", table, "attributes", why, shown, number)


def _write_all(file: LineWriter, rows: Iterator[tuple[str, bytes]]) -> dict[str, str]:
    written: dict[str, str] = {}
    separator = b"\n  "
    for alias, data in rows:
        written[alias] = alias
        file.put(separator + data)
        separator = b",\n  "
    return written


def _chunks(tables: CanonicalTables, out: Output) -> Iterator[tuple[str, bytes]]:
    """The texts; their ids are the aliases."""
    seen: set[str] = set()
    ordinals = {c.chunk_id: c.ordinal for c in tables.peek("chunks") if c.ordinal is not None}
    if tables.passages == "chunks" and "chunks" in tables:
        tables.covered["chunks"] = tables.covered.get("chunks", frozenset()) | {"ordinal"}
    for passage in tables.take_passages("doc_id", "text", "title", "metadata"):
        if passage.doc_id in seen or not sanitized(passage.text):
            why = "another text has its id" if passage.doc_id in seen else "it is blank"
            tables.drop(tables.passages, passage, why)
            continue
        seen.add(passage.doc_id)
        path = _path_of(passage)
        fields = {"content": passage.text, "source_id": passage.doc_id}
        if path:
            fields["file_path"] = path
        if passage.doc_id in ordinals:
            fields["chunk_order_index"] = ordinals[passage.doc_id]
        if passage.metadata and set(fields_of(passage.metadata)) - {"file_path", "source_id"}:
            tables.losses.add("lost", tables.passages, "metadata", "the target has no place for it", passage.doc_id)
        yield passage.doc_id, dumps(fields).encode()


def _path_of(passage: Document) -> str:
    kept = string_of(fields_of(passage.metadata).get("file_path")) if passage.metadata else None
    return kept or passage.title or ""
