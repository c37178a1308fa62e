"""Values in the order of their keys: few in memory, more than that in a scratch file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar

if TYPE_CHECKING:
    from ragdatakit.outputs.scratch import ScratchFolder

Key = TypeVar("Key", bound=tuple[Any, ...])
Value = TypeVar("Value")

_TOGETHER = 128
"""Entries that are written, and read again, at once."""
_Run = list[tuple[int, int, int]]
"""Where the parts of a sorted run are in the scratch file: offset, the length of the keys, that of the values."""
_BY_KEY = itemgetter(0)


class SortedEntries(Generic[Key, Value]):
    """Values by their keys; those with the same key in the order in which they came. What `__iter__` gives is the same
    every time. ``in_memory`` of them are held there. In the file is what ``flat`` makes of each and ``whole`` takes
    back: to pickle texts and numbers takes a quarter of what objects do."""

    def __init__(
        self,
        in_memory: int,
        flat: Callable[[Value], Any] = lambda value: value,
        whole: Callable[[Any], Value] = lambda value: value,
    ) -> None:
        self._in_memory = in_memory
        self._flat, self._whole = flat, whole
        self._recent: list[tuple[Key, Value]] = []
        self._last: Key | None = None
        self._came_in_order = True
        self._runs: list[_Run] = []
        self._scratch: ScratchFolder | None = None
        self._file: BinaryIO | None = None

    def add(self, key: Key, value: Value) -> None:
        """Keep one more. Raises `OSError` where the disk is full."""
        self._recent.append((key, value))
        if len(self._recent) >= self._in_memory:
            self._spill()

    def __iter__(self) -> Iterator[tuple[Key, Value]]:
        runs = [*(self._read(run) for run in self._runs), sorted(self._recent, key=_BY_KEY)]
        if self._is_in_order():
            yield from chain.from_iterable(runs)
            return
        import heapq

        yield from heapq.merge(*runs, key=_BY_KEY)

    def values(self) -> Iterator[Value]:
        """The values alone: where the runs follow one another, their keys need not be read."""
        if not self._is_in_order():
            yield from (value for _, value in self)
            return
        for run in self._runs:
            for offset, keys, values in run:
                yield from map(self._whole, self._unpickled(offset + keys, values))
        yield from (value for _, value in sorted(self._recent, key=_BY_KEY))

    def _is_in_order(self) -> bool:
        """Whether each run, and what is in memory, begins where the one before ended, or behind it."""
        if not self._came_in_order or self._last is None or not self._recent:
            return self._came_in_order
        return self._last <= min(key for key, _ in self._recent)

    def __bool__(self) -> bool:
        return bool(self._recent or self._runs)

    def close(self) -> None:
        """Remove the scratch file."""
        if self._file is not None:
            self._file.close()
        if self._scratch is not None:
            self._scratch.remove()

    def _spill(self) -> None:
        from pickle import HIGHEST_PROTOCOL, dumps

        if self._scratch is None or self._file is None:
            from ragdatakit.outputs.scratch import ScratchFolder

            self._scratch = ScratchFolder()
            self._file = (self._scratch.path / "entries").open("w+b")
        self._recent.sort(key=_BY_KEY)
        self._came_in_order = self._is_in_order()
        self._last = self._recent[-1][0] if self._last is None else max(self._last, self._recent[-1][0])
        offset = self._file.seek(0, 2)
        run: _Run = []
        for start in range(0, len(self._recent), _TOGETHER):
            those, found = zip(*self._recent[start : start + _TOGETHER], strict=True)
            keys, values = dumps(those, HIGHEST_PROTOCOL), dumps((*map(self._flat, found),), HIGHEST_PROTOCOL)
            self._file.write(keys + values)
            run.append((offset, len(keys), len(values)))
            offset += len(keys) + len(values)
        self._runs.append(run)
        self._recent = []

    def _read(self, run: _Run) -> Iterator[tuple[Key, Value]]:
        for offset, keys, values in run:
            found = map(self._whole, self._unpickled(offset + keys, values))
            yield from zip(self._unpickled(offset, keys), found, strict=True)

    def _unpickled(self, offset: int, length: int) -> tuple[Any, ...]:
        from pickle import loads

        assert self._file is not None
        self._file.seek(offset)
        found: tuple[Any, ...] = loads(self._file.read(length))  # noqa: S301 - written above, into a folder of our own
        return found
