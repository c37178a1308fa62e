"""The Python interface of exports: a dataset described in the standards of others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ragdatakit.api.arguments import reading
from ragdatakit.api.keywords import takes
from ragdatakit.api.remote import at_hand
from ragdatakit.api.sources import database_of, only_dataset
from ragdatakit.database.dataset_database import FILES, DatasetDatabase
from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.paths.digests import file_digest
from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.reports.descriptions.croissant import croissant
from ragdatakit.reports.descriptions.datapackage import datapackage
from ragdatakit.reports.descriptions.described import (
    DescribedColumn,
    DescribedDataset,
    DescribedFile,
    DescribedReference,
    FileForm,
    ValueType,
)
from ragdatakit.schemas.declarations import Field, File
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import ExportOptions, PathLike
from ragdatakit.schemas.texts import many

_WRITERS: Mapping[str, Callable[[DescribedDataset], dict[str, Any]]] = {
    "croissant": croissant,
    "datapackage": datapackage,
}
_LONGEST_HEADER = 10_000


@takes(ExportOptions)
def export(options: ExportOptions, path: PathLike) -> dict[str, Any]:
    """A description of the dataset at ``path`` for others: its files with size and digest, the columns of their
    records, what identifies a record and what it names.

    Raises `RagdataError` as `read` does, and where a file cannot be read.
    """
    with at_hand(options, [path], options.source_format) as here:
        found = only_dataset(Path(here.paths[0]), reading(here.options), options.dataset)
        said = {"description": options.description, "license": options.license, "url": options.url}
        said |= {"cite": options.cite, "version": options.version}
        for part in found.source.parts:
            _refuse_unread(part, options.memory_limit)
        with database_of(found, options.memory_limit, own_sql=True) as database:
            base = Path(here.paths[0]) if Path(here.paths[0]).is_dir() else Path(here.paths[0]).parent
            files = [each for part in database.parts for each in _described(part, database, base)]
        if not files:
            raise RagdataError(f"{path} has no file that can be described")
        return _WRITERS[options.to](DescribedDataset(options.name or found.name, found.source.format, files, said))


def _refuse_unread(part: Dataset, memory_limit: int) -> None:
    """Raise `RagdataError` where files of it cannot be read; plain texts and tables are, when they are described."""
    from ragdatakit.converters.sources import PLAIN
    from ragdatakit.validators.source_check import unread_files

    if part.unread:  # a folder that may not be looked into, a link that leads out
        raise RagdataError(part.unread[0])
    if part.format.name not in PLAIN and (unread := unread_files(part, memory_limit)):
        more = f" (nor can {many(len(unread) - 1, 'other file')})" if len(unread) > 1 else ""
        raise RagdataError(f"{unread[0].display}: cannot be read{more}; `ragdata validate` says what is wrong")


def _described(part: Dataset, database: DatasetDatabase, base: Path) -> Iterable[DescribedFile]:
    for file in part.files:
        kind = next((each for each in part.format.files if each.kind == file.kind), None)
        form = _form(file, kind) if kind is not None else ""
        records, columns = _columns(file, kind, database) if kind is not None and form else (None, [])
        names = {column.name for column in columns if not column.repeated}
        key = next((each.fields for each in part.format.keys if each.kind == file.kind), ())
        references = [
            DescribedReference(each.field, _relative(to.path, base), each.to_field)
            for each in part.format.references
            if each.kind == file.kind and each.field in names
            for to in _alone(part, each.to_kind, file.split)
        ]
        title = f"{part.format.title}: {kind.title}" if kind is not None else part.format.title
        yield DescribedFile(
            path=_relative(file.path, base),
            kind=file.kind,
            title=title,
            split=file.split,
            form=form,
            packed=Source(file.path, False, boundary=file.boundary).is_packed(),
            size=file.path.stat().st_size,
            sha256=file_digest(file.path, file.boundary),
            records=records,
            columns=columns,
            key=key if {*key} <= names else (),
            references=references,
        )


def _alone(part: Dataset, kind: str, split: str | None) -> list[DataFile]:
    """The file of a kind that the records of a split may name; none where it is cut into shards."""
    found = [each for each in part.of_kind(kind) if each.split in (split, None)]
    return found if len(found) == 1 else []


def _form(file: DataFile, kind: File) -> FileForm:
    """How others read its records."""
    if not kind.records or kind.record.shape != "object":
        return ""
    if is_parquet(file.path):
        return "parquet"
    if kind.container == "columns":
        with file.boundary.open(file.path) as opened:
            head = opened.readline(_LONGEST_HEADER).rstrip(b"\r\n").decode("utf-8-sig", "replace").split("\t")
        return "tsv" if head == [field.name for field in kind.record.fields] else ""
    if kind.container in ("json", "json-array"):
        with file.boundary.open(file.path) as opened:
            is_array = opened.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
        is_lines = kind.container == "json" and file.path.suffix in (".jsonl", ".ndjson")
        return "json" if is_array else "ndjson" if is_lines else ""
    forms: dict[str, FileForm] = {"ndjson": "ndjson", "csv": "csv"}
    return forms.get(kind.container, "")


def _columns(file: DataFile, kind: File, database: DatasetDatabase) -> tuple[int, list[DescribedColumn]]:
    """How many records a file has, and which columns they have. Raises `RagdataError` where they are damaged."""
    import duckdb

    at = database.add_views()
    view = f"{FILES}.{sql_name(file.kind.replace('-', '_'))}"
    try:
        names = [row[0] for row in at.execute(f"describe {view}").fetchall() if row[0] not in ("split", "file")]
        counts = ", ".join(f"count({sql_name(name)})" for name in names)
        found = at.execute(f"select count(*), {counts} from {view} where file = ?", [file.name]).fetchone()
    except duckdb.Error:
        words = "its records are not what the format declares, so that they cannot be described"
        raise RagdataError(f"{file.display}: {words}; `ragdata validate` says what is wrong") from None
    if found is None:
        return 0, []
    fields = {field.name: field for record in kind.records for field in record.fields}
    columns = [
        DescribedColumn(name, *_type(fields[name]), always=count == found[0], description=fields[name].description)
        for name, count in zip(names, found[1:], strict=True)
        if count and name in fields
    ]
    return found[0], columns


def _type(field: Field) -> tuple[ValueType, bool]:
    """The type of a field's values, and whether it is a list of such."""
    if field.type == "array":
        items = field.items or "any"
        return ("any" if items == "array" else items), True
    return field.type, False


def _relative(path: Path, base: Path) -> str:
    """Where a file lies below the dataset's folder, with ``/``. Raises `RagdataError` where it is elsewhere."""
    found = os.path.relpath(path.absolute(), base.absolute())
    if found == ".." or found.startswith(f"..{os.sep}"):
        raise RagdataError(f"{path} is not below {base}, where a description could name it; give the folder of both")
    return found.replace(os.sep, "/")
