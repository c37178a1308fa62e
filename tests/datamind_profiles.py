"""What tests of the DataMind converter share: all that stands in one repository as one set of tables; what is valid."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import ragdatakit
from ragdatakit.converters import Options, get_converter
from ragdatakit.files.detection.find import detect
from ragdatakit.files.reading.canonical_tables import CanonicalTables, RowSource
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.outputs.renamed_ids import map_back, read_renamed
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.conversions import Losses


def read_repository(path: Path, name: str = "", **given: str) -> CanonicalTables:
    """The tables of all datasets at a path that are DataMind's, with the ids they had before they were converted."""
    converter, losses = get_converter("datamind"), Losses()
    assert converter.read is not None
    parts: dict[str, list[RowSource]] = {}
    for dataset in detect(path, "datamind").datasets:
        options = Options(name or path.name, values=converter.values(given, "read"))
        for table, source in converter.read(dataset, RecordReader(losses), options).items():
            parts.setdefault(table, []).append(source)
    sources = {table: _chained(of_table) for table, of_table in parts.items()}
    return CanonicalTables(name or path.name, "datamind", map_back(sources, read_renamed(path)), losses)


def write_repository(tables: CanonicalTables, folder: Path, given: dict[str, str]) -> None:
    """Write tables as a repository, with any options."""
    converter = get_converter("datamind")
    assert converter.write is not None
    out = Output(folder, tables.losses)
    try:
        converter.write(tables, out, Options(tables.name, "", tables.format, values=converter.values(given, "write")))
    finally:
        out.close()
    tables.finish()


def _chained(sources: list[RowSource]) -> RowSource:
    def rows() -> Iterator[Any]:
        return chain.from_iterable(source() for source in sources)

    return rows


def errors(path: Path, format_name: str | None = None) -> list[str]:
    """The errors that validating finds, in words."""
    report = ragdatakit.validate(path, format=format_name, severity="error")
    return [f"{f.path}:{f.line} {f.rule} {f.message}" for f in report.findings]


def records(path: Path) -> list[Any]:
    """The records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def account(tables: CanonicalTables) -> dict[tuple[str, str, str | None], int]:
    """What was lost: how often, by kind, table and column."""
    found: dict[tuple[str, str, str | None], int] = {}
    for loss in tables.losses:
        key = (loss.kind, loss.table, loss.column)
        found[key] = found.get(key, 0) + loss.count
    return found
