"""The document masters of a light-splade dataset written by workers, part by part: in the end the files are those that
one process writes."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import msgspec

from ragdatakit.converters import Options
from ragdatakit.converters.light_splade.documents import LINE, DocumentMasters, integer_id
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.tables_in_parts import PartPlace, Piece, TablesInParts
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.line_shards import shard_name
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.conversions import MOST_EXAMPLES
from ragdatakit.schemas.errors import RagdataError

_SPAN_BYTES = 32 << 20
_REPEATED = "a document with this id came before"


@dataclass(frozen=True, slots=True)
class _Listed:
    """The ids of the passages of a part that have a text, as JSON, and the lengths of the texts; the id of its first
    row; how many titles were put before texts, with examples."""

    ids: bytes
    lengths: array[int]
    first: str | None
    joined: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be written of a part: from which number on (None: its ids are the numbers), without the passages at
    some places, and which numbers each split has (None: all)."""

    options: Options
    first: int | None
    without: frozenset[int]
    splits: dict[str, frozenset[int] | None]


@dataclass(frozen=True, slots=True)
class _Span:
    """Shards of a split that are written together, of some parts: how many of their lines are ``above``, the records of
    each shard, what is wanted of each part."""

    split: str
    above: int
    records: tuple[int, ...]
    wanted: tuple[_Wanted, ...]


class MastersInParts(DocumentMasters):
    """As `DocumentMasters`; memory holds the ids of all passages, too."""

    def __init__(
        self, tables: CanonicalTables, out: Output, options: Options, wanted: set[str], parts: TablesInParts
    ) -> None:
        super().__init__(tables, out, options, wanted)
        self._options, self._parts = options, parts
        self._seen: set[int] = set()
        self._listed: list[bytes] = []
        self._lengths: list[array[int]] = []
        self._without: list[frozenset[int]] = []
        self._firsts: list[int | None] = []

    def write(self) -> None:
        """Have the passages listed. Raises `RagdataError` where none has a text."""
        first: str | None = None
        for one in self._parts.each(list_part, [self._options] * self._parts.number("documents")):
            self._listed.append(one.ids)
            self._lengths.append(one.lengths)
            first = one.first if first is None else first
            self._joined += one.joined
            self._examples = [*self._examples, *one.examples][:MOST_EXAMPLES]
        self._tables.took("documents")
        integers = first is not None and integer_id(first) is not None
        integers = integers and all(integer_id(found) is not None for ids in self._listed for found in _ids(ids))
        self._kept = array("q") if integers else None
        for ids in self._listed:
            if self._kept is not None:
                self._keep(self._kept, _ids(ids))
            else:
                self._number(_ids(ids))
        self._say_joined()
        if not self.count:
            raise RagdataError("light-splade needs documents, and the source has none with a text")

    def _keep(self, kept: array[int], ids: Sequence[str]) -> None:
        """Passages whose ids are their numbers, each once."""
        without = set()
        for place, found in enumerate(ids):
            number = int(found)
            if number in self._seen:
                self._tables.losses.add("dropped", self._tables.passages, None, _REPEATED, found)
                without.add(place)
                continue
            self._seen.add(number)
            kept.append(number)
            if found in self._wanted:
                self.numbers[found] = number
        self._without.append(frozenset(without))
        self._firsts.append(None)
        self.count = len(kept)

    def _number(self, ids: Sequence[str]) -> None:
        self._without.append(frozenset())
        self._firsts.append(self.count)
        for number, found in enumerate(ids, self.count):
            if str(number) != found:
                self._out.renamed("passage", number, found)
            if found in self._wanted:
                self.numbers.setdefault(found, number)
        self.count += len(ids)

    def distribute(self, splits: tuple[str, ...], named: dict[str, set[int]], which: str) -> None:
        """Have the masters of the splits written."""
        chosen: dict[str, set[int] | None] = {splits[-1]: named[splits[-1]] if which == "split" else None}
        chosen |= {split: None if which == "all" else named[split] for split in splits[:-1]}
        if which == "split":
            self._say_unnamed(set().union(*(named[split] for split in splits)))
        wanted = list(self._wanted_of_parts(chosen))
        if self._out.line_shards:
            self._write_shards(wanted)
            return
        with ExitStack() as opened:
            files = {split: opened.enter_context(self._out.lines(f"{split}/doc_master.ndjson")) for split in splits}
            for pieces in self._parts.each(write_part, wanted):
                for split, piece in pieces.items():
                    files[split].append(Path(piece.path), piece.written.records or 0)
                    self._parts.remove(Path(piece.path))

    def _write_shards(self, wanted: list[_Wanted]) -> None:
        """Have the shards written whole: which records each has follows from the lengths of all."""
        spans = [span for split in wanted[0].splits for span in self._spans(split, wanted)]
        counts, numbers = Counter[str](), Counter[str]()
        for _, _, span in spans:
            counts[span.split] += len(span.records)
        for (_, _, span), pieces in zip(spans, self._parts.spans(write_shards, spans), strict=True):
            for piece in pieces:
                name = shard_name(f"{span.split}/doc_master.ndjson", numbers[span.split], counts[span.split])
                self._out.adopt(name, piece.written, Path(piece.path))
                numbers[span.split] += 1

    def _spans(self, split: str, wanted: list[_Wanted]) -> Iterator[tuple[int, int, _Span]]:
        """The shards of a split, those together that are about as large as a part: of which parts they are."""
        most, records = self._out.shard_bytes, list[int]()
        begin, end, above, in_shard, in_span = 0, -1, 0, 0, 0
        for part, lengths in enumerate(map(self._line_lengths, wanted, self._listed, self._lengths, repeat(split))):
            for place, length in enumerate(lengths):
                if not records or in_shard + length > most:
                    if in_span >= _SPAN_BYTES:
                        yield begin, end, _Span(split, above, tuple(records), tuple(wanted[begin : end + 1]))
                        records, in_span = [], 0
                    if not records:
                        begin, above = part, place
                    records.append(0)
                    in_shard = 0
                records[-1] += 1
                in_shard, in_span, end = in_shard + length, in_span + length, part
        yield begin, end, _Span(split, above, tuple(records or [0]), tuple(wanted[begin : end + 1]))

    @staticmethod
    def _line_lengths(wanted: _Wanted, listed: bytes, lengths: array[int], split: str) -> Iterator[int]:
        """The lengths of the lines that a part has in a split."""
        numbers = wanted.splits[split]
        for place, (found, length) in enumerate(zip(_ids(listed), lengths, strict=True)):
            number = int(found) if wanted.first is None else wanted.first + place
            if place not in wanted.without and (numbers is None or number in numbers):
                yield len(LINE % (number, b"")) + length

    def _wanted_of_parts(self, chosen: dict[str, set[int] | None]) -> Iterator[_Wanted]:
        for ids, first, without in zip(self._listed, self._firsts, self._without, strict=True):
            found = _ids(ids)
            own = set(range(first, first + len(found)) if first is not None else map(int, found))
            splits = {split: None if all_of is None else frozenset(own & all_of) for split, all_of in chosen.items()}
            yield _Wanted(self._options, first, without, splits)

    def _say_unnamed(self, named: set[int]) -> None:
        """Account for the documents that no split names."""
        number = 0
        for ids, without in zip(self._listed, self._without, strict=True):
            for place, found in enumerate(_ids(ids)):
                if place in without:
                    continue
                if (number if self._kept is None else int(found)) not in named:
                    why = "no list, triplet or score of a split names it"
                    self._tables.losses.add("dropped", self._tables.passages, None, why, found)
                number += 1


