"""Ranges of rows of CSV taken in order, as if they were read one after the other.

Where a row begins depends on all quote marks before it, and on which of them were never closed. So the file is cut
into rows once before, which is quick, and ranges begin where pandas begins to infer types anew: what a column becomes
is then known of each of them.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from functools import partial
from itertools import groupby, pairwise

from ragdatakit.files.allocation import give_back_memory
from ragdatakit.files.containers.csv_cells import ColumnScan
from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.containers.sources import file_state
from ragdatakit.validators.csv_parts import CsvPart
from ragdatakit.validators.dataset_run import DatasetRun
from ragdatakit.validators.ranges import plan
from ragdatakit.validators.ranges.judging import Job, can_be_sent, judge_range
from ragdatakit.validators.ranges.plan import Range
from ragdatakit.validators.ranges.summaries import JudgedRows
from ragdatakit.validators.reading.csv_scans import ScannedCsvRun

_BYTES = 8 << 20
"""Of a file in one range, at least: the codes of all its keys come back at once."""


class RangedCsvRun(ScannedCsvRun):
    """A CSV file."""

    def _read(self) -> None:
        run, engine = self.run_, self.run_.options.engine
        assert isinstance(run, DatasetRun)
        assert engine is not None
        with self.source.boundary.open(self.source.path) as file:
            info = os.fstat(file.fileno())
        cuts = plan.bounds(0, info.st_size, _BYTES)
        is_plain = not (self.source.gz or is_parquet(self.source.path) or self.source.is_packed())
        if len(cuts) < 3 or not is_plain or not can_be_sent(run.big):
            super()._read()
            return
        parts = [*self._planned(Range(run.dataset.number_of(self.file), 0, 0, info.st_size, file_state(info)), cuts)]
        judge = partial(judge_range, Job.of(run, self.file, self.fresh))
        states = []
        for part, summary in zip(parts, engine.map(judge, parts) if parts[1:] else map(judge, parts), strict=True):
            if summary.sheet is not None:
                self._replay(summary.sheet)
            self.more.update(summary.more)
            self.source.faults += [fault for fault in summary.faults if fault not in self.source.faults]
            states.append(summary.state)
            run.progress(self.file, part.end)
            give_back_memory()
        if self.fresh:
            run.checks.merge(self.file, [state for state in states if state is not None])

    def _planned(self, whole: Range, cuts: list[int]) -> Iterator[Range]:
        """The rows cut where chunks begin."""
        begins, rows = [], 0
        for block in self.reader.blocks():
            self._report_shift(block)
            if not block.first_row % self.reader.chunk_rows:
                begins.append((block.offset, block.first_line, block.first_row))
            rows = block.first_row + block.rows
        firsts = [next(chunks) for _, chunks in groupby(begins, lambda begin: bisect_right(cuts, begin[0]))]
        for number, ((start, line, first), (end, _, behind)) in enumerate(pairwise([*firsts, (whole.end, 0, rows)])):
            yield Range(whole.file, number, start, end, whole.state, rows=(first, behind), line=line)

    def _replay(self, sheet: JudgedRows) -> None:
        for step in sheet.steps:
            if isinstance(step[0], CsvPart):
                self._take_rows(*step)
            else:
                self._take_cells(*step)
        info, its = self.info, sheet.table
        info.rows += its.rows
        info.numbers.update(its.numbers)
        for name, kinds in its.kinds.items():
            info.kinds[name] += kinds
            info.bare_kinds[name] += its.bare_kinds[name]
        for name, scan in its.scans.items():
            info.scans.setdefault(name, ColumnScan()).follow(scan)
        self.whole = self.whole and sheet.sound
