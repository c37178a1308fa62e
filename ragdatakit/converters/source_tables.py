"""A dataset as canonical tables, with what an earlier conversion kept next to it: ids, values, the form of records."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ragdatakit.converters import Options, get_converter
from ragdatakit.converters.source_names import read_name
from ragdatakit.converters.sources import ConversionSettings, Source, converted_root
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.detection.plain_sources import NUMBERED
from ragdatakit.files.paths.boundary import Boundary, refuse_link_out
from ragdatakit.files.paths.digests import file_digest
from ragdatakit.files.paths.manifest import read_manifest
from ragdatakit.files.paths.own_files import MANIFEST, RENAMED_IDS, SIDECAR
from ragdatakit.files.reading.canonical_tables import CanonicalTables, RowSource
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.refused_records import Refused
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.texts import encodable


def read_source(
    source: Source, options: ConversionSettings, losses: Losses, refused: Refused | None = None, *, partly: bool = False
) -> CanonicalTables:
    """A dataset as canonical tables, with the ids and values that an earlier conversion kept next to it.

    Raises `RagdataError` where one of its folders may not be looked into; ``partly``: that is one of the ``losses``,
    and the rest is read.
    """
    _refuse_lonely(source)
    if source.unreadable and not partly:
        raise RagdataError(source.unreadable[0])
    for reason in source.unreadable:
        losses.add("dropped", "files", None, reason, unread=True)
    return tables_of(source, options, losses, refused)


def tables_of(
    source: Source, options: ConversionSettings, losses: Losses, refused: Refused | None = None
) -> CanonicalTables:
    """The same of a dataset with all that it needs, whose folders may be looked into."""
    converter = get_converter(source.format)
    if converter.read is None:
        raise RagdataError(f"{converter.name} cannot be read")
    root = converted_root(source.parts[0])
    name = read_name(source, options)
    reader = RecordReader(losses, refused, options.progress, options.memory_limit, source.parts[0].format.files)
    words = Options(name, "", converter.name, options.seed, converter.values(options.values, "read"))
    found: dict[str, list[RowSource]] = {}
    for file in source.unread:
        losses.add("dropped", "questions", None, "a whole file that is not read, and raw/ has none of its name", file)
    for part in source.parts:
        for table, rows in converter.read(_with_encodable_names(part), reader, words).items():
            found.setdefault(table, []).append(rows)
    sources = {table: rows[0] if len(rows) == 1 else _chained(rows) for table, rows in found.items()}
    given_format, form = "", dict[str, str]()
    if converter.form is not None:
        form = dict(pair for part in source.parts for pair in converter.form(part).items())
    if root is not None:
        from ragdatakit.outputs.renamed_ids import map_back, read_renamed
        from ragdatakit.outputs.sidecars import put_back, restored_format

        boundary = source.parts[0].boundary.with_root(root)
        _refuse_changed(root, boundary)
        sources = put_back(map_back(sources, read_renamed(root)), root, losses)
        given_format, form = restored_format(root), form | _kept_form(root, boundary)
    tables = CanonicalTables(name, given_format or converter.name, sources, losses, reader)
    tables.restored = bool(given_format)
    if options.chunking:
        tables = _chunked(tables, options.chunking)
    elif options.usual_chunks and tables.any("documents") and not any(map(tables.any, _NOT_CUT)):
        tables = _chunked(tables, options.usual_chunks)
    tables.numbered = next((numbering for part in source.parts if (numbering := part.options.get(NUMBERED, ""))), "")
    tables = options.prepare(tables) if options.prepare is not None else tables
    tables.form = form
    return tables


def _chunked(tables: CanonicalTables, given: Mapping[str, Any]) -> CanonicalTables:
    """The tables with documents cut into chunks. Raises `UnknownNameError` for an option that there is not."""
    from ragdatakit.converters.chunking import ChunkOptions, chunk_tables  # which few ask for

    names = [f.name for f in fields(ChunkOptions)]
    if unknown := set(given) - {*names}:
        raise UnknownNameError("chunking option", min(unknown), names)
    return chunk_tables(tables, ChunkOptions(**given))


def _with_encodable_names(part: Dataset) -> Dataset:
    """The dataset with names of files that are text: splits, ids and titles are made of them, and on a disk a name may
    have bytes that are not UTF-8."""
    if all(encodable(file.name) == file.name for file in part.files):
        return part
    return replace(part, files=[replace(file, name=encodable(file.name)) for file in part.files])


FORM = "form"
"""What the form of the records is called in a manifest."""
_NOT_CUT = ("chunks", "nodes", "edges")
"""Tables that say of which texts they are: those are then left whole."""


def _kept_form(root: Path, boundary: Boundary) -> dict[str, str]:
    """The form of the records that an output was made of, where it was to be kept."""
    manifest = read_manifest(root, boundary)
    kept = manifest.source.get(FORM) if manifest is not None else None
    return {str(name): str(value) for name, value in kept.items()} if isinstance(kept, dict) else {}


def _chained(sources: list[RowSource]) -> RowSource:
    return lambda: chain.from_iterable(rows() for rows in sources)


def _refuse_lonely(source: Source) -> None:
    """Raise where values were kept next to the dataset, but not the manifest that shows whose they are."""
    for name in (SIDECAR, RENAMED_IDS):
        if source.parts[0].layout != "file" and (source.root / name).exists() and not (source.root / MANIFEST).exists():
            raise RagdataError(f"{source.root} has {name}, but no {MANIFEST}: put it back, or remove both")


def _refuse_changed(root: Path, boundary: Boundary) -> None:
    """Raise where what was kept next to a dataset is not what was kept: values would go to the wrong records."""
    manifest = read_manifest(root, boundary)
    listed = {entry["path"] for entry in manifest.files} if manifest is not None else set()
    for path in (root / RENAMED_IDS, root / SIDECAR, *sorted((root / SIDECAR).glob("*.ndjson.gz"))):
        if os.path.lexists(path):
            refuse_link_out(boundary, path)
        if path.is_file() and path.relative_to(root).as_posix() not in listed:
            raise RagdataError(f"{path} is not of this conversion, as {MANIFEST} does not list it: remove it")
    for entry in manifest.files if manifest is not None else ():
        if entry["path"] == RENAMED_IDS or entry["path"].startswith(f"{SIDECAR}/"):
            path = root / entry["path"]
            if not path.is_file():
                raise RagdataError(f"{path} is missing: without it ids and values of the source cannot be put back")
            if path.stat().st_size != entry["bytes"] or file_digest(path) != entry["sha256"]:
                raise RagdataError(f"{path} was changed or is damaged; `ragdata verify {root}` compares all files")
