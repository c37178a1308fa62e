"""The cells of a GFM-RAG table as the scanner gives them, with the JSON of attributes: columns, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.converters.gfm_rag.attributes import json_of_cell, lift_edge
from ragdatakit.database.columns import Kind, PackedColumn, packed
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.files.containers.csv_rows import CsvReader
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library
from ragdatakit.scanner.notes import REFUSED
from ragdatakit.scanner.sheets import KeptCells, ScannedRows, SheetColumn, SheetScanner, cut_records

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.converters.gfm_rag.attributes import Note
    from ragdatakit.database.edge_numbers import EdgeNumbers
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.schemas.conversions import Losses

SCHEMAS = {
    "nodes": {"name": Kind.TEXT, "type": Kind.TEXT, "attributes": Kind.TEXT},
    "edges": {
        **dict.fromkeys(("source", "relation", "target", "attributes"), Kind.TEXT),
        "confidence": Kind.NUMBER,
        "provenance": Kind.TEXT,
    },
}
_LIFTED = (b'"confidence"', b'"source"')
"""What is in the JSON of edges that has columns of its own."""


def scanned_columns(
    records: RecordReader, file: DataFile, usual: Mapping[str, str], notes: Losses, numbers: EdgeNumbers
) -> Iterator[list[PackedColumn]]:
    """The columns of `SCHEMAS` of the rows of a file; ``usual`` are the wanted cells, with what a row has there that
    lacks them. What changes is noted, and the numbers are where they are wanted. Raises `Unproved` where there is no
    scanner, or it refuses a row."""
    kind, source = file.kind, records.source(file)
    reader = CsvReader(source, cut_records)
    if library() is None or not reader.open() or reader.header is None or reader.width != len(reader.header):
        raise Unproved
    scanner = _scanner(reader.header, usual, numbers.wanted)
    if numbers.wanted:
        (numbers.begin_nodes if kind == "nodes" else numbers.begin_edges)()

    def note(why: str, example: object) -> None:
        notes.add("coerced", kind, "attributes", why, example)

    for block in reader.blocks():
        scanned = scanner.scan(block.data) if block.cut is None else None
        if scanned is None or any(why == REFUSED for why, *_ in scanned.notes):
            raise Unproved
        if numbers.wanted:
            _number(numbers, kind, scanned)
        yield _columns(kind, scanned, usual, note)
        if records.progress is not None:
            records.progress(file.display, source.progress, source.size)
    if source.faults or reader.too_long:
        raise Unproved


def _scanner(header: list[str], usual: Mapping[str, str], are_numbered: bool) -> SheetScanner:
    keys = {"name", "source", "target", "relation"} if are_numbered else set()
    columns = [
        SheetColumn(name=name, place=header.index(name), key=name in keys, kept=True, json=name == "attributes")
        for name in usual
        if name in header
    ]
    return SheetScanner(len(header), columns)


def _number(numbers: EdgeNumbers, kind: str, scanned: ScannedRows) -> None:
    codes = {name: cells.codes for name, cells in scanned.cells.items()}
    if kind == "nodes":
        numbers.add_nodes(codes["name"])
    else:
        numbers.add_edges(codes["source"], codes["target"], codes["relation"])


def _columns(kind: str, scanned: ScannedRows, usual: Mapping[str, str], note: Note) -> list[PackedColumn]:
    rows, lifted = scanned.rows, dict[str, dict[int, float | str]]()
    found = {}
    for name in SCHEMAS[kind]:
        if name not in usual:
            found[name] = _few(SCHEMAS[kind][name], rows, lifted.get(name, {}))
        elif name not in scanned.cells:
            empty = name == "attributes"
            found[name] = _nothing(Kind.TEXT, rows) if empty else packed(Kind.TEXT, [usual[name]] * rows)
        elif name == "attributes":
            kept, lifted = _with_json(kind, scanned.cells[name].kept, note)
            found[name] = _column(kept)
        else:
            found[name] = _column(scanned.cells[name].kept)
    return list(found.values())


def _column(kept: KeptCells) -> PackedColumn:
    return PackedColumn(Kind.TEXT, len(kept.offsets) - 1, (kept.valid, kept.offsets, kept.data))


def _few(kind: Kind, rows: int, values: Mapping[int, float | str]) -> PackedColumn:
    """A column in which few rows have a value."""
    return packed(kind, [values.get(row) for row in range(rows)]) if values else _nothing(kind, rows)


def _nothing(kind: Kind, rows: int) -> PackedColumn:
    valid = np.zeros(rows // 8 + 1, np.uint8)
    if kind is Kind.TEXT:
        return PackedColumn(kind, rows, (valid, np.zeros(rows + 1, np.int32), b""))
    return PackedColumn(kind, rows, (valid, np.zeros(rows, np.float64)))


def _with_json(kind: str, kept: KeptCells, note: Note) -> tuple[KeptCells, dict[str, dict[int, float | str]]]:
    """The attributes with what Python makes of some, and what of edges goes into columns of its own."""
    late = set(kept.late.tolist())
    rows = late | _rows_with(kept, _LIFTED) if kind == "edges" else late
    lifted: dict[str, dict[int, float | str]] = {"confidence": {}, "provenance": {}}
    texts: dict[int, str | None] = {}
    for row in sorted(rows):
        text: str | None = kept.data[kept.offsets[row] : kept.offsets[row + 1]].decode()
        if row in late:
            text = json_of_cell(text or "", note)
        if kind == "edges":
            text, confidence, provenance = lift_edge(text)
            if confidence is not None:
                lifted["confidence"][row] = confidence
            if provenance is not None:
                lifted["provenance"][row] = provenance
        texts[row] = text
    return _with_texts(kept, texts), lifted


def _rows_with(kept: KeptCells, words: tuple[bytes, ...]) -> set[int]:
    places = []
    for word in words:
        at = kept.data.find(word)
        while at >= 0:
            places.append(at)
            at = kept.data.find(word, at + 1)
    rows: npt.NDArray[np.int64] = np.searchsorted(kept.offsets, places, side="right") - 1
    return set(rows.tolist())


def _with_texts(kept: KeptCells, texts: dict[int, str | None]) -> KeptCells:
    """The same with these texts of some rows, which are in order."""
    if not texts:
        return kept
    sizes, valid, parts, at = np.diff(kept.offsets), kept.valid.copy(), [], 0
    for row, text in texts.items():
        data = b"" if text is None else text.encode()
        parts += [kept.data[at : kept.offsets[row]], data]
        at, sizes[row] = int(kept.offsets[row + 1]), len(data)
        if text is None:
            valid[row // 8] &= 255 - (1 << row % 8)
    offsets = np.zeros_like(kept.offsets)
    np.cumsum(sizes, out=offsets[1:])
    return KeptCells(b"".join((*parts, kept.data[at:])), offsets, valid, kept.late)
