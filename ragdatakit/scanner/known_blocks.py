"""What the scanner has said of blocks of a file, for the next check of that file after a repair: a block that no edit
touches is neither read nor scanned once more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.beginnings import BOM
from ragdatakit.late_dataclasses import dataclass

if TYPE_CHECKING:
    from ragdatakit.files.containers.sources import Block
    from ragdatakit.scanner.blocks import ScannedBlock

MOST_BYTES = 64 << 20
"""Of the codes that are held for all blocks of a file; what comes behind is scanned again."""


@dataclass(frozen=True, slots=True)
class _Known:
    end: int
    scanned: ScannedBlock


class KnownBlocks:
    """Blocks of one version of a file by their beginnings: those in which Python had to see no record.

    They hold for what was ``asked`` of the scanner only.
    """

    def __init__(self, blocks: Iterable[tuple[int, _Known]] = (), asked: Any = None) -> None:
        self._blocks = dict(blocks)
        self._asked = asked
        self._bytes = sum(_size(known.scanned) for known in self._blocks.values())

    def ask(self, asked: Any) -> None:
        """Forget everything if something else is asked than before."""
        if asked != self._asked:
            self._blocks, self._asked, self._bytes = {}, asked, 0

    def spans(self) -> tuple[tuple[int, int], ...]:
        """Where the blocks begin and end, in order."""
        return tuple((start, known.end) for start, known in sorted(self._blocks.items(), key=lambda item: item[0]))

    def at(self, offset: int) -> ScannedBlock:
        """What the scanner has said of the block that begins there."""
        return self._blocks[offset].scanned

    def add(self, block: Block, scanned: ScannedBlock) -> None:
        """Remember a block, if nobody has to look at its lines. It is called in any thread."""
        odd = scanned.notes or scanned.kept or block.breaks or any(column.odd for column in scanned.columns.values())
        if odd or self._bytes > MOST_BYTES:
            return
        self._bytes += _size(scanned)
        for column in scanned.columns.values():
            for codes in (column.codes, column.missing, column.owners, column.spelled):
                codes.flags.writeable = False
        self._blocks[block.offset] = _Known(block.offset + len(block.data), scanned)

    def edited(self, edits: Iterable[tuple[int, int, int]]) -> KnownBlocks:
        """Those of the version with these edits, in order: first byte, byte behind the last, the length of what takes
        their place. Blocks that one touches, at their edges, too, are not among them: lines may be joined there."""
        left: list[tuple[int, _Known]] = []
        waiting, shift = iter(edits), 0
        edit = next(waiting, None)
        for start, known in sorted(self._blocks.items(), key=lambda item: item[0]):
            first = start if start > len(BOM) else 0  # a mark that is another one then would be part of its first line
            while edit is not None and edit[1] < first:
                shift += edit[2] - (edit[1] - edit[0])
                edit = next(waiting, None)
            if edit is None or edit[0] > known.end:
                left.append((start + shift, _Known(known.end + shift, known.scanned)))
        return KnownBlocks(left, self._asked)


def _size(scanned: ScannedBlock) -> int:
    return sum(
        codes.nbytes
        for column in scanned.columns.values()
        for codes in (column.codes, column.missing, column.owners, column.spelled)
    )
