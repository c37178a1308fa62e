"""BEIR's files as canonical tables: the row that each record is, and the fields that a row's metadata are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ragdatakit.converters import Options
from ragdatakit.converters.judgements import Splits, judged_splits
from ragdatakit.converters.question_fields import BESIDE
from ragdatakit.files.containers.json_text import Raw, compact, fields_of, loads, object_text, string_of
from ragdatakit.files.containers.parquet_rows import is_parquet, shard_split
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.sniffing import read_head
from ragdatakit.files.paths.boundary import boundary_of
from ragdatakit.files.paths.folders import is_regular
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.files.reading.kept_rows import KeptRows
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.beir.format import BEIR
from ragdatakit.schemas.canonical import Document, Qrel, Question
from ragdatakit.schemas.errors import RagdataError

_FURTHER = f"column {len(BEIR.file('qrels').record.fields) + 1}"  # all that follows the last column


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


@dataclass(frozen=True)
class Fields:
    """Which fields of a record BEIR knows, with their columns, and what else the columns of the table are called."""

    table: str
    known: Mapping[str, str]
    columns: tuple[str, ...]


_METADATA, _ABSENT = {"documents": "documents.metadata", "questions": "questions.metadata"}, "absent"
DOCUMENT = Fields("documents", {"_id": "doc_id", "title": "title", "text": "text"}, Document._fields)
QUERY = Fields("questions", {"_id": "question_id", "text": "text"}, Question._fields)


def read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    """The tables of one set of queries over the corpus."""
    prefix, named = _chosen_prefix(dataset, options["prefix"]), str(options["queries"] or "")
    corpus, qrels = files_read(dataset, "corpus"), files_read(dataset, "qrels", prefix)
    queries = _query_files(dataset, named, prefix)
    for file in dataset.files:
        if file.split not in (None, prefix) and file.name != named:
            option = f"--option prefix={file.split}" if file.split else "read without --option prefix"
            records.leave_out(file, 0, f"the whole file is of another set of queries: {option}", file.name)
    judged = KeptRows(lambda: _qrels(qrels, records), Qrel)  # who reads questions reads them, too
    splits = cache(lambda: judged_splits(judged()))
    found: dict[str, RowSource] = {}
    if corpus:
        found["documents"] = lambda: _documents(corpus, records, are_bare(corpus))
    if queries:
        found["questions"] = lambda: _questions(queries, splits, records, are_bare(queries))
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
    return {_METADATA[table]: _ABSENT for table, kind in kinds.items() if are_bare(files_read(dataset, kind))}


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


def document_of(
    records: RecordReader, file: DataFile, number: int, fields: dict[str, Raw], bare: bool | None = None
) -> Document | None:
    """The document that a record is; None where it is left out. ``bare``: such records have no metadata (None: they
    may have some or not)."""
    names = list(fields)
    if (known := _id_and_text(fields, DOCUMENT, records, file, number)) is None:
        return None
    title = string_of(fields.get("title"))
    if title is not None or bytes(fields.get("title", b"")) == b"null":
        del fields["title"]
    metadata, others = _metadata(fields, DOCUMENT, records, file, number)
    return Document(*known, title, metadata, _field_order(names, DOCUMENT, others, bare))


def _questions(
    files: list[DataFile], splits: Callable[[], Splits], records: RecordReader, bare: bool | None
) -> Iterator[Question]:
    for file in files:
        blocks = records.shaped_blocks(file, _OF_QUESTIONS[bool(bare)], "ndjson")
        for number, fields in (each for first, block in blocks for each in enumerate(block, first)):
            if isinstance(fields, _BareQuestion):
                yield Question(fields.question_id, fields.text, split=splits().get(fields.question_id))
            elif (question := question_of(records, file, number, fields, bare)) is not None:
                yield question._replace(split=splits().get(question.question_id or ""))


def question_of(
    records: RecordReader, file: DataFile, number: int, fields: dict[str, Raw], bare: bool | None = None
) -> Question | None:
    """The question that a record is, of no split; None where it is left out. ``bare`` as of documents."""
    names = list(fields)
    if (known := _id_and_text(fields, QUERY, records, file, number)) is None:
        return None
    metadata, others = _metadata(fields, QUERY, records, file, number)
    return Question(*known, metadata=metadata, field_order=_field_order(names, QUERY, others, bare))


def _qrels(files: list[DataFile], records: RecordReader) -> Iterator[Qrel]:
    for file in files:
        split = split_of(file)
        for number, record in enumerate(records.cells(file, BEIR.file("qrels"))):
            if (qrel := qrel_of(records, file, split, number, record)) is not None:
                yield qrel


def qrel_of(
    records: RecordReader, file: DataFile, split: str | None, number: int, record: Mapping[str, Any]
) -> Qrel | None:
    """The judgement that a record of a file is, which is of this split; None where it is left out."""
    if isinstance(record["score"], str):
        records.leave_out(file, number, "its score is not an integer", record["score"])
        return None
    if further := record.get(_FURTHER, "").strip():
        why = "the loader ignores what follows the third column"
        records.tell_once("lost", "qrels", _FURTHER, why, file, number, f"{record['query-id']}: {further}")
    return Qrel(record["query-id"], record["corpus-id"], record["score"], "document", split)


def _id_and_text(
    fields: dict[str, Raw], kind: Fields, records: RecordReader, file: DataFile, number: int
) -> tuple[str, str] | None:
    """Both, taken out of the fields; None where the record lacks one and is left out."""
    raw = fields.get("_id")
    found, text = _id_of(fields, kind, records, file, number), string_of(fields.pop("text", None))
    if found is None or text is None:
        records.leave_out(file, number, *_why_left_out(raw, found))
        return None
    return found, text


def _why_left_out(raw: Raw | None, found: str | None) -> tuple[str, str]:
    """Why a record without an id that can be read, or without a text, is left out, and its id as far as it has one."""
    if found is not None:
        return "it has no text", found
    if raw is None:
        return "it has no _id", ""
    return "its _id is neither a text nor an integer", bytes(raw)[:40].decode("utf-8", "replace")


def _id_of(fields: dict[str, Raw], kind: Fields, records: RecordReader, file: DataFile, number: int) -> str | None:
    """The id, taken out of the fields; a number as text, which is reported."""
    raw = fields.pop("_id", None)
    found = string_of(raw)
    if found is None and raw is not None and isinstance(value := loads(raw), int) and not isinstance(value, bool):
        column = kind.known["_id"]
        records.tell_once("coerced", kind.table, column, "a number as _id became text", file, number, value)
        return str(value)
    return found


def _metadata(
    fields: Mapping[str, Raw], kind: Fields, records: RecordReader, file: DataFile, number: int
) -> tuple[str | None, dict[str, str]]:
    """The members of the metadata and, behind them, the fields that are not BEIR's, with what each is called there."""
    inner = bytes(fields.get("metadata", b"null"))
    if len(fields) == ("metadata" in fields) and inner.startswith(b"{"):
        found = compact(inner) if inner != b"{}" else "{}"
        return (found if found != "{}" else None), {}
    others = dict(fields)
    if inner.startswith(b"{") or inner == b"null":
        others.pop("metadata", None)
    members = fields_of(inner) if inner.startswith(b"{") else {}
    names: dict[str, str] = {}
    for name, raw in others.items():
        own = name
        while own in members:
            own += "_"
        if own != name:
            why = "the metadata have a member of the name of a field"
            records.tell_once("coerced", kind.table, "metadata", why, file, number, f"{name} became {own}")
        if name == "metadata":
            why = "metadata that are not an object became a member of that name"
            records.tell_once(
                "coerced", kind.table, "metadata", why, file, number, bytes(raw).decode("utf-8", "replace")
            )
        members[own] = raw
        names[name] = own
    return object_text(members), names


