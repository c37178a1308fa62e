"""One block of an NDJSON file checked: by the scanner, by columns, or line by line where neither proves it clean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.lines import LONG_LINE, iter_lines
from ragdatakit.files.containers.positions import Located
from ragdatakit.scanner.notes import BLANK, REFUSED
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.collector import NO_RECORD
from ragdatakit.validators.records import RecordChecker

if TYPE_CHECKING:
    from ragdatakit.columnar.blocks import ColumnarDecoder, ColumnBlock
    from ragdatakit.scanner.blocks import BlockScanner, ScannedBlock
    from ragdatakit.validators.checks import Candidates

PART_BYTES = 1 << 16
"""A block that is refused is halved down to parts of this size; only those refused again go line by line."""


Faulty = tuple[Located, list[Problem]]
"""A record with problems: its number, line and offset are counted from 0 at the beginning of its block."""

_NAMES = {b"\n": "lf", b"\r\n": "crlf", b"\r": "cr"}


@dataclass(slots=True)
class LineEnds:
    """How often each line end occurs, and where first: (count, line within the block, offset)."""

    lf: tuple[int, int, int] = (0, 0, 0)
    crlf: tuple[int, int, int] = (0, 0, 0)
    cr: tuple[int, int, int] = (0, 0, 0)

    def count(self, end: bytes, line: int, offset: int) -> None:
        """One more line ends so."""
        name = _NAMES[end]
        count, first, at = getattr(self, name)
        setattr(self, name, (count + 1, first, at) if count else (1, line, offset))

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
    """Part of a block: either columns (all clean, except for the ``faulty`` rows), or decoded values, line by line.

    Of a ``scanned`` block the values are those of the rows that the scanner has left open.
    """

    length: int
    columns: ColumnBlock | None = None
    values: list[Any] = field(default_factory=list)
    scanned: ScannedBlock | None = None


@dataclass(slots=True)
class CheckedBlock:
    """What one block holds.

    Of ``faulty`` records problems are kept up to a limit per rule, ``excess`` counts the others. ``batches`` are for
    the caller.
    """

    faulty: list[Faulty] = field(default_factory=list)
    excess: Counter[str] = field(default_factory=Counter)
    records: int = 0
    lines: int = 0
    ends: LineEnds = field(default_factory=LineEnds)
    batches: list[Any] = field(default_factory=list)
    kept: Counter[str] = field(default_factory=Counter)


FindCandidates = Callable[[Any], "Candidates | None"]
Take = Callable[[Segment], None]


def few_of_each(problems: list[Problem], kept: Counter[str], excess: Counter[str], most: int) -> list[Problem]:
    """The problems of which fewer than ``most`` of their rule were kept (0: all); the others are counted only."""
    if not most:
        return problems
    few = []
    for problem in problems:
        if kept[problem.rule] < most:
            kept[problem.rule] += 1
            few.append(problem)
        else:
            excess[problem.rule] += 1
    return few


class BlockChecker:
    """Checks blocks of one file; `check` may run in any thread.

    ``decoder`` is the columnar one (None: always line by line), ``candidates`` finds the rows of clean columns that
    the format's own checks must see. ``most`` is how many faults of one rule are kept per block (0: all).
    """

    pinned = True
    """Whether each worker needs a processor of its own, as those do that pass the interpreter to each other."""

    _PATIENCE, _PAUSE = 16, 32

    def __init__(
        self,
        checker: RecordChecker,
        decoder: ColumnarDecoder | None = None,
        candidates: FindCandidates | None = None,
        most: int = 0,
    ) -> None:
        self._checker = checker
        self._decoder = decoder
        self._candidates = candidates
        self._most = most
        self._blank = checker.records[0].rules.get("blank", "")
        self._refused = 0
        self._paused = 0

    def check(self, data: bytes, take: Take, columns: bool = True) -> CheckedBlock:
        """All records of a block of whole lines, given to ``take`` in order; ``columns`` false: line by line.

        After many refused blocks in a row the columnar way is not even tried for a while.
        """
        block = CheckedBlock()
        if self._decoder is None or not columns or self._paused > 0:
            self._paused -= 1
            self._by_parts(data, block, take)
        elif self._try_columns(data, 0, block, take):
            self._refused = 0
        else:
            self._refused += 1
            if self._refused > self._PATIENCE:
                self._refused, self._paused = 0, self._PAUSE
            self._by_halves(data, 0, block, take)
        return block

    def _by_halves(self, data: bytes, offset: int, block: CheckedBlock, take: Take) -> None:
        """What was refused as a whole, half by half, so that only a small part around a fault goes line by line."""
        middle = data.rfind(b"\n", 0, len(data) // 2) + 1 or data.find(b"\n", len(data) // 2) + 1
        if len(data) <= PART_BYTES or not 0 < middle < len(data):
            self._by_line(data, offset, block, take)
            return
        for part, begin in ((data[:middle], offset), (data[middle:], offset + middle)):
            if not self._try_columns(part, begin, block, take):
                self._by_halves(part, begin, block, take)

    def _by_parts(self, data: bytes, block: CheckedBlock, take: Take) -> None:
        """Line by line, a part at a time, so that little is held at once."""
        offset = 0
        while offset < len(data):
            cut = data.rfind(b"\n", offset, offset + PART_BYTES) + 1
            if not cut:
                cut = (data.find(b"\n", offset) + 1) or len(data)
            part = data if cut == len(data) and not offset else data[offset:cut]
            self._by_line(part, offset, block, take)
            offset = cut

    def _try_columns(self, data: bytes, offset: int, block: CheckedBlock, take: Take) -> bool:
        if self._decoder is None:
            return False
        columns = self._decoder.decode(data)
        if columns is None:
            return False
        candidates = self._candidates(columns.table) if self._candidates is not None else None
        if candidates is None and self._candidates is not None:
            return False
        for row in candidates.rows if candidates is not None else ():
            raw = columns.line(data, int(row))
            _, problems = self._checker.examine(raw)
            start = offset + columns.start(int(row))
            self._add(block, Located(block.records + int(row), block.lines + int(row), start, raw), problems)
        ends = LineEnds()
        if ended := columns.length - (not data.endswith(b"\n")):
            setattr(ends, "crlf" if columns.crlf else "lf", (ended, 0, 0))
        block.ends.add(ends, block.lines, offset)
        block.records += columns.length
        block.lines += columns.length
        take(Segment(columns.length, columns))
        return True

    def _add(self, block: CheckedBlock, located: Located, problems: list[Problem]) -> None:
        if few := few_of_each(problems, block.kept, block.excess, self._most):
            block.faulty.append((located, few))

    def _by_line(self, data: bytes, offset: int, block: CheckedBlock, take: Take) -> None:
        examine = self._checker.examine
        values: list[Any] = []
        records, lines = block.records, block.lines
        ends = LineEnds()
        for start, line, end in iter_lines(data):
            if end:
                ends.count(end, lines - block.lines, start)
            if len(line) > LONG_LINE or line.strip():
                value, problems = examine(line)
                values.append(value)
                if problems:
                    self._add(block, Located(records, lines, offset + start, bytes(line[:LONG_LINE])), problems)
                records += 1
            elif self._blank:
                blank = Problem(self._blank, value=line.decode("utf-8", "replace"))
                self._add(block, Located(NO_RECORD, lines, offset + start, line), [blank])
            lines += 1
        block.ends.add(ends, block.lines, offset)
        block.records, block.lines = records, lines
        take(Segment(len(values), None, values))


class ScannedChecker(BlockChecker):
    """Checks blocks of one file; `check` may run in any thread, and holds the interpreter only for noted lines."""

    pinned = False

    def __init__(self, checker: RecordChecker, scanner: BlockScanner, most: int = 0) -> None:
        super().__init__(checker, most=most)
        self._scanner = scanner

    def check(self, data: bytes, take: Take, columns: bool = True) -> CheckedBlock:
        """All records of a block of whole lines, given to ``take`` as one segment; ``columns`` false: line by line."""
        scanned = self._scanner.scan(data) if columns else None
        if scanned is None:
            return super().check(data, take, columns=False)
        block = CheckedBlock(records=scanned.rows, lines=scanned.lines, ends=LineEnds(scanned.lf, scanned.crlf))
        values = self._noted(data, scanned, block)
        take(Segment(scanned.rows, values=values, scanned=scanned))
        return block

    def _noted(self, data: bytes, scanned: ScannedBlock, block: CheckedBlock) -> list[Any]:
        """What the record checks say of the noted lines; the decoded values of those that were refused."""
        values: list[Any] = []
        for why, row, line, start, end in scanned.notes:
            raw = data[start:end]
            if why == BLANK:
                if self._blank:
                    blank = Problem(self._blank, value=raw.decode("utf-8", "replace"))
                    self._add(block, Located(NO_RECORD, line, start, raw), [blank])
                continue
            value, problems = self._checker.examine(raw)
            if problems:
                self._add(block, Located(row, line, start, raw), problems)
            if why == REFUSED:
                values.append(value)
        return values
