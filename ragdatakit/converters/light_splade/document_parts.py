"""The document masters of a light-splade dataset written by workers, part by part: in the end the files are those that
one process writes."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from ragdatakit.converters import Options
from ragdatakit.converters.light_splade.documents import LINE, DocumentMasters, integer_id
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.tables_in_parts import PartPlace, Piece, TablesInParts
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.conversions import MOST_EXAMPLES
from ragdatakit.schemas.errors import RagdataError

_REPEATED = "a document with this id came before"


@dataclass(frozen=True, slots=True)
class _Listed:
    """The ids of the passages of a part that have a text, as JSON; that of its first row; how many titles were put
    before texts, with examples."""

    ids: bytes
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


class MastersInParts(DocumentMasters):
    """As `DocumentMasters`; memory holds the ids of all passages, too."""

    def __init__(
        self, tables: CanonicalTables, out: Output, options: Options, wanted: set[str], parts: TablesInParts
    ) -> None:
        super().__init__(tables, out, options, wanted)
        self._options, self._parts = options, parts
        self._seen: set[int] = set()
        self._listed: list[bytes] = []
        self._without: list[frozenset[int]] = []
        self._firsts: list[int | None] = []

    def write(self) -> None:
        """Have the passages listed. Raises `RagdataError` where none has a text."""
        first: str | None = None
        for one in self._parts.each(list_part, [self._options] * self._parts.number("documents")):
            self._listed.append(one.ids)
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
        with ExitStack() as opened:
            files = {split: opened.enter_context(self._out.lines(f"{split}/doc_master.ndjson")) for split in splits}
            for pieces in self._parts.each(write_part, list(self._wanted_of_parts(chosen))):
                for split, piece in pieces.items():
                    files[split].append(Path(piece.path), piece.records)
                    self._parts.remove(Path(piece.path))

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
    ids = msgspec.json.encode([row.doc_id for row, _ in masters.texts()])
    return _Listed(ids, first.doc_id if first is not None else None, *masters.joined)


def write_part(tables: CanonicalTables, place: PartPlace, wanted: _Wanted) -> dict[str, Piece]:
    """In a worker: the lines of a part in each split that has some of its passages."""
    masters = DocumentMasters(tables, Output(None, tables.losses), wanted.options, set())
    pieces: dict[str, Piece] = {}
    with ExitStack() as opened:
        files: list[tuple[Any, frozenset[int] | None]] = []
        for split, numbers in wanted.splits.items():
            lines, pieces[split] = opened.enter_context(place.writing(split))
            files.append((lines, numbers))
        for at, (row, text) in enumerate(masters.texts_again()):
            if at in wanted.without:
                continue
            number = int(row.doc_id) if wanted.first is None else wanted.first + at
            line = LINE % (number, text)
            for lines, numbers in files:
                if numbers is None or number in numbers:
                    lines.put(line)
                    lines.records += 1
    return pieces
