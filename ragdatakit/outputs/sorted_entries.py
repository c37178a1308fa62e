"""Values in the order of their keys: few in memory, more than that in a scratch file."""

from __future__ import annotations

import heapq
import pickle
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, BinaryIO, Generic, TypeVar

from ragdatakit.outputs.scratch import ScratchFolder

Key = TypeVar("Key", bound=tuple[Any, ...])
Value = TypeVar("Value")

_TOGETHER = 128
"""Entries that are written, and read again, at once."""
_Run = list[tuple[int, int]]
"""Where the parts of a sorted run are in the scratch file: offset and length."""
_BY_KEY = itemgetter(0)


class SortedEntries(Generic[Key, Value]):
    """Values by their keys; those with the same key in the order in which they came. What `__iter__` gives is the same
    every time. ``in_memory`` of them are held there."""

    def __init__(self, in_memory: int) -> None:
        self._in_memory = in_memory
        self._recent: list[tuple[Key, Value]] = []
        self._runs: list[_Run] = []
        self._scratch: ScratchFolder | None = None
        self._file: BinaryIO | None = None

    def add(self, key: Key, value: Value) -> None:
        """Keep one more. Raises `OSError` where the disk is full."""
        self._recent.append((key, value))
        if len(self._recent) >= self._in_memory:
            self._spill()

    def __iter__(self) -> Iterator[tuple[Key, Value]]:
        runs = [self._read(run) for run in self._runs]
        yield from heapq.merge(*runs, sorted(self._recent, key=_BY_KEY), key=_BY_KEY)

    def __bool__(self) -> bool:
        return bool(self._recent or self._runs)

    def close(self) -> None:
        """Remove the scratch file."""
        if self._file is not None:
            self._file.close()
        if self._scratch is not None:
            self._scratch.remove()

    def _spill(self) -> None:
        if self._scratch is None or self._file is None:
            self._scratch = ScratchFolder()
            self._file = (self._scratch.path / "entries").open("w+b")
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

    def _read(self, run: _Run) -> Iterator[tuple[Key, Value]]:
        for offset, length in run:
            assert self._file is not None
            self._file.seek(offset)
            yield from pickle.loads(self._file.read(length))  # noqa: S301 - written above, into a folder of our own
