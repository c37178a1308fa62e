"""The document masters of a light-splade dataset: integer ids for all passages, and which split has which of them.

The passages are read once, however many there are: they are written to a draft, from which the masters of the splits
are taken when it is known what the splits name. Memory holds the numbers of the passages that something refers to, and
eight bytes for each passage whose own id is kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec

from ragdatakit.converters import Options
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.texts.titles import only_identifies
from ragdatakit.outputs.file_writers import LineWriter
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import Chunk, Document
from ragdatakit.schemas.conversions import MOST_EXAMPLES
from ragdatakit.schemas.errors import RagdataError

_DRAFT = "documents.ndjson"
_MOST = 1 << 53
_DIGITS = 16
LINE = b'{"doc_id": %d, "text": %b}\n'


def integer_id(text: str) -> int | None:
    """The id as the integer it is written as; None where it is none, or one that other tools cannot hold exactly."""
    if not (text.isascii() and text.isdigit()) or len(text) > _DIGITS or (text[0] == "0" and text != "0"):
        return None
    number = int(text)
    return number if number < _MOST else None


class _NoInteger(Exception):
    """The first id that is none came after others that are."""


class DocumentMasters:
    """Writes the passages of a dataset. ``wanted`` are the ids that something refers to.

    ``numbers`` are those of them that are written, ``count`` is how many passages there are.
    """

    def __init__(self, tables: CanonicalTables, out: Output, options: Options, wanted: set[str]) -> None:
        self._tables = tables
        self._out = out
        self._join = options["title"] == "join"
        self._wanted = wanted
        self._kept: array[int] | None = None
        self._consumed = 0
        self._joined = 0
        self._examples: list[str] = []
        self._repeated = False
        self.numbers: dict[str, int] = {}
        self.count = 0

    def number_at(self, place: int) -> int:
        """The number of the passage at a 0-based place among those that are written."""
        return place if self._kept is None else self._kept[place]

    def write(self) -> None:
        """Write the draft. Raises `RagdataError` where no passage has a text."""
        first = next(self._tables.peek_passages(), None)
        self._kept = array("q") if first is not None and integer_id(first.doc_id) is not None else None
        rows = self._take()
        try:
            self._write(self._texts(rows, accounted=True))
        except _NoInteger:
            head = islice(self._tables.peek_passages(), self._consumed)
            self._kept = None
            self._write_again(chain(self._texts(head, accounted=False), self._texts(rows, accounted=True)))
        if self._kept is not None and self._has_repeated_ids():
            self._repeated = True
            self._write_again(self._texts(self._tables.peek_passages(), accounted=False))
        self._say_joined()
        if not self.count:
            raise RagdataError("light-splade needs documents, and the source has none with a text")

    def _say_joined(self) -> None:
        for example in self._examples:
            self._count_joined(example, 1)
        if self._joined > len(self._examples):
            self._count_joined(None, self._joined - len(self._examples))

    def texts(self) -> Iterator[tuple[Document, bytes]]:
        """The passages that have a text, with it as JSON; the others are accounted."""
        return self._texts(self._take(), accounted=True)

    def texts_again(self) -> Iterator[tuple[Document, bytes]]:
        """The same once more."""
        return self._texts(self._tables.peek_passages(), accounted=False)

    @property
    def joined(self) -> tuple[int, tuple[str, ...]]:
        """How many titles were put before texts, and examples."""
        return self._joined, tuple(self._examples)

    def _take(self) -> Iterator[Document]:
        return self._tables.take_passages("doc_id", "text", *(("title",) if self._join else ()))

    def _texts(self, rows: Iterator[Document], accounted: bool) -> Iterator[tuple[Document, bytes]]:
        """The passages that have a text, with it as JSON."""
        encode, join = msgspec.json.Encoder().encode, self._join
        for row in rows:
            if accounted:
                self._consumed += 1
            text = row.text
            if join and row.title and not (row.title == row.doc_id and only_identifies(row.title)):
                text = f"{row.title} {text}" if text else row.title
                if accounted:
                    self._joined += 1
                    if self._joined <= MOST_EXAMPLES:
                        self._examples.append(f"{row.doc_id}: {row.title}")
            if text and not text.isspace():
                yield row, encode(text)
            elif accounted:
                self._tables.drop(self._tables.passages, self._own_row(row), "its text is empty")

    def _count_joined(self, example: str | None, count: int) -> None:
        reason = "the title comes before the text, with a blank between"
        self._tables.losses.add("coerced", self._tables.passages, "text", reason, example, count)

    def _own_row(self, row: Document) -> Any:
        """The row of the table that the passages come from."""
        if self._tables.passages == "documents":
            return row
        return Chunk(row.doc_id, row.text, metadata=row.metadata)

    def _write(self, texts: Iterator[tuple[Document, bytes]]) -> None:
        with self._out.lines(_DRAFT) as file:
            if self._kept is None:
                self._write_numbered(file, texts)
            else:
                self._write_kept(file, self._kept, texts)
            file.records = self.count

    def _write_numbered(self, file: LineWriter, texts: Iterator[tuple[Document, bytes]]) -> None:
        put, renamed, wanted, numbers, number = file.put, self._out.renamed, self._wanted, self.numbers, 0
        for row, text in texts:
            doc_id = row.doc_id
            if str(number) != doc_id:
                renamed("passage", number, doc_id)
            if doc_id in wanted:
                numbers.setdefault(doc_id, number)
            put(LINE % (number, text))
            number += 1
        self.count = number

    def _write_kept(self, file: LineWriter, kept: array[int], texts: Iterator[tuple[Document, bytes]]) -> None:
        put, wanted, numbers = file.put, self._wanted, self.numbers
        seen: set[int] = set()
        for row, text in texts:
            number = integer_id(row.doc_id)
            if number is None:
                raise _NoInteger
            if self._repeated:
                if number in seen:
                    why = "a document with this id came before"
                    self._tables.drop(self._tables.passages, self._own_row(row), why)
                    continue
                seen.add(number)
            kept.append(number)
            if row.doc_id in wanted:
                numbers[row.doc_id] = number
            put(LINE % (number, text))
        self.count = len(kept)

    def _write_again(self, texts: Iterator[tuple[Document, bytes]]) -> None:
        self._out.withdraw(_DRAFT)
        self.numbers.clear()
        if self._kept is not None:
            self._kept = array("q")
        self._write(texts)

    def _has_repeated_ids(self) -> bool:
        import numpy as np

        assert self._kept is not None
        ids = np.sort(np.frombuffer(self._kept, np.int64)) if self._kept else np.empty(0, np.int64)
        return bool((ids[1:] == ids[:-1]).any())

    def distribute(self, splits: tuple[str, ...], named: dict[str, set[int]], which: str) -> None:
        """Make the masters of the splits out of the draft. ``named`` are the documents that each split refers to.

        ``which``: ``pool`` (the validation split, whose documents are what is searched, has all of them, the training
        split those that it names), ``all`` (both have all), ``split`` (each has those that it names).
        """
        if which == "split":
            for split in splits:
                self._select(_DRAFT, split, named[split])
            self._drop_unnamed(set().union(*(named[split] for split in splits)))
            self._out.withdraw(_DRAFT)
            return
        full = f"{splits[-1]}/doc_master.ndjson"
        self._out.moved(_DRAFT, full)
        for split in splits[:-1]:
            self._select(full, split, named[split] if which == "pool" else None)

    def _select(self, name: str, split: str, numbers: set[int] | None) -> None:
        """Write the documents of these numbers (None: all) as the master of a split."""
        with self._out.lines(f"{split}/doc_master.ndjson") as file, closing(self._lines(name)) as lines:
            put = file.put
            for number, line in lines:
                if numbers is None or number in numbers:
                    put(line)
                    file.records += 1

    def _lines(self, name: str) -> Generator[tuple[int, bytes], None, None]:
        """The lines of a file of all documents, with their numbers; a dry run has no file, and makes them again."""
        ids = range(self.count) if self._kept is None else self._kept
        if self._out.folder is not None:
            yield from zip(ids, self._lines_of(self._out.folder, name), strict=True)
            return
        for number, _, text in self._again():
            yield number, LINE % (number, text)

    def _lines_of(self, folder: Path, name: str) -> Iterator[bytes]:
        for written in self._out.written(name):
            with (folder / written).open("rb", buffering=1 << 20) as file:
                yield from file

    def _again(self) -> Iterator[tuple[int, Document, bytes]]:
        """The passages that are written, read once more: number, row, text."""
        seen: set[int] = set()
        for place, (row, text) in enumerate(self._texts(self._tables.peek_passages(), accounted=False)):
            number = place if self._kept is None else int(row.doc_id)
            if self._repeated:
                if number in seen:
                    continue
                seen.add(number)
            yield number, row, text

    def _drop_unnamed(self, named: set[int]) -> None:
        """Account for the documents that no split names."""
        if len(named) == self.count:
            return
        for number, row, _ in self._again():
            if number not in named:
                why = "no list, triplet or score of a split names it"
                self._tables.drop(self._tables.passages, self._own_row(row), why)
