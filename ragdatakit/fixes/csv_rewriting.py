"""CSV files written anew: without the comma that ends each row, or with commas in the place of another separator."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ragdatakit.files.containers.beginnings import BOM
from ragdatakit.files.containers.lines import iter_lines
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.paths.boundary import ANYWHERE, Boundary
from ragdatakit.fixes.applying import PlainFile

OTHER_SEPARATORS = {"semicolons-to-commas": ";", "tabs-to-commas": "\t"}
"""What is written in the place of commas, by the names of the rewrites that put commas there."""

_EITHER_END = "\r\n"
"""What ends the rows for `csv.writer`: before Python 3.13 it quotes a cell with CR or LF only if that is in here."""


class _Rows:
    """The rows of a file, each with its bytes. Raises `ValueError` where Python's reader finds a fault."""

    def __init__(self, path: Path, boundary: Boundary, separator: str = ",") -> None:
        self._source = Source(path, path.name.endswith(".gz"), boundary=boundary)
        self._separator = separator
        self._held: list[bytes] = []

    def __iter__(self) -> Iterator[tuple[bytes, list[str]]]:
        try:
            for cells in csv.reader(self._lines(), delimiter=self._separator, strict=True):
                yield b"".join(self._held), cells
                self._held.clear()
        except csv.Error as error:
            raise ValueError(str(error)) from None
        if self._source.faults:
            raise ValueError(self._source.faults[0].rule)

    def _lines(self) -> Iterator[str]:
        for block in self._source.blocks():
            if block.skipped:
                raise ValueError("a line is too long")
            for _, line, end in iter_lines(block.data):
                self._held.append(bytes(line) + bytes(end))
                yield self._held[-1].decode("utf-8")

    @property
    def mark(self) -> bytes:
        """The byte-order mark, if there is one, once the first row was read."""
        return BOM if self._source.bom else b""


def ends_in_commas(path: Path, boundary: Boundary) -> bool:
    """Whether each row below the header has one cell more than it, and nothing in it."""
    width = rows = 0
    try:
        for raw, cells in _Rows(path, boundary):
            if not cells:
                continue
            if rows and (len(cells) != width + 1 or not raw.rstrip(b"\r\n").endswith(b",")):
                return False
            width, rows = width or len(cells), rows + 1
    except ValueError:
        return False
    return rows > 1


def without_last_comma(source: PlainFile, target: IO[bytes]) -> None:
    """Each row below the header loses the comma that ends it."""
    rows = _Rows(source.path, ANYWHERE)
    is_header = True
    for number, (raw, cells) in enumerate(rows):
        line = raw.rstrip(b"\r\n")
        written = raw if is_header else line.removesuffix(b",") + raw[len(line) :]
        target.write((rows.mark if not number else b"") + written)
        is_header = is_header and not cells


def rewrite_with_commas(path: Path, boundary: Boundary, names: set[str]) -> str:
    """The name of the rewrite for a file that has columns of these names, if what is between its cells is no comma and
    each row has as many cells as the header; empty where nothing is sure."""
    return next((name for name, each in OTHER_SEPARATORS.items() if _fits(path, boundary, each, names)), "")


def _fits(path: Path, boundary: Boundary, separator: str, names: set[str]) -> bool:
    width = 0
    try:
        for _, cells in _Rows(path, boundary, separator):
            if not width and not names <= set(cells):
                return False
            width = width or len(cells)
            if len(cells) not in (0, width):
                return False
    except ValueError:
        return False
    return width > 1


def with_commas(separator: str, source: PlainFile, target: IO[bytes]) -> None:
    """Commas between the cells in the place of ``separator``; cells are quoted where they have to be."""
    rows = _Rows(source.path, ANYWHERE, separator)
    for number, (raw, cells) in enumerate(rows):
        line = io.StringIO()
        csv.writer(line, lineterminator=_EITHER_END).writerow(cells)
        written = line.getvalue().removesuffix(_EITHER_END).encode() + raw[len(raw.rstrip(b"\r\n")) :]
        target.write((rows.mark if not number else b"") + (written if cells else raw))
