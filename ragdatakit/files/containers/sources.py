"""Files as blocks of whole lines, with positions: plain or gzip, any size, in bounded memory.

Nothing here judges records. What is wrong with a file as a whole (a Git LFS pointer, cut gzip data, a file that changes
while it is read) comes out as `FileFault`, and whatever could be read before it is still delivered. A long module,
because all ways of reading share one watch over the file: its head, its end, a change meanwhile.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from ragdatakit.files.containers.beginnings import (
    BOM,
    ENCODINGS,
    GZIP_MAGIC,
    HEAD_BYTES,
    IS_PAGE,
    LFS_PREFIX,
    is_array,
    is_spread,
    unpacked,
    why_not_text,
)
from ragdatakit.files.containers.lines import iter_lines, line_begin, line_ends
from ragdatakit.files.containers.parquet_rows import LINES, MissingColumnsError, ParquetRows, RowForm, is_parquet
from ragdatakit.files.paths.boundary import ANYWHERE, Boundary
from ragdatakit.files.paths.folders import size_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import MissingExtraError, RagdataError

T = TypeVar("T")

BLOCK_BYTES = 1 << 20
"""Size of a block; small blocks reuse memory and stay in the cache (measured: 0.5-2 MB is best)."""

ARRAY_PART_BYTES = 1 << 19
"""Size of a part of a JSON array, all of whose elements become Python values."""

TEXT_BLOCK_BYTES = 1 << 22
"""Size of a block of records with texts: what is done in Python has a cost per block."""
LONG_BLOCK = 32 << 20
"""Size of a block that is so long only for the sake of one record: it is worked on alone, not ahead."""

_TAIL_BYTES = 1 << 14
_PIECE_OF_DAMAGED = 1 << 12
SMALL_FILE = 1 << 20
BOMB_RATIO, BOMB_BYTES = 400, 1 << 30  # text packs 3 to 20 times; deflate's best, of zeros, is 1,032 times
_LONGEST_POINTER = 1024
IS_POINTER = "it is a Git LFS pointer, not the data; `git lfs pull` fetches that"
"""Why such a file cannot be read, and what to do."""
ARRAY_FOR_LINES = "array-for-lines"
ONE_ARRAY, SPREAD = "is one JSON array", "has objects over several lines"
CHANGED = "it changed while it was read"
NO_GZIP = "missing"
"""The reason of broken compression where there is none at all."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a file.

    ``offset`` is the 0-based position of ``data`` in the uncompressed file. ``skipped`` is the length of one line that
    was longer than allowed and is therefore not in ``data`` (which is then empty). ``breaks`` are the numbers of lines
    in ``data``, counted from 0, in which line breaks within cells are hidden: each as often as there are such;
    ``whole`` is the data in which nothing is hidden, where there are such lines, or where a quote mark was added that
    the end of the file stands for. Where lines were ``known``, ``data`` is empty.
    """

    data: bytes
    offset: int
    skipped: int = 0
    breaks: tuple[int, ...] = ()
    whole: bytes = b""
    known: bool = False

    def line(self, number: int) -> int:
        """The number that a line of ``data`` has in the file, counted from the block's beginning."""
        return number + bisect_left(self.breaks, number) if self.breaks else number

    def last_line(self, number: int, start: int) -> tuple[int, int]:
        """Of a line of ``data`` that begins at ``start``: the number of the line of the file that it ends in, and where
        that begins."""
        last = self.line(number + 1) - 1
        if last == self.line(number):
            return last, start
        _, line, _ = next(iter_lines(self.data[start:]))
        return last, line_begin(self.whole, start + len(line))

    def shown(self, start: int, raw: bytes | memoryview) -> bytes:
        """What is from ``start`` on in ``data`` as it is in the file."""
        return self.whole[start : start + len(raw)] if self.breaks else bytes(raw)


