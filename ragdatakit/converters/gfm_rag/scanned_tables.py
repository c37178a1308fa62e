"""The cells of a GFM-RAG table as the scanner gives them, with the JSON of attributes: columns, block by block.

Rows that it refuses are read one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.converters.gfm_rag.attributes import json_of_cell, lift_edge
from ragdatakit.database.columns import Kind, PackedColumn, packed
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.files.containers.csv_rows import CsvReader, RawRow
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library
from ragdatakit.scanner.notes import REFUSED
from ragdatakit.scanner.sheets import KeptCells, ScannedRows, SheetColumn, SheetScanner, cut_records

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.arrays.codes import Codes
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
_LIFTED = {"confidence": b'"confidence"', "provenance": b'"source"'}
"""The columns of edges for what is in their JSON, and how that is called there."""
_NUMBERED = ("name", "source", "target", "relation")


class ScannedTable:
    """The rows of a file: the ``usual`` cells are wanted, given with what a row has there that lacks them. What changes
    is noted, and the numbers are where they are wanted."""

    def __init__(
        self, records: RecordReader, file: DataFile, usual: Mapping[str, str], notes: Losses, numbers: EdgeNumbers
    ) -> None:
        self._records, self._file, self._usual, self._numbers = records, file, usual, numbers
        self._notes = notes
        self.schema = SCHEMAS[file.kind]

    def columns(self) -> Iterator[list[PackedColumn]]:
        """The columns of the schema, block by block. Raises `Unproved` where there is no scanner, or a whole file is
        faulty."""
        source, numbers = self._records.source(self._file), self._numbers
        reader = CsvReader(source, cut_records)
        if library() is None or not reader.open() or reader.header is None:
            raise Unproved
        self._places = {name: reader.header.index(name) for name in self._usual if name in reader.header}
        scanner = self._scanner(len(reader.header))
        if numbers.wanted:
            (numbers.begin_nodes if self._file.kind == "nodes" else numbers.begin_edges)()
        for block in reader.blocks():
            if block.cut is None:
                scanned = scanner.scan(block.data)
                odd = {
                    number: self._cells(RawRow(block.offset + start, block.first_line + line, block.data[start:end]))
                    for why, number, line, start, end in scanned.notes
                    if why == REFUSED
                }
                yield self._of_scan(scanned, odd)
            else:
                yield self._of_rows([self._cells(row) for row in block.cut])
            if self._records.progress is not None:
                self._records.progress(self._file.display, source.progress, source.size)
        if source.faults or reader.too_long:
            raise Unproved

    def _scanner(self, width: int) -> SheetScanner:
        keys = _NUMBERED if self._numbers.wanted else ()
        columns = (
            SheetColumn(name, place, key=name in keys, kept=True, json=name == "attributes")
            for name, place in self._places.items()
        )
        return SheetScanner(width, columns)

    def _cells(self, row: RawRow) -> dict[str, str]:
        return {**self._usual, **self._records.row_at(self._file, self._places, row)}

    def _of_scan(self, scanned: ScannedRows, odd: Mapping[int, dict[str, str]]) -> list[PackedColumn]:
        if self._numbers.wanted:
            codes = {name: scanned.cells[name].codes for name in _NUMBERED if name in scanned.cells}
            for name, of_rows in codes.items() if odd else ():
                of_rows[list(odd)] = codes_of_texts([cells[name] for cells in odd.values()])
            self._number(codes)
        rows = scanned.rows
        found = {name: _nothing(kind, rows) for name, kind in self.schema.items()}
        for name in self._usual:
            if name not in scanned.cells:
                if name != "attributes":
                    found[name] = packed(Kind.TEXT, [self._usual[name]] * rows)
                continue
            kept, texts = scanned.cells[name].kept, {row: cells[name] for row, cells in odd.items()}
            if name != "attributes":
                found[name] = _column(_with_texts(kept, texts))
                continue
            kept, lifted = self._with_json(kept, texts)
            found[name] = _column(kept)
            for column, values in lifted.items():
                if values:
                    found[column] = packed(self.schema[column], [values.get(row) for row in range(rows)])
        return list(found.values())

    def _of_rows(self, rows: list[dict[str, str]]) -> list[PackedColumn]:
        if self._numbers.wanted:
            names = [name for name in _NUMBERED if name in self._places]
            self._number({name: codes_of_texts([cells[name] for cells in rows]) for name in names})
        found: dict[str, list[Any]] = {name: [cells.get(name) for cells in rows] for name in self.schema}
        made = [self._lifted(json_of_cell(cells["attributes"], self._note)) for cells in rows]
        for name, values in zip(("attributes", *_LIFTED), zip(*made, strict=True), strict=True):
            if name in found:
                found[name] = list(values)
        return [packed(kind, found[name]) for name, kind in self.schema.items()]

    def _number(self, codes: Mapping[str, Codes]) -> None:
        if self._file.kind == "nodes":
            self._numbers.add_nodes(codes["name"])
        else:
            self._numbers.add_edges(codes["source"], codes["target"], codes["relation"])

    def _with_json(self, kept: KeptCells, odd: Mapping[int, str]) -> tuple[KeptCells, dict[str, dict[int, Any]]]:
        """The attributes with what Python makes of some, and what of edges goes into columns of its own."""
        late = {*kept.late.tolist(), *odd}
        rows = late | _rows_with(kept, _LIFTED.values()) if self._file.kind == "edges" else late
        lifted: dict[str, dict[int, Any]] = {name: {} for name in _LIFTED}
        texts: dict[int, str | None] = {}
        for row in sorted(rows):
            text: str | None = odd.get(row)
            if text is None:
                text = kept.data[kept.offsets[row] : kept.offsets[row + 1]].decode()
            if row in late:
                text = json_of_cell(text, self._note)
            texts[row], *values = self._lifted(text)
            for name, value in zip(_LIFTED, values, strict=True):
                if value is not None:
                    lifted[name][row] = value
        return _with_texts(kept, texts), lifted

    def _lifted(self, json: str | None) -> tuple[str | None, float | None, str | None]:
        return lift_edge(json) if self._file.kind == "edges" else (json, None, None)

    def _note(self, why: str, example: object) -> None:
        self._notes.add("coerced", self._file.kind, "attributes", why, example)


def _column(kept: KeptCells) -> PackedColumn:
    return PackedColumn(Kind.TEXT, len(kept.offsets) - 1, (kept.valid, kept.offsets, kept.data))


def _nothing(kind: Kind, rows: int) -> PackedColumn:
    valid = np.zeros(rows // 8 + 1, np.uint8)
    if kind is Kind.TEXT:
        return PackedColumn(kind, rows, (valid, np.zeros(rows + 1, np.int32), b""))
    return PackedColumn(kind, rows, (valid, np.zeros(rows, np.float64)))


def _rows_with(kept: KeptCells, words: Iterable[bytes]) -> set[int]:
    places = []
    for word in words:
        at = kept.data.find(word)
        while at >= 0:
            places.append(at)
            at = kept.data.find(word, at + 1)
    rows: npt.NDArray[np.int64] = np.searchsorted(kept.offsets, places, side="right") - 1
    return set(rows.tolist())


def _with_texts(kept: KeptCells, texts: Mapping[int, str | None]) -> KeptCells:
    """The same with these texts of some rows, which are in order."""
    if not texts:
        return kept
    sizes, valid, parts, at = np.diff(kept.offsets), kept.valid.copy(), [], 0
    for row, text in texts.items():
        data = b"" if text is None else text.encode()
        parts += [kept.data[at : kept.offsets[row]], data]
        at, sizes[row] = int(kept.offsets[row + 1]), len(data)
        bit = 1 << row % 8
        valid[row // 8] = valid[row // 8] & (255 - bit) | (bit if text is not None else 0)
    offsets = np.zeros_like(kept.offsets)
    np.cumsum(sizes, out=offsets[1:])
    return KeptCells(b"".join((*parts, kept.data[at:])), offsets, valid, kept.late)
