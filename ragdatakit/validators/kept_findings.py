"""The findings of a run in the order of the report: few in memory, more than that in a scratch file."""

from __future__ import annotations

import heapq
import pickle
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter
from typing import BinaryIO

from ragdatakit.outputs.scratch import ScratchFolder
from ragdatakit.schemas.findings import Finding
from ragdatakit.validators.identity import numbered

IN_MEMORY = 20_000
"""Findings that are held in memory: about 1 kB each."""
_TOGETHER = 128
"""Findings that are written, and read again, at once."""

Key = tuple[int, int, str, bool, int, int, str]
"""The dataset, the file, its path, whether the rule follows from others, line, column, code."""
_Entry = tuple[Key, Finding]
_Run = list[tuple[int, int]]
"""Where the parts of a sorted run are in the scratch file: offset and length."""


class KeptFindings:
    """Findings by their keys; those with the same key in the order in which they came. What `__iter__` gives is the
    same every time. Of those with one fingerprint, all but the first get another."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._recent: list[_Entry] = []
        self._runs: list[_Run] = []
        self._scratch: ScratchFolder | None = None
        self._file: BinaryIO | None = None
        self._fingerprints = array("Q")

    def add(self, key: Key, finding: Finding) -> None:
        """Keep one more. Raises `OSError` where the disk is full."""
        self._recent.append((key, finding))
        if finding.fingerprint:
            self._fingerprints.append(int(finding.fingerprint, 16))
        if len(self._recent) >= self._in_memory:
            self._spill()

    def __iter__(self) -> Iterator[Finding]:
        runs = [self._read(run) for run in self._runs]
        repeated, before = _repeated(self._fingerprints), Counter[str]()
        for _, finding in heapq.merge(*runs, sorted(self._recent, key=_BY_KEY), key=_BY_KEY):
            first = finding.fingerprint
            if repeated and first and int(first, 16) in repeated:
                if before[first]:
                    finding = replace(finding, fingerprint=numbered(first, before[first]))
                before[first] += 1
            yield finding

    def close(self) -> None:
        """Remove the scratch file."""
        if self._file is not None:
            self._file.close()
        if self._scratch is not None:
            self._scratch.remove()

    def _spill(self) -> None:
        if self._scratch is None or self._file is None:
            self._scratch = ScratchFolder()
            self._file = (self._scratch.path / "findings").open("w+b")
        self._recent.sort(key=_BY_KEY)
        offset = self._file.seek(0, 2)
        run: _Run = []
        for start in range(0, len(self._recent), _TOGETHER):
            data = pickle.dumps(self._recent[start : start + _TOGETHER], pickle.HIGHEST_PROTOCOL)
            self._file.write(data)
            run.append((offset, len(data)))
            offset += len(data)
        self._runs.append(run)
        self._recent = []

    def _read(self, run: _Run) -> Iterator[_Entry]:
        for offset, length in run:
            assert self._file is not None
            self._file.seek(offset)
            yield from pickle.loads(self._file.read(length))  # noqa: S301 - written above, into a folder of our own


def _repeated(fingerprints: array[int]) -> set[int]:
    """Those that are there more than once."""
    if len(fingerprints) < IN_MEMORY:
        return {number for number, count in Counter(fingerprints).items() if count > 1}
    import numpy as np

    ordered = np.sort(np.frombuffer(fingerprints, np.uint64))
    return set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())


_BY_KEY = itemgetter(0)