@dataclass(frozen=True, slots=True)
class FileFault:
    """A fault of the file as a whole: the name of its rule, mostly a shared one, and its facts."""

    rule: str
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def why(self) -> str:
        """Why the file could not be read, or not whole."""
        if self.rule == "lfs-pointer":
            return IS_POINTER
        reason = str(self.facts.get("reason", self.rule.replace("-", " ")))
        return f"it is not text, {reason}" if self.rule == "not-text" and reason != IS_PAGE else reason

    @property
    def hint(self) -> str:
        """What to do about it; empty where that of the rule says it."""
        reason = str(self.facts.get("reason", "")) if self.rule == "not-text" else ""
        if reason == IS_PAGE:
            return "download the file again: a server sent a page, maybe of an error or a log-in, in its place"
        encoding = reason.removeprefix("it is ")
        return f"convert it with `iconv -f {encoding.lower()} -t utf-8 FILE > NEW`" if encoding in ENCODINGS else ""

    def in_words(self, file: str, records: int | None = None) -> str:
        """In words, that a file could not be read whole, of which so many records were."""
        if self.why == NO_GZIP:
            return f"{file} is empty: there is no gzip data"
        if self.rule in ("lfs-pointer", "not-text") or records == 0:
            return f"{file} could not be read: {self.why}"
        rest = f"; the rest is missing, from record {records + 1:,} on" if records else ""
        return f"{file} could not be read whole: {self.why}{rest}"


