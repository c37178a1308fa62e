"""From the number of a record back to its line: a short table of blocks, and one more look into the file when asked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from codecs import utf_8_decode
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from ragdatakit.files.containers.indents import NO_INDENT, Indent
from ragdatakit.files.containers.lines import LONG_LINE, chosen_lines, iter_lines
from ragdatakit.files.containers.sources import Block, Source
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.late_patterns import late_pattern
from ragdatakit.quick_values import quick

if TYPE_CHECKING:
    from ragdatakit.files.containers.arrays import Part
    from ragdatakit.files.containers.element_scans import Element
    from ragdatakit.files.containers.tagged_text import TaggedElement

_BLANK_LINE = late_pattern(rb"\n[ \t\v\f]*(?=\n)")
"""The end of a line before a blank one, in data without carriage returns."""


@dataclass(frozen=True, slots=True)
class Located:
    """One record: its 1-based line, its 0-based offset in the uncompressed file, its bytes (cut, if it is very long).

    ``indent`` is what is before it on its line. ``cut``: the bytes are no more than its beginning.
    """

    record: int
    line: int
    byte_offset: int
    raw: bytes
    indent: Indent = NO_INDENT
    cut: bool = False

    @classmethod
    def element(cls, element: Element | TaggedElement) -> Located:
        """Where an element is."""
        return cls(element.record, element.line, element.byte_offset, element.raw, element.indent, element.cut)

    @property
    def whole(self) -> bool:
        """Whether all of the record is there."""
        return not self.cut and 0 < len(self.raw) < LONG_LINE

    def byte_column(self, at: int) -> int:
        """The 1-based column, in bytes, of the byte ``at`` of the record."""
        begin = self.raw.rfind(b"\n", 0, at) + 1
        return at + 1 + (self.indent.size if not begin else -begin)


quick_located = quick(Located, "quick_located")


def byte_positions(raw: bytes, text: str, places: Iterable[int]) -> list[int]:
    """Where these characters of ``text`` begin in ``raw``, which it was decoded from; what is not UTF-8 counts as the
    one character that replaces it. The places ascend."""
    if len(text) == len(raw):  # nothing but ASCII, or nothing but single bytes that were replaced
        return list(places)
    found, at, byte = [], 0, 0
    for place in places:
        if place - at > len(text) - place and "\ufffd" not in (rest := text[place:]):  # it is nearer to the end
            at, byte = place, len(raw) - len(rest.encode())
            found.append(byte)
            continue
        piece = text[at:place]
        if "\ufffd" in piece:
            byte += _bytes_of(raw[byte:], len(piece))
        else:
            byte += len(piece) if piece.isascii() else len(piece.encode())
        at = place
        found.append(byte)
    return found


def _bytes_of(raw: bytes, characters: int) -> int:
    """How many bytes decode to so many characters, where some are replaced."""
    view, at = memoryview(raw), 0
    while characters:
        try:
            text = utf_8_decode(view[at:], "strict", True)[0]
        except UnicodeDecodeError as error:
            text = str(view[at : at + error.start], "utf-8")
            if len(text) < characters:
                characters -= len(text) + 1
                at += error.end
                continue
        return at + len(text[:characters].encode())
    return at


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

    def spans(self, offsets: Iterable[int]) -> Iterator[tuple[int, int | None]]:
        """The blocks that begin at these offsets, each up to the one behind it (None: to the end of the file)."""
        for offset in offsets:
            behind = bisect_right(self.offsets, offset)
            yield offset, self.offsets[behind] if behind < len(self.offsets) else None

    def has_blank_lines(self, number: int) -> bool:
        """Whether there may be some in the block with this number."""
        if number + 1 >= len(self.records):
            return True
        return self.lines[number + 1] - self.lines[number] != self.records[number + 1] - self.records[number]

    def block_of(self, record: int) -> int:
        """The number of the block that has this record."""
        return bisect_right(self.records, record) - 1


def locate_lines(source: Source, table: BlockTable, records: Iterable[int]) -> Iterator[Located]:
    """Find records of an NDJSON file again: reads the blocks that have them, or all up to the last one where nobody can
    begin in the middle of the file."""
    wanted: dict[int, list[int]] = {}
    for record in sorted(set(records)):
        wanted.setdefault(table.offsets[table.block_of(record)], []).append(record)
    by_offset = {offset: i for i, offset in reversed(list(enumerate(table.offsets)))}
    remaining = len(wanted)
    blocks = source.blocks_between(table.spans(wanted)) if source.is_plain() else source.blocks()
    for block in blocks:
        if not remaining:
            return
        if block.offset not in wanted or not block.data:
            continue
        remaining -= 1
        i = by_offset[block.offset]
        first, numbers = table.records[i], [record - table.records[i] for record in wanted[block.offset]]
        if len(block.data) > LONG_LINE or block.breaks or b"\r" in block.data:
            found = _found(block, numbers)
        else:
            found = _counted(block.data, numbers, table.has_blank_lines(i))
        for number, line, offset, raw in found:
            yield quick_located(first + number, table.lines[i] + line, block.offset + offset, raw, NO_INDENT, False)


def _counted(data: bytes, numbers: list[int], has_blank_lines: bool) -> Iterator[tuple[int, int, int, bytes]]:
    """The same as `_found`, where each line ends in LF: lines between are counted, not cut."""
    blank, line, at = list[int](), 0, 0  # how many records come before each blank line
    for match in _BLANK_LINE.finditer(b"\n" + data) if has_blank_lines else ():
        line, at = line + data.count(b"\n", at, match.start()), match.start()
        blank.append(line - len(blank))
    lines = [number + bisect_right(blank, number) for number in numbers]
    for number, line, (offset, raw) in zip(numbers, lines, chosen_lines(data, lines), strict=False):
        yield number, line, offset, raw


def _found(block: Block, numbers: list[int]) -> Iterator[tuple[int, int, int, bytes]]:
    """The records of a block with these numbers: the number, its line, its offset, its bytes."""
    targets, record = set(numbers), 0
    for number, (offset, line, _) in enumerate(iter_lines(block.data)):
        if len(line) <= LONG_LINE and not line.strip():
            continue
        if record in targets:
            yield record, block.line(number), offset, block.shown(offset, line[:LONG_LINE])
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
                yield Located.element(element)
