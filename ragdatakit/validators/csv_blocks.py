"""Blocks of a big CSV file: Arrow columns where that proves them clean, row by row where it does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ragdatakit.columnar.numpy_keys import NumpyBatch
from ragdatakit.columnar.string_hash import hash_columns, spelled
from ragdatakit.files.containers.arrow_columns import mask_of, offsets_of, one_array, string_array
from ragdatakit.files.containers.csv_cells import ColumnScan, Kind, coerced, key_of
from ragdatakit.files.containers.csv_columns import CsvDecoder, first_and_last_bytes
from ragdatakit.files.containers.csv_rows import CsvBlock, RawRow, cut_rows
from ragdatakit.schemas.missing import MISSING
from ragdatakit.validators.csv_parts import CsvPart
from ragdatakit.validators.csv_runs import CsvRun

PART_BYTES = 1 << 16
"""A block that is refused is halved down to parts of this size; only those refused again go row by row."""


class ColumnarCsvRun(CsvRun):
    """A CSV file of a big dataset."""

    def _read(self) -> None:
        self._blocks = CsvBlockChecker(self)
        super()._read()

    def check(self, block: CsvBlock) -> CsvPart:
        """As `CsvBlockChecker.check`."""
        return self._blocks.check(block)

    def batch(self, part: CsvPart, kinds: dict[str, Kind]) -> Any:
        """As codes."""
        return super().batch(part, kinds) if part.table is None else coded_table(self, part.table, part.rows, kinds)


class CsvBlockChecker:
    """Checks blocks of one file; `check` may run in any thread."""

    def __init__(self, run: CsvRun) -> None:
        self._run = run
        fields, record = run.present.fields, run.declared.record
        wanted = tuple(f.name for f in fields)
        self._decoder = CsvDecoder(run.info.header, run.reader.width, wanted)
        self._non_empty = [f.name for f in fields if f.non_empty and record.rule_for("empty", f.name)]

    def check(self, block: CsvBlock) -> CsvPart:
        """All rows of a block: their faults, and the key columns as far as they are certain."""
        run = self._run
        part = run.new_part(block)
        tables: list[Any] = []
        if block.cut is not None:
            tables.append(self._table_of(run.examine_rows(block.cut, part, 0)))
        else:
            self._decode(block.ends, 0, block.rows, block, part, tables)
        table = tables[0] if len(tables) == 1 else _joined(tables)
        for name, scan in part.scans.items():
            numbers = _scan(one_array(table, name), scan, count=name in run.present.inferred)
            if numbers:
                part.numbers[name] = numbers
        if run.columns is None:
            return part
        if all(part.scans[name].texts for name in run.present.inferred):
            part.batch = coded_table(run, table, block.rows, dict.fromkeys(run.present.inferred, "text"))
            part.found = run.sets.probe(run.file.kind, part.batch)
        else:
            part.table = table
        return part

    def _decode(self, ends: Any, start: int, stop: int, block: CsvBlock, part: CsvPart, tables: list[Any]) -> None:
        """Rows ``start`` to ``stop`` of a block: as a whole, or half by half around what is refused."""
        data = block.data
        begin = int(ends[start - 1]) if start else 0
        piece = data[begin : int(ends[stop - 1])] if (start, stop) != (0, len(ends)) else data
        table = self._decoder.decode(piece, stop - start)
        candidates = self._candidates(table, part) if table is not None else None
        if candidates is not None:
            self._examine(ends, start, candidates, block, part)
            tables.append(table)
        elif stop - start > 1 and len(piece) > PART_BYTES:
            middle = (start + stop) // 2
            self._decode(ends, start, middle, block, part, tables)
            self._decode(ends, middle, stop, block, part, tables)
        else:
            line = block.first_line + data.count(b"\n", 0, begin)
            rows, _, _ = cut_rows(piece, block.offset + begin, line, True, self._run.reader.widths)
            tables.append(self._table_of(self._run.examine_rows(rows, part, start)))

    def _examine(self, ends: Any, start: int, candidates: Any, block: CsvBlock, part: CsvPart) -> None:
        """Row by row what may have a fault."""
        data = block.data
        counted, line = 0, block.first_line
        for candidate in candidates:
            number = start + int(candidate)
            begin = int(ends[number - 1]) if number else 0
            raw = data[begin : int(ends[number])].rstrip(b"\r\n")
            row = RawRow(block.offset + begin, 0, raw)
            _, problems = self._run.examine(row)
            if problems:
                line += data.count(b"\n", counted, begin)
                counted = begin
                self._run.keep(part, number, replace(row, line=line), problems)

    def _candidates(self, table: Any, part: CsvPart) -> Any:
        """Rows that `CsvRun.examine` must see; None: all of them."""
        run = self._run
        found = [_empty_rows(one_array(table, name)) for name in self._non_empty]
        counted: Mapping[str, Any] = {}
        if run.checker.extra is not None:
            candidates = run.run_.checks.candidates(run.file.kind, table)
            if candidates is None:
                return None
            found.append(candidates.rows)
            counted = candidates.counted
        named = np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)
        for rule, rows in counted.items():
            part.excess[rule] += int(np.count_nonzero(~np.isin(rows, named)))
        return named

    def _table_of(self, values: list[dict[str, str]]) -> pa.Table:
        names = [f.name for f in self._run.present.fields]
        return pa.table({name: string_array([value.get(name) for value in values]) for name in names})


def _joined(tables: list[Any]) -> Any:
    return pa.concat_tables(tables).combine_chunks()


def _empty_rows(column: Any) -> Any:
    offsets = offsets_of(column)
    return np.flatnonzero(offsets[1:] == offsets[:-1])


def _scan(column: Any, scan: ColumnScan, count: bool) -> int:
    """See what the cells would be turned into; gives the number of those that look like numbers, if they count."""
    first = [c for c in column[:2].to_pylist() if c is not None]
    certain = ColumnScan()
    certain.add(first)
    if certain.texts == 2 == len(first) and MISSING.isdisjoint(first):
        if not count:
            scan.close(len(column), False)
            return 0
        starts, stops = first_and_last_bytes(column)
        likely = np.flatnonzero(_NUMBER_BYTES[0][starts] & _NUMBER_BYTES[1][stops])
        numbers = sum(1 for i in likely if ColumnScan.is_number(column[int(i)].as_py()))
        scan.close(len(column), numbers > 0)
        return numbers
    cells = [c for c in column.to_pylist() if c is not None]
    scan.add(cells)
    return sum(1 for c in cells if ColumnScan.is_number(c))


def _byte_table(members: bytes) -> Any:
    table = np.zeros(256, np.bool_)
    table[list(members)] = True
    return table


_NUMBER_BYTES = (_byte_table(b"0123456789+-. \t"), _byte_table(b"0123456789. \t"))


def coded_table(run: CsvRun, table: Any, rows: int, kinds: dict[str, Kind]) -> NumpyBatch:
    """The key columns of rows as codes, cells of inferred columns as their chunk's kinds leave them."""
    assert run.columns is not None
    batch = NumpyBatch(rows, 0)
    batch.table = table
    names = run.hashed_columns
    texts: dict[Any, Any] = {}
    for name in names:
        column_name = run.form.column_of(name) if name.startswith("@") else name
        inferred = name.startswith("@") and column_name in kinds
        there = column_name in table.column_names
        if not there or (inferred and not run.usable(column_name, kinds[column_name])):
            batch.columns[name] = batch.spelled[name] = np.zeros(rows, np.uint64)
            batch.valid[name] = np.zeros(rows, np.bool_)
            continue
        column = one_array(table, column_name)
        batch.valid[name] = mask_of(column.is_valid()) if column.null_count else None
        if inferred and kinds[column_name] != "text":
            column = _converted(column, kinds[column_name])
        texts["plain", name] = column
        if name in run.columns.spelled:
            texts["spelled", name] = spelled(column)
    if "@spelled" in run.columns.names and run.info.key:
        kind = kinds.get(run.info.key, "text")
        batch.spelled_as_keys = kind == "text"
        batch.key_names = spelled_keys(one_array(table, run.info.key), kind)
        if kind != "text":
            texts["plain", "@spelled"] = batch.key_names
    for (way, name), codes in hash_columns(texts).items():
        (batch.spelled if way == "spelled" else batch.columns)[name] = codes
    run.run_.checks.derive_codes(run.file.kind, table, batch)
    return batch


def _converted(column: Any, kind: Kind) -> Any:
    return string_array([None if c is None else key_of(c, kind) for c in column.to_pylist()])


def spelled_keys(column: Any, kind: Kind) -> Any:
    """A key column as the loader spells it after all."""
    if kind == "text":
        return column
    return string_array([None if c is None else coerced(c, kind) for c in column.to_pylist()])
