"""The documents of SAGE's Wiki18 retriever: lines whose places are the numbers of their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ragdatakit.converters.free_names import FreeNames
from ragdatakit.converters.sage.generations import Fields, is_object, is_string
from ragdatakit.files.containers import json_text
from ragdatakit.files.containers.json_text import Raw
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.canonical import Document

KEPT_METADATA = "ragdata_metadata"
"""Where metadata are that would be taken for something else if they were by themselves."""
_TAKEN = frozenset(("id", "title", "contents", "text", "query", "question", KEPT_METADATA))


def document_rows(files: Iterable[DataFile], records: RecordReader) -> Iterator[Document]:
    """The documents. One without an id is called by its place from 0; one whose id existed before, by both."""
    free = FreeNames(form="{}#{}")
    number = 0
    for file in files:
        for place, entry in enumerate(records.objects(file)):
            given = _id_text(entry.get("id"))
            doc_id = str(number) if given is None else given
            unique = free(doc_id)
            if given is None:
                why = "documents without an id are called by their place"
                records.tell_once("derived", "documents", "doc_id", why, file, place, unique)
            if unique != doc_id:
                why = "another document had this id before"
                records.tell_once("renumbered", "documents", "doc_id", why, file, place, f"{doc_id} became {unique}")
            yield _document(entry, unique)
            number += 1


def _document(entry: Fields, doc_id: str) -> Document:
    """Whatever the columns do not show exactly stays in the metadata, too."""
    left = dict(entry)
    contents = left.pop("contents", None)
    title = json_text.string_of(left["title"]) if is_string(left.get("title")) else None
    if title is not None:
        del left["title"]
    if is_string(left.get("id")) and json_text.string_of(left["id"]) == doc_id:
        del left["id"]
    if is_object(left.get(KEPT_METADATA)):
        left = {k: v for k, v in left.items() if k != KEPT_METADATA} | json_text.fields_of(left[KEPT_METADATA])
    return Document(doc_id, _text_of(contents), title, json_text.object_text(left))


def _text_of(raw: Raw | None) -> str:
    """What the retriever would show: text that is none is its JSON text."""
    return (json_text.string_of(raw) if is_string(raw) else json_text.compact(raw) if raw is not None else "") or ""


def _id_text(raw: Raw | None) -> str | None:
    """An id, numbers by their digits; None where there is none that can be one."""
    if is_string(raw):
        return json_text.string_of(raw)
    text = json_text.compact(raw) if raw is not None else ""
    return text if text[:1].isdigit() or text[:1] == "-" else None


def document_line(document: Document, of_sage: bool) -> dict[str, Any]:
    """The line of a document; ``of_sage``: its metadata are what was beside its contents."""
    line: dict[str, Any] = {"id": document.doc_id}
    if document.title is not None:
        line["title"] = document.title
    line["contents"] = document.text
    metadata = json_text.fields_of(document.metadata) if document.metadata else {}
    natural = {"text"} if of_sage else set()
    given = _id_text(metadata.get("id"))
    is_doc_id = is_string(metadata.get("id")) and given == document.doc_id  # by the column alone, if it was in the line
    if (
        of_sage
        and given is not None
        and not is_doc_id
        and (document.doc_id == given or document.doc_id.startswith(f"{given}#"))
    ):
        line["id"] = metadata["id"]
        natural.add("id")
    if of_sage and document.title is None and "title" in metadata and not is_string(metadata["title"]):
        natural.add("title")
    if _TAKEN.difference(natural).isdisjoint(metadata):
        return line | metadata
    return line | {KEPT_METADATA: metadata}