def _ids(packed: bytes) -> list[str]:
    found: list[str] = msgspec.json.decode(packed)
    return found


def list_part(tables: CanonicalTables, _: PartPlace, options: Options) -> _Listed:
    """In a worker: the passages of a part that are to be written; the others are accounted."""
    first = next(tables.peek_passages(), None)
    masters = DocumentMasters(tables, Output(None, tables.losses), options, set())
    ids, lengths = list[str](), array("q")
    for row, text in masters.texts():
        ids.append(row.doc_id)
        lengths.append(len(text))
    return _Listed(msgspec.json.encode(ids), lengths, first.doc_id if first is not None else None, *masters.joined)


def write_part(tables: CanonicalTables, place: PartPlace, wanted: _Wanted) -> dict[str, Piece]:
    """In a worker: the lines of a part in each split that has some of its passages."""
    pieces: dict[str, Piece] = {}
    with ExitStack() as opened:
        files: list[tuple[Any, frozenset[int] | None]] = []
        for split, numbers in wanted.splits.items():
            lines, pieces[split] = opened.enter_context(place.writing(split))
            files.append((lines, numbers))
        for number, line in _lines(tables, wanted):
            for lines, numbers in files:
                if numbers is None or number in numbers:
                    lines.put(line)
                    lines.records += 1
    return pieces


def write_shards(parts: Iterator[CanonicalTables], place: PartPlace, span: _Span) -> list[Piece]:
    """In a worker: shards of a split."""
    lines = islice(_lines_of_split(parts, span), span.above, None)
    pieces = []
    for number, records in enumerate(span.records):
        with place.writing(f"{span.split}-{number}") as (file, piece):
            for line in islice(lines, records):
                file.put(line)
                file.records += 1
        pieces.append(piece)
    return pieces


def _lines_of_split(parts: Iterator[CanonicalTables], span: _Span) -> Iterator[bytes]:
    for tables, wanted in zip(parts, span.wanted, strict=True):
        numbers = wanted.splits[span.split]
        for number, line in _lines(tables, wanted):
            if numbers is None or number in numbers:
                yield line


def _lines(tables: CanonicalTables, wanted: _Wanted) -> Iterator[tuple[int, bytes]]:
    """The lines that are made of a part, with the numbers of the passages."""
    masters = DocumentMasters(tables, Output(None, tables.losses), wanted.options, set())
    for at, (row, text) in enumerate(masters.texts_again()):
        if at not in wanted.without:
            number = int(row.doc_id) if wanted.first is None else wanted.first + at
            yield number, LINE % (number, text)
