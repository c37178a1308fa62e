"""A folder tree whose files are recognised by how they begin: each is opened once or twice, not by each format."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.files.containers.beginnings import HEAD_BYTES, unpacked
from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.files.paths.folders import Tree, is_regular
from ragdatakit.schemas.declarations import File, Format

if TYPE_CHECKING:
    from ragdatakit.files.detection.sniffed_text import Beginning
    from ragdatakit.files.detection.sniffing import Head

_SMALL = 1 << 12
"""Bytes of a file that is kept whole: next to a dataset there may be a hundred thousand of these."""
_MOST_KEPT = 32 << 20
_Guess = tuple[Format, File] | None


class SniffedTree(Tree):
    """A tree, with what its files seem to be."""

    def __init__(self, root: Path, boundary: Boundary, passed_over: Callable[[Path], bool] | None = None) -> None:
        super().__init__(root, boundary, passed_over)
        self._small: dict[str, bytes] = {}
        self._room = _MOST_KEPT
        self._guesses: dict[tuple[int, ...], dict[str, _Guess]] = {}  # by the formats it may be of

    def beginning(self, path: Path, length: int) -> tuple[bytes, bool]:
        """The first uncompressed bytes of a file without a byte-order mark, and whether there are more; nothing of
        what is no regular file, or may not be opened."""
        place = str(path)
        data = self._small.get(place)
        if data is None:
            data = self._read(path, max(length, _SMALL) + 1)
            if len(data) <= min(_SMALL, self._room):
                self._small[place] = data
                self._room -= len(data)
        return unpacked(data, length)

    def _read(self, path: Path, length: int) -> bytes:
        plain = self.is_plain(path)
        try:
            if not plain and not is_regular(path, self.boundary):
                return b""
            handle = self.boundary.descriptor(path, plain)
        except OSError:
            return b""
        try:
            data = os.read(handle, min(length, os.fstat(handle).st_size + 1))
            while data and len(data) < length and (more := os.read(handle, length - len(data))):
                data += more
        except OSError:
            return b""
        finally:
            os.close(handle)
        return data

    def head(self, path: Path) -> Head | None:
        """The first records of a file, as `read_head` has it."""
        from ragdatakit.files.detection.sniffing import head_of_beginning, parquet_head

        if is_parquet(path):
            return parquet_head(path, self.boundary)
        return head_of_beginning(lambda length: self.beginning(path, length))

    def text(self, path: Path) -> Beginning:
        """How the text of a file begins."""
        from ragdatakit.files.detection.sniffed_text import Beginning

        return Beginning(self.beginning(path, HEAD_BYTES)[0].decode("utf-8", "replace"))

    def guess(self, path: Path, formats: tuple[Format, ...]) -> _Guess:
        """What a file is by its content."""
        from ragdatakit.files.detection.sniffing import guess_beginning, guess_kind

        guesses = self._guesses.setdefault(tuple(map(id, formats)), {})
        place = str(path)
        if place not in guesses and is_parquet(path):
            guesses[place] = guess_kind(self.head(path), formats)
        if place not in guesses:
            guesses[place] = guess_beginning(lambda length: self.beginning(path, length), formats)
        return guesses[place]
