"""Names that GFM-RAG's loaders keep as they are: pandas makes numbers of some, and takes others for missing."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from ragdatakit.files.containers.csv_cells import ColumnScan, chunk_rows
from ragdatakit.schemas.cells import MISSING

_LAST = frozenset("0123456789. \t\n\v\f\reEfFyY")
_INVERSE = "inverse_"


def looks_like_number(name: str) -> bool:
    """Whether a column of such names alone would become numbers or booleans."""
    if name[-1:] not in _LAST:
        return False
    scan = ColumnScan()
    scan.add((name,))
    return not scan.texts


class NameColumns:
    """Columns of names as they are written: would pandas, which decides chunk by chunk, take a part for numbers?

    ``columns`` are all that the table has; the names are in the first of them.
    """

    def __init__(self, columns: int) -> None:
        self._chunk = chunk_rows(columns)
        self._rows = 0
        self._numeric: set[int] = set()
        self._open: list[int] = []

    def add(self, *columns: Sequence[str]) -> None:
        """The names in the next rows, column by column."""
        start, count = 0, len(columns[0])
        while start < count:
            if self._rows % self._chunk == 0:
                self._numeric.update(self._open)
                self._open = list(range(len(columns)))
            end = min(count, start + self._chunk - self._rows % self._chunk)
            self._open = [place for place in self._open if all(map(looks_like_number, columns[place][start:end]))]
            self._rows += end - start
            start = end

    def numeric(self, *places: int) -> bool:
        """Whether one of these columns has a chunk with no name that can only be text."""
        return not self._numeric.union(self._open).isdisjoint(places)


class Names:
    """New names for those that would be misread; all others stay as they are.

    ``prefix`` is put before a name that has to change, as often as it takes for it to be nobody else's.
    """

    def __init__(self, prefix: str, known: Container[str]) -> None:
        self.renamed: dict[str, str] = {}
        self._prefix = prefix
        self._known = known
        self._given: set[str] = set()

    def __call__(self, name: str) -> str:
        return self.renamed.get(name, name)

    def each(self, names: Sequence[str]) -> Sequence[str]:
        """What all of these are called."""
        return list(map(self, names)) if self.renamed else names

    def settle(self, names: Iterable[str], numeric: bool, missing: bool) -> None:
        """Find new names: ``numeric`` for all that look like numbers, ``missing`` for those that pandas leaves out."""
        for name in names:
            if "\0" in name or (missing and name in MISSING) or (numeric and looks_like_number(name)):
                self.change(name)

    def change(self, name: str) -> None:
        """Find a new name for this one."""
        new = self._prefix + name.replace("\0", "\ufffd")  # behind a NUL, pandas reads nothing
        while new in self._known or new in self._given:
            new = self._prefix + new
        self._given.add(new)
        self.renamed[name] = new


def shadowed(relations: Container[str], names: Iterable[str]) -> list[str]:
    """Relations called as the inverse of another one, which the loaders add themselves."""
    return [n for n in names if n.startswith(_INVERSE) and n.removeprefix(_INVERSE) in relations]
