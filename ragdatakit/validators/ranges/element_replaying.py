"""What was found in ranges of elements taken in order, each where the one before ended; what does not go on so is read
here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.arrays import Part, WrappedSource, element_source
from ragdatakit.files.containers.element_scans import end_of_space
from ragdatakit.files.containers.indents import NO_INDENT, Indent
from ragdatakit.files.containers.positions import Located, locate_elements
from ragdatakit.files.containers.sources import RangeSource, Source
from ragdatakit.validators.ranges.range_judges import passed_on, take_passed_on
from ragdatakit.validators.ranges.replaying import RangedRun, as_long_as_there
from ragdatakit.validators.ranges.summaries import JudgedBlock, Stretch
from ragdatakit.validators.reading.scanned_elements import ScannedElementsRun

if TYPE_CHECKING:
    from ragdatakit.files.containers.arrays import ArraySource, Buffer
    from ragdatakit.scanner.blocks import BlockScanner

_LONGEST_MARGIN = 1 << 16


class PlacedRun(RangedRun):
    """A file of what begins anywhere in a line. ``_line`` and ``_indent`` are where the next range begins, ``_indents``
    what is before blocks on their lines."""

    _line = 1
    _indent = NO_INDENT
    _indents: list[Indent]

    def _scanner(self) -> BlockScanner | None:
        return super()._scanner() if self.run_.big else None

    def _placed(self, line: int, indent: Indent) -> tuple[int, Indent]:
        """The line of the file that is this one (counted from 0) of a range, and what is before a place on it."""
        if line:
            return self._line + line, indent
        return self._line, Indent(self._indent.characters + indent.characters, self._indent.size + indent.size)

    def _take_block(self, block: JudgedBlock, first_record: int) -> None:
        line, indent = self._placed(block.line, block.indent)
        self.table.add(self._records, line, block.offset)
        self._indents.append(indent)
        if self.fresh:
            for within, problems, _ in block.checked.faulty:
                line, indent = self._placed(within.line - 1, within.indent)
                located = replace(within, record=first_record + within.record, line=line, indent=indent)
                for problem in problems:
                    self.run_.emit_record(self.file, problem, located)
            self.run_.collector.count_all(block.checked.excess, self.file)
        self._take_columns(block.checked)
        self._records += block.checked.records


class RangedElementsRun(PlacedRun, ScannedElementsRun):
    """A file of elements. ``_at`` is where the next one begins; ``_end_at`` (where all were read in ranges) is where
    the last one ends."""

    _at = 0
    _end_at = 0

    def _elements_in(self, source: Source) -> ArraySource:
        return element_source(self.run_.container(self.file), source, self.declared)

    def run(self) -> None:
        """Have the ranges judged, and take what they are, as long as each begins where the one before has ended."""
        planned = self._planned()
        if self._ranges is None:
            self._read_all()
            return
        elements = planned.plan.elements or self._elements()
        if planned.plan.reader is not None:
            self._move_to(planned.plan.reader)
        self._records, self._indents = 0, list[Indent]()
        states, given = list[Any](), passed_on(self.run_.checks, self.needs)
        last: Stretch | None = None
        for part, summary in self._summaries(planned):
            if last is not None and (last.closed or last.end >= part.end):
                continue  # no element begins in it
            begin = summary.stretch.begin if summary.stretch is not None else None
            if not part.whole and (begin, summary.given) != (self._at, given):
                summary = planned.judge(replace(part, exact=self._at, given=given))
            stretch = summary.stretch
            if stretch is None or not stretch.sound:
                break
            self._take_range(part, summary)
            first_record = self._records
            for block in summary.blocks:
                self._take_block(block, first_record)
            states.append(summary.state)
            given = summary.passed_on
            self._go_on_behind(stretch, elements)
            last = stretch
            self.run_.progress(self.file, part.end)
        if last is None:
            self._read_all()
            return
        self._merge(states)
        take_passed_on(self.run_.checks, given)
        if last.closed:
            if not self._ranges[0].whole:
                self._end_at, self.source.bytes_read = last.end, self._ranges[-1].end
            elements.top = elements.NOUN if self._records else "empty"
            self._end(elements, self._records)
        else:
            self._read_rest(elements, last)

    def _move_to(self, reader: Buffer) -> None:
        self._at, self._line, self._indent = reader.offset, reader.line, reader.indent

    def _read_all(self) -> None:
        """As if there were no ranges."""
        self.source = self.run_.source(self.file)
        elements = self._elements()
        self._end(elements, self._read(elements))

    def _read_rest(self, elements: ArraySource, last: Stretch) -> None:
        """What is behind the last range that was sound, as if all before it had been read here, too."""
        source = RangeSource.of(self.source, self._at, 0, (self._ranges or [])[0].state)
        source.bom, source.bytes_read = self.source.bom, self._at
        margin = self._margin()
        self.source = source
        reader = elements.resume(source, self._at, self._records)
        reader.line, reader.indent, reader.margin = self._line, self._indent, margin
        elements.carried.mark = last.mark
        self._end(elements, self._read(elements))

    def _margin(self) -> bytes:
        """The blanks with which the line begins that has the next element."""
        data = b""
        with suppress(OSError), self.source.boundary.open(self.source.path) as file:  # or reading the rest says why not
            data = os.pread(file.fileno(), min(self._indent.size, _LONGEST_MARGIN), self._at - self._indent.size)
        return data[: end_of_space(data)]

    def _go_on_behind(self, stretch: Stretch, elements: ArraySource) -> None:
        """The next element begins behind this stretch."""
        if isinstance(elements, WrappedSource):
            elements.member = elements.member or stretch.member
            for one in stretch.around:
                line, indent = self._placed(one.line - 1, one.indent)
                elements.around.append(replace(one, line=line, indent=indent))
        last_line, self._indent = self._placed(stretch.lines, stretch.indent)
        self._at, self._line = stretch.end, last_line

    def locate(self, records: Iterable[int]) -> Iterable[Located]:
        """Find records again, in the blocks that have them."""
        if not self._end_at:
            return super().locate(records)
        return as_long_as_there(locate_elements(self._blocks_of(records), records))

    def _blocks_of(self, records: Iterable[int]) -> Iterator[Part]:
        table, scan = self.table, self._elements().SCAN
        offsets, firsts = [*table.offsets, self._end_at], [*table.records, self._records]
        with self.source.boundary.open(self.source.path) as file:
            for block in sorted({table.block_of(record) for record in records}):
                begin, end = offsets[block : block + 2]
                is_last = block + 1 == len(table.offsets)
                data = os.pread(file.fileno(), end - begin - (not is_last), begin)  # without the comma behind it
                place = begin, table.lines[block], firsts[block]
                count = firsts[block + 1] - firsts[block]
                yield Part(data, *place, False, count, self._indents[block], scan=scan)
