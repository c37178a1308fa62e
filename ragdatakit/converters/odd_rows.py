"""CSV for DuckDB, in which only odd rows are read one by one: a copy of the file has the others as they stand, and rows
of empty cells in place of those."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from ragdatakit.converters.sql_files import is_read_alike
from ragdatakit.database.columns import Kind, PackedColumn, Schema, packed
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.files.containers.csv_rows import CsvBlock, CsvReader, RawRow
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library
from ragdatakit.scanner.sheets import SheetScanner, cut_records

_AT_ONCE = 1 << 10


class OddRows:
    """The rows of a file that readers read in different ways, by their places among its rows.

    ``usual`` are the columns that are wanted, with what a row has there that lacks them; ``rows`` counts all rows, when
    all were read.
    """

    def __init__(self, records: RecordReader, file: DataFile, usual: dict[str, str]) -> None:
        self._records, self._file, self._usual = records, file, usual
        self.schema: Schema = {"place": Kind.INTEGER, **dict.fromkeys(usual, Kind.TEXT)}
        self.rows = 0
        self._header: list[str] = []

    def batches(self, copy: Path) -> Iterator[list[PackedColumn]]:
        """The odd rows; meanwhile the copy is written. Raises `Unproved` where the file as a whole is faulty, or there
        is no scanner to find them."""
        source = self._records.source(self._file)
        reader = CsvReader(source, cut_records)
        if library() is None or not reader.open() or not reader.header:
            raise Unproved
        self._header = reader.header
        places = {name: self._header.index(name) for name in self._usual if name in self._header}
        scanner = SheetScanner(len(reader.header), ())
        found: list[tuple[int | str, ...]] = []
        with copy.open("wb") as out:
            out.write(self._row_of([*self._header]))
            for block in reader.blocks():
                for place, row in self._odd(block, scanner, out):
                    cells = self._records.row_at(self._file, places, row)
                    found.append((self.rows + place, *(cells.get(name, usual) for name, usual in self._usual.items())))
                    if len(found) >= _AT_ONCE:
                        yield self._packed(found)
                        found.clear()
                self.rows += block.rows
        if source.faults or reader.too_long:
            raise Unproved
        if found:
            yield self._packed(found)

    def _odd(self, block: CsvBlock, scanner: SheetScanner, out: BinaryIO) -> Iterator[tuple[int, RawRow]]:
        """The odd rows of a block by their places in it; all others are written."""
        if block.cut is None:
            found, sound = self._scanned(block, scanner)
            if is_read_alike(sound):
                out.write(sound if sound.endswith(b"\n") else sound + b"\n")
                yield from found
                return
        for number, row in enumerate(block.raw_rows()):
            if row.closed and is_read_alike(row.raw) and not scanner.scan(row.raw).notes:
                out.write(row.raw + b"\n")
            else:
                out.write(self._empty)
                yield number, row

    def _scanned(self, block: CsvBlock, scanner: SheetScanner) -> tuple[list[tuple[int, RawRow]], bytes]:
        """The rows that the scanner refuses, and the block without them."""
        found, parts, at = [], [], 0
        for _, number, line, start, end in scanner.scan(block.data).notes:
            found.append((number, RawRow(block.offset + start, block.first_line + line, block.data[start:end])))
            parts += [block.data[at:start], self._empty]
            at = end + 1
        return found, b"".join((*parts, block.data[at:]))

    @property
    def _empty(self) -> bytes:
        return self._row_of([""] * len(self._header))

    @staticmethod
    def _row_of(cells: Sequence[str]) -> bytes:
        return ",".join('"{}"'.format(cell.replace('"', '""')) for cell in cells).encode() + b"\n"

    def _packed(self, found: Sequence[tuple[int | str, ...]]) -> list[PackedColumn]:
        columns = zip(*found, strict=True)
        return [packed(kind, values) for kind, values in zip(self.schema.values(), columns, strict=True)]
