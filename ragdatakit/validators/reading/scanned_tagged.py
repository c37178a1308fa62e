"""A big file of elements between tags through the scanner: Python sees those that are not proved, and the end."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import partial
from itertools import chain
from typing import Any

from ragdatakit.files.containers.tagged_text import ElementFinder, Place, TaggedElement
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.blocks import BlockScanner, ScannedBlock
from ragdatakit.validators.reading.tagged_runs import TaggedRun

LONG_ELEMENT = 1 << 24
"""Bytes within which an element ends that is not looked at by Python alone."""


@dataclass(slots=True)
class TaggedBlock:
    """Whole elements; where they begin in the file."""

    data: bytes
    offset: int
    place: Place


class ScannedTaggedRun(TaggedRun):
    """The same for files that are worth a scanner, where there is one that knows the records."""

    def run(self) -> None:
        """Read and check the file."""
        scanner = self._scanner()
        if scanner is None or self.source.max_line_bytes < LONG_ELEMENT:
            super().run()
            return
        records = 0
        self._rest: Iterator[bytes] = iter(())
        self._end = TaggedBlock(b"", 0, Place())

        for block, scanned in self._in_threads(self._blocks(), partial(scanned_elements, scanner)):
            self._take_scan(scanned, records, self._noted(block, scanned, records))
            records += scanned.rows
            self.run_.progress(self.file, self.source.progress)
        finder = ElementFinder(self.declared.tags, self.source.max_line_bytes)
        rest = finder.elements(self._rest, self._end.offset, records, self._end.place)
        self._finish(self._take_elements(rest, records))

    def _blocks(self) -> Iterator[TaggedBlock]:
        pieces = self.source.pieces()
        first = next(pieces, b"")
        return self._blocks_in(chain((first,), pieces), 3 if self.source.bom else 0, Place())

    def _blocks_in(self, pieces: Iterator[bytes], offset: int, place: Place) -> Iterator[TaggedBlock]:
        """Blocks that end behind a closing tag, up to the last one or an element that is very long; what is left then
        is ``_rest``. The first piece begins at this offset and place, between elements."""
        finder = ElementFinder(self.declared.tags)
        held, size = next(pieces, b""), self.source.block_bytes
        for piece in pieces:
            held += piece
            if len(held) < size:
                continue
            cut = finder.cut(held)
            if not cut and size > LONG_ELEMENT:
                break
            size = self.source.block_bytes if cut else 2 * size
            if cut:
                yield TaggedBlock(held[:cut], offset, copy(place))
                place.move(held[:cut])
                held, offset = held[cut:], offset + cut
        else:
            if cut := finder.cut(held):
                yield TaggedBlock(held[:cut], offset, copy(place))
                place.move(held[:cut])
                held, offset = held[cut:], offset + cut
        self._rest, self._end = chain((held,), pieces), TaggedBlock(b"", offset, place)

    def _noted(self, block: TaggedBlock, scanned: ScannedBlock, records: int) -> list[tuple[int, int, Any]]:
        """What the record checks say of the noted elements; why they were noted, their rows and decoded values."""
        values: list[tuple[int, int, Any]] = []
        data, behind, indent = block.data, 0, block.place.indent
        for why, row, line, start, end in scanned.notes:
            raw = data[start:end]
            value, problems = self.checker.examine(raw)
            values.append((why, row, value))
            if problems:
                indent = indent.behind(data, behind, start)
                behind = start
                place = block.place.line + line
                self._emit(problems, TaggedElement(records + row, place, block.offset + start, raw, indent))
        return values


def scanned_elements(scanner: BlockScanner, block: TaggedBlock) -> ScannedBlock:
    """What is in a block."""
    scanned, done = scanner.scan_tagged(block.data)
    assert done == len(block.data), "a block ends behind a closing tag, so that no element goes on"
    return scanned
