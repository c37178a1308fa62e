"""Records of BEIR's files as rows of canonical tables, and the fields that a row's metadata are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ragdatakit.converters.question_fields import BESIDE
from ragdatakit.files.containers.json_text import Raw, compact, fields_of, loads, object_text, string_of
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.beir.format import BEIR
from ragdatakit.schemas.canonical import Document, Qrel, Question
from ragdatakit.schemas.declarations import Record

_FURTHER = f"column {len(BEIR.file('qrels').record.fields) + 1}"  # all that follows the last column


@dataclass(frozen=True)
class Fields:
    """Which fields of a record BEIR knows, with their columns, and what else the columns of the table are called."""

    table: str
    known: Mapping[str, str]
    columns: tuple[str, ...]


OF_METADATA, ABSENT = {"documents": "documents.metadata", "questions": "questions.metadata"}, "absent"
DOCUMENT = Fields("documents", {"_id": "doc_id", "title": "title", "text": "text"}, Document._fields)
QUERY = Fields("questions", {"_id": "question_id", "text": "text"}, Question._fields)


def usual_record(kind: str, bare: bool | None) -> Record:
    """What most records of a file of this kind are: with metadata or without, as the first one, and with no field that
    BEIR does not know."""
    record = BEIR.file(kind).record
    fields = [replace(f, required=f.required or (f.name == "metadata" and bare is False)) for f in record.fields]
    return replace(record, extra="forbid", fields=tuple(f for f in fields if f.name != "metadata" or not bare))


def members_of(raw: bytes | None) -> str | None:
    """Metadata as they are kept; nothing of those without members, or that are not there."""
    return None if not raw or raw == b"{}" or (found := compact(raw)) == "{}" else found


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


def question_of(
    records: RecordReader, file: DataFile, number: int, fields: dict[str, Raw], bare: bool | None = None
) -> Question | None:
    """The question that a record is, of no split; None where it is left out. ``bare`` as of documents."""
    names = list(fields)
    if (known := _id_and_text(fields, QUERY, records, file, number)) is None:
        return None
    metadata, others = _metadata(fields, QUERY, records, file, number)
    return Question(*known, metadata=metadata, field_order=_field_order(names, QUERY, others, bare))


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
        return members_of(inner), {}
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
        bare = "metadata" not in order if order else form.get(OF_METADATA[kind.table]) == ABSENT
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
