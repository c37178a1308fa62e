"""Records of a dataset's files, one after the other, for those who take them as they are: converters.

Judging is the validators' work. What cannot be decoded here is counted as dropped, and so are the records that the
caller names as refused, because a check found errors in them. A long module: all ways of reading a file share one
account of what was dropped, and of where.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import partial
from itertools import chain, takewhile
from typing import Any, BinaryIO, Protocol, TypeVar

import msgspec

from ragdatakit.files.containers import json_text
from ragdatakit.files.containers.arrays import ELEMENTS, ArraySource, Part, WrappedSource, element_source
from ragdatakit.files.containers.csv_cells import split_record
from ragdatakit.files.containers.csv_rows import LONGEST_OPEN, CsvBlock, CsvReader, Cutter, RawRow
from ragdatakit.files.containers.json_text import HALVES, Raw, without_halves, without_nan
from ragdatakit.files.containers.lines import iter_lines
from ragdatakit.files.containers.parquet_rows import RowForm, is_parquet, row_form
from ragdatakit.files.containers.record_runs import ANY, FIELDS, LineRun, PartRun, Run, as_utf8, is_utf8
from ragdatakit.files.containers.sources import (
    ARRAY_FOR_LINES,
    BLOCK_BYTES,
    LONG_BLOCK,
    ONE_ARRAY,
    TEXT_BLOCK_BYTES,
    Block,
    FileFault,
    RangeSource,
    Source,
)
from ragdatakit.files.containers.tagged_text import ElementFinder, Place, TaggedElement, TaggedReader
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.detection.sniffing import json_container
from ragdatakit.files.reading.cell_lines import CellBlock, CellLines
from ragdatakit.files.reading.file_sources import source_of
from ragdatakit.files.reading.piece_stream import PieceStream
from ragdatakit.files.reading.refused_records import Refused
from ragdatakit.files.reading.tagged_blocks import LONG_ELEMENT, TaggedBlock, TaggedBlocks
from ragdatakit.schemas.conversions import Losses, LossKind
from ragdatakit.schemas.declarations import File
from ragdatakit.schemas.errors import RagdataError

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)


class Lines(Protocol):
    """What is made of a block of lines: how many there are, and how many of them are records."""

    @property
    def lines(self) -> int:
        """The lines."""

    @property
    def rows(self) -> int:
        """The records."""


L = TypeVar("L", bound=Lines)
PartsOf = Callable[[ArraySource], Iterator[tuple[Part, L | None]]]
"""How the elements of an array are read: part by part, with what somebody makes of each, or nothing."""
Progress = Callable[[str, int, int], None]
"""Called with a file's name, the bytes of it that were read, and its size."""

_ITEMS = msgspec.json.Decoder(list[Raw])
LINE_OF_PART, RECORD_OF_PART = "\0line {}\0", "\0record {}\0"
"""Numbers of lines and records of a part of a file, in places: who puts parts together knows how many came before."""
NO_NUMBERS = "NaN or Infinity, which JSON does not have, became null"


def refuse_encoding(name: str) -> None:
    """Raise `RagdataError` where Python knows no encoding of text of that name."""
    try:
        b"four".decode(name)
    except UnicodeError:
        pass
    except (LookupError, ValueError):
        raise RagdataError(f"--option encoding={name}: no such encoding") from None


def _blocks_of(source: Source) -> Iterator[Block]:
    return source.blocks()


