"""How many records and bytes the files of a dataset have, without looking at what the records say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.files.containers.arrays import ELEMENTS, element_source
from ragdatakit.files.containers.csv_rows import CsvReader
from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.containers.parquet_tables import row_count
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.sniffing import json_container
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.files.paths.folders import is_regular, size_of
from ragdatakit.files.reading.file_sources import source_of
from ragdatakit.schemas.declarations import File
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.results import FileSummary

if TYPE_CHECKING:
    from ragdatakit.database.dataset_database import DatasetDatabase

Progress = Callable[[str, int, int], None]


def count_files(
    parts: Iterable[Dataset], database: DatasetDatabase | None = None, progress: Progress | None = None
) -> tuple[list[FileSummary], list[str | None]]:
    """A summary of each file and its split; ``database`` gives the records of files that it has counted already."""
    known = database.file_records if database is not None else {}
    found: list[FileSummary] = []
    splits: list[str | None] = []
    for part in parts:
        kinds = {kind.kind: kind for kind in part.format.files}
        for file in part.files:
            kind = kinds.get(file.kind)
            records, size = _count(file, kind, known.get(file.display), progress)
            found.append(FileSummary(file.display, file.kind, records, size))
            splits.append(file.split)
    return found, splits


def unpacked_size(path: Path, boundary: Boundary) -> int:
    """The bytes of a file, of a packed one those that it holds, as far as it can be unpacked. Raises `OSError`."""
    size = path.stat().st_size
    if not path.name.lower().endswith(".gz"):
        return size
    source = Source(path, True, boundary=boundary, text=False)
    return sum(len(piece) for piece in source.pieces())


def _count(file: DataFile, kind: File | None, known: int | None, progress: Progress | None) -> tuple[int | None, int]:
    if not is_regular(file.path):
        return None, 0
    size = file.path.stat().st_size
    packed = file.path.name.lower().endswith(".gz")
    if kind is None or not kind.records:
        return file.records, file.bytes or size  # which reading has counted, or nobody
    if known is not None and not packed:
        return known, size
    if file.records is not None and file.bytes:  # counted when it was read
        return file.records, file.bytes
    try:
        return _counted(file, kind, progress)
    except (OSError, RagdataError):
        return None, size


def _counted(file: DataFile, kind: File, progress: Progress | None) -> tuple[int | None, int]:
    if is_parquet(file.path):
        return row_count(file.path, file.boundary), size_of(file.path)
    source = source_of(file)
    container: str = kind.container
    if container == "json":
        container = json_container(file.path, file.boundary)
    records = 0
    if container == "table" and not file.path.name.lower().endswith(".csv"):
        return row_count(file.path, file.boundary), source.size
    if container in ("csv", "table"):
        reader = CsvReader(source)
        if reader.open():
            records = sum(1 for block in reader.blocks() for _ in block.raw_rows())
    elif container in ELEMENTS:
        for part in element_source(container, source, kind).parts():
            records += part.count
    elif container == "tagged":
        return None, file.path.stat().st_size
    else:
        source.quoted = kind.quoted_columns
        for block in source.blocks():
            if progress is not None:
                progress(file.display, source.progress, source.size)
            records += _lines(block.data)
        begins = file.part is None or file.part.exact
        if container == "columns" and kind.columns.header and records and begins:
            records -= 1
    return records, source.unpacked_bytes


def _lines(data: bytes) -> int:
    """Lines that are not blank."""
    return sum(map(bool, map(bytes.strip, data.split(b"\n"))))
