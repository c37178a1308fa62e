"""Codes of the values of columns in files, sorted, so that those of one partition are read alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.arrays.codes import are_among, distinct
from ragdatakit.late_dataclasses import dataclass

if TYPE_CHECKING:
    import numpy.typing as npt

    Codes = npt.NDArray[np.uint64]

Role = tuple[str, str, str]
"""Table, column, and which of its values."""
_WORD = 8


class KeyWriter:
    """Gathers the codes of a part; each role has one or more columns of 64 bits, sorted by the first."""

    def __init__(self) -> None:
        self._columns: dict[Role, list[Codes]] = {}

    def add(self, role: Role, codes: Codes, *further: Codes) -> None:
        """The codes of a role, in any order, and what belongs to each."""
        order = np.argsort(codes, kind="stable")
        self._columns[role] = [np.ascontiguousarray(column[order], np.uint64) for column in (codes, *further)]

    def packed(self) -> PackedKeys:
        """All of it, as it lies in a file."""
        index, pieces, place = {}, list[bytes](), 0
        for role, columns in self._columns.items():
            index[role] = (place, len(columns[0]), len(columns))
            pieces += [column.tobytes() for column in columns]
            place += sum(len(column) for column in columns)
        return PackedKeys(index, b"".join(pieces))


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A file of codes: of each role where it begins (in words), how many rows and columns it has."""

    path: str
    index: dict[Role, tuple[int, int, int]]

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return sum(rows * columns for _, rows, columns in self.index.values()) * _WORD

    def rows(self, role: Role, partition: int, partitions: int) -> list[Codes] | None:
        """The columns of a role with the rows of one partition; None where there are none."""
        place, rows, columns = self.index.get(role, (0, 0, 0))
        if not rows:
            return None
        codes = np.memmap(self.path, np.uint64, "r", place * _WORD, (columns, rows))
        first = int(np.searchsorted(codes[0], np.uint64(_bound(partition, partitions)), "left"))
        last = rows
        if partition + 1 < partitions:
            last = int(np.searchsorted(codes[0], np.uint64(_bound(partition + 1, partitions)), "left"))
        return [np.array(column[first:last]) for column in codes] if last > first else None


@dataclass(frozen=True, slots=True)
class PackedKeys:
    """What is to be a file of codes."""

    index: dict[Role, tuple[int, int, int]]
    data: bytes

    def write(self, path: Path) -> KeyFile:
        """Write it. Raises `OSError`."""
        path.write_bytes(self.data)
        return KeyFile(str(path), self.index)


def _bound(partition: int, partitions: int) -> int:
    return (partition << 64) // partitions


class Partition:
    """The codes of one partition, of all files: ``number`` of so many."""

    def __init__(self, files: Iterable[KeyFile], number: int, partitions: int) -> None:
        self._files, self._number, self._partitions = list(files), number, partitions

    def roles(self) -> list[Role]:
        """All roles, in the order in which they are met."""
        return list(dict.fromkeys(role for file in self._files for role in file.index))

    def columns(self, role: Role) -> list[Codes]:
        """The columns of a role, in the order of the files; none where no file has a row."""
        found = [rows for file in self._files if (rows := file.rows(role, self._number, self._partitions)) is not None]
        return [np.concatenate(columns) for columns in zip(*found, strict=True)]

    def codes(self, role: Role) -> Codes:
        """The codes of a role, each once."""
        columns = self.columns(role)
        return distinct(columns[0]) if columns else np.empty(0, np.uint64)

    def rows_in(self, role: Role, known: Codes) -> int:
        """How many rows of a role, whose second column says how often each code is there, have a known code."""
        columns = self.columns(role)
        return int(columns[1][are_among(columns[0], known)].sum()) if columns else 0
