"""Who reads ranges of elements between tags: those whose opening tag is on a line that begins in the range.

An opening tag begins an element whatever is before it, and no tag has another one within. So who reads a range needs
nothing of what is before, and reads on behind its end for the sake of the last element.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, takewhile
from typing import Any

from ragdatakit.files.containers.sources import RangeSource
from ragdatakit.files.containers.tagged_text import ElementFinder, Place, TaggedElement
from ragdatakit.files.reading.tagged_blocks import LONG_ELEMENT
from ragdatakit.validators.ranges.element_judges import PlacedJudge
from ragdatakit.validators.ranges.plan import Range
from ragdatakit.validators.ranges.summaries import JudgedBlock, RangeSummary, Stretch
from ragdatakit.validators.reading.blocks import CheckedBlock
from ragdatakit.validators.reading.scanned_tagged import ScannedTaggedRun, scanned_elements

_AT_ONCE = 500
_NEVER = 1 << 62


class TaggedJudge(PlacedJudge, ScannedTaggedRun):
    """Reads a range of elements between tags."""

    def _judged(self, part: Range, found: RangeSummary) -> Iterator[JudgedBlock]:
        begin, end, lines = 0, _NEVER, 0
        if isinstance(self.source, RangeSource):
            begin, end, lines = self.source.to_whole_lines()
        found.stretch = Stretch(begin, end, sound=True, lines=lines)
        if begin >= end:
            return
        pieces = self.source.pieces()
        first, place = next(pieces, b""), Place()
        finder = ElementFinder(self.declared.tags, self.source.max_line_bytes)
        passed, pieces = finder.first(chain((first,), pieces), place)
        offset, records = begin + passed + 3 * self.source.bom, 0
        scanner = self._scanner()
        if scanner is not None and self.source.max_line_bytes >= LONG_ELEMENT:
            here = _UpTo(pieces, end - offset)
            blocks = self._blocks(iter(here), offset, place)
            for block in blocks:
                scanned = scanned_elements(scanner, block)
                self._checked = CheckedBlock(records=scanned.rows)
                self._take_scan(scanned, records, self._noted(block, scanned, records))
                records += scanned.rows
                yield JudgedBlock(block.offset, self._checked, 0, block.place.line - 1, block.place.indent)
            pieces, offset, place = chain(blocks.rest, here.behind()), blocks.end.offset, blocks.end.place
        elements = finder.elements(pieces, offset, records, place)
        mine = takewhile(lambda element: element.byte_offset < end, elements)
        while some := [*islice(mine, _AT_ONCE)]:
            yield self._checked_one_by_one(some)

    def _checked_one_by_one(self, elements: list[TaggedElement]) -> JudgedBlock:
        first = elements[0]
        self._checked = CheckedBlock(records=len(elements))
        values: list[Any] = [*map(self._value, elements)]
        self._take_values(values, first.record)
        return JudgedBlock(first.byte_offset, self._checked, 0, first.line - 1, first.indent)


class _UpTo:
    """The first so many bytes of pieces, as pieces; `behind` are the others."""

    def __init__(self, pieces: Iterator[bytes], length: int) -> None:
        self._pieces, self._left, self._behind = pieces, length, b""

    def __iter__(self) -> Iterator[bytes]:
        while self._left > 0 and (piece := next(self._pieces, b"")):
            here, self._behind = piece[: self._left], piece[self._left :]
            self._left -= len(here)
            yield here

    def behind(self) -> Iterator[bytes]:
        """Once the others were taken."""
        yield self._behind
        yield from self._pieces
