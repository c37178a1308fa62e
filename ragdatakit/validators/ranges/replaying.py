"""What was found in the ranges of files taken in order, as if their blocks were checked one after the other."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.lines import LONG_LINE, iter_lines
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.sources import Block, HeadedSource, Source, with_whole_cells
from ragdatakit.files.datasets import DataFile
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.validators.checks import FormatChecks
from ragdatakit.validators.dataset_run import DatasetRun
from ragdatakit.validators.ranges.judging import Job, can_be_sent, judge_range, judge_ranges
from ragdatakit.validators.ranges.plan import Plan, Range, plan_ranges, small_ones_together
from ragdatakit.validators.ranges.range_judges import source_of
from ragdatakit.validators.ranges.summaries import RangeSummary
from ragdatakit.validators.reading.blocks import CheckedBlock, LineEnds
from ragdatakit.validators.reading.file_runs import FileRun, LinesRun

if TYPE_CHECKING:
    from ragdatakit.files.containers.arrays import ArraySource
    from ragdatakit.validators.partitions.key_runs import KeylessRows
    from ragdatakit.validators.partitions.key_store import WantedKeys
    from ragdatakit.validators.partitions.known_keys import Probed


@dataclass(frozen=True, slots=True)
class Planned:
    """The ranges of a file (none: it is read as ever), what all that were planned with it are, in order, and who judges
    one of them here."""

    source: Source
    plan: Plan
    found: Iterator[RangeSummary]
    judge: Callable[[Range], RangeSummary]


def as_long_as_there(found: Iterable[Located]) -> Iterator[Located]:
    """Records that are found again, up to where the file can no longer be opened."""
    with suppress(OSError):
        yield from found


class RangedRun(FileRun):
    """A file whose ranges are judged by themselves, together with those of the files of its kind behind it."""

    _ranges: list[Range] | None = None
    _has_runs = False
    _takes_all = False
    """Whether all ranges are taken as they are, so that the keys of several may come with the last of them."""
    _records = 0

    def _planned(self) -> Planned:
        run, engine = self.run_, self.run_.options.engine
        assert isinstance(run, DatasetRun)
        assert engine is not None
        if self.file not in run.ahead:
            run.ahead.clear()
            plans: dict[DataFile, tuple[Source, Plan]] = {}
            for file in self._from_here(run):
                source = self.source if file is self.file else run.source(file)
                plan = plan_ranges(source, run.dataset.number_of(file), self._elements_in(source))
                plans[file] = source, plan
            job = Job.of(run, self.file, self.fresh, self._wanted_keys())
            tasks, judge = small_ones_together(plan for _, plan in plans.values()), partial(judge_ranges, job)
            here = len(tasks) < 2 or not can_be_sent(run.big)
            found = chain.from_iterable(map(judge, tasks) if here else engine.map(judge, tasks))
            judge_one = partial(judge_range, job)
            run.ahead.update({file: Planned(*plan, found, judge_one) for file, plan in plans.items()})
        planned: Planned = run.ahead.pop(self.file)
        self.source, self._ranges = planned.source, planned.plan.ranges
        return planned

    def _elements_in(self, source: Source) -> ArraySource | None:
        """Who finds the records of a file of the same kind; None where they are lines."""
        return None

    def _summaries(self, planned: Planned) -> Iterator[tuple[Range, RangeSummary]]:
        """What the ranges of this file are, in order."""
        number = self.run_.dataset.number_of(self.file)
        for part in self._ranges or ():
            yield part, next(one for one in planned.found if one.key == (number, part.number))

    def _wanted_keys(self) -> WantedKeys | None:
        if not self.run_.big:
            return None
        from ragdatakit.validators.partitions.partitioned_sets import PartitionedSets

        if not isinstance(self.sets, PartitionedSets):
            return None
        from ragdatakit.validators.partitions.settling import most_shown

        return self.sets.wanted(self.file.kind, not self._takes_batches(), self._takes_all, most_shown(self.run_))

    def _takes_batches(self) -> bool:
        """Whether the format's own checks look at the key columns."""
        return self.needs.batches and type(self.run_.checks).batch is not FormatChecks.batch

    def _from_here(self, run: DatasetRun) -> list[DataFile]:
        """The file and those that are read next, of its kind and split."""
        kind, split = self.file.kind, self.file.split
        alike = (f for f in run.dataset.files if (f.kind, f.split) == (kind, split))
        behind = [f for f in sorted(alike, key=lambda f: f.name) if f.name > self.file.name]
        return [self.file, *(f for f in behind if run.container(f) == run.container(self.file))]

    def _take_range(self, part: Range, summary: RangeSummary) -> None:
        """All of a range but its blocks, before them."""
        self.source.bytes_read = part.end
        if part.whole:
            self._take_whole(summary)
        self._has_runs = summary.runs is not None
        if summary.runs is not None:
            self._take_runs(summary.runs, summary.probed)
        self.more.update(summary.more)
        self.source.faults += [fault for fault in summary.faults if fault not in self.source.faults]

    def _merge(self, states: list[Any]) -> None:
        if self.fresh:
            self.run_.checks.merge(self.file, [state for state in states if state is not None])

    def _take_runs(self, runs: list[tuple[int, Any, KeylessRows]], probed: Probed | None) -> None:
        """Its keys, and what is known already of its references."""
        from ragdatakit.validators.partitions.partitioned_sets import PartitionedSets

        kind, first_row = self.file.kind, self.base + self._records
        assert isinstance(self.sets, PartitionedSets)
        for record, run, keyless in runs:
            self.sets.take(kind, run, keyless, first_row + record)
        if probed is None:
            return
        for one in probed.problems:
            one.rows = one.rows + first_row  # those of Ray cannot be written to
        self.run_.report(self.sets.askable(probed.problems))
        for (rule, *_), number in probed.more.items():
            self.run_.collector.count(rule, self.file, number)
        self.sets.take_probed(kind, probed)

    def _take_whole(self, summary: RangeSummary) -> None:
        """What the range says of its file."""
        self.source.bom, self.source.bytes_read = summary.bom, summary.bytes
        self.source.row_groups = self.file.row_groups = summary.row_groups
        if isinstance(self.source, HeadedSource):
            self.source.header = summary.header

    def _take_columns(self, checked: CheckedBlock) -> None:
        """The key columns of the next block."""
        for first, batch, values, _ in checked.batches:
            if self._has_runs:
                batch.first_row = self.base + self._records + first
                self._look_at(batch, values)
            elif self.run_.big:
                found = self.sets.probe(self.file.kind, batch)
                self._take_batch(self.base + self._records + first, batch, values, found)
            else:
                batch.first_row = self.base + self._records + first
                self.run_.report(self.sets.probe(self.file.kind, batch))
                self._absorb(batch, values)


