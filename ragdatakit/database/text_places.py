"""Texts that are not in the table that they belong to, but where they were in their files: they are read again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.files.containers.sources import CHANGED
from ragdatakit.files.datasets import DataFile
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.blocks import ScannedFacts, TextSample
from ragdatakit.schemas.errors import RagdataError

Numbers = npt.NDArray[np.int64]

_AT_ONCE = 4 << 20
"""Bytes of records that are read at once."""


@dataclass(frozen=True, slots=True)
class ApartTexts:
    """The texts of consecutive records of a file: as `ScannedFacts` has them, and their ``size`` in bytes and how many
    are ``empty``. Records are between two of the ``bounds``; ``scan`` has the facts of such records, with all texts in
    the sample."""

    lengths: Numbers
    codes: npt.NDArray[Any]
    size: int
    empty: int
    sample: TextSample
    bounds: Numbers
    file: DataFile
    scan: Callable[[list[bytes]], ScannedFacts]

    @classmethod
    def of(
        cls, facts: ScannedFacts, first: int, last: int, at: int, file: DataFile, scan: Callable[..., ScannedFacts]
    ) -> ApartTexts:
        """Those of some rows of a block, which is at this place of the file."""
        empty = np.searchsorted(facts.empty, (first, last))
        return cls(
            facts.lengths[first:last],
            facts.codes[first:last],
            int(facts.ends[last] - facts.ends[first]),
            int(empty[1] - empty[0]),
            facts.sample.between(first, last),
            facts.starts[first : last + 1] + at,
            file,
            scan,
        )


class TextPlaces:
    """Where the texts of rows of a table are."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._bounds: list[Numbers] = []
        self._found: list[tuple[DataFile, Callable[[list[bytes]], ScannedFacts]]] = []

    def add(self, row: int, texts: ApartTexts) -> None:
        """Those of the rows from this one on, which is behind all others."""
        self._firsts.append(row)
        self._bounds.append(texts.bounds)
        self._found.append((texts.file, texts.scan))

    def has(self, rows: Numbers) -> npt.NDArray[np.bool_]:
        """Of which rows the texts are apart."""
        places, counts = self._places(rows), np.array([len(bounds) - 1 for bounds in self._bounds])
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
        for (file, scan), blocks in groupby(pairwise(starts), lambda block: self._found[places[block[0]]]):
            with file.boundary.open(file.path) as opened:
                for some in self._records(opened.fileno(), rows, places, blocks):
                    facts = scan([record for _, record in some])
                    if not np.array_equal(facts.codes, codes[[row for row, _ in some]]):
                        raise RagdataError(f"{file.display}: {CHANGED}")
                    yield from zip((record for _, record in some), facts.sample, strict=True)

    def _records(
        self, fd: int, rows: Numbers, places: Numbers, blocks: Iterable[tuple[int, int]]
    ) -> Iterator[list[tuple[int, bytes]]]:
        """Rows with their records in an open file, some megabytes together; the rows of each block are between two."""
        held, size = list[tuple[int, bytes]](), 0
        for first, last in blocks:
            row_of_first, bounds = self._firsts[places[first]], self._bounds[places[first]]
            for row in rows[first:last].tolist():
                start, end = bounds[row - row_of_first : row - row_of_first + 2].tolist()
                held.append((row, os.pread(fd, end - start, start).rstrip(b" \t\r\n,")))
                size += end - start
            if size >= _AT_ONCE:
                yield held
                held, size = [], 0
        if held:
            yield held
