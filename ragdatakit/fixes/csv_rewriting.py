"""CSV files written anew: without the comma that ends each row, or with commas in the place of another separator."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ragdatakit.files.containers.lines import iter_lines
from ragdatakit.files.containers.sources import BOM, Source
from ragdatakit.files.paths.boundary import ANYWHERE, Boundary
from ragdatakit.fixes.applying import PlainFile

_OTHERS = ";\t"
"""What is written in the place of commas."""


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
    for raw, cells in rows:
        line = raw.rstrip(b"\r\n")
        target.write(rows.mark + raw if is_header else line.removesuffix(b",") + raw[len(line) :])
        is_header = is_header and not cells


def separator_of(path: Path, boundary: Boundary, names: set[str]) -> str:
    """What is between the cells of a file that has columns of these names, if it is no comma and each row has as many
    cells as the header; empty where nothing is sure."""
    return next((each for each in _OTHERS if _fits(path, boundary, each, names)), "")


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


def with_commas(source: PlainFile, target: IO[bytes]) -> None:
    """Commas between the cells, which are quoted where they have to be."""
    with source.path.open("rb") as file:
        head = file.readline()
    separator = max(_OTHERS, key=lambda each: head.count(each.encode()))
    rows = _Rows(source.path, ANYWHERE, separator)
    for number, (raw, cells) in enumerate(rows):
        line = io.StringIO()
        end = raw[len(raw.rstrip(b"\r\n")) :].decode()
        csv.writer(line, lineterminator=end).writerow(cells)
        target.write((rows.mark if not number else b"") + (line.getvalue().encode() if cells else raw))
