"""From the number of a record back to its line: a short table of blocks, and one more look into the file when asked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragdatakit.files.containers.lines import LONG_LINE, iter_lines
from ragdatakit.files.containers.sources import Source

if TYPE_CHECKING:
    from ragdatakit.files.containers.arrays import Part


@dataclass(frozen=True, slots=True)
class Located:
    """One record: its 1-based line, its 0-based offset in the uncompressed file, its bytes (cut, if it is very long).

    ``indent`` is the number of characters before it on its line.
    """

    record: int
    line: int
    byte_offset: int
    raw: bytes
    indent: int = 0


@dataclass(slots=True)
class BlockTable:
    """Where the blocks of one file begin: first record, first line, byte offset."""

    records: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)

    def add(self, record: int, line: int, offset: int) -> None:
        """The next block begins here."""
        self.records.append(record)
        self.lines.append(line)
        self.offsets.append(offset)

    def block_of(self, record: int) -> int:
        """The number of the block that has this record."""
        return bisect_right(self.records, record) - 1


def locate_lines(source: Source, table: BlockTable, records: Iterable[int]) -> Iterator[Located]:
    """Find records of an NDJSON file again; reads it up to the last one asked for."""
    wanted: dict[int, list[int]] = {}
    for record in sorted(set(records)):
        wanted.setdefault(table.offsets[table.block_of(record)], []).append(record)
    by_offset = {offset: i for i, offset in reversed(list(enumerate(table.offsets)))}
    remaining = len(wanted)
    for block in source.blocks():
        if not remaining:
            return
        if block.offset not in wanted or not block.data:
            continue
        remaining -= 1
        targets = set(wanted[block.offset])
        i = by_offset[block.offset]
        record = table.records[i]
        for number, (offset, line, _) in enumerate(iter_lines(block.data)):
            if len(line) <= LONG_LINE and not line.strip():
                continue
            if record in targets:
                yield Located(record, table.lines[i] + number, block.offset + offset, bytes(line[:LONG_LINE]))
            record += 1


def locate_elements(parts: Iterable[Part], records: Iterable[int]) -> Iterator[Located]:
    """Find elements of a JSON array, or members of an object, again, in the parts of the file."""
    wanted, at = sorted(set(records)), 0
    for part in parts:
        if at == len(wanted):
            return
        last = part.first_record + part.count
        end = bisect_left(wanted, last, at)
        targets, at = set(wanted[at:end]), end
        for element in part.elements() if targets else ():
            if element.record in targets and not element.error:
                yield Located(element.record, element.line, element.byte_offset, element.raw, element.indent)
