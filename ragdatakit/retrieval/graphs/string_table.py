"""Texts by number, on disk: one after the other, with offsets. Memory-mapped; a million open in a millisecond."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


def write_strings(folder: Path, name: str, strings: Iterable[str]) -> int:
    """Write ``<name>.bin`` and ``<name>.offsets.npy`` into the folder; returns the number of texts."""
    offsets = array("q", [0])
    with (folder / f"{name}.bin").open("wb", buffering=1 << 20) as file:
        for string in strings:
            offsets.append(offsets[-1] + file.write(string.encode("utf-8", "surrogatepass")))
    np.save(folder / f"{name}.offsets.npy", np.frombuffer(offsets, np.int64), allow_pickle=False)
    return len(offsets) - 1


class StringTable(Sequence[str]):
    """The texts that `write_strings` wrote, by their 0-based number."""

    def __init__(self, folder: Path, name: str) -> None:
        path = folder / f"{name}.bin"
        self._data = np.memmap(path, np.uint8, "r").view(np.ndarray) if path.stat().st_size else np.empty(0, np.uint8)
        offsets = np.load(folder / f"{name}.offsets.npy", mmap_mode="r", allow_pickle=False)
        self._offsets: npt.NDArray[np.int64] = offsets.view(np.ndarray)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(len(self)))]
        if not 0 <= number < len(self):
            raise IndexError(number)
        start, end = int(self._offsets[number]), int(self._offsets[number + 1])
        return self._data[start:end].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return (self[number] for number in range(len(self)))
