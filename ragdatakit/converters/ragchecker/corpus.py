"""The corpus next to RAGChecker's results, as its baselines read it: documents, or the chunks made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragdatakit.files.containers.json_text import Raw, fields_of, string_of
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import Document

_TAKEN = ("doc_id", "title", "text")


def is_of_results(tables: CanonicalTables) -> bool:
    """Whether the documents are nothing but the passages of the results that they were read from."""
    if tables.format != "ragchecker" or tables.any("chunks"):
        return False
    return list(map(hash, tables.peek("documents"))) == list(map(hash, _retrieved(tables)))


def _retrieved(tables: CanonicalTables) -> Iterator[Document]:
    """The passages that were retrieved, each once, as reading makes documents of them."""
    seen: set[str] = set()
    for run in tables.peek("runs"):
        if run.target_id is not None and run.target_id not in seen:
            seen.add(run.target_id)
            title = string_of(fields_of(run.metadata).get("title")) if run.metadata else None
            yield Document(run.target_id, run.text or "", title)


def write_corpus(tables: CanonicalTables, out: Output) -> None:
    """Write ``corpus.jsonl``, and ``chunks.jsonl`` where the ids of chunks are those of documents with a number."""
    if tables.passages == "chunks" and _are_numbered(tables):
        titles = {d.doc_id: d.title for d in tables.peek("documents")}
        if tables.any("documents"):
            _write_documents(tables, out, tables.take("documents", *_TAKEN, "metadata"), "documents")
        with out.lines("chunks.jsonl") as lines:
            seen: set[str] = set()
            for chunk in tables.take("chunks", "chunk_id", "doc_id", "ordinal", "text", "metadata"):
                if chunk.chunk_id in seen:
                    tables.drop("chunks", chunk, "duplicate id")
                    continue
                seen.add(chunk.chunk_id)
                record = {"doc_id": chunk.doc_id, "title": titles.get(chunk.doc_id), "chunk_id": chunk.ordinal}
                more = _more(tables, "chunks", chunk.chunk_id, chunk.metadata, (*_TAKEN[::2], "chunk_id"))
                lines.write({**record, "text": chunk.text, **more})
    elif tables.any(tables.passages):
        _write_documents(tables, out, tables.take_passages(*_TAKEN, "metadata"), tables.passages)


def _are_numbered(tables: CanonicalTables) -> bool:
    return all(
        c.doc_id is not None and (c.ordinal or 0) >= 0 and c.chunk_id == f"{c.doc_id}-{c.ordinal}"
        for c in tables.peek("chunks")
    )


def _write_documents(tables: CanonicalTables, out: Output, documents: Iterator[Any], table: str) -> None:
    seen: set[str] = set()
    with out.lines("corpus.jsonl") as lines:
        for document in documents:
            if document.doc_id in seen:
                tables.drop(table, document, "duplicate id")
                continue
            seen.add(document.doc_id)
            more = _more(tables, table, document.doc_id, document.metadata, _TAKEN)
            lines.write({"doc_id": document.doc_id, "title": document.title, "text": document.text, **more})


def _more(
    tables: CanonicalTables, table: str, key: str, metadata: str | None, taken: tuple[str, ...]
) -> dict[str, Raw]:
    """Further members; those whose names are taken are lost."""
    fields = fields_of(metadata) if metadata else {}
    for name in taken:
        if name in fields:
            tables.losses.add("lost", table, "metadata", "a member of a name that is taken", f"{key}: {name}")
            del fields[name]
    return fields
