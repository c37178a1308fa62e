"""Keys of a small dataset, in Python's own sets and dicts: no import to pay for, a few megabytes at most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ragdatakit.late_modules import late_module

if TYPE_CHECKING:
    import unicodedata
else:
    unicodedata = late_module("unicodedata")


class PythonBatch:
    """Columns of key values of consecutive records (None where a value is not readable)."""

    def __init__(self, columns: dict[str, list[Any]], first_row: int) -> None:
        self.columns = columns
        self.first_row = first_row

    def codes(self, fields: tuple[str, ...]) -> tuple[list[Any], list[int]]:
        """The values of a column (tuples, for several columns) and the rows they are in.

        A list column gives each of its items; in a tuple it may come last.
        """
        first = self.first_row
        last = self.columns[fields[-1]]
        if len(fields) == 1 and not {list, type(None)}.intersection(map(type, last)):
            return [*last], [*range(first, first + len(last))]
        values: list[Any] = []
        rows: list[int] = []
        heads = [self.columns[f] for f in fields[:-1]]
        for i, item in enumerate(last):
            prefix = tuple(h[i] for h in heads)
            if item is None or None in prefix:
                continue
            for one in item if isinstance(item, list) else (item,):
                if one is not None:
                    values.append((*prefix, one) if prefix else one)
                    rows.append(first + i)
        return values, rows

    def without(self, field: str) -> list[int]:
        """Rows in which the column has no readable value."""
        return [row for row, value in enumerate(self.columns[field], self.first_row) if value is None]

    def heads(self, fields: tuple[str, ...]) -> tuple[list[Any], list[int]]:
        """Values of the first column where the second is a readable list with an item, and their rows."""
        pairs = zip(self.columns[fields[0]], self.columns[fields[1]], strict=True)
        kept = [(value, self.first_row + i) for i, (value, items) in enumerate(pairs) if value is not None and items]
        return [v for v, _ in kept], [r for _, r in kept]


class PythonIndex:
    """The keys of one column: which repeat, which are there, which were asked for."""

    def __init__(self) -> None:
        self._first: dict[Any, int] = {}
        self._repeats: list[tuple[int, int]] = []

    def add(self, values: Sequence[Any], rows: Sequence[int]) -> None:
        """Take in keys of the records ``rows``."""
        first = self._first
        for value, row in zip(values, rows, strict=True):
            before = first.setdefault(value, row)
            if before != row:
                self._repeats.append((row, before))

    def freeze(self) -> None:
        """No more keys come."""

    def repeats(self) -> tuple[list[int], list[int]]:
        """Rows whose key was in an earlier row, and those earlier rows."""
        return [r for r, _ in self._repeats], [f for _, f in self._repeats]

    def find(self, values: Sequence[Any]) -> Sequence[Any]:
        """Look values up once, for the questions below."""
        return values

    def missing(self, values: Sequence[Any]) -> list[int]:
        """Positions of the values that are no key."""
        first = self._first
        return [i for i, v in enumerate(values) if v not in first]

    def present(self, values: Sequence[Any]) -> list[int]:
        """Positions of the values that are a key."""
        first = self._first
        return [i for i, v in enumerate(values) if v in first]

    def are_keys(self, texts: Sequence[str]) -> list[bool]:
        """Of each text whether it is a key."""
        return [text in self._first for text in texts]

    def new_marks(self) -> set[Any]:
        """No key marked yet."""
        return set()

    def mark(self, values: Iterable[Any], marks: set[Any]) -> None:
        """Remember that these keys were named."""
        marks.update(values)

    def unmarked(self, marks: set[Any]) -> list[int]:
        """Rows of the keys that were never marked."""
        return [row for value, row in self._first.items() if value not in marks]

    def common(self, earlier: PythonIndex) -> tuple[list[int], list[int]]:
        """Rows here whose key ``earlier`` has, and the rows there."""
        pairs = [(row, earlier._first[v]) for v, row in self._first.items() if v in earlier._first]
        return [r for r, _ in pairs], [f for _, f in pairs]


class PythonConsistency:
    """Names that were given more than one value."""

    def __init__(self) -> None:
        self._first: dict[Any, tuple[Any, int]] = {}
        self._reported: set[tuple[Any, Any]] = set()
        self._hits: list[tuple[int, int]] = []

    def add(self, names: Sequence[Any], values: Sequence[Any], rows: Sequence[int]) -> None:
        """Take in that record ``row`` gives ``name`` this ``value``."""
        for name, value, row in zip(names, values, rows, strict=True):
            before, first_row = self._first.setdefault(name, (value, row))
            if before != value and (name, value) not in self._reported:
                self._reported.add((name, value))
                self._hits.append((row, first_row))

    def disagreements(self) -> tuple[list[int], list[int]]:
        """Rows that disagree with an earlier one, and those earlier rows."""
        return [r for r, _ in self._hits], [f for _, f in self._hits]


def spelling(name: str) -> str:
    """What remains of a name when case, Unicode form and surrounding or quote marks do not count."""
    if name.isascii():
        return " ".join(name.replace('"', " ").lower().split())
    # letter by letter, as Arrow does it: the same name is spelled the same wherever in a text it is
    lowered = "".join("i" if c == "İ" else c.lower() for c in unicodedata.normalize("NFKC", name))
    return " ".join(lowered.replace('"', " ").split())