@dataclass(slots=True)
class Source:
    """One file, opened for reading in blocks.

    ``fault`` is set when the file cannot be read at all; faults met on the way are appended to ``faults`` while
    `blocks` runs. ``bytes_read`` counts uncompressed bytes, ``progress`` bytes of the file itself. It is opened
    where ``boundary`` allows it. The rows of a Parquet file come as text: ``row_form``, ``row_groups``,
    ``text_columns`` and ``rows`` are ``form``, ``groups``, ``texts`` and ``rows`` of `ParquetRows`. It may hold
    something else than text of UTF-8 where it is not to be ``text``; ``lines`` says that each of its lines is to be
    a record, so that one array is refused. Where cells are ``quoted``, of which each line has at least so many,
    line breaks in them are hidden. ``known`` are parts of a plain file that are blocks each, and are not read,
    unless it ``reads_known`` ones, too. It is ``plain`` where it was a regular file, and no link, a moment ago; its
    ``length`` is how many bytes it had when it was opened (None: it was not).
    """

    path: Path
    gz: bool
    block_bytes: int = BLOCK_BYTES
    max_line_bytes: int = 1 << 28
    faults: list[FileFault] = field(default_factory=list)
    bytes_read: int = 0
    progress: int = 0
    bom: bool = False
    boundary: Boundary = ANYWHERE
    row_form: RowForm = LINES
    row_groups: list[int] = field(default_factory=list)
    text_columns: set[str] = field(default_factory=set)
    rows: tuple[int, int] | None = None
    text: bool = True
    lines: bool = False
    quoted: int = 0
    known: tuple[tuple[int, int], ...] = ()
    reads_known: bool = False
    plain: bool = False
    length: int | None = None

    @property
    def size(self) -> int:
        """Bytes of the file itself; 0 where nobody can tell."""
        return size_of(self.path) if self.length is None else self.length

    @property
    def unpacked_bytes(self) -> int:
        """Bytes of the file, of a packed one those that were unpacked. Of a plain one they are not those that were
        read: how far is read behind the last record depends on who reads it."""
        is_plain = self.bytes_read == self.progress and not (self.gz or self.faults)
        return self.size if is_plain else self.bytes_read

    @property
    def is_broken(self) -> bool:
        """Whether what was read ends where packed data is damaged or cut off."""
        return any(fault.rule == "broken-compression" for fault in self.faults)

    def is_packed(self) -> bool:
        """Whether the file holds gzip data, whatever its name says."""
        with self.boundary.open(self.path) as file:
            return file.read(2) == GZIP_MAGIC

    def blocks(self) -> Iterator[Block]:
        """The file's lines in order; faults go to ``faults``."""
        blocks = self._guarded(self._row_blocks if is_parquet(self.path) else self._line_blocks)
        yield from with_whole_cells(blocks, self.quoted) if self.quoted else blocks

    def is_plain(self) -> bool:
        """Whether its lines are those of the file, which can be read from wherever one begins."""
        if type(self) not in (Source, HeadedSource) or self.quoted or is_parquet(self.path):
            return False
        try:
            return not self.is_packed()
        except OSError:  # nothing can be read from anywhere
            return True

    def blocks_between(self, spans: Iterable[tuple[int, int | None]]) -> Iterator[Block]:
        """The lines of a plain file between these offsets (None: to its end), at which lines begin."""

        def read(fd: int, size: int, head: bytes) -> Iterator[Block]:
            for begin, end in spans:
                yield from self._blocks_between(fd, begin, size if end is None else end)

        return self._guarded(read)

    def safe_cuts(self) -> list[int]:
        """Offsets at which records begin, if there are line breaks within cells, so that nobody can tell from the
        middle where a line begins, or a quote mark that only the end of the file closes; else none. Where there are
        line breaks in a header, it is one offset."""
        offsets, has_breaks = list[int](), False
        for block in replace(self, faults=[]).blocks() if self.quoted else ():
            if block.breaks and block.breaks[0] < 0:
                return [block.offset]
            offsets.append(block.offset)
            has_breaks |= bool(block.whole)
        return offsets if has_breaks else []

    def pieces(self) -> Iterator[bytes]:
        """The file's bytes in order, cut anywhere, without a byte-order mark; faults go to ``faults``."""
        if is_parquet(self.path):
            yield from (block.data for block in self.blocks())
        else:
            yield from self._guarded(self._byte_pieces)

    def _guarded(self, read: Callable[[int, int, bytes], Iterator[T]]) -> Iterator[T]:
        try:
            fd = self.boundary.descriptor(self.path, self.plain)
        except OSError as error:
            self._unreadable(error.strerror or str(error))
            return
        try:
            before = os.fstat(fd)
            size = self.length = before.st_size
            head = os.pread(fd, min(HEAD_BYTES, size + 1), 0)
            if self._judge_head(head, size):
                yield from read(fd, size, head)
            after = os.fstat(fd)
            if (size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                self._unreadable(CHANGED)
        except OSError as error:
            self._unreadable(error.strerror or str(error))
        finally:
            os.close(fd)

    def _unreadable(self, reason: str) -> None:
        self.faults.append(FileFault("unreadable-file", {"reason": reason}))

    def head_fault(self, head: bytes, size: int) -> FileFault | None:
        """What is wrong with the file of so many bytes by its first ones."""
        return head_fault(head, size, self.text and not is_parquet(self.path), self.lines)

    def fault_of_head(self, lines: bool) -> FileFault | None:
        """What is wrong with the file by its beginning; None also where it cannot be read."""
        try:
            with self.boundary.open(self.path) as file:
                size, head = os.fstat(file.fileno()).st_size, file.read(HEAD_BYTES)
        except OSError:
            return None
        return head_fault(head, size, self.text and not is_parquet(self.path), lines)

    def _judge_head(self, head: bytes, size: int) -> bool:
        """Whether there is anything to read in a file of so many bytes that begins so."""
        if (fault := self.head_fault(head, size)) is not None:
            self.bytes_read = size
            self.faults.append(fault)
            return False
        zipped = head.startswith(GZIP_MAGIC)
        if self.gz and not zipped:
            if size:
                self.faults.append(_mislabelled("holds no gzip data", "gzip (.gz)"))
            else:
                self.faults.append(FileFault("broken-compression", {"reason": NO_GZIP, "bytes": 0}))
        elif zipped and not self.gz:
            self.faults.append(_mislabelled("holds gzip data", "plain text"))
        return True

    def _row_blocks(self, fd: int, size: int, head: bytes) -> Iterator[Block]:
        rows = ParquetRows(self.path, self.boundary, self.row_form, self.row_groups, self.text_columns, self.rows)
        offset, held, length = 0, list[bytes](), 0
        try:
            for lines in rows.pieces():
                for line in lines:
                    if len(line) > self.max_line_bytes:
                        if held:
                            yield Block(b"".join(held), offset)
                        yield Block(b"", offset + length, len(line))
                        offset, held, length = offset + length + len(line), [], 0
                        continue
                    held.append(line)
                    length += len(line)
                    if length >= self.block_bytes:
                        yield Block(b"".join(held), offset)
                        offset, held, length = offset + length, [], 0
        except MissingExtraError:
            raise
        except MissingColumnsError as error:
            self.faults.append(FileFault(self.row_form.lacking, {"reason": str(error), "case": "parquet"}))
        except RagdataError as error:
            self._unreadable(str(error).removeprefix(f"{self.path}: "))
        if held:
            yield Block(b"".join(held), offset)
        self.bytes_read = self.progress = size

    def _line_blocks(self, fd: int, size: int, head: bytes) -> Iterator[Block]:
        return self._gzip_blocks(fd, size) if head.startswith(GZIP_MAGIC) else self._plain_blocks(fd, size, head)

    def _byte_pieces(self, fd: int, size: int, head: bytes) -> Iterator[bytes]:
        if head.startswith(GZIP_MAGIC):
            with os.fdopen(os.dup(fd), "rb") as raw:
                raw.seek(0)
                for number, piece in enumerate(self._pieces(_gunzip(raw, size), raw, size)):
                    self.progress = raw.tell()
                    yield piece[self._bom_length(piece[:3]) :] if not number else piece
            return
        yield from self._pieces_from(fd, size, self._bom_length(head[:3]))

    def _pieces_from(self, fd: int, size: int, offset: int) -> Iterator[bytes]:
        while offset < size:
            length = min(self.block_bytes, size - offset)
            if offset + length < size:
                length = _to_line_end(fd, offset, length)
            piece = os.pread(fd, length, offset)
            if not piece:
                return
            offset += len(piece)
            self.bytes_read = self.progress = offset
            yield piece

    def _plain_blocks(self, fd: int, size: int, head: bytes) -> Iterator[Block]:
        """Up to the size that the file had when it was opened: one that grows must come to an end, too."""
        self.bytes_read = self.progress = offset = self._bom_length(head[:3])
        for start, end in self.known:
            yield from self._blocks_between(fd, offset, start)
            self.bytes_read = self.progress = offset = end
            yield Block(os.pread(fd, end - start, start), start) if self.reads_known else Block(b"", start, known=True)
        yield from self._blocks_between(fd, offset, size, head)

    def _blocks_between(self, fd: int, offset: int, end: int, head: bytes = b"") -> Iterator[Block]:
        """The lines from where one begins to where one ends; ``head`` is what was read already of the file."""
        while True:
            size = min(self.block_bytes, max(end - offset, 0))
            if offset + size < end:
                size = _to_line_end(fd, offset, size)
            data = head[offset : offset + size] if offset + size <= len(head) else os.pread(fd, size, offset)
            if not data:
                return
            last = offset + len(data) >= end
            cut = len(data) if last else data.rfind(b"\n") + 1
            if cut:
                yield Block(data if cut == len(data) else data[:cut], offset)
                offset += cut
            else:  # one line that is longer than a block: only this line, and only if it may be held
                behind = self._end_of_line(fd, offset + len(data), end)
                length = behind - offset
                del data
                long = length > self.max_line_bytes
                yield Block(b"", offset, length) if long else Block(os.pread(fd, length, offset), offset)
                offset = behind
            self.bytes_read = self.progress = offset

    def _end_of_line(self, fd: int, offset: int, size: int) -> int:
        """Behind the first line feed at or behind a place, or the end."""
        while data := os.pread(fd, min(self.block_bytes, max(size - offset, 0)), offset):
            found = data.find(b"\n")
            if found >= 0:
                return offset + found + 1
            offset += len(data)
        return offset

    def _bom_length(self, head: bytes) -> int:
        self.bom = head == BOM
        return 3 if self.bom else 0

    def _gzip_blocks(self, fd: int, size: int) -> Iterator[Block]:
        with os.fdopen(os.dup(fd), "rb") as raw:
            raw.seek(0)
            yield from self._cut_stream(_gunzip(raw, size), raw, size)

    def _cut_stream(self, stream: IO[bytes], raw: IO[bytes], size: int) -> Iterator[Block]:
        held: list[bytes] = []  # the beginning of a line whose end did not come yet
        length, offset, skipped = 0, 0, 0
        first = True
        for piece in self._pieces(stream, raw, size):
            if first:
                first = False
                skip = self._bom_length(piece[:3])
                piece, offset = piece[skip:], skip
            cut = piece.rfind(b"\n") + 1
            if skipped:
                head = piece.find(b"\n") + 1
                skipped += head or len(piece)
                if not head:
                    continue
                yield Block(b"", offset, skipped)
                offset += skipped
                piece, cut, skipped = piece[head:], cut - head, 0
            if cut:
                data = b"".join((*held, memoryview(piece)[:cut]))
                yield Block(data, offset)
                offset += len(data)
                held, length = [piece[cut:]], len(piece) - cut
            else:
                held.append(piece)
                length += len(piece)
                if length > self.max_line_bytes:
                    skipped, held, length = length, [], 0
            self.progress = raw.tell()
        if skipped:
            yield Block(b"", offset, skipped)
        elif length and not self.is_broken:
            yield Block(b"".join(held), offset)  # else it is the line that was cut with the file

    def _last_pieces(self, raw: IO[bytes]) -> Iterator[bytes]:
        """What comes before a fault in gzip data, lost with the read that met it: unpacked again, at last byte by byte,
        so that it is all there is, however much was asked for at once."""
        sound, position, before = sum(map(len, _sound_pieces(raw))), 0, self.bytes_read
        for piece in _sound_pieces(raw, sound):
            new = piece[max(0, before - position) :]
            position += len(piece)
            if new:
                self.bytes_read += len(new)
                yield new

    def _pieces(self, stream: IO[bytes], raw: IO[bytes], size: int) -> Iterator[bytes]:
        """Uncompressed data until its end, a fault in it, or more of it than can be honest."""
        while True:
            try:
                piece = stream.read(self.block_bytes)
            except (*_damages(), *_damage_of_igzip()) as error:
                if isinstance(error, OSError) and error.errno:
                    raise
                yield from self._last_pieces(raw)
                reason = "cut off" if isinstance(error, EOFError) else "damaged"
                self.faults.append(FileFault("broken-compression", {"reason": reason, "bytes": self.bytes_read}))
                return
            if not piece:
                return
            self.bytes_read += len(piece)
            if self.bytes_read > BOMB_BYTES and self.bytes_read > BOMB_RATIO * size:
                facts = {"ratio": BOMB_RATIO, "bytes": self.bytes_read}
                self.faults.append(FileFault("decompression-bomb", facts))
                return
            yield piece


class HeadedSource(Source):
    """A file whose first line is a header, which its reader passes over; ``header`` is that line with its end, and the
    byte-order mark before it, once it was read."""

    header: bytes | None = None

    def blocks(self) -> Iterator[Block]:
        """The lines below the header in order."""
        above: tuple[int, ...] = ()
        for block in super().blocks():
            if self.header is not None:
                if above:
                    block = replace(block, breaks=above + block.breaks, whole=block.whole or block.data)
                yield block
                above = ()
                continue
            _, header, end = next(iter_lines(block.data), (0, b"", b""))
            self.header = (BOM if self.bom else b"") + block.shown(0, header[:SHOWN_OF_HEADER]) + end
            self.bom = False  # it goes with the header
            behind, above = len(header) + len(end), tuple(number - 1 for number in block.breaks)
            if rest := block.data[behind:]:
                yield Block(rest, block.offset + behind, breaks=above, whole=block.whole[behind:])
                above = ()


def with_whole_cells(blocks: Iterable[Block], columns: int) -> Iterator[Block]:
    """The same blocks cut before lines with a cell that goes on in the next one; breaks within cells are hidden."""
    held = Block(b"", 0)
    for block in blocks:
        if held.data and block.skipped:
            yield from _hidden(held, True, columns)[0]
            held = Block(b"", 0)
        if not held.data and b'"' not in block.data:
            yield block
            continue
        whole = Block(held.data + block.data, held.offset, 0) if held.data else block
        found, held = _hidden(whole, False, columns)
        yield from found
    if held.data:
        yield from _hidden(held, True, columns)[0]


def _hidden(block: Block, last: bool, columns: int) -> tuple[list[Block], Block]:
    """The block's whole lines, and what is left of it."""
    from ragdatakit.schemas.line_cells import hide_breaks

    last = last or not block.data.endswith(b"\n")  # blocks have whole lines
    data, places, whole, added = hide_breaks(block.data, last, columns)
    breaks, line, at = list[int](), 0, 0
    for start, end in places:
        line, at = line + line_ends(data[at:start]), start
        breaks += [line] * line_ends(block.data[start:end])
    shown = block.data[:whole] + added if breaks or added else b""
    found = [Block(data[:whole], block.offset, breaks=tuple(breaks), whole=shown)] if whole else []
    return found, Block(block.data[whole:], block.offset + whole)


class RangeSource(Source):
    """The lines of a plain file that begin in a range of its bytes: from ``start`` on, where one begins if it is
    ``exact``, and before ``end``; its pieces are all that follows ``start``. ``state`` is what `file_state` has to
    give."""

    start: int = 0
    end: int = 0
    exact: bool = False
    state: str = ""

    @classmethod
    def of(cls, plain: Source, start: int, end: int, state: str, exact: bool = True) -> RangeSource:
        """The range of a file that is not packed."""
        found = cls(plain.path, False, plain.block_bytes, max_line_bytes=plain.max_line_bytes, boundary=plain.boundary)
        found.quoted = plain.quoted
        found.start, found.end, found.exact, found.state = start, end, exact, state
        return found

    def to_whole_lines(self) -> tuple[int, int, int]:
        """Have the range begin and end where lines do; where that is, and how many line feeds are in it."""
        with self.boundary.open(self.path) as file:
            fd, size = file.fileno(), os.fstat(file.fileno()).st_size
            begin = self.start if self.exact else self._end_of_line(fd, self.start - 1, size)
            end = self._end_of_line(fd, self.end - 1, size) if self.start < self.end else begin
            lines = sum(
                os.pread(fd, min(BLOCK_BYTES, end - at), at).count(b"\n") for at in range(begin, end, BLOCK_BYTES)
            )
        self.start, self.end, self.exact = begin, end, True
        return begin, end, lines

    def _is_another(self, fd: int) -> bool:
        """Whether the file has changed, which is then a fault."""
        if changed := file_state(os.fstat(fd)) != self.state:
            self._unreadable(CHANGED)
        return changed

    def _byte_pieces(self, fd: int, size: int, head: bytes) -> Iterator[bytes]:
        return iter(()) if self._is_another(fd) else self._pieces_from(fd, size, self.start)

    def _plain_blocks(self, fd: int, size: int, head: bytes) -> Iterator[Block]:
        if self._is_another(fd):
            return iter(())
        if self.start >= self.end:
            return iter(())
        begin = self.start if self.exact else self._end_of_line(fd, self.start - 1, size)
        end = self._end_of_line(fd, self.end - 1, size)
        return self._blocks_between(fd, begin, end) if begin < end else iter(())


def file_state(info: os.stat_result) -> str:
    """What changes when a file does."""
    return f"{info.st_size}-{info.st_mtime_ns}"


def _to_line_end(fd: int, offset: int, size: int) -> int:
    """How many of so many bytes are to be read for their whole lines: all where no line ends near their end. To look
    there first costs less than to copy a block without its last line."""
    tail = os.pread(fd, min(size, _TAIL_BYTES), offset + max(size - _TAIL_BYTES, 0))
    return size - len(tail) + (tail.rfind(b"\n") + 1 or len(tail))


SHOWN_OF_HEADER = 1 << 12


def _mislabelled(found: str, expected: str) -> FileFault:
    return FileFault("mislabelled-compression", {"found": found, "expected": expected})


def _damages() -> tuple[type[Exception], ...]:
    """What readers of gzip data raise where it is damaged."""
    import zlib

    return EOFError, OSError, zlib.error, ValueError


def _sound_pieces(raw: IO[bytes], sound: int | None = None) -> Iterator[bytes]:
    """Unpacked gzip data up to a fault in it, as far as reading piece by piece gives it; behind so many bytes that are
    known to be ``sound``, byte by byte."""
    import gzip

    raw.seek(0)
    position = 0
    with gzip.GzipFile(fileobj=raw, mode="rb") as stream, suppress(*_damages()):
        while piece := stream.read1(_PIECE_OF_DAMAGED if sound is None or position < sound else 1):
            position += len(piece)
            yield piece


def _damage_of_igzip() -> tuple[type[Exception]]:
    from isal import isal_zlib

    error: Any = isal_zlib.error  # its types call the class one of its errors
    return (error,)


def _gunzip(raw: IO[bytes], size: int) -> IO[bytes]:
    """A decompressing stream; igzip (three times faster than zlib) where it pays for its import."""
    if size > SMALL_FILE:
        from isal import igzip

        return cast(IO[bytes], igzip.IGzipFile(fileobj=raw, mode="rb"))  # type: ignore[no-untyped-call]
    import gzip

    return cast(IO[bytes], gzip.GzipFile(fileobj=raw, mode="rb"))


def is_lfs_pointer(path: Path, boundary: Boundary) -> bool:
    """Whether a file is a Git LFS pointer; false where it cannot be read."""
    try:
        with boundary.open(path) as file:
            return file.read(len(LFS_PREFIX)) == LFS_PREFIX
    except OSError:
        return False


def head_fault(head: bytes, size: int, text: bool = True, lines: bool = False, prose: bool = False) -> FileFault | None:
    """What is wrong with a file of so many bytes by its first ones: it is a pointer of Git LFS, no ``text`` (or
    ``prose``), or one array, or objects over several lines, in place of ``lines``."""
    if head.startswith(LFS_PREFIX) and size < _LONGEST_POINTER:
        return FileFault("lfs-pointer", {"size": lfs_size(head)})
    beginning = unpacked(head, HEAD_BYTES)[0] if text else b""
    if reason := why_not_text(beginning, prose):
        return FileFault("not-text", {"reason": reason})
    found = (ONE_ARRAY if is_array(beginning) else SPREAD if is_spread(beginning) else "") if lines else ""
    return FileFault(ARRAY_FOR_LINES, {"found": found}) if found else None


def lfs_size(head: bytes) -> int | None:
    """The size that a Git LFS pointer states, in bytes."""
    for line in head.splitlines():
        if line.startswith(b"size "):
            digits = line[5:].strip()
            return int(digits) if digits.isdigit() and len(digits) < 20 else None
    return None
