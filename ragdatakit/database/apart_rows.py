"""Tables whose rows stay in their files: what a report says of their columns is counted while they are read, and the
few rows that are shown are read again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from ragdatakit.database.columns import PackedColumn, bits_of, texts_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.file_states import WatchedFiles

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.scanner.member_names import MemberNames

    Rows = npt.NDArray[np.int64]

BLANK = " \t\n\r"
_MOST_VALUES = 1 << 17
_MOST_ODD, _MOST_NAMES = 10_000, 1 << 17
"""Objects that are not proved to be JSON, and names, from which on nobody counts these."""


class TooVariedError(Exception):
    """A column has more different values than are counted."""


class CountedObjects:
    """JSON objects counted by the names of their members, as far as the compiled library can prove them to be JSON: the
    ``odd`` ones are left. Nothing is ``known`` where these, or the names, are very many."""

    def __init__(self) -> None:
        from ragdatakit.scanner.member_names import MemberNames

        self._names: MemberNames | None = MemberNames()
        self._counted = Counter[str]()
        self.odd: list[str] = []

    @property
    def known(self) -> bool:
        """Whether all objects so far were counted, or are among the odd ones."""
        return self._names is not None

    def add(self, data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int32]) -> None:
        """Count objects that are one behind the other in ``data``, between these offsets."""
        if self._names is None:
            return
        import numpy as np

        odd = np.flatnonzero(~self._names.add(data, offsets)).tolist()
        self.odd += [data[offsets[row] : offsets[row + 1]].tobytes().decode() for row in odd]
        if len(self.odd) > _MOST_ODD or self._names.different > _MOST_NAMES:
            self._names, self.odd = None, []

    def add_counted(self, members: Mapping[str, int]) -> None:
        """Take in how many of some more objects have a member of each name."""
        self._counted.update(members)
        if len(self._counted) > _MOST_NAMES:
            self._names, self.odd = None, []

    def counts(self) -> dict[str, int]:
        """How many of the objects have each name, without the odd ones."""
        assert self._names is not None
        return dict(self._counted + Counter(self._names.counts()))


@dataclass(frozen=True, slots=True)
class CountedMembers:
    """How many objects of a column have a member of each name, where that is known of all of them."""

    members: Mapping[str, int]
    known: ClassVar[bool] = True
    odd: ClassVar[Sequence[str]] = ()

    def counts(self) -> dict[str, int]:
        """As `CountedObjects.counts`."""
        return dict(self.members)


@dataclass(slots=True)
class ColumnFacts:
    """Rows of a column that have no value, and those with an empty one; its different values, where they were
    counted. ``counts``: how often each of these occurs, where that is known; ``numbers``: the same of numbers, in
    order, in arrays; ``objects``: those of a column of objects."""

    missing: int = 0
    empty: int = 0
    distinct: int | None = None
    counts: Mapping[Any, int] | None = None
    numbers: tuple[npt.NDArray[np.float64], Rows] | None = None
    objects: CountedObjects | CountedMembers | None = None

    def add_objects(self, column: PackedColumn) -> None:
        """Count some more rows of a column of objects: an empty one has no members."""
        import numpy as np

        data, offsets = texts_of(column)
        self.missing += column.length - int(bits_of(column).sum())
        if not len(data):
            return
        short = offsets[:-1][np.diff(offsets) == len("{}")]
        self.empty += int(np.count_nonzero((data[short] == ord("{")) & (data[short + 1] == ord("}"))))
        if isinstance(self.objects, CountedObjects):
            if column.members is not None:
                self.objects.add_counted(column.members)
            else:
                self.objects.add(data, offsets)


class RowsElsewhere(Protocol):
    """The ``rows`` of a table that is read, which the database does not hold yet."""

    rows: int

    def column(self, name: str) -> ColumnFacts | None:
        """What is known of a column, if anything."""

    def rows_at(self, places: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Rows by their places from 0, which ascend. Raises `RagdataError` where they are in a file that was
        changed."""

    def give(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Have the database hold them. Raises as `rows_at`."""


class ShownColumns:
    """Columns of a table that has something else for their values: those of the few rows that are shown are read
    again. ``read`` gives those that are wanted by row and name, of places from 0."""

    def __init__(
        self,
        columns: Sequence[str],
        read: Callable[[duckdb.DuckDBPyConnection, Sequence[int], Sequence[str]], Mapping[int, Mapping[str, Any]]],
    ) -> None:
        self.columns, self._read = columns, read
        self.watched = WatchedFiles(())

    def show(self, rows: Mapping[int, dict[str, Any]], connection: duckdb.DuckDBPyConnection) -> None:
        """Put the values into rows that have some of the columns. Raises `RagdataError` where the file was changed."""
        wanted = [name for name in self.columns if any(name in row for row in rows.values())]
        with self.watched:
            found = self._read(connection, [*rows], wanted) if wanted else {}
        for place, values in found.items():
            rows[place].update(values)


class ApartRows:
    """The rows of a table that are in no database, as long as what is ``known`` of them is enough: ``columns`` has it
    of all columns. ``read`` gives rows again, by their places from 0, which ascend; `give` creates the table."""

    def __init__(self, give: Callable[[duckdb.DuckDBPyConnection], Any]) -> None:
        self._give = give
        self.watched = WatchedFiles(())
        self.begin()

    def begin(self) -> None:
        """The rows are read now; an attempt before this one may have failed."""
        self.known = False
        self.rows = 0
        self.columns: dict[str, ColumnFacts] = {}
        self.read: Callable[[Sequence[int]], Iterable[dict[str, Any]]] = lambda _: ()
        self._counts: dict[str, Counter[Any]] = {}

    def count(self, column: str, values: Mapping[Any, int]) -> None:
        """How often some more rows have each value; rows without one are missing. Raises `TooVariedError`."""
        counts = self._counts.setdefault(column, Counter())
        counts.update(values)
        if len(counts) > _MOST_VALUES:
            raise TooVariedError

    def end(self) -> None:
        """All rows were read."""
        for column, counts in self._counts.items():
            empty = sum(n for value, n in counts.items() if isinstance(value, str) and not value.strip(BLANK))
            self.columns[column] = ColumnFacts(self.rows - counts.total(), empty, len(counts), counts)
        self.known = True

    def column(self, name: str) -> ColumnFacts | None:
        """What is known of a column."""
        return self.columns.get(name)

    def rows_at(self, places: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Rows by their places, which ascend. Raises `RagdataError` where the file was changed."""
        with self.watched:
            return dict(zip(places, self.read(places), strict=True))

    def give(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Have the database hold them. Raises as `rows_at`."""
        with self.watched:
            self._give(connection)
