"""What was found in the ranges of a file taken in order, as if its blocks were checked one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from ragdatakit.files.containers.lines import LONG_LINE, iter_lines
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.sources import Block
from ragdatakit.validators.dataset_run import DatasetRun
from ragdatakit.validators.ranges.judging import Job, RangeSummary, can_be_sent, judge_range
from ragdatakit.validators.ranges.plan import Range, plan_ranges
from ragdatakit.validators.reading.blocks import CheckedBlock, LineEnds
from ragdatakit.validators.reading.file_runs import LinesRun


class RangedLinesRun(LinesRun):
    """A file of lines whose ranges are judged by themselves; one that has to be read from its beginning is not."""

    _in_ranges = False

    def run(self) -> None:
        """Have the ranges judged, and take what they are."""
        planned = plan_ranges(self.source)
        if planned is None:
            super().run()
            return
        self._in_ranges = True
        self._records, self._lines, self._ends = 0, int(self.declared.columns.header), LineEnds()
        states: list[Any] = []
        for part, summary in zip(planned, self._judged(planned), strict=True):
            self._replay(summary)
            states.append(summary.state)
            self.source.bytes_read = part.end
            self.run_.progress(self.file, part.end)
        if self.fresh:
            self.run_.checks.merge(self.file, states)
        self._finish(self._records)
        if self.fresh:
            self._report_header()
            self._report_ends()

    def _judged(self, planned: list[Range]) -> Iterator[RangeSummary]:
        run, engine = self.run_, self.run_.options.engine
        assert isinstance(run, DatasetRun)
        judge = partial(judge_range, Job.of(run, self.file, self.fresh))
        if engine is None or len(planned) < 2 or not can_be_sent(run.big):
            return map(judge, planned)
        return engine.map(judge, planned)

    def _replay(self, summary: RangeSummary) -> None:
        for offset, skipped, checked in summary.blocks:
            block = Block(b"", offset, skipped)
            if skipped:
                self._skip(block)
            else:
                self._take(block, checked)
        self.more.update(summary.more)
        self.source.faults += [fault for fault in summary.faults if fault not in self.source.faults]

    def _take_keys(self, checked: CheckedBlock) -> None:
        if not self._in_ranges:
            super()._take_keys(checked)
            return
        for first, batch, values, _ in checked.batches:
            if self.run_.big:
                found = self.sets.probe(self.file.kind, batch)
                self._take_batch(self.base + self._records + first, batch, values, found)
            else:
                batch.first_row = self.base + self._records + first
                self.run_.report(self.sets.probe(self.file.kind, batch))
                self._absorb(batch, values)

    def locate(self, records: Iterable[int]) -> Iterable[Located]:
        """Find records again, in the blocks that have them."""
        return self._found(sorted(set(records))) if self._in_ranges and self.table.records else super().locate(records)

    def _found(self, records: list[int]) -> Iterator[Located]:
        table = self.table
        wanted: dict[int, set[int]] = {}
        for record in records:
            wanted.setdefault(table.block_of(record), set()).add(record)
        with self.source.boundary.open(self.source.path) as file:
            size = os.fstat(file.fileno()).st_size
            for block, targets in wanted.items():
                offset, record = table.offsets[block], table.records[block]
                end = table.offsets[block + 1] if block + 1 < len(table.offsets) else size
                data = os.pread(file.fileno(), end - offset, offset)
                for number, (start, line, _) in enumerate(iter_lines(data)):
                    if len(line) <= LONG_LINE and not line.strip():
                        continue
                    if record in targets:
                        yield Located(record, table.lines[block] + number, offset + start, bytes(line[:LONG_LINE]))
                    record += 1
