"""The rows of a CSV file that may have one of some texts in a cell: the scanner finds them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from ragdatakit.arrays.codes import are_among, distinct
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.files.containers.csv_rows import CsvBlock, CsvReader, RawRow, found_rows
from ragdatakit.scanner.sheets import SheetColumn, SheetScanner, cut_records

MOST_COLUMNS = 1 << 6
"""Of a file that is worth it: each cell gets a code."""


class RowsHaving:
    """Looks at the blocks of an opened file, as `cut_records` cuts them."""

    def __init__(self, reader: CsvReader, texts: Collection[str]) -> None:
        places = range(len(reader.header or ()))
        self._scanner = SheetScanner(len(places), [SheetColumn(str(n), n, key=True) for n in places])
        self._wanted = distinct(codes_of_texts([*texts])["first"])
        self._widths = reader.widths

    def of(self, block: CsvBlock) -> Iterable[tuple[int, RawRow]]:
        """Rows of a block, with their places in it."""
        if block.cut is not None:
            return enumerate(block.cut)
        scanned = self._scanner.scan(block.data)
        wanted = np.zeros(scanned.rows, np.bool_)
        wanted[[note[1] for note in scanned.notes]] = True
        for cells in scanned.cells.values():
            wanted |= are_among(cells.codes["first"], self._wanted)
        numbers = np.flatnonzero(wanted).tolist()
        rows = found_rows(block.data, block.offset, block.first_line, numbers, self._widths, cut_records)
        return zip(numbers, rows, strict=False)
