"""What was found in ranges of elements between tags, taken in order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from ragdatakit.files.containers.indents import Indent
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.tagged_text import ElementFinder, Place
from ragdatakit.validators.ranges.element_replaying import PlacedRun
from ragdatakit.validators.ranges.replaying import as_long_as_there
from ragdatakit.validators.reading.scanned_tagged import ScannedTaggedRun


class RangedTaggedRun(PlacedRun, ScannedTaggedRun):
    """A file of elements between tags."""

    _takes_all = True

    def run(self) -> None:
        """Have the ranges judged, and take what they are."""
        planned = self._planned()
        if self._ranges is None:
            super().run()
            return
        self._records, self._indents = 0, list[Indent]()
        states: list[Any] = []
        for part, summary in self._summaries(planned):
            self._take_range(part, summary)
            first_record = self._records
            for block in summary.blocks:
                self._take_block(block, first_record)
            self._line += summary.stretch.lines if summary.stretch is not None else 0
            states.append(summary.state)
            self.run_.progress(self.file, part.end)
        self._merge(states)
        self._finish(self._records)

    def locate(self, records: Iterable[int]) -> Iterable[Located]:
        """Find records again, in the blocks that have them."""
        if self._ranges is None or self._ranges[0].whole:
            return super().locate(records)
        return as_long_as_there(self._located(set(records)))

    def _located(self, wanted: set[int]) -> Iterator[Located]:
        table = self.table
        finder = ElementFinder(self.declared.tags, self.source.max_line_bytes)
        with self.source.boundary.open(self.source.path) as file:
            offsets = [*table.offsets, os.fstat(file.fileno()).st_size]
            for block in sorted({table.block_of(record) for record in wanted}):
                begin, end = offsets[block : block + 2]
                place = Place(table.lines[block], self._indents[block])
                data = os.pread(file.fileno(), end - begin, begin)
                for element in finder.elements((data,), begin, table.records[block], place):
                    if element.record in wanted:
                        yield Located.element(element)
