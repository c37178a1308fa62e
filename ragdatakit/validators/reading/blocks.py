"""One block of an NDJSON file checked: by the scanner, or line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.indents import NO_INDENT
from ragdatakit.files.containers.lines import LONG_LINE, iter_lines
from ragdatakit.files.containers.positions import Located, quick_located
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.notes import BLANK, REFUSED
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.collector import NO_RECORD
from ragdatakit.validators.records import RecordChecker

if TYPE_CHECKING:
    from ragdatakit.files.containers.sources import Block
    from ragdatakit.scanner.blocks import BlockScanner, ScannedBlock
    from ragdatakit.scanner.known_blocks import KnownBlocks

PART_BYTES = 1 << 16
"""Bytes of a block that are held as values at once, where it goes line by line."""


Faulty = tuple[Located, list[Problem], Any]
"""A record with problems, and what it decodes to (None where that is not at hand): its number, line and offset are
counted from 0 at the beginning of its block."""

_NAMES = {b"\n": "lf", b"\r\n": "crlf", b"\r": "cr"}


_End = tuple[int, int, int]


@dataclass(slots=True)
class LineEnds:
    """How often each line end occurs, and where first: (count, line within the block, offset)."""

    lf: _End = (0, 0, 0)
    crlf: _End = (0, 0, 0)
    cr: _End = (0, 0, 0)

    def count(self, end: bytes, line: int, offset: int) -> None:
        """One more line ends so."""
        name = _NAMES[end]
        count, first, at = getattr(self, name)
        setattr(self, name, (count + 1, first, at) if count else (1, line, offset))

    def add(self, other: LineEnds, line: int, offset: int) -> None:
        """Take in what a later part has, which begins at this line and offset."""
        if other.lf[0]:
            self.lf = _together(self.lf, other.lf, line, offset)
        if other.crlf[0]:
            self.crlf = _together(self.crlf, other.crlf, line, offset)
        if other.cr[0]:
            self.cr = _together(self.cr, other.cr, line, offset)


def _together(before: _End, behind: _End, line: int, offset: int) -> _End:
    count, first, at = before
    more, its_first, its_at = behind
    return (count + more, first, at) if count else (more, its_first + line, its_at + offset)


@dataclass(slots=True)
class Segment:
    """Part of a block: decoded values, line by line. Of a ``scanned`` block those of the rows that the scanner has left
    open."""

    length: int
    values: list[Any] = field(default_factory=list)
    scanned: ScannedBlock | None = None
    noted: list[tuple[int, Any]] = field(default_factory=list)


@dataclass(slots=True)
class CheckedBlock:
    """What one block holds.

    Of ``faulty`` records problems are kept up to a limit per rule, ``excess`` counts the others. ``batches`` are for
    the caller. ``marks`` are those of `ScannedBlock`.
    """

    faulty: list[Faulty] = field(default_factory=list)
    excess: Counter[str] = field(default_factory=Counter)
    records: int = 0
    lines: int = 0
    ends: LineEnds = field(default_factory=LineEnds)
    batches: list[Any] = field(default_factory=list)
    kept: Counter[str] = field(default_factory=Counter)
    marks: list[list[int]] = field(default_factory=list)

    def count_breaks(self, block: Block) -> None:
        """Count lines as they are in the file, where line breaks were hidden."""
        for i, (located, problems, value) in enumerate(self.faulty):
            self.faulty[i] = replace(located, line=block.line(located.line)), problems, value
        for name in ("lf", "crlf", "cr"):
            count, line, at = getattr(self.ends, name)
            setattr(self.ends, name, (count, *block.last_line(line, at)))
        self.lines += len(block.breaks)


Take = Callable[[Segment], None]
Count = Callable[[Mapping[Any, int]], None]


def few_of_each(problems: list[Problem], kept: Counter[str], excess: Counter[str], most: int) -> list[Problem]:
    """The problems of which fewer than ``most`` of their rule were kept (0: all, below 0: none); the others are counted
    only."""
    if not most:
        return problems
    few = []
    for problem in problems:
        rule = problem.rule
        if kept[rule] < most:
            kept[rule] += 1
            few.append(problem)
        else:
            excess[rule] += 1
    return few


class BlockChecker:
    """Checks blocks of one file, line by line; `check` may run in any thread. ``most`` is how many faults of one rule
    are kept per block (0: all, below 0: none)."""

    def __init__(self, checker: RecordChecker, most: int = 0) -> None:
        self._checker = checker
        self._most = most
        self._blank = checker.records[0].rules.get("blank", "")

    def check(self, given: Block, take: Take, at_once: bool = True) -> CheckedBlock:
        """All records of a block of whole lines, given to ``take`` in order; ``at_once`` false: a block so long that
        it must go line by line."""
        block = CheckedBlock()
        self._by_parts(given, block, take)
        if given.breaks:
            block.count_breaks(given)
        return block

    def _by_parts(self, given: Block, block: CheckedBlock, take: Take) -> None:
        """Line by line, a part at a time, so that little is held at once."""
        offset, data = 0, given.data
        while offset < len(data):
            cut = data.rfind(b"\n", offset, offset + PART_BYTES) + 1
            if not cut:
                cut = (data.find(b"\n", offset) + 1) or len(data)
            part = data if cut == len(data) and not offset else data[offset:cut]
            with self._checker.judging:
                segment = self._by_line(given, part, offset, block)
            take(segment)
            offset = cut

    def _few(self, block: CheckedBlock, problems: list[Problem]) -> list[Problem]:
        return few_of_each(problems, block.kept, block.excess, self._most)

    def _blank_line(self, line: bytes) -> Problem:
        return Problem(self._blank, value=line.decode("utf-8", "replace"))

    def _by_line(self, given: Block, data: bytes, offset: int, block: CheckedBlock) -> Segment:
        examine = self._checker.examine
        values: list[Any] = []
        records, lines = block.records, block.lines
        ends = LineEnds()
        for start, line, end in iter_lines(data):
            if given.breaks:
                line = given.shown(offset + start, line)
            if end:
                ends.count(end, lines - block.lines, start)
            if len(line) > LONG_LINE or line.strip():
                value, problems = examine(line)
                values.append(value)
                if problems and (few := self._few(block, problems)):
                    located = Located(records, lines, offset + start, bytes(line[:LONG_LINE]))
                    block.faulty.append((located, few, value))
                records += 1
            elif self._blank and (few := self._few(block, [self._blank_line(line)])):
                block.faulty.append((Located(NO_RECORD, lines, offset + start, line), few, None))
            lines += 1
        block.ends.add(ends, block.lines, offset)
        block.records, block.lines = records, lines
        return Segment(len(values), values)


class ScannedChecker(BlockChecker):
    """Checks blocks of one file; `check` may run in any thread, and holds the interpreter only for noted lines.

    ``count`` takes what the predicates count; of ``known`` blocks nothing is scanned. ``keeps``: what noted lines
    decode to is given on also where the scanner has their keys.
    """

    def __init__(
        self,
        checker: RecordChecker,
        scanner: BlockScanner,
        most: int = 0,
        count: Count | None = None,
        known: KnownBlocks | None = None,
        keeps: bool = True,
    ) -> None:
        super().__init__(checker, most)
        self._scanner = scanner
        self._count = count
        self._known = known
        self._keeps = keeps

    def check(self, given: Block, take: Take, at_once: bool = True) -> CheckedBlock:
        """All records of a block of whole lines, given to ``take`` as one segment."""
        from ragdatakit.scanner.relations import OnceCount  # which small data does not need

        data = given.data
        scanned = self._scan(given) if at_once else None
        if scanned is None:
            return super().check(given, take)
        if any(column.odd for column in scanned.columns.values()):
            from ragdatakit.validators.coded_columns import spell_odd

            spell_odd(scanned, data)
        block = CheckedBlock(records=scanned.rows, lines=scanned.lines, ends=LineEnds(scanned.lf, scanned.crlf))
        with self._checker.judging:
            noted = self._noted(given.whole or data, scanned, block)
        block.excess.update({str(name): n for name, n in scanned.counts.items() if isinstance(name, OnceCount)})
        if self._count is not None and scanned.counts:
            self._count(scanned.counts)
        values = [value for why, _, value in noted if why == REFUSED]
        take(Segment(scanned.rows, values, scanned, [(row, value) for _, row, value in noted]))
        if given.breaks:
            block.count_breaks(given)
        else:
            block.marks = scanned.marks
        return block

    def _scan(self, block: Block) -> ScannedBlock | None:
        if self._known is not None and block.known:
            return self._known.at(block.offset)
        scanned = self._scanner.scan(block.data)
        if self._known is not None and scanned is not None:
            self._known.add(block, scanned)
        return scanned

    def _noted(self, data: bytes, scanned: ScannedBlock, block: CheckedBlock) -> list[tuple[int, int, Any]]:
        """What the record checks say of the noted lines; of those that are kept, why they were noted, their rows and
        decoded values."""
        values: list[tuple[int, int, Any]] = []
        for why, row, line, start, end in scanned.notes:
            raw = data[start:end]
            if why == BLANK:
                if self._blank and (few := self._few(block, [self._blank_line(raw)])):
                    block.faulty.append((Located(NO_RECORD, line, start, raw), few, None))
                continue
            value, problems = self._checker.examine(raw, row in scanned.alike, scanned.alike.get(row))
            if problems and (few := few_of_each(problems, block.kept, block.excess, self._most)):
                block.faulty.append((quick_located(row, line, start, raw, NO_INDENT, False), few, value))
            if why == REFUSED or self._keeps:
                values.append((why, row, value))
        return values
