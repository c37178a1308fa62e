"""Edits applied to one file: what is between them is copied as it is, in pieces."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from io import BufferedWriter
from pathlib import Path
from typing import IO, Any

from ragdatakit.fixes.removed import removed_line
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.fixes import Edit, Fix

_PIECE = 1 << 20
_NEAR = 1 << 12
_LONGEST_COPY = 1 << 28
_BLANKS = b" \t\r\n"
_NOT_THERE = len('"')
"""Behind the end of a file: what closes the last cell of all."""


@dataclass(frozen=True, slots=True)
class Change:
    """A fix of one finding: the code of its rule, and the line of the record (1-based) with its offset in the file.

    ``group``: it is safe only if all of its group are; ``changes_ids``: it is made in all files of the dataset, or in
    none.
    """

    code: str
    fix: Fix
    line: int
    record: int
    group: tuple[str, int, int | str] | None = None
    changes_ids: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        return Change, (self.code, self.fix, self.line, self.record, self.group, self.changes_ids)

    @property
    def start(self) -> int:
        """The first byte that it touches."""
        return min((edit.start for edit in self.fix.edits), default=0)


@dataclass(slots=True)
class Applied:
    """What was done to a file: how many changes by code, and where the records are that were touched (``everywhere``:
    all of them); ``changed_ids``: it has to be taken back where the same is taken back in another file. ``edits`` has
    three numbers for each: first byte, byte behind the last, the length of what took their place."""

    codes: dict[str, int] = field(default_factory=dict)
    touched: array[int] = field(default_factory=lambda: array("q"))
    edits: array[int] = field(default_factory=lambda: array("q"))
    everywhere: bool = False
    changed_ids: bool = False

    def has_touched(self, record: int) -> bool:
        """Whether the record that begins at this byte was changed."""
        place = bisect_left(self.touched, record)
        return self.everywhere or (place < len(self.touched) and self.touched[place] == record)


class PlainFile:
    """An uncompressed file whose bytes are asked for by place."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("rb", buffering=0)
        self.size = os.fstat(self._file.fileno()).st_size

    def read(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` up to ``end``."""
        data = b""
        while (left := end - start - len(data)) and (piece := os.pread(self._file.fileno(), left, start + len(data))):
            data += piece
        return data

    def copy(self, start: int, end: int, target: IO[bytes]) -> None:
        """The same, written to ``target``."""
        if end - start >= _PIECE and isinstance(target, BufferedWriter):
            start += self._copied_by_system(start, end, target)
        for at in range(start, end, _PIECE):
            target.write(self.read(at, min(at + _PIECE, end)))

    def _copied_by_system(self, start: int, end: int, target: BufferedWriter) -> int:
        """How many of these bytes the system has copied from file to file, where it can: none of them is held here."""
        target.flush()
        at = start
        try:
            while at < end:
                copied = os.sendfile(target.fileno(), self._file.fileno(), at, min(end - at, _LONGEST_COPY))
                if not copied:
                    break
                at += copied
        except (AttributeError, OSError):  # another system, or another kind of file; a full disk is noticed once more
            pass
        target.seek(0, os.SEEK_END)
        return at - start

    def close(self) -> None:
        """It is not asked any more."""
        self._file.close()


Remove = Callable[[Change, bytes], object]
"""Takes what unsafe changes remove."""
Fill = Callable[[Path, PlainFile, IO[bytes]], Applied]
"""Writes a version, given where to put what is removed, and the version before."""


def editing(display: str, changes: Iterable[Change]) -> Fill:
    """What writes a file, shown as ``display``, with these changes."""

    def fill(spool: Path, source: PlainFile, target: IO[bytes]) -> Applied:
        with keeping(display, spool) as remove:
            return apply(source, changes, target, remove)

    return fill


@contextmanager
def keeping(display: str, spool: Path) -> Iterator[Remove]:
    """Puts what is removed of a file, shown as ``display``, into ``spool``, which is made when there is something."""
    with ExitStack() as stack:
        kept: list[IO[bytes]] = []

        def remove(change: Change, data: bytes) -> None:
            if not kept:
                kept.append(stack.enter_context(spool.open("xb")))
            kept[0].write(removed_line(display, change.line, change.code, data))

        yield remove


def apply(source: PlainFile, changes: Iterable[Change], target: IO[bytes], remove: Remove) -> Applied:
    """Write ``source`` to ``target`` with all changes that do not touch what another one has touched.

    ``changes`` are in the order of their places.
    """
    applied, at, shift = Applied(), 0, 0
    for change in changes:
        edits = resolved(source, change.fix.edits, at)
        if edits is None:
            continue
        if not all(edit.part for edit in change.fix.edits):
            before = sum(len(text) - (end - start) for start, end, text in edits if end <= change.record)
            applied.touched.append(max(change.record, 0) + shift + before)
        for start, end, text in edits:
            source.copy(at, start, target)
            target.write(text)
            shift += len(text) - (end - start)
            applied.edits.extend((start, end, len(text)))
            at = end
        applied.changed_ids |= change.changes_ids
        applied.codes[change.code] = applied.codes.get(change.code, 0) + 1
        for edit in change.fix.edits if change.fix.applicability == "unsafe" else ():
            data = source.read(edit.start, edit.end)
            remove(change, data if edit.text else data.strip(b"," + _BLANKS))
    source.copy(at, source.size, target)
    return applied


def resolved(source: PlainFile, edits: tuple[Edit, ...], behind: int = 0) -> list[tuple[int, int, bytes]] | None:
    """Which bytes are replaced by which, in order; None where some were touched before, which ends ``behind``."""
    found = []
    for edit in sorted(edits, key=lambda each: each.start):
        if edit.start < behind or edit.end > source.size + _NOT_THERE:
            return None
        if edit.end > source.size:
            edit = replace(edit, end=source.size)
        start, end = _part_span(source, edit, behind) if edit.part else (edit.start, edit.end)
        found.append((start, end, edit.text.encode("utf-8", "surrogateescape")))
        behind = end
    return found


def _part_span(source: PlainFile, edit: Edit, behind: int) -> tuple[int, int]:
    """A line with its end, or an element with a comma."""
    if edit.part == "line":
        end = source.read(edit.end, edit.end + 2)
        if end and edit.start > behind and source.read(edit.start - 1, edit.start) == b"\r":
            return edit.start - 1, edit.end  # the line before gets this one's end: most readers end none at a lone CR
        return edit.start, edit.end + (2 if end == b"\r\n" else len(end[:1]))
    before = _last_solid(source, edit.start, behind)
    if before >= behind and source.read(before, before + 1) == b",":
        return before, edit.end
    comma = _first_solid(source, edit.end)
    if source.read(comma, comma + 1) == b",":
        return edit.start, _first_solid(source, comma + 1)
    return edit.start, edit.end


def _last_solid(source: PlainFile, end: int, least: int) -> int:
    """The place of the last byte before ``end`` that is not blank; -1 where there is none from ``least`` on."""
    while end > least:
        start = max(least, end - _NEAR)
        solid = source.read(start, end).rstrip(_BLANKS)
        if solid:
            return start + len(solid) - 1
        end = start
    return -1


def _first_solid(source: PlainFile, start: int) -> int:
    """The place of the first byte from ``start`` on that is not blank, or the end of the file."""
    while piece := source.read(start, start + _NEAR):
        solid = piece.lstrip(_BLANKS)
        if solid:
            return start + len(piece) - len(solid)
        start += len(piece)
    return start