def _field_order(names: list[str], kind: Fields, others: Mapping[str, str], bare: bool | None) -> tuple[str, ...]:
    """The fields of a record in their order, where there are some that BEIR does not know, or metadata where such
    records have none, or none where they have some."""
    if not others and bare in (None, "metadata" not in names):
        return ()
    order = []
    for name in names:
        if name in others:
            own = others[name]
            order.append(BESIDE + own if own in kind.columns or own.startswith(BESIDE) else own)
        elif name in kind.known:
            order.append(kind.known[name])
        elif name == "metadata" and not others:
            order.append(name)
    return tuple(order)


def record_fields(
    metadata: str | None, order: tuple[str, ...], kind: Fields, form: Mapping[str, str]
) -> dict[str, Raw]:
    """The fields of a record that hold the metadata: ``metadata``, and its members that are named as fields."""
    if metadata is None:
        bare = "metadata" not in order if order else form.get(_METADATA[kind.table]) == _ABSENT
        return {} if bare else {"metadata": Raw(b"{}")}  # as the published sets have it
    members = fields_of(metadata) if order else {}
    top: dict[str, Raw] = {}
    for column in order:
        name = column.removeprefix(BESIDE)
        if column not in kind.columns and name in members and name not in kind.known and name != "metadata":
            top[name] = members.pop(name)
    if not top:
        return {"metadata": Raw(metadata.encode())}
    inner = object_text(members)
    return {"metadata": Raw(inner.encode()), **top} if inner else top