class RangedLinesRun(RangedRun, LinesRun):
    """A file of lines."""

    _takes_all = True
    _begun: list[int]

    def run(self) -> None:
        """Have the ranges judged, and take what they are."""
        planned = self._planned()
        if self._ranges is None:
            super().run()
            return
        self._records, self._lines, self._ends = 0, int(self.declared.columns.header), LineEnds()
        self._begun, self._shift = [], 0
        states: list[Any] = []
        for part, summary in self._summaries(planned):
            self._begun.append(len(self.table.records))
            self._take_range(part, summary)
            self._replay(summary)
            states.append(summary.state)
            self.run_.progress(self.file, part.end)
            if part.rows is not None and summary.faults:  # what is behind is not read without ranges, either
                break
        self._merge(states)
        self._end_lines()

    def _replay(self, summary: RangeSummary) -> None:
        shift = self._shift if self._of_rows else 0
        self._shift += summary.end
        for judged in summary.blocks:
            block = Block(b"", judged.offset + shift, judged.skipped)
            if judged.skipped:
                self._skip(block)
            else:
                self._take(block, judged.checked)

    @property
    def _of_rows(self) -> bool:
        """Whether the ranges are row groups."""
        return self._ranges is not None and self._ranges[0].rows is not None

    def _take_keys(self, checked: CheckedBlock) -> None:
        if self._ranges is None:
            super()._take_keys(checked)
        else:
            self._take_columns(checked)

    def locate(self, records: Iterable[int]) -> Iterable[Located]:
        """Find records again, in the blocks that have them."""
        if self._ranges is None or not self.table.records or (self._ranges[0].whole and not self._of_rows):
            return super().locate(records)
        wanted: dict[int, set[int]] = {}
        for record in sorted(set(records)):
            wanted.setdefault(self.table.block_of(record), set()).add(record)
        blocks = self._blocks_of_rows(wanted) if self._of_rows else self._blocks_of_lines(wanted)
        found = chain.from_iterable(self._found(number, block, wanted[number]) for number, block in blocks)
        return as_long_as_there(found)

    def _found(self, number: int, block: Block, targets: set[int]) -> Iterator[Located]:
        """Those records of the block with this number."""
        record, line, quoted = self.table.records[number], self.table.lines[number], self.source.quoted
        for part in with_whole_cells([block], quoted) if quoted else (block,):
            lines = 0
            for lines, (start, raw, _) in enumerate(iter_lines(part.data), 1):
                if len(raw) <= LONG_LINE and not raw.strip():
                    continue
                if record in targets:
                    shown = part.shown(start, raw[:LONG_LINE])
                    yield Located(record, line + part.line(lines - 1), part.offset + start, shown)
                record += 1
            line += lines + len(part.breaks)

    def _blocks_of_lines(self, wanted: Iterable[int]) -> Iterator[tuple[int, Block]]:
        """Those with these numbers, ascending."""
        offsets = self.table.offsets
        with self.source.boundary.open(self.source.path) as file:
            size = os.fstat(file.fileno()).st_size
            for number in wanted:
                end = offsets[number + 1] if number + 1 < len(offsets) else size
                yield number, Block(os.pread(file.fileno(), end - offsets[number], offsets[number]), offsets[number])

    def _blocks_of_rows(self, wanted: Collection[int]) -> Iterator[tuple[int, Block]]:
        """The same of row groups, which are read again as far as is needed."""
        assert self._ranges is not None
        for of_range, numbers in groupby(wanted, lambda number: bisect_right(self._begun, number) - 1):
            left, first = [*numbers], self._begun[of_range]
            source = source_of(self.run_.source(self.file), self._ranges[of_range])
            for number, block in enumerate(source.blocks(), first):
                if number == left[0]:
                    yield left.pop(0), replace(block, offset=self.table.offsets[number])
                if not left:
                    break
