"""Lines of cells as records, one by one: all lines of a file of columns, or those that a scanner leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ragdatakit.files.containers.lines import iter_lines
from ragdatakit.files.containers.sources import Block
from ragdatakit.schemas.declarations import File
from ragdatakit.schemas.line_cells import LineError, LineReader


class CellLines:
    """Reads the lines of one file. ``refused`` says why lines are dropped, by their numbers from 1; ``text`` and
    ``drop`` are given the number of a line and the line. ``lines`` and ``records`` are how many there were so far."""

    def __init__(
        self,
        kind: File,
        has_header: bool,
        refused: Mapping[int, str],
        text: Callable[[int, bytes], str],
        drop: Callable[[int, str, bytes], None],
    ) -> None:
        self._reader = LineReader(kind)
        self._has_header, self.refused, self._text, self._drop = has_header, refused, text, drop
        self.lines = self.records = 0

    def header_of(self, block: Block) -> int:
        """The bytes of the header in a block."""
        if not self._has_header or self.lines:
            return 0
        _, line, end = next(iter_lines(block.data), (0, b"", b""))
        return len(line) + len(end)

    def all_of(self, block: Block) -> Iterator[tuple[int, dict[str, Any]]]:
        """The records of the next block, with their numbers in the file."""
        number = -1
        for number, (start, line, _) in enumerate(iter_lines(block.data)):
            record = self.record(block, number, start, line)
            if record is not None:
                self.records += 1
                yield self.records - 1, record
        self.end(block, number + 1)

    def record(self, block: Block, number: int, start: int, line: bytes) -> dict[str, Any] | None:
        """The record on a line of the next block; None where it is none."""
        raw, place = block.shown(start, line), self.lines + block.line(number) + 1
        why = self.refused.get(place, "")
        text = self._text(place, raw) if not why else ""
        if place == 1 and self._has_header:
            if not why and self._reader.looks_like_record(text):
                why = "it is where the header should be"
            elif not why and self._reader.behind_header(text):
                why = "it is on the line of the header"
        elif not why and text.strip():
            try:
                record = self._reader.record(text)
            except LineError as error:
                why = f"no record: {error}"
            else:
                return record if "comment" not in record else None
        if why:
            self._drop(place, why, raw)
        return None

    def end(self, block: Block, lines: int) -> None:
        """The next block, which has so many lines, is done with."""
        self.lines += lines + len(block.breaks)


class CellBlock:
    """What is behind the header in a block of lines: ``data``, the rest of which begins with line ``first`` of it."""

    def __init__(self, lines: CellLines, block: Block) -> None:
        self._lines, self._block = lines, block
        self._behind = lines.header_of(block)
        self.first = int(self._behind > 0)
        self.data = block.data[self._behind :] if self._behind else block.data
        self._none = 0

    def record(self, row: int, line: int, start: int, end: int) -> tuple[int, dict[str, Any]] | None:
        """The record that is between two places of ``data``, on this line, before which there are so many rows, and its
        number in the file; None where it is none. Asked of rows in order."""
        raw = self.data[start:end]
        found = self._lines.record(self._block, self.first + line, self._behind + start, raw)
        if found is None:
            self._none += 1
            return None
        return self._lines.records + row - self._none, found

    def end(self, rows: int, lines: int) -> None:
        """It was taken; it has so many rows, and lines."""
        self._lines.records += rows - self._none
        self._lines.end(self._block, self.first + lines)

    def begin(self) -> None:
        """Look at the header, if it has one."""
        if self.first:
            _, line, _ = next(iter_lines(self._block.data))
            self._lines.record(self._block, 0, 0, line)
