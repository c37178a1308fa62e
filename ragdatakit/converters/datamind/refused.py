"""Files of a DataMind repository that do not go along: what a check refused, and what the loaders could not read."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragdatakit.converters.datamind.files import is_text, raw_files
from ragdatakit.files.paths.boundary import listed_file, open_listed
from ragdatakit.schemas.canonical import Asset

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.files.reading.record_reading import RecordReader

_READ_AS_TEXT = (".md", ".txt", ".markdown", ".sql", ".csv")
_CHANGES_SCHEMA = re.compile(rb"\b(?:CREATE|ALTER)\b", re.IGNORECASE)


def sql_rows(dataset: Dataset, records: RecordReader) -> Iterator[Asset]:
    """The SQL files of a profile, without those that were refused and those that may need the tables in them."""
    lacking = ""
    for file in sorted(dataset.of_kind("tables"), key=lambda f: f.name):
        unreadable = _unreadable(file)
        why = records.refused.file(file) or unreadable
        if why is None and not lacking:
            yield Asset(file.name, listed_file(file.path), "sql")
            continue
        _leave_out(file, records, why or f"it may need the tables of {lacking}, which is left out")
        changes = why is not None and not unreadable and _CHANGES_SCHEMA.search(file.boundary.read_bytes(file.path))
        if changes and not lacking:
            lacking = file.name


def file_rows(dataset: Dataset, records: RecordReader) -> Iterator[Asset]:
    """The raw documents of a profile that are no texts, without those that were refused."""
    checked = {f.name: f for f in dataset.files}
    for file in raw_files(dataset):
        if not is_text(file) and is_wanted(checked.get(file.name, file), records):
            yield Asset(file.name, listed_file(file.path), "file")


def is_wanted(file: DataFile, records: RecordReader) -> bool:
    """Whether no error was found in a file; says that it is left out where there was one."""
    why = records.refused.file(file) or _unreadable(file)
    if why is not None:
        _leave_out(file, records, why)
    return why is None


def _unreadable(file: DataFile) -> str | None:
    try:
        os.close(file.boundary.descriptor(file.path))
    except OSError as error:
        return f"the file cannot be read: {error.strerror}"
    return None


def _leave_out(file: DataFile, records: RecordReader, why: str) -> None:
    records.tell_once("dropped", "assets", None, why, file, -1, file.name)


def refusal(asset: Asset) -> str:
    """Why the loaders would stop at a file; empty where they would not, as far as its bytes show."""
    if asset.kind != "sql" and not asset.path.lower().endswith(_READ_AS_TEXT):
        return ""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in _pieces(asset):
            decoder.decode(piece)
            if asset.kind == "sql" and b"\0" in piece:
                return "SQLite refuses a statement with a NUL in it"
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        return f"not UTF-8 ({error.reason})"
    return ""


def _pieces(asset: Asset) -> Iterator[bytes]:
    if isinstance(asset.content, bytes):
        yield asset.content
        return
    with open_listed(asset.content) as file:
        while piece := file.read(1 << 20):
            yield piece
