"""A big file of elements between tags through the scanner: Python sees those that are not proved, and the end."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

from ragdatakit.files.containers.tagged_text import ElementFinder, Place, TaggedElement
from ragdatakit.files.reading.tagged_blocks import LONG_ELEMENT, TaggedBlock, TaggedBlocks
from ragdatakit.scanner.blocks import BlockScanner, ScannedBlock
from ragdatakit.validators.reading.tagged_runs import TaggedRun


class ScannedTaggedRun(TaggedRun):
    """The same for files that are worth a scanner, where there is one that knows the records."""

    def run(self) -> None:
        """Read and check the file."""
        scanner = self._scanner()
        if scanner is None or self.source.max_line_bytes < LONG_ELEMENT:
            super().run()
            return
        pieces = self.source.pieces()
        first, records = next(pieces, b""), 0
        blocks = self._blocks(chain((first,), pieces), 3 if self.source.bom else 0, Place())
        for block, scanned in self._in_threads(iter(blocks), partial(scanned_elements, scanner)):
            self._take_scan(scanned, records, self._noted(block, scanned, records))
            records += scanned.rows
            self.run_.progress(self.file, self.source.progress)
        finder = ElementFinder(self.declared.tags, self.source.max_line_bytes)
        rest = finder.elements(blocks.rest, blocks.end.offset, records, blocks.end.place)
        self._finish(self._take_elements(rest, records))

    def _blocks(self, pieces: Iterator[bytes], offset: int, place: Place) -> TaggedBlocks:
        return TaggedBlocks(self.declared.tags, self.source.block_bytes, pieces, offset, place)

    def _noted(self, block: TaggedBlock, scanned: ScannedBlock, records: int) -> list[tuple[int, int, Any]]:
        """What the record checks say of the noted elements; those that are kept, as in `_examined`."""
        noted: list[tuple[int, int, Any]] = []
        for problems, row, line, start, raw, indent in self._examined(block.data, scanned, block.place.indent, noted):
            place = block.place.line + line
            self._emit(problems, TaggedElement(records + row, place, block.offset + start, raw, indent))
        return noted


def scanned_elements(scanner: BlockScanner, block: TaggedBlock) -> ScannedBlock:
    """What is in a block."""
    scanned, done = scanner.scan_tagged(block.data)
    assert done == len(block.data), "a block ends behind a closing tag, so that no element goes on"
    return scanned
