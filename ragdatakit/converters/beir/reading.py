"""BEIR's files as canonical tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ragdatakit.converters import Options
from ragdatakit.converters.beir.records import (
    ABSENT,
    OF_METADATA,
    document_of,
    members_of,
    qrel_of,
    question_of,
    usual_record,
)
from ragdatakit.converters.judgements import Splits, judged_splits
from ragdatakit.files.containers.parquet_rows import is_parquet, shard_split
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.sniffing import read_head
from ragdatakit.files.paths.boundary import boundary_of
from ragdatakit.files.paths.folders import is_regular, size_of
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.files.reading.kept_rows import Columns, ColumnSource, KeptRows, columns_of
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library
from ragdatakit.schemas.beir.format import BEIR
from ragdatakit.schemas.canonical import Document, Qrel, Question
from ragdatakit.schemas.errors import RagdataError

_WORTH_SCANNING = 1 << 15
"""Bytes of a file of questions or judgements from which on the scanner reads it sooner than Python."""


class _Empty(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An object without members."""


class _PlainDocument(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A document as most sets have it, which is read at once; others are read field by field."""

    doc_id: str = msgspec.field(name="_id")
    text: str
    title: str | None = None
    metadata: _Empty | UnsetType = UNSET


_PLAIN = msgspec.json.Decoder(_PlainDocument)


class _BareQuestion(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A question without metadata, or with empty ones, as most sets have them."""

    question_id: str = msgspec.field(name="_id")
    text: str


class _PlainQuestion(_BareQuestion, forbid_unknown_fields=True, gc=False):
    metadata: _Empty


_OF_QUESTIONS: dict[bool, msgspec.json.Decoder[Any]] = {
    True: msgspec.json.Decoder(_BareQuestion),
    False: msgspec.json.Decoder(_PlainQuestion),
}
"""By whether the first question has no metadata."""


def read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    """The tables of one set of queries over the corpus."""
    prefix, named = _chosen_prefix(dataset, options["prefix"]), str(options["queries"] or "")
    corpus, qrels = files_read(dataset, "corpus"), files_read(dataset, "qrels", prefix)
    queries = _query_files(dataset, named, prefix)
    for file in dataset.files:
        if file.split not in (None, prefix) and file.name != named:
            option = f"--option prefix={file.split}" if file.split else "read without --option prefix"
            records.leave_out(file, 0, f"the whole file is of another set of queries: {option}", file.name)
    # who reads questions reads them, too
    judged = KeptRows(ColumnSource(Qrel, lambda: _qrels(qrels, records)), Qrel)
    splits = cache(
        lambda: judged_splits(pair for q, _, _, _, of, _ in judged.columns() for pair in zip(q, of, strict=True))
    )
    found: dict[str, RowSource] = {}
    if corpus:
        found["documents"] = lambda: _documents(corpus, records, are_bare(corpus))
    if queries:
        found["questions"] = ColumnSource(Question, lambda: _questions(queries, splits, records, are_bare(queries)))
    if qrels:
        found["qrels"] = judged
    return found


def _chosen_prefix(dataset: Dataset, wanted: str | None) -> str | None:
    """Which set of queries is read; None where no file has a prefix."""
    prefixes = list(dict.fromkeys(f.split for f in dataset.files if f.split is not None))
    if wanted and wanted not in prefixes:
        raise RagdataError(f"--option prefix={wanted}: there is no {wanted}-queries.jsonl in {dataset.display}")
    if wanted or "" in prefixes:
        return wanted or ""
    if len(prefixes) > 1:
        listed = ", ".join(filter(None, prefixes))
        raise RagdataError(
            f"{dataset.display} has several sets of queries ({listed}); choose one: --option prefix={prefixes[0]}"
        )
    return prefixes[0] if prefixes else None


def files_read(dataset: Dataset, kind: str, prefix: str | None = None) -> list[DataFile]:
    """The files of a kind; of a file that is there packed and unpacked the unpacked one, as the loader does it."""
    names = {f.name for f in dataset.files}
    return [f for f in dataset.of_kind(kind, prefix) if f.name.removesuffix(".gz") not in names - {f.name}]


def _query_files(dataset: Dataset, name: str, prefix: str | None) -> list[DataFile]:
    if not name:
        return files_read(dataset, "queries", prefix)
    path = dataset.root / name
    if not is_regular(path, boundary_of(dataset.root)) or not is_regular(path, dataset.boundary):
        raise RagdataError(f"--option queries={name}: there is no such file in {dataset.display}")
    return [DataFile(path, str(path), name, "queries", boundary=dataset.boundary)]


def split_of(file: DataFile) -> str | None:
    """The split that a file of judgements is of."""
    if file.kind != "qrels":
        return None
    if is_parquet(file.path):
        return shard_split(file.name)
    return PurePosixPath(file.name).name.removesuffix(".gz").removesuffix(".tsv")


def form(dataset: Dataset) -> dict[str, str]:
    """Of which tables the records have no metadata, as the first one has none."""
    kinds = {"documents": "corpus", "questions": "queries"}
    return {OF_METADATA[table]: ABSENT for table, kind in kinds.items() if are_bare(files_read(dataset, kind))}


def are_bare(files: list[DataFile]) -> bool | None:
    """Whether the first record has no metadata; None where nobody can tell."""
    head = read_head(files[0].path, files[0].boundary) if files and not is_parquet(files[0].path) else None
    first = head.records[0] if head is not None and head.records else None
    return "metadata" not in first if isinstance(first, dict) else None


def _documents(files: list[DataFile], records: RecordReader, bare: bool | None) -> Iterator[Document]:
    for file in files:
        blocks = records.shaped_blocks(file, _PLAIN, "ndjson")
        for number, fields in (each for first, block in blocks for each in enumerate(block, first)):
            if isinstance(fields, _PlainDocument):
                yield Document(fields.doc_id, fields.text, fields.title, None, _plain_order(fields, bare))
                continue
            if (document := document_of(records, file, number, fields, bare)) is not None:
                yield document


def _plain_order(fields: _PlainDocument, bare: bool | None) -> tuple[str, ...]:
    """The fields of a plain document, where it has metadata as the others do not, or the other way round."""
    if bare in (None, fields.metadata is UNSET):
        return ()
    return ("doc_id", *(("title",) if fields.title is not None else ()), "text", *(("metadata",) if bare else ()))


def _questions(
    files: list[DataFile], splits: Callable[[], Splits], records: RecordReader, bare: bool | None
) -> Iterator[Columns]:
    for file in files:
        row_of = partial(question_of, records, file, bare=bare)
        if not _is_worth_scanning(file):
            yield from columns_of(_question_rows(file, splits, records, bare))
            continue
        from ragdatakit.converters.kept_texts import KeptTexts  # needs numpy

        further = {} if bare else {"metadata": "metadata"}
        reader = KeptTexts(usual_record("queries", bare), Question, {"_id": "id", "text": "text", **further})
        for block in reader.columns(file, records, row_of):
            if isinstance(block, list):
                yield from columns_of(row._replace(split=splits().get(row.question_id or "")) for row in block)
                continue
            ids, count = list(block["id"]), len(block["id"])
            nothing, empty, of = [None] * count, [()] * count, list(map(splits().get, ids))
            metadata = [members_of(raw.encode()) for raw in block["metadata"]] if further else nothing
            yield ids, list(block["text"]), nothing, empty, of, metadata, empty


def _question_rows(
    file: DataFile, splits: Callable[[], Splits], records: RecordReader, bare: bool | None
) -> Iterator[Question]:
    blocks = records.shaped_blocks(file, _OF_QUESTIONS[bool(bare)], "ndjson")
    for number, fields in (each for first, block in blocks for each in enumerate(block, first)):
        if isinstance(fields, _BareQuestion):
            yield Question(fields.question_id, fields.text, split=splits().get(fields.question_id))
        elif (question := question_of(records, file, number, fields, bare)) is not None:
            yield question._replace(split=splits().get(question.question_id or ""))


def _qrels(files: list[DataFile], records: RecordReader) -> Iterator[Columns]:
    kind = BEIR.file("qrels")
    for file in files:
        row_of = partial(qrel_of, records, file, split := split_of(file))
        if not _is_worth_scanning(file):
            rows = (row_of(number, record) for number, record in enumerate(records.cells(file, kind)))
            yield from columns_of(row for row in rows if row is not None)
            continue
        from ragdatakit.converters.kept_texts import KeptTexts  # needs numpy

        names = [field.name for field in kind.record.fields]
        reader = KeptTexts(kind.record, Qrel, dict(zip(names, names, strict=True)), cells=kind.columns)
        for block in reader.columns_of_cells(file, records, kind, row_of):
            if isinstance(block, list):
                yield from columns_of(iter(block))
                continue
            questions, targets, grades = map(list, block.values())
            count = len(grades)
            yield questions, targets, list(map(int, grades)), ["document"] * count, [split] * count, [None] * count


def _is_worth_scanning(file: DataFile) -> bool:
    return library() is not None and size_of(file.path) >= _WORTH_SCANNING