class RecordReader:
    """Reads the files of one dataset; what it leaves out goes to ``losses``, and why a file was not read to its end to
    ``faults``. ``kinds``, those of its format, say how rows of Parquet are cast. ``extents`` has, of each file of
    lines that was read, the lines and the records, with those that are left out. Of files that are
    ``accounted_elsewhere`` nothing goes to ``losses``."""

    accounted_elsewhere: frozenset[str] = frozenset()

    def __init__(
        self,
        losses: Losses,
        refused: Refused | None = None,
        progress: Progress | None = None,
        memory_limit: int = 1 << 30,
        kinds: Iterable[File] = (),
    ) -> None:
        self.losses = losses
        self.faults: list[FileFault] = []
        self._kinds = {kind.kind: kind for kind in kinds}
        self.refused = refused or Refused()
        self.progress = progress
        self._longest = max(1 << 24, memory_limit // 4)
        self.most_held = memory_limit // 16
        """Bytes of records that may be held, so that their file need not be read once more."""
        self.extents: dict[str, tuple[int, int]] = {}
        self._noted: set[tuple[str, int]] = set()
        self._in_lines: set[str] = set()
        self.shared: dict[tuple[str, ...], Any] = {}
        """What readers of one format have made of some files, for others of them that read these."""

    def unheard(self) -> RecordReader:
        """A reader like this one, of whose losses nobody hears: to look at files before they are read."""
        found = copy(self)
        found.losses, found.faults, found.extents = Losses(), [], {}
        found._noted, found._in_lines = set(), set()
        return found

    def hear(self, other: RecordReader) -> None:
        """Count what such a reader has reported of files that this one has not read."""
        self.losses.take(other.losses)
        self.faults += other.faults
        self.extents |= other.extents
        self._noted |= other._noted
        self._in_lines |= other._in_lines

    def objects(self, file: DataFile, container: str = "") -> Iterator[dict[str, Raw]]:
        """The records that are JSON objects, each as its fields, the values as they are in the file."""
        yield from self._read(self._runs(file, container), lambda run: run.objects(), partial(self._singly, file))

    def numbered(self, file: DataFile, container: str = "") -> Iterator[tuple[int, dict[str, Raw]]]:
        """The same, each with its number in the file, from 0: those that are dropped count, too."""
        return self._numbered(self._runs(file, container), lambda run: run.objects(), partial(self._singly, file))

    def shaped(
        self, file: DataFile, decoder: msgspec.json.Decoder[S], container: str = ""
    ) -> Iterator[S | dict[str, Raw]]:
        """The same, but what ``decoder`` makes of them in place of their fields, where it can read them (not of the
        elements of an array)."""
        return chain.from_iterable(found for _, found in self.shaped_blocks(file, decoder, container))

    def shaped_blocks(
        self, file: DataFile, decoder: msgspec.json.Decoder[S], container: str = ""
    ) -> Iterator[tuple[int, Sequence[S | dict[str, Raw]]]]:
        """The same, as they are decoded: those that are decoded together, and the number of the first of them."""

        def together(run: Run) -> Sequence[S | dict[str, Raw]] | None:
            found: Sequence[S] | Sequence[dict[str, Raw]] | None
            found = run.shaped(decoder) if isinstance(run, LineRun) else run.objects()
            return found

        return self._blocks(self._runs(file, container), together, lambda run: self._shaped_singly(file, run, decoder))

    @staticmethod
    def _read(
        runs: Iterable[Run], together: Callable[[Run], Sequence[T] | None], singly: Callable[[Run], Iterator[T]]
    ) -> Iterator[T]:
        return chain.from_iterable(found for _, found in RecordReader._blocks(runs, together, singly))

    @staticmethod
    def _numbered(
        runs: Iterable[Run], together: Callable[[Run], Sequence[T] | None], singly: Callable[[Run], Iterator[T]]
    ) -> Iterator[tuple[int, T]]:
        for first, found in RecordReader._blocks(runs, together, singly):
            yield from enumerate(found, first)

    @staticmethod
    def _blocks(
        runs: Iterable[Run], together: Callable[[Run], Sequence[T] | None], singly: Callable[[Run], Iterator[T]]
    ) -> Iterator[tuple[int, Sequence[T]]]:
        """The records of runs that can be decoded together, and the number of the first; where one wants a closer look,
        of those around it."""
        for run in runs:
            found = together(run)
            if found is not None:
                yield run.count - len(found), found
                continue
            for piece in run.pieces():
                found = together(piece)
                if found is not None:
                    yield piece.count - len(found), found
                    continue
                for one in singly(piece):
                    yield piece.count - 1, (one,)

    def taken(
        self, file: DataFile, take: Callable[[bytes], L | None], jobs: int = 1, block_bytes: int = BLOCK_BYTES
    ) -> Iterator[tuple[int, int, bytes, L, int] | list[tuple[int, dict[str, Raw]]]]:
        """The blocks of a file of lines: the numbers of the first line and of the first record, the lines, what
        ``take`` makes of them (in so many threads of their own; 0: in one, ahead of whoever takes them, if that pays),
        and where they are in the file; where it makes nothing of a block, its records as of `numbered`."""
        if self._is_array(file):
            yield from ([record] for record in self.numbered(file, "json-array"))
            return
        made: deque[L | None] = deque()
        refused = self.refused.lines(file)
        for run in self._line_runs(file, _blocks_of if refused else partial(_taken, take, jobs, block_bytes, made)):
            first, number = run.next_line, run.count
            found = None if refused else made.popleft()
            if found is None:
                yield list(self._numbered((run,), lambda one: one.objects(), partial(self._singly, file)))
            else:
                run.pass_over(found.lines, found.rows)
                yield first, number, run.data, found, run.offset

    def elements_taken(
        self, file: DataFile, parts_of: PartsOf[L], kind: File | None = None
    ) -> Iterator[tuple[Part, L] | Run]:
        """The parts of a file that is an array, or of this ``kind``, with what ``parts_of`` makes of them; where it
        makes nothing of a part, or records are refused, its elements."""
        chosen = parts_of if not self.refused.records(file) else _as_they_are
        container = kind.container if kind is not None else "json-array"
        for part, found in self._element_parts(file, container, chosen, kind):
            yield self._part_run(file, part) if found is None else (part, found)

    def value_at(self, file: DataFile, place: int, raw: bytes) -> list[Any]:
        """The value that a record is, alone in a list; an empty one where it is dropped, which is reported."""
        return self._decoded(file, place, raw, partial(self._value, file, place), "no JSON") or []

    def fields_at(self, file: DataFile, line: int, raw: bytes) -> dict[str, Raw] | None:
        """The fields of the record on a line; None where it is dropped, which is reported."""
        return self._decoded(file, line, raw, FIELDS.decode, "no JSON object")

    def _shaped_singly(
        self, file: DataFile, run: Run, decoder: msgspec.json.Decoder[S]
    ) -> Iterator[S | dict[str, Raw]]:
        decode = decoder.decode
        for place, raw in run.records():
            try:
                yield decode(as_utf8(raw))
            except (ValueError, RecursionError):
                fields = self.fields_at(file, place, raw)
                if fields is not None:
                    yield fields

    def _singly(self, file: DataFile, run: Run) -> Iterator[dict[str, Raw]]:
        for place, raw in run.records():
            fields = self.fields_at(file, place, raw)
            if fields is not None:
                yield fields

    def objects_and_arrays(
        self, file: DataFile, container: str = ""
    ) -> Iterator[tuple[int, dict[str, Raw] | list[Raw]]]:
        """The records that are JSON objects, as their fields, or arrays, as their items, with their places; others
        count as dropped."""
        for place, raw in self.raw_records(file, container):
            found = self.object_or_array_at(file, place, raw)
            if found is not None:
                yield place, found

    def object_or_array_at(self, file: DataFile, place: int, raw: bytes) -> dict[str, Raw] | list[Raw] | None:
        """The fields or the items of a record; None where it is dropped, which is reported."""
        decode: Callable[[bytes], Any] = _ITEMS.decode if raw.lstrip()[:1] == b"[" else FIELDS.decode
        return self._decoded(file, place, raw, decode, "neither an object nor an array")

    def values(self, file: DataFile, container: str = "") -> Iterator[Any]:
        """The records, decoded; integers of any size are exact."""
        yield from self._read(self._runs(file, container), lambda run: run.values(), partial(self._values_singly, file))

    def numbered_values(self, file: DataFile, container: str = "") -> Iterator[tuple[int, Any]]:
        """The same, each with its number in the file, from 0."""
        runs = self._runs(file, container)
        return self._numbered(runs, lambda run: run.values(), partial(self._values_singly, file))

    def _values_singly(self, file: DataFile, run: Run) -> Iterator[Any]:
        for place, raw in run.records():
            yield from self.value_at(file, place, raw)

    def _value(self, file: DataFile, place: int, raw: bytes) -> list[Any]:
        """The value in a record, alone in a list."""
        try:
            return [ANY.decode(raw)]
        except msgspec.ValidationError:
            found = json_text.loads(raw)
            why = "a number that no float holds became infinite"
            self.tell_once("coerced", file.kind, None, why, file, place, _beginning(raw), self.where(file, place))
            return [found]

    def members(self, file: DataFile) -> Iterator[tuple[str, Raw]]:
        """The members of a JSON object: name and value as it stands."""
        yield from ((name, value) for _, name, value in self.numbered_members(file))

    def numbered_members(self, file: DataFile) -> Iterator[tuple[int, str, Raw]]:
        """The same, each with its number in the file, from 0."""
        for place, raw in self.raw_records(file, "json-object"):
            member = self._decoded(file, place, b"{%b}" % raw, FIELDS.decode, "no JSON")
            yield from ((place, *each) for each in member.items()) if member is not None else ()

    def _decoded(self, file: DataFile, place: int, raw: bytes, decode: Callable[[bytes], T], other: str) -> T | None:
        """What a decoder makes of a record; NaN and the like become null, half a character becomes U+FFFD. None, with
        an account, where it is dropped: ``other`` is why it is where it is JSON of another shape."""
        why = other
        try:
            return decode(as_utf8(raw))
        except msgspec.ValidationError:
            pass
        except UnicodeDecodeError as error:
            why = f"no JSON: byte 0x{raw[error.start]:02x} is not UTF-8"
        except RecursionError:
            why = "its values are nested too deeply"
        except ValueError as error:
            why = f"no JSON: {str(error).partition(' (byte ')[0]}"  # one reason, wherever in its record it is
            whole = without_halves(raw)
            mended = without_nan(whole)
            with suppress(ValueError, RecursionError):
                if mended != raw:
                    found = decode(mended)
                    seen = _beginning(raw), self.where(file, place)
                    for became, reason in ((whole != raw, HALVES), (mended != whole, NO_NUMBERS)):
                        if became:
                            self.tell_once("coerced", file.kind, None, reason, file, place, *seen)
                    return found
        self._drop(file, place, why, raw)
        return None

    def rows(self, file: DataFile) -> Iterator[dict[str, str]]:
        """The rows of a CSV file: column to cell, as text; a cell that a short row lacks is missing."""
        blocks: Iterator[Any] = self.rows_taken(file)
        yield from chain.from_iterable(blocks)

    def rows_taken(
        self,
        file: DataFile,
        taker: Callable[[list[str]], Callable[[bytes], T | None] | None] | None = None,
        cut: Cutter | None = None,
    ) -> Iterator[tuple[T] | Iterable[dict[str, str]]]:
        """The blocks of such a file that ``cut`` cuts, with what is made of them by what ``taker`` gives for a header,
        alone in a tuple; where that is nothing, their rows."""
        source = self.source(file)
        source.row_form = RowForm("csv")
        reader = CsvReader(source)
        if reader.open():
            header = reader.header or []
            places = {name: i for i, name in reversed(list(enumerate(header)))}
            by_record = is_parquet(file.path)
            if not by_record:
                self.place_by_line(file)
            refused = self.refused.records(file) if by_record else self.refused.lines(file)
            plain = len(places) == len(header)
            take = taker(header) if plain and not refused and taker is not None else None
            if take is not None:
                reader.quick = cut
            elif plain and file.path.stat().st_size > _WORTH_COLUMNS:
                from ragdatakit.files.containers.csv_plain import cut_plain

                reader.quick = cut_plain
            for block in reader.blocks():
                self._report(file, source)
                if take is not None and block.cut is None and (made := take(block.data)) is not None:
                    yield (made,)
                elif plain and take is None and block.cut is None and is_utf8(block.data):
                    yield self._plain_rows(file, block, header, refused, by_record=by_record)
                else:
                    yield self._rows_of(file, block, places, refused, by_record=by_record)
        self._close(file, source)

    def _rows_of(
        self, file: DataFile, block: CsvBlock, places: Mapping[str, int], refused: Mapping[int, str], *, by_record: bool
    ) -> Iterator[dict[str, str]]:
        for number, row in enumerate(block.raw_rows(), block.first_row):
            place = number if by_record else row.line
            if place in refused:
                self._drop(file, place, refused[place], row.raw)
            else:
                yield self.row_at(file, places, row)

    def _plain_rows(
        self, file: DataFile, block: CsvBlock, header: Sequence[str], refused: Mapping[int, str], *, by_record: bool
    ) -> Iterator[dict[str, str]]:
        """The same of a block whose quotes are around whole cells only: there Python's reader is right, and quick."""
        import csv

        csv.field_size_limit(LONGEST_OPEN)  # of the whole process; it is 128 KiB otherwise
        reader = csv.reader(io.StringIO(block.data.decode("utf-8", "replace"), newline=""))
        begin, count = (block.first_row, block.rows) if by_record else (block.first_line, block.lines)
        if not refused or refused.keys().isdisjoint(range(begin, begin + count)):
            for cells in reader:
                yield dict(zip(header, cells, strict=False))
            return
        lines, first = block.data.split(b"\n"), 0
        for row, cells in enumerate(reader):
            place = begin + (row if by_record else first)
            if place in refused:
                raw = b"\n".join(lines[first : reader.line_num]).rstrip(b"\r")
                self._drop(file, place, refused[place], raw)
            else:
                yield dict(zip(header, cells, strict=False))
            first = reader.line_num

    def row_at(self, file: DataFile, places: Mapping[str, int], row: RawRow) -> dict[str, str]:
        """The cells of a row, by the names of the columns at these places; those that it lacks are missing."""
        cells = [f.text for f in split_record(self._text(file, row.line, row.raw))[0]]
        return {name: cells[i] for name, i in places.items() if i < len(cells)}

    def place_by_line(self, file: DataFile) -> None:
        """Say that what is reported of records of a file gives their lines."""
        self._in_lines.add(file.display)

    def lines(self, file: DataFile) -> Iterator[str]:
        """The lines of a text file, without their ends; blank ones too."""
        source = self.source(file)
        refused = self.refused.lines(file)
        self.place_by_line(file)
        number = 0
        for block in source.blocks():
            self._report(file, source)
            for _, line, _ in iter_lines(block.data):
                number += 1
                if number in refused:
                    self._drop(file, number, refused[number], bytes(line))
                else:
                    yield self._text(file, number, bytes(line))
        self._close(file, source)

    def cells(self, file: DataFile, kind: File) -> Iterator[dict[str, Any]]:
        """The records of a file of columns, without header and comments; numbers where Python reads them as such."""
        nothing: Callable[[bytes], Lines | None] | None = None
        for found in self.cells_taken(file, kind, nothing):
            if not isinstance(found, tuple):
                yield from (record for _, record in found)

    def cells_taken(
        self, file: DataFile, kind: File, take: Callable[[bytes], L | None] | None
    ) -> Iterator[tuple[CellBlock, L] | Iterator[tuple[int, dict[str, Any]]]]:
        """The blocks of such a file with what ``take`` makes of the lines behind the header; where it makes nothing of
        these, all records of the block, with their numbers."""
        source = self.source(file)
        source.row_form, source.quoted = row_form(kind), kind.quoted_columns
        self.place_by_line(file)
        lines = CellLines(
            kind,
            kind.columns.header and (file.part is None or file.part.exact),
            self.refused.lines(file, kind.columns.header),
            partial(self._text, file),
            partial(self._drop, file),
        )
        for block in source.blocks():
            self._report(file, source)
            behind = CellBlock(lines, block)
            found = take(behind.data) if take is not None and not lines.refused else None
            if found is None:
                yield lines.all_of(block)
                continue
            behind.begin()
            yield behind, found
            behind.end(found.rows, found.lines)
        self.extents[file.display] = lines.lines, lines.records
        self._close(file, source)

    def elements(self, file: DataFile, kind: File) -> Iterator[dict[str, str]]:
        """The records of a file of elements between tags: the names of the elements in them to their contents."""
        source = self.source(file)
        found = self._elements_of(source, ElementFinder(kind.tags, self._longest))
        yield from (fields for _, fields in self._read_elements(file, source, found, kind))

    def _read_elements(
        self, file: DataFile, source: Source, elements: Iterable[TaggedElement], kind: File, count: int = 0
    ) -> Iterator[tuple[int, dict[str, str]]]:
        """The last elements of a file, each with its number; so many are before them."""
        refused, fields_of = self.refused.records(file), self.element_reader(file, kind)
        for element in elements:
            count += 1
            self._report(file, source)
            if element.too_long:
                raise RagdataError(f"{file.display}:{element.line}: an element is too long; give more --memory-limit")
            if element.record in refused:
                self._drop(file, element.record, refused[element.record], element.raw)
            else:
                yield element.record, fields_of(element.record, element.raw)
        self.extents[file.display] = 0, count
        self._close(file, source)
        file.records, file.bytes = count, source.bytes_read

    def element_reader(self, file: DataFile, kind: File) -> Callable[[int, bytes], dict[str, str]]:
        """What gives the fields of an element, given its number in the file and its bytes."""
        reader = TaggedReader(kind.tags, tuple(f.name for f in kind.record.fields))
        return lambda number, raw: reader.record(self._text(file, number, raw))

    def elements_scanned(
        self, file: DataFile, kind: File, take: Callable[[bytes], L]
    ) -> Iterator[tuple[int, bytes, L, int] | list[tuple[int, dict[str, str]]]]:
        """The same, block by block: the number of the first element, the elements, what ``take`` makes of them, and
        where they are in the file. Of those that are not taken so there are the records, with their numbers. Lines are
        not counted: if this fails, only `elements` says where."""
        if self._longest < 4 * LONG_ELEMENT or file.part is not None or self.refused.records(file):
            yield from ([record] for record in enumerate(self.elements(file, kind)))
            return
        from ragdatakit.files.reading.threads import ahead

        source = self.source(file)
        source.block_bytes = TEXT_BLOCK_BYTES
        pieces, count = source.pieces(), 0
        first = next(pieces, b"")
        blocks = TaggedBlocks(kind.tags, source.block_bytes, chain((first,), pieces), 3 if source.bom else 0)
        for block, found in ahead(blocks, lambda block: take(block.data), source.size, _is_alone):
            self._report(file, source)
            yield count, block.data, found, block.offset
            count += found.rows
        rest = ElementFinder(kind.tags, self._longest).elements(blocks.rest, blocks.end.offset, count, blocks.end.place)
        yield from ([record] for record in self._read_elements(file, source, rest, kind, count))

    @staticmethod
    def _elements_of(source: Source, finder: ElementFinder) -> Iterator[TaggedElement]:
        """The elements of a file; of a part those whose opening tag is on a line that begins in it."""
        if not isinstance(source, RangeSource):
            yield from finder.elements(source.pieces())
            return
        begin, end, _ = source.to_whole_lines()
        passed, pieces = finder.first(source.pieces() if begin < end else iter(()), Place())
        elements = finder.elements(pieces, begin + passed)
        yield from takewhile(lambda element: element.byte_offset < end, elements)

    def text(self, file: DataFile) -> str:
        """A whole text file (without a byte-order mark)."""
        source = self.source(file)
        data = b"".join(source.pieces())
        self._close(file, source)
        return self._text(file, 0, data)

    def _text(self, file: DataFile, place: int, raw: bytes) -> str:
        """Bytes as text; those that are no UTF-8 become U+FFFD, with an account."""
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            why = "bytes that are not UTF-8 became U+FFFD"
            byte = f"byte 0x{raw[error.start]:02x}"
            self.tell_once("coerced", file.kind, None, why, file, place, byte, self.where(file, place))
            return raw.decode("utf-8", "replace")

    def content(self, file: DataFile) -> tuple[bytes, bool] | None:
        """A whole file without its byte-order mark, and whether it had one; None where nothing could be read of it."""
        source = self.source(file)
        source.text = False  # in which encoding is for the caller to know
        data = b"".join(source.pieces())
        self._report(file, source)
        self._close(file, source)
        return None if source.faults and not data else (data, source.bom)

    @contextmanager
    def stream(self, file: DataFile) -> Iterator[BinaryIO]:
        """A file's bytes, or those of its part, unpacked, without its byte-order mark."""
        source = self.source(file)
        source.text = False
        if file.part is not None:
            source.max_line_bytes = source.size
        with io.BufferedReader(PieceStream(self._reported(file, source)), 1 << 20) as stream:
            yield stream
        self._close(file, source)

    def _reported(self, file: DataFile, source: Source) -> Iterator[bytes]:
        for piece in source.pieces() if file.part is None else (block.data for block in source.blocks()):
            self._report(file, source)
            yield piece
        file.bytes = source.bytes_read

    def raw_records(self, file: DataFile, container: str = "", kind: File | None = None) -> Iterator[tuple[int, bytes]]:
        """The records of a file of JSON as they stand: line or number, and bytes."""
        for run in self._element_runs(file, container, kind) if kind is not None else self._runs(file, container):
            yield from run.records()

    def wrapped(self, file: DataFile, kind: File) -> Iterator[dict[str, Raw]]:
        """The objects in the array that is in a member of the one object of a file, as `objects` gives them."""
        for run in self._element_runs(file, kind.container, kind):
            together = run.objects()
            yield from together if together is not None else self._singly(file, run)

    def _runs(self, file: DataFile, container: str = "") -> Iterator[Run]:
        container = container or self._container(file)
        if container not in ELEMENTS and not self._is_array(file):
            return self._line_runs(file)
        return self._element_runs(file, container if container in ELEMENTS else "json-array")

    def _is_array(self, file: DataFile) -> bool:
        """Whether a file of lines is one array, which its framework refuses: its elements are read as the records."""
        fault = self.source(file).fault_of_head(lines=True)
        if fault is None or fault.rule != ARRAY_FOR_LINES or fault.facts["found"] != ONE_ARRAY:
            return False
        why = "the file is one JSON array where every line must be one record; its elements were read"
        self.tell_once("coerced", file.kind, None, why, file, -2, file.display)
        return True

    @staticmethod
    def _container(file: DataFile) -> str:
        name = file.path.name.removesuffix(".gz").lower()
        return "ndjson" if name.endswith((".jsonl", ".ndjson")) else json_container(file.path, file.boundary)

    def _row_form(self, file: DataFile, container: str) -> RowForm:
        kind = self._kinds.get(file.kind)
        return RowForm(container) if kind is None else row_form(kind, container)

    def _line_runs(
        self, file: DataFile, blocks_of: Callable[[Source], Iterator[Block]] = _blocks_of
    ) -> Iterator[LineRun]:
        source = self.source(file)
        source.row_form = self._row_form(file, "ndjson")
        refused = self.refused.lines(file)
        self.place_by_line(file)
        run = LineRun(refused, lambda number, raw: self._drop(file, number, refused[number], raw))
        for block in blocks_of(source):
            self._report(file, source)
            if block.skipped:
                if not run.skip():
                    least = -(-4 * block.skipped // (1 << 20))
                    words = f"a line has {block.skipped:,} bytes; give at least --memory-limit {least:,}MiB"
                    raise RagdataError(f"{file.display}: {words}")
                continue
            run.data, run.offset = block.data, block.offset
            yield run
        self.extents[file.display] = run.next_line - 1, run.count
        self._close(file, source, run.count)
        file.records, file.bytes = run.count, source.bytes_read

    def _element_runs(self, file: DataFile, container: str, kind: File | None = None) -> Iterator[Run]:
        for part, _ in self._element_parts(file, container, _as_they_are, kind):
            yield self._part_run(file, part)

    def _part_run(self, file: DataFile, part: Part) -> PartRun:
        return PartRun(part, self.refused.records(file), lambda number, why, raw: self._drop(file, number, why, raw))

    def _element_parts(
        self, file: DataFile, container: str, parts_of: PartsOf[L], kind: File | None = None
    ) -> Iterator[tuple[Part, L | None]]:
        source = self.source(file)
        source.row_form = self._row_form(file, container)
        array = element_source(container, source, kind)
        count = 0
        for found in parts_of(array):
            self._report(file, source)
            count += found[0].count
            yield found
        if array.top == "other":
            wanted = f"object with a list called {array.names[0]}" if isinstance(array, WrappedSource) else array.NOUN
            why = f"the file is not a JSON {wanted}"
            self.tell_once("dropped", file.kind, None, why, file, 0, file.display)
        if isinstance(array, WrappedSource):
            file.wrapper, file.around = array.member, tuple(array.around)
        self._close(file, source, count)
        file.records, file.bytes = count, source.unpacked_bytes

    def source(self, file: DataFile) -> Source:
        """A file as it is read, piece by piece."""
        return source_of(file, self._longest)

    def _report(self, file: DataFile, source: Source) -> None:
        if self.progress is not None:
            self.progress(file.display, source.progress, source.size)

    def _close(self, file: DataFile, source: Source, records: int | None = None) -> None:
        """A file that could not be read to its end is an error of the run, unless it was to be taken as it is.
        ``records`` of it were read."""
        for fault in source.faults:
            if fault.rule == "mislabelled-compression":
                continue  # it was read nonetheless
            if fault.rule == "unreadable-file":
                raise RagdataError(f"{file.display}: {fault.facts['reason']}")
            self.stop(file, fault, records)

    def stop(self, file: DataFile, fault: FileFault, records: int | None = None) -> None:
        """Say that a file was not read to its end, once however often it is read. ``records`` of it were read."""
        if (file.display, -1) not in self._noted:
            self._noted.add((file.display, -1))
            self.faults.append(fault)
            if file.display not in self.accounted_elsewhere:
                self.losses.add("dropped", file.kind, None, fault.in_words(file.display, records), unread=True)

    def leave_out(self, file: DataFile, record: int, why: str, example: object) -> None:
        """Say that the caller has no use for a record (counted from 0), once however often the file is read."""
        number = record + 1 if file.part is None else RECORD_OF_PART.format(record + 1)
        where = f"{file.display} record {number}"
        self.tell_once("dropped", file.kind, None, why, file, record, example, where)

    def tell_once(
        self,
        kind: LossKind,
        table: str,
        column: str | None,
        why: str,
        file: DataFile,
        record: int,
        example: object = None,
        where: str = "",
    ) -> None:
        """Count what the caller makes of a record (from 0), once however often the file is read. ``where`` is its place
        in words."""
        key = (f"{file.display}\0{table}\0{column}\0{why}", record)
        if key not in self._noted and file.display not in self.accounted_elsewhere:
            self._noted.add(key)
            self.losses.add(kind, table, column, why, example, place=where)

    def tell_all(
        self, kind: LossKind, table: str, why: str, file: DataFile, records: range, examples: Sequence[str]
    ) -> None:
        """The same of all these records, for the first of which there are examples."""
        for record, example in zip(records, examples, strict=False):
            self.tell_once(kind, table, None, why, file, record, example)
        name = f"{file.display}\0{table}\0None\0{why}"
        others = {(name, record) for record in records[len(examples) :]} - self._noted
        if others and file.display not in self.accounted_elsewhere:
            self._noted |= others
            self.losses.add(kind, table, None, why, count=len(others))

    def _drop(self, file: DataFile, place: int, why: str, raw: bytes) -> None:
        if (file.display, place) in self._noted:  # files may be read more than once
            return
        self._noted.add((file.display, place))
        if file.display in self.accounted_elsewhere:
            return
        self.losses.add("dropped", file.kind, None, why, _beginning(raw), place=self.where(file, place))

    def where(self, file: DataFile, place: int) -> str:
        """The place of a record, as users look for it: by its line, or its number from 1, as lines have it."""
        if file.display not in self._in_lines:
            number = place + 1 if file.part is None else RECORD_OF_PART.format(place + 1)
            return f"{file.display} record {number}"
        if file.part is not None:
            return f"{file.display}:{LINE_OF_PART.format(place)}"
        return f"{file.display} row {place - 1}" if is_parquet(file.path) else f"{file.display}:{place}"


def _taken(
    take: Callable[[bytes], L | None], jobs: int, block_bytes: int, made: deque[L | None], source: Source
) -> Iterator[Block]:
    """The blocks of a source, when what ``take`` makes of their lines is in ``made``."""
    source.block_bytes = block_bytes

    def work(block: Block) -> L | None:
        return None if block.skipped else take(block.data)

    blocks: Iterable[tuple[Block, L | None]]
    if jobs == 1:
        blocks = ((block, work(block)) for block in source.blocks())
    else:
        from ragdatakit.files.reading.threads import InThreads, ahead

        given = source.blocks()
        blocks = (
            InThreads(given, work, jobs, _is_alone).results() if jobs else ahead(given, work, source.size, _is_alone)
        )
    for block, found in blocks:
        if not block.skipped:
            made.append(found)
        yield block


def _is_alone(block: Block | TaggedBlock) -> bool:
    return len(block.data) > LONG_BLOCK


def _as_they_are(array: ArraySource) -> Iterator[tuple[Part, None]]:
    return ((part, None) for part in array.parts())


_WORTH_COLUMNS = 1 << 20


def _beginning(raw: bytes) -> str:
    return bytes(raw[:200]).decode("utf-8", "replace")
