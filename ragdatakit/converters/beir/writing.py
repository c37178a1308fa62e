"""BEIR's files as they are written from the canonical tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ragdatakit.converters import Options
from ragdatakit.converters.beir.parquet_files import CORPUS, METADATA, QUERIES, row_of, write_judgements
from ragdatakit.converters.beir.records import DOCUMENT, QUERY, record_fields
from ragdatakit.converters.judgements import Judgements, SafeIds, numbered_questions, passage_ids, question_ids
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.tables_in_parts import Lines, PartPlace, Piece, TablesInParts
from ragdatakit.outputs.file_writers import LineWriter
from ragdatakit.outputs.parquet_files import ParquetShards, parquet_shards
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import Document
from ragdatakit.schemas.errors import RagdataError

USUAL_SPLIT = "test"
_HEADER = b"query-id\tcorpus-id\tscore\n"


def write(tables: CanonicalTables, out: Output, options: Options) -> None:
    """Write the tables. Raises `RagdataError` where there is nothing that BEIR has a file for."""
    listed = _listed(tables)
    if not any(map(tables.any, (tables.passages, "questions", "qrels"))):
        raise RagdataError("there are neither documents, questions nor judgements, which is what BEIR is made of")
    passages, questions = passage_ids(tables, _is_safe), question_ids(tables, _is_safe)
    passages.tell(out, "passage")
    questions.tell(out, "question")
    in_parquet = options["container"] == "parquet"
    documents = _write_corpus(tables, out, passages, in_parquet, listed) if tables.any(tables.passages) else None
    queries = _write_queries(tables, out, questions, in_parquet) if tables.any("questions") else None
    judgements = Judgements(tables, passages, questions, documents, queries, queries or {}, USUAL_SPLIT)
    if in_parquet:
        write_judgements(judgements, out)
        return
    judgements.write(out, partial(out.free_part, "qrels/{}.tsv"), "qrels/{}.tsv".format, "%s\t%s\t%d", _HEADER)


def _is_safe(found: str) -> bool:
    """Whether an id reads the same from a file of judgements."""
    return bool(found) and found == found.strip() and not found.startswith('"') and not set(found) & set("\t\r\n\0")


def _records(
    tables: CanonicalTables, out: Output, table: str, in_parquet: bool
) -> AbstractContextManager[LineWriter | ParquetShards]:
    """What the records of the corpus or of the queries are written to."""
    stem, columns = ("queries", QUERIES) if table == "questions" else ("corpus", CORPUS)
    if not in_parquet:
        return out.lines(f"{stem}.jsonl")
    has_metadata = any(row.metadata is not None for row in tables.peek(table))
    return parquet_shards(out, f"{stem}/{stem}", {**columns, **METADATA} if has_metadata else columns)


def _listed(tables: CanonicalTables) -> list[bytes]:
    """The ids of the documents of each part, where there are parts: the rows that are read here have these alone."""
    if tables.in_parts is None:
        return []
    listed = list(tables.in_parts.each(_list_ids, [None] * tables.in_parts.number("documents")))
    if listed:
        tables.sources = {**tables.sources, "documents": partial(_named, listed)}
    return listed


def _named(listed: list[bytes]) -> Iterator[Document]:
    return (Document(found, "") for ids in listed for found in _ids(ids))


def _ids(packed: bytes) -> list[str]:
    found: list[str] = msgspec.json.decode(packed)
    return found


def _write_corpus(
    tables: CanonicalTables, out: Output, ids: SafeIds, in_parquet: bool, listed: list[bytes]
) -> set[str]:
    """The ids that were written."""
    if tables.in_parts is not None:
        return _write_in_parts(tables, out, ids, tables.in_parts, listed)
    written: set[str] = set()
    with _records(tables, out, tables.passages, in_parquet) as lines:
        _write_documents(tables, lines, ids, in_parquet, written)
    return written


def _write_documents(
    tables: CanonicalTables, lines: Lines | ParquetShards, ids: SafeIds, in_parquet: bool, written: set[str]
) -> None:
    """Write the documents whose ids are not ``written``, and note theirs there."""
    of_beir = tables.format == "beir"  # the fields of other formats' records are none of BEIR's
    for document in tables.take_passages("doc_id", "title", "text", "metadata"):
        if document.doc_id in written:
            tables.drop(tables.passages, document, "duplicate id")
            continue
        written.add(document.doc_id)
        record = {"_id": ids[document.doc_id], "title": document.title or "", "text": document.text}
        if in_parquet:
            lines.write(row_of(record, document))
            continue
        order = document.field_order if of_beir else ()
        lines.write({**record, **record_fields(document.metadata, order, DOCUMENT, tables.form)})


def _list_ids(tables: CanonicalTables, *_: Any) -> bytes:
    """In a worker: the ids of the documents of a part."""
    return msgspec.json.encode([document.doc_id for document in tables.peek("documents")])


def _write_part(tables: CanonicalTables, place: PartPlace, given: tuple[SafeIds, set[str], Mapping[str, str]]) -> Piece:
    """In a worker: the documents of a part, except for those whose ids other parts have before."""
    ids, written, form = given
    tables.form = dict(form)
    with place.writing("corpus") as (lines, piece):
        _write_documents(tables, lines, ids, False, written)
    return piece


def _write_in_parts(
    tables: CanonicalTables, out: Output, ids: SafeIds, parts: TablesInParts, listed: list[bytes]
) -> set[str]:
    """The same by workers."""
    written: set[str] = set()
    given = []
    for own in map(_ids, listed):
        given.append((ids, {found for found in own if found in written}, tables.form))
        written.update(own)
    with out.lines("corpus.jsonl") as lines:
        for piece in parts.each(_write_part, given):
            lines.append(Path(piece.path), piece.written.records or 0)
            parts.remove(Path(piece.path))
    tables.took("documents")
    return written


def _write_queries(tables: CanonicalTables, out: Output, ids: SafeIds, in_parquet: bool) -> dict[str, str | None]:
    """The ids that were written, with the splits of their questions."""
    written: dict[str, str | None] = {}
    of_beir = tables.format == "beir"
    with _records(tables, out, "questions", in_parquet) as lines:
        for found, question in numbered_questions(tables, ids, "question_id", "text", "metadata", "split"):
            written[found] = question.split
            record = {"_id": ids[found], "text": question.text}
            if in_parquet:
                lines.write(row_of(record, question))
                continue
            order = question.field_order if of_beir else ()
            fields = record_fields(question.metadata, order, QUERY, tables.form)
            lines.write({**record, **fields})
    return written
