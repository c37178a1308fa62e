"""Who reads ranges of rows of CSV: whole chunks of those from which pandas infers types at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.sources import CHANGED, FileFault, RangeSource
from ragdatakit.validators.csv_parts import CsvPart
from ragdatakit.validators.ranges.plan import Range
from ragdatakit.validators.ranges.range_judges import Gathered, RangeJudge
from ragdatakit.validators.ranges.summaries import JudgedRows, RangeSummary
from ragdatakit.validators.reading.csv_scans import ScannedCsvRun

if TYPE_CHECKING:
    from ragdatakit.files.containers.csv_rows import CsvBlock


class CsvJudge(RangeJudge, ScannedCsvRun):
    """Reads a range of rows."""

    _table: JudgedRows

    def judge(self, part: Range, gathered: Gathered | None, is_last: bool) -> RangeSummary:
        """What it is. The header was read by who asks, and is as it was, if the file has not changed."""
        assert part.rows is not None
        found, plain, self._kept = RangeSummary((part.file, part.number)), self.source, Counter[str]()
        if self._has_changed(part):
            found.faults.append(FileFault("unreadable-file", {"reason": CHANGED}))
            return found
        self._open()
        self.source = RangeSource.of(plain, part.start, part.end, part.state)
        self._prepare()
        found.sheet = self._found = JudgedRows(self.info)
        self.reader.go_to(self.source, part.start, part.line, part.rows)
        self._read()
        found.sheet.sound, found.more, found.faults = self.whole, self.more, self.source.faults
        found.state = self.run_.checks.state(self.file)
        return found

    def _checked(self) -> Iterator[tuple[CsvBlock, CsvPart]]:
        return ((block, self.check(block)) for block in self.reader.blocks())

    def new_part(self, block: CsvBlock) -> CsvPart:
        """An empty part for a block, of whose problems no more are kept than may be shown of the range."""
        part = super().new_part(block)
        part.kept = self._kept
        return part

    def _take_rows(self, part: CsvPart, line: int, offset: int) -> None:
        few = CsvPart(part.first_row, part.rows, part.chunk, {}, part.faulty, part.doubtful, part.excess)
        self._found.steps.append((few, line, offset))

    def _take_batch(self, first_row: int, batch: Any, values: list[Any] | None, found: list[Any]) -> None:
        self._take_cells(first_row, batch, values)

    def _take_cells(self, first_row: int, batch: Any, values: list[Any] | None) -> None:
        assert self.columns is not None
        for name in batch.columns.keys() - set(self.columns.names):
            del batch.columns[name]
        self._found.steps.append((first_row, batch, values if self.needs.values else None))
