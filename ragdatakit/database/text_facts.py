"""What a report wants to know of each text of a table, counted while the table is filled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from ragdatakit.scanner.library import library

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.database.columns import PackedColumn

N = TypeVar("N", "np.int64", "np.uint64")
COLUMN = "text"
"""The column that has facts."""


class TextFacts:
    """The numbers of the texts of a table: ``characters`` of each row, -1 where it has none, ``codes`` (two texts with
    one code are perhaps the same), ``size`` in bytes, and how many are ``missing`` or ``empty``: blanks only.

    They are there (``known``) where they were ``wanted`` before the table was filled, and there is a scanner.
    """

    def __init__(self) -> None:
        self.wanted = False
        self._forget()

    def _forget(self) -> None:
        self.known = False
        self.size = self.missing = self.empty = 0
        self._characters: list[npt.NDArray[np.int64]] = []
        self._codes: list[npt.NDArray[np.uint64]] = []

    def watched(
        self, names: Iterable[str], batches: Iterable[Sequence[PackedColumn]], *, goes_on: bool = False
    ) -> Iterator[Sequence[PackedColumn]]:
        """The batches of the rows of a table with columns of these names, as they are: of all rows, or of those behind
        others that were given before (``goes_on``)."""
        if not goes_on:
            self._forget()  # an attempt before this one may have failed
        places = [place for place, name in enumerate(names) if name == COLUMN]
        if not places or not self.wanted or library() is None:
            yield from batches
            return
        for columns in batches:
            self._add(columns[places[0]])
            yield columns
        self.known = bool(self._characters)

    def _add(self, column: PackedColumn) -> None:
        import numpy as np

        from ragdatakit.scanner.texts import lengths_and_codes

        valid, offsets, data = column.buffers
        places = np.frombuffer(offsets, np.int32) if isinstance(offsets, bytes) else offsets
        assert places is not None
        lengths, codes, empty = lengths_and_codes(data, places[: column.length + 1])
        if valid is not None:
            missing = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")[: column.length] == 0
            lengths[missing] = -1
            absent = int(missing.sum())
            self.missing, empty = self.missing + absent, empty - absent
        self.size += int(places[column.length]) - int(places[0])  # rows may be some of those of a block
        self.empty += empty
        self._characters.append(lengths)
        self._codes.append(codes)

    @property
    def characters(self) -> npt.NDArray[np.int64]:
        """Of each row."""
        return _joined(self._characters)

    @property
    def codes(self) -> npt.NDArray[np.uint64]:
        """Of each row; those of rows without a text say nothing."""
        return _joined(self._codes)


def _joined(parts: list[npt.NDArray[N]]) -> npt.NDArray[N]:
    """All parts as one array, which takes their place."""
    import numpy as np

    if len(parts) > 1:
        parts[:] = [np.concatenate(parts)]
    return parts[0]
