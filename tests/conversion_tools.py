"""What tests of converters share: read a dataset into canonical tables, write tables as a dataset, list rows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ragdatakit.converters import Options, get_converter
from ragdatakit.files.detection.find import detect
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.conversions import Losses


def read_tables(path: Path, format_name: str | None = None, name: str = "", **given: str) -> CanonicalTables:
    """The canonical tables of the one dataset at a path."""
    (dataset,) = detect(path, format_name).datasets
    converter = get_converter(dataset.format.name)
    losses = Losses()
    assert converter.read is not None
    options = Options(name or dataset.root.name, values=converter.values(given, "read"))
    return CanonicalTables(
        options.name, dataset.format.name, converter.read(dataset, RecordReader(losses), options), losses
    )


def write_tables(tables: CanonicalTables, to: str, folder: Path, profile: str = "", **given: str) -> Output:
    """The tables, written as a dataset of another format."""
    converter = get_converter(to)
    assert converter.write is not None
    out = Output(folder, tables.losses)
    options = Options(tables.name, profile, tables.format, values=converter.values(given, "write"))
    try:
        converter.write(tables, out, options)
    finally:
        out.close()
    tables.finish()
    return out


def tables_of(name: str = "notes", format_name: str = "beir", **rows: Iterable[Any]) -> CanonicalTables:
    """Canonical tables of these rows."""
    kept = {table: tuple(given) for table, given in rows.items()}
    return CanonicalTables(name, format_name, {t: lambda t=t: iter(kept[t]) for t in kept}, Losses())


def rows(tables: CanonicalTables) -> dict[str, list[Any]]:
    """All rows, by table, in the order of the declaration; tables without rows are left out."""
    found = {name: list(tables.peek(name)) for name in TABLES if name in tables}
    return {name: listed for name, listed in found.items() if listed}
