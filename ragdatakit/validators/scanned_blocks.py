"""One block of NDJSON checked with the scanner: what it does not prove clean goes to Python, line by line."""

from __future__ import annotations

from typing import Any

from ragdatakit.files.containers.positions import Located
from ragdatakit.scanner.blocks import BLANK, REFUSED, BlockScanner, ScannedBlock
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.blocks import BlockChecker, CheckedBlock, LineEnds, Segment, Take
from ragdatakit.validators.collector import NO_RECORD
from ragdatakit.validators.records import RecordChecker


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
