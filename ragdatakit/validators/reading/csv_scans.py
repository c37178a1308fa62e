"""CSV files of a big dataset: blocks scanned where the scanner is there, and keys as codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ragdatakit.arrays.codes import WIDE
from ragdatakit.arrays.keys import NumpyBatch
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.files.allocation import give_back_memory
from ragdatakit.files.containers.csv_cells import ColumnScan, Kind, coerced, key_of
from ragdatakit.files.containers.csv_rows import CsvBlock, RawRow
from ragdatakit.scanner.library import library
from ragdatakit.scanner.notes import REFUSED
from ragdatakit.scanner.predicates import Edged, PythonDict
from ragdatakit.scanner.sheets import ScannedCells, ScannedKinds, ScannedRows, SheetColumn, SheetScanner, cut_records
from ragdatakit.validators.csv_parts import CsvPart
from ragdatakit.validators.python_keys import spelling
from ragdatakit.validators.reading.csv_runs import CsvRun


class ScannedCsvRun(CsvRun):
    """A CSV file of a big dataset."""

    _sheet: SheetScanner | None = None
    _dicts: PythonDict | None = None

    def _open(self) -> bool:
        there = super()._open()
        if library() is not None:
            self.reader.quick = cut_records
        return there

    def _prepare(self) -> None:
        super()._prepare()
        predicates = self.scanning.predicates if self.needs.records else ()
        if library() is None or predicates is None or self.reader.width != len(self.info.header):
            return
        edged = {p.field for p in predicates if isinstance(p, Edged)}
        self._dicts = next((p for p in predicates if isinstance(p, PythonDict)), None)
        self._texts = {self._column_of(name) for name in self.needs.texts}
        spelled = {self._column_of(name) for name in (self.columns.spelled if self.columns else ())}
        rule_for = self.declared.record.rule_for
        columns = [
            SheetColumn(
                name=f.name,
                place=self.present.places[f.name],
                key=f.inferred or f.name in self._texts or (f.name in edged and self.columns is not None),
                non_empty=f.non_empty and bool(rule_for("empty", f.name)),
                inferred=f.name in self.present.inferred,
                spelled=f.name in spelled,
                distinct=f.name in self._texts,
                edged=f.name in edged,
            )
            for f in self.present.fields
        ]
        self._sheet = SheetScanner(self.reader.width, columns, self._dicts)

    def _read(self) -> None:
        super()._read()
        give_back_memory()

    def _column_of(self, name: str) -> str:
        """The column that a key column is made of, which may be derived."""
        if name == "@spelled":
            return self.info.key
        return self.form.column_of(name) if name.startswith("@") else name

    def check(self, block: CsvBlock) -> CsvPart:
        """All rows of a block: their faults, and the key columns as far as they are certain."""
        scanned = self._sheet.scan(block.data) if self._sheet is not None and block.cut is None else None
        if scanned is not None and any(note[0] == REFUSED for note in scanned.notes):
            # where a column may be one of numbers, the order of its cells counts
            inferred = (cells for name, cells in scanned.cells.items() if name not in self.source.text_columns)
            scanned = scanned if all(cells.kinds.texts > 1 for cells in inferred) else None
        part = super().check(block) if scanned is None else self._scanned_part(block, scanned)
        if self.columns is not None and all(part.scans[name].texts for name in self.present.inferred):
            part.batch = self.batch(part, dict.fromkeys(self.present.inferred, "text"))
            part.found = self.sets.probe(self.file.kind, part.batch)
            self.sets.prepare(self.file.kind, part.batch)
        return part

    def _scanned_part(self, block: CsvBlock, scanned: ScannedRows) -> CsvPart:
        part = self.new_part(block)
        part.scanned = scanned
        with self.checker.judging:
            for why, number, line, start, end in scanned.notes:
                row = RawRow(block.offset + start, block.first_line + line, block.data[start:end])
                value, problems = self.examine(row)
                if problems:
                    self.keep(part, number, row, problems)
                if why == REFUSED:
                    part.values.append(value)
        if self._dicts is not None:
            for rule, count in ((self._dicts.python_only, scanned.python_only), (self._dicts.filled, scanned.filled)):
                if count:
                    part.excess[rule] += count
        for name, cells in scanned.cells.items():
            if name in self.source.text_columns:
                part.scans[name].close(scanned.rows, numbers=False)
                continue
            scan = _column_scan(cells.kinds, _column_scan(cells.bare))
            scan.add(value[name] for value in part.values if name in value)
            part.scans[name] = scan
            if name in self.present.inferred:
                late = sum(ColumnScan.is_number(value[name]) for value in part.values if name in value)
                part.numbers[name] = cells.number_like + late
        return part

    def batch(self, part: CsvPart, kinds: dict[str, Kind]) -> Any:
        """As codes."""
        plain = super().batch(part, kinds)
        if plain is None:
            return None
        late = self._coded_values(plain.columns, len(part.values))
        if part.scanned is None:
            return late
        batch = self._coded_scan(part.scanned, kinds)
        rows = np.array([note[1] for note in part.scanned.notes if note[0] == REFUSED], np.int64)
        if len(rows):
            _put(batch, late, rows)
        return batch

    def _coded_values(self, columns: dict[str, list[Any]], length: int) -> NumpyBatch:
        assert self.columns is not None
        batch = NumpyBatch(length, 0)
        for name, column in columns.items():
            batch.columns[name] = codes_of_texts(column)
            valid = np.array([cell is not None for cell in column], np.bool_)
            batch.valid[name] = None if valid.all() else valid
            if name in self.columns.spelled:
                batch.spelled[name] = codes_of_texts([None if cell is None else spelling(cell) for cell in column])
            if name in self.needs.texts:
                batch.texts[name] = _numbered(column)
        return batch

    def _coded_scan(self, scanned: ScannedRows, kinds: dict[str, Kind]) -> NumpyBatch:
        """The same of scanned rows; those that were refused count as unreadable."""
        assert self.columns is not None
        batch = NumpyBatch(scanned.rows, 0)
        refused = [note[1] for note in scanned.notes if note[0] == REFUSED]
        there: Any = None
        if refused:
            there = np.ones(scanned.rows, np.bool_)
            there[refused] = False
        for name in (*self.columns.names, *(f.name for f in self.present.fields)):
            column = self._column_of(name)
            kind = kinds.get(column, "text")
            cells = scanned.cells.get(column)
            is_key = name.startswith("@") and name != "@spelled"
            if cells is None or (is_key and not self.usable(column, kind)):
                batch.columns[name] = batch.spelled[name] = np.zeros(scanned.rows, WIDE)  # or made of others below
                batch.valid[name] = np.zeros(scanned.rows, np.bool_)
                if name in self.needs.texts:
                    batch.texts[name] = np.full(scanned.rows, -1, np.int64), []
            elif len(cells.codes):
                batch.valid[name] = there
                self._put_cells(batch, name, cells, kind)
        given = {name: (codes, batch.valid[name]) for name, codes in batch.columns.items()}
        self.scanning.derive(given, batch)
        return batch

    def _put_cells(self, batch: NumpyBatch, name: str, cells: ScannedCells, kind: Kind) -> None:
        assert self.columns is not None
        if kind != "text" and name.startswith("@"):
            texts = [cells.texts[n] for n in cells.numbers.tolist()] if len(cells.numbers) else cells.texts
            texts = [(coerced if name == "@spelled" else key_of)(cell, kind) for cell in texts]
            batch.columns[name] = codes_of_texts(texts)
            batch.spelled[name] = codes_of_texts([spelling(cell) for cell in texts])
            if name in self.needs.texts:
                batch.texts[name] = _numbered(texts)
            return
        batch.columns[name] = cells.codes
        if name in self.columns.spelled:
            batch.spelled[name] = cells.spelled
            if len(cells.late):
                cells.spelled[cells.late] = codes_of_texts([spelling(cell) for cell in cells.late_texts])
        if name in self.needs.texts:
            batch.texts[name] = cells.numbers.view(np.int64), cells.texts


def _column_scan(kinds: ScannedKinds, bare: ColumnScan | None = None) -> ColumnScan:
    return ColumnScan(*kinds[:6], bare, *kinds[6:])


def _numbered(column: list[Any]) -> tuple[Any, list[str]]:
    """For each row the number of its text (-1: there is none), and the different texts."""
    numbers: dict[str, int] = {}
    found = [-1 if cell is None else numbers.setdefault(cell, len(numbers)) for cell in column]
    return np.array(found, np.int64), list(numbers)


def _put(batch: NumpyBatch, late: NumpyBatch, rows: Any) -> None:
    """Take in rows that were read one by one."""
    for name, codes in late.columns.items():
        batch.columns[name] = _with(batch.columns[name], rows, codes)
        if name in late.spelled:
            batch.spelled[name] = _with(batch.spelled[name], rows, late.spelled[name])
        valid, its = batch.valid[name], late.valid[name]
        valid = np.ones(batch.length, np.bool_) if valid is None else valid.copy()
        valid[rows] = True if its is None else its
        batch.valid[name] = None if valid.all() else valid
        if name in late.texts:
            numbers, texts = batch.texts[name]
            more, new = late.texts[name]
            batch.texts[name] = _with(numbers, rows, np.where(more < 0, -1, more + len(texts))), texts + new


def _with(values: Any, rows: Any, others: Any) -> Any:
    changed = values.copy()
    changed[rows] = others
    return changed
