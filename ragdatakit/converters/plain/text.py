"""Plain texts: every text or Markdown file of a folder is a document. Only read."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ragdatakit.converters import Converter, Option, Options
from ragdatakit.files.containers.json_text import Raw, dumps, object_text, string_of
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.plain_sources import PASSED_OVER
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.files.reading.noted_rows import FileRows, Note
from ragdatakit.files.reading.record_reading import RecordReader, refuse_encoding
from ragdatakit.files.texts.front_matter import split_front_matter
from ragdatakit.files.texts.titles import heading, telling_name
from ragdatakit.schemas.canonical import Document


def _read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    refuse_encoding(options["encoding"])

    def documents(notes: list[Note]) -> Iterator[Document]:
        notes += [
            ("dropped", "documents", None, "a link that leads out of the folder, or no regular file", f.name)
            for f in dataset.ignored
        ]
        passed_over = dataset.options.get(PASSED_OVER, {})
        notes += [("dropped", "documents", None, why, name) for name, why in passed_over.items()]
        for file in dataset.files:
            text = _text_of(file, records, options["encoding"], notes)
            if text is not None:
                yield _document(file, text, options["front-matter"], notes)

    files = {_doc_id(file, []): file.path for file in dataset.files}
    return {"documents": FileRows(records.losses, documents, files)}


def _text_of(file: DataFile, records: RecordReader, encoding: str, notes: list[Note]) -> str | None:
    content = records.content(file)
    if content is None:
        return None
    data, marked = content
    try:
        text = data.decode(encoding)
    except UnicodeError as error:
        where = f"byte {error.start:,}" if isinstance(error, UnicodeDecodeError) else str(error)
        reason = f"not {encoding.upper()}; give its encoding with --option encoding=…"
        notes.append(("dropped", "documents", None, reason, f"{file.name}: {where}"))
        return None
    if marked:
        notes.append(("coerced", "documents", "text", "the byte-order mark is left out", file.name))
    return text


def _document(file: DataFile, text: str, front_matter: bool, notes: list[Note]) -> Document:
    doc_id = _doc_id(file, notes)
    markdown = not file.name.lower().endswith(".txt")
    fields: dict[str, Raw] = {}
    title = None
    repeated: list[str] = []
    parts = split_front_matter(text, repeated) if markdown else None
    body = text if parts is None else parts[1]
    if front_matter and parts is not None:
        fields, text = parts
        notes += [
            (
                "lost",
                "documents",
                "metadata",
                "a later field of the front matter has the same name",
                f"{doc_id}: {name}",
            )
            for name in repeated
        ]
        title = string_of(fields.get("title"))
        if title:
            del fields["title"]
    if not title:
        title = heading(body) if markdown else None
        source = "the first heading"
        if not title:
            title, source = telling_name(doc_id), "the file's name"
        if title:
            notes.append(("derived", "documents", "title", f"taken from {source}", f"{doc_id}: {title}"))
    folder, _, rest = doc_id.partition("/")
    if rest:
        fields.setdefault("category", Raw(dumps(folder).encode()))
    return Document(doc_id, text, title or None, object_text(fields))


def _doc_id(file: DataFile, notes: list[Note]) -> str:
    try:
        file.name.encode()
    except UnicodeEncodeError:
        name = os.fsencode(file.name).decode("utf-8", "backslashreplace")
        notes.append(("coerced", "documents", "doc_id", "bytes of the file's name that are not UTF-8", name))
        return name
    return file.name


CONVERTER = Converter(
    name="text",
    read=_read,
    gives={"documents": ("doc_id", "text", "title", "metadata")},
    options=(
        Option("front-matter", "read", "Take the YAML block at the top of Markdown files as metadata.", True),
        Option("encoding", "read", "How the files are encoded.", "utf-8"),
    ),
)
