"""Texts that are not in the table that they belong to, but where they were in their files: they are read again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from itertools import groupby, pairwise
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.codes import together
from ragdatakit.files.containers.sources import CHANGED
from ragdatakit.files.datasets import DataFile
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.blocks import ScannedFacts, TextSample
from ragdatakit.scanner.texts import joined, lengths_and_codes
from ragdatakit.schemas.errors import RagdataError

Numbers = npt.NDArray[np.int64]
TextsOf = Callable[[list[bytes]], Iterable[bytes]]

_AT_ONCE = 4 << 20
"""Bytes of records that are read at once."""


@dataclass(frozen=True, slots=True)
class RecordPlaces:
    """Where records of a file are, whose rows are one after the other: their first bytes, and those behind them.
    ``texts`` finds the texts of such records; others than they were where that is not possible."""

    starts: Numbers
    behind: Numbers
    file: DataFile
    texts: TextsOf

    @classmethod
    def of(cls, facts: ScannedFacts, first: int, last: int, at: int, file: DataFile, texts: TextsOf) -> RecordPlaces:
        """Those of some rows of a block, which is at this place of the file."""
        return cls(facts.starts[first:last] + at, facts.behind[first:last] + at, file, texts)

    def between(self, first: int, last: int) -> RecordPlaces:
        """Those of some of the rows."""
        return RecordPlaces(self.starts[first:last], self.behind[first:last], self.file, self.texts)


@dataclass(frozen=True, slots=True)
class KnownTexts:
    """What whoever made a column knows of its texts: the characters of each (-1 where there is none) and its code, and
    how many have nothing but blanks, tabs and line ends; the share of all that is read that was read up to them
    (0: not known). Texts of which it is known in which records of a file they are (``places``, with the first of their
    rows) need not be held. ``counted``: what was counted of some of them, for who gets the column next, by which these
    are. ``integers``: how many have nothing but digits and minus signs (NaN: not counted)."""

    lengths: Numbers
    codes: npt.NDArray[Any]
    empty: int
    share: float = 0
    places: Sequence[tuple[int, RecordPlaces]] = ()
    counted: dict[tuple[int, int], Any] = field(default_factory=dict, compare=False)
    integers: float = nan

    @classmethod
    def together(cls, parts: Sequence[KnownTexts]) -> KnownTexts:
        """The same of the texts of several columns, one behind the other."""
        firsts = np.cumsum([0, *(len(part.lengths) for part in parts)]).tolist()
        return cls(
            np.concatenate([part.lengths for part in parts]),
            together([part.codes for part in parts]),
            sum(part.empty for part in parts),
            max(part.share for part in parts),
            [(first + row, places) for first, part in zip(firsts, parts, strict=False) for row, places in part.places],
            integers=sum(part.integers for part in parts),
        )


@dataclass(frozen=True, slots=True)
class ApartTexts:
    """The texts of consecutive records of a file: as `ScannedFacts` has them, and their ``size`` in bytes and how many
    are ``empty``."""

    lengths: Numbers
    codes: npt.NDArray[Any]
    size: int
    empty: int
    sample: TextSample
    places: RecordPlaces

    @classmethod
    def of(cls, facts: ScannedFacts, first: int, last: int, at: int, file: DataFile, texts: TextsOf) -> ApartTexts:
        """Those of some rows of a block, which is at this place of the file."""
        empty = np.searchsorted(facts.empty, (first, last))
        return cls(
            facts.lengths[first:last],
            facts.codes[first:last],
            int(facts.ends[last] - facts.ends[first]),
            int(empty[1] - empty[0]),
            facts.sample.between(first, last),
            RecordPlaces.of(facts, first, last, at, file, texts),
        )


def bare_record(data: bytes) -> bytes:
    """A record without what is between it and the next one."""
    return data.rstrip(b" \t\r\n,")


class TextPlaces:
    """Where the texts of rows of a table are."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._records: list[RecordPlaces] = []

    def add(self, row: int, records: RecordPlaces) -> None:
        """Those of the rows from this one on, which is behind all others."""
        self._firsts.append(row)
        self._records.append(records)

    def has(self, rows: Numbers) -> npt.NDArray[np.bool_]:
        """Of which rows the texts are apart."""
        places, counts = self._places(rows), np.array([len(some.starts) for some in self._records])
        found: npt.NDArray[np.bool_] = (places >= 0) & (rows - np.array(self._firsts)[places] < counts[places])
        return found

    def _places(self, rows: Numbers) -> Numbers:
        return np.searchsorted(np.array(self._firsts), rows, "right") - 1

    def texts(self, rows: Numbers, codes: npt.NDArray[Any]) -> Iterator[bytes]:
        """The texts of rows, in ascending order, each of which is apart. ``codes`` are those of all rows. Raises
        `RagdataError` where a file was changed."""
        return (text for _, text in self.records(rows, codes))

    def records(self, rows: Numbers, codes: npt.NDArray[Any]) -> Iterator[tuple[bytes, bytes]]:
        """The records that these rows come from, and their texts. Raises as `texts`."""
        places = self._places(rows)
        starts = [0, *(np.flatnonzero(np.diff(places)) + 1).tolist(), len(rows)] if len(rows) else []
        for (file, texts_of_records), blocks in groupby(pairwise(starts), lambda block: self._source(places[block[0]])):
            with file.boundary.open(file.path) as opened:
                for some in self._read(opened.fileno(), rows, places, blocks):
                    found = list(texts_of_records([record for _, record in some]))
                    _, of_found, _ = lengths_and_codes(*joined(found))
                    if not np.array_equal(of_found, codes[[row for row, _ in some]]):
                        raise RagdataError(f"{file.display}: {CHANGED}")
                    yield from zip((record for _, record in some), found, strict=True)

    def _source(self, place: int) -> tuple[DataFile, TextsOf]:
        return self._records[place].file, self._records[place].texts

    def _read(
        self, fd: int, rows: Numbers, places: Numbers, blocks: Iterable[tuple[int, int]]
    ) -> Iterator[list[tuple[int, bytes]]]:
        """Rows with their records in an open file, some megabytes together; the rows of each block are between two."""
        held, size = list[tuple[int, bytes]](), 0
        for first, last in blocks:
            own, those = rows[first:last] - self._firsts[places[first]], self._records[places[first]]
            starts, ends = those.starts[own].tolist(), those.behind[own].tolist()
            for row, start, end in zip(rows[first:last].tolist(), starts, ends, strict=True):
                held.append((row, bare_record(os.pread(fd, end - start, start))))
                size += end - start
            if size >= _AT_ONCE:
                yield held
                held, size = [], 0
        if held:
            yield held
