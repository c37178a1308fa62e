"""One block of an NDJSON file judged: by columns where that proves it clean, by halves and lines where it does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.findings import Problem
from ragdatakit.tables.lines import iter_lines
from ragdatakit.validators.records import RecordChecker

if TYPE_CHECKING:
    from ragdatakit.tables.columnar import ColumnarDecoder, ColumnBlock

PART_BYTES = 1 << 16
"""A block that is refused is cut into parts of this size, and only those refused again go line by line."""


@dataclass(slots=True)
class Fault:
    """Problems of one record: its number and line within the block (0-based), its offset in the block, its bytes."""

    record: int
    line: int
    offset: int
    raw: bytes
    problems: list[Problem]
    is_record: bool = True


@dataclass(slots=True)
class LineEnds:
    """How often each line end occurs, and where first: (count, line within the block, offset)."""

    lf: tuple[int, int, int] = (0, 0, 0)
    crlf: tuple[int, int, int] = (0, 0, 0)
    cr: tuple[int, int, int] = (0, 0, 0)

    def add(self, other: LineEnds, line: int, offset: int) -> None:
        """Take in what a later part has, which begins at this line and offset."""
        for name in ("lf", "crlf", "cr"):
            count, first, at = getattr(self, name)
            more, its_first, its_at = getattr(other, name)
            if more:
                place = (first, at) if count else (its_first + line, its_at + offset)
                setattr(self, name, (count + more, *place))


@dataclass(slots=True)
class Segment:
    """Part of a block: either columns (all clean, but for rows in ``faults``), or decoded values, line by line."""

    length: int
    columns: ColumnBlock | None = None
    values: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class JudgedBlock:
    """What one block holds."""

    segments: list[Segment] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    records: int = 0
    lines: int = 0
    ends: LineEnds = field(default_factory=LineEnds)
    batches: list[tuple[int, Any, list[Any] | None, Any]] = field(default_factory=list)


Suspects = Callable[[Any], Any]


class BlockJudge:
    """Judges blocks of one file; `judge` may run in any thread.

    ``decoder`` is the columnar one (None: always line by line), ``suspects`` names rows of clean columns that the
    format's own checks must see. ``blank_rule`` is the rule that a blank line breaks, if any.
    """

    def __init__(
        self,
        checker: RecordChecker,
        decoder: ColumnarDecoder | None = None,
        suspects: Suspects | None = None,
    ) -> None:
        self._checker = checker
        self._decoder = decoder
        self._suspects = suspects
        self._blank = checker.records[0].rules.get("blank", "")
        self._refused = 0

    def judge(self, data: bytes, columns: bool = True) -> JudgedBlock:
        """All records of a block of whole lines; ``columns`` false: line by line."""
        block = JudgedBlock()
        if not columns:
            self._by_line(data, 0, block)
            return block
        if self._try_columns(data, block):
            self._refused = max(0, self._refused - 1)
            return block
        if self._decoder is None or self._refused > 16:
            self._by_line(data, 0, block)
            self._refused -= 1 if self._refused % 8 else -7  # look again now and then
            return block
        self._refused += 1
        offset = 0
        while offset < len(data):
            cut = data.rfind(b"\n", offset, offset + PART_BYTES) + 1
            if not cut:
                cut = (data.find(b"\n", offset) + 1) or len(data)
            part = data[offset:cut]
            if not self._try_columns(part, block, offset):
                self._by_line(part, offset, block)
            offset = cut
        return block

    def _try_columns(self, data: bytes, block: JudgedBlock, offset: int = 0) -> bool:
        if self._decoder is None:
            return False
        columns = self._decoder.decode(data)
        if columns is None:
            return False
        suspects = self._suspects(columns) if self._suspects is not None else ()
        if suspects is None:
            return False
        for row in suspects:
            self._look_at(data, columns, int(row), offset, block)
        ends = LineEnds()
        setattr(ends, "crlf" if columns.crlf else "lf", (columns.length, 0, 0))
        block.ends.add(ends, block.lines, offset)
        block.segments.append(Segment(columns.length, columns))
        block.records += columns.length
        block.lines += columns.length
        return True

    def _look_at(self, data: bytes, columns: ColumnBlock, row: int, offset: int, block: JudgedBlock) -> None:
        raw = columns.line(data, row)
        _, problems = self._checker.examine(raw)
        if problems:
            start = offset + columns.start(row)
            block.faults.append(Fault(block.records + row, block.lines + row, start, raw, problems))

    def _by_line(self, data: bytes, offset: int, block: JudgedBlock) -> None:
        examine = self._checker.examine
        values: list[Any] = []
        records, lines = block.records, block.lines
        ends = LineEnds()
        for start, line, end in iter_lines(data):
            if end == b"\n":
                count, first, at = ends.lf
                ends.lf = (count + 1, first, at) if count else (1, lines - block.lines, start)
            elif end:
                name = "crlf" if end == b"\r\n" else "cr"
                count, first, at = getattr(ends, name)
                setattr(ends, name, (count + 1, first, at) if count else (1, lines - block.lines, start))
            if line.strip():
                value, problems = examine(line)
                values.append(value)
                if problems:
                    block.faults.append(Fault(records, lines, offset + start, line, problems))
                records += 1
            elif self._blank:
                blank = Problem(self._blank, value=line.decode("utf-8", "replace"))
                block.faults.append(Fault(records, lines, offset + start, line, [blank], is_record=False))
            lines += 1
        block.ends.add(ends, block.lines, offset)
        block.segments.append(Segment(len(values), None, values))
        block.records, block.lines = records, lines
