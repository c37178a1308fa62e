"""What a comparison of two datasets found: records by key, files, and numbers that moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, ClassVar

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.notebooks.tabular import Tabular


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A column whose value is another one. Long values are cut around the first difference, which is ``at`` so many
    characters from the beginning of the two texts (None: the values are whole)."""

    column: str
    before: Any
    after: Any
    at: int | None = None


@dataclass(frozen=True, slots=True)
class RecordShown:
    """A record that only one side has: its key, and its values, long ones cut."""

    key: Mapping[str, Any]
    row: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordChange:
    """A record that both sides have under the same key, with other values."""

    key: Mapping[str, Any]
    changes: tuple[ValueChange, ...]


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """A column that has values on one side only."""

    column: str
    before: int
    after: int


@dataclass(slots=True)
class TableDiff:
    """How the rows of a table differ; a table is a canonical one, or a kind of file (``schema`` is ``files``).

    ``before`` and ``after`` are the rows of the two sides, None where a side has no such table. ``key`` are the columns
    by which records are found again (none: by all of them, nothing is ever changed). ``columns`` counts the changed
    records by the column that is another one. The examples are the first ones in the order of their side. ``unread``
    are the sides (``before``, ``after``) of which no row could be read though there are some: nothing is compared then.
    """

    schema: str
    name: str
    key: tuple[str, ...]
    before: int | None
    after: int | None
    added: int = 0
    removed: int = 0
    changed: int = 0
    columns: dict[str, int] = field(default_factory=dict)
    used: list[ColumnUse] = field(default_factory=list)
    added_records: list[RecordShown] = field(default_factory=list)
    removed_records: list[RecordShown] = field(default_factory=list)
    changed_records: list[RecordChange] = field(default_factory=list)
    unread: tuple[str, ...] = ()

    @property
    def different(self) -> bool:
        """Whether any record is added, removed or changed."""
        return bool(self.added or self.removed or self.changed)

    @property
    def called(self) -> str:
        """The name in full."""
        return self.name if self.schema == "main" else f"{self.schema}.{self.name}"


@dataclass(slots=True)
class FileDiff:
    """A file of the two datasets, by its path below their folders; sizes in bytes, None where it is not:
    of a packed file of a dataset that differs of what it holds, as reports have them.

    ``status`` is ``same`` (byte for byte), ``form`` (other bytes, the same records), ``moved`` (records that another
    file had before, or has now), ``changed``, ``added`` or ``removed``, or ``unread``: it cannot be read. ``kind`` is
    empty for a file of no dataset. Records are None where the file has none, they could not be read, or all files of
    its kind are the same.
    """

    path: str
    kind: str
    status: str
    before_bytes: int | None
    after_bytes: int | None
    before_records: int | None = None
    after_records: int | None = None
    added: int = 0
    removed: int = 0
    changed: int = 0

    @property
    def differs_as_a_whole(self) -> bool:
        """Whether it differs, and not (only) by records that were compared."""
        if self.before_records is None and self.after_records is None:
            return self.status in ("added", "removed", "changed")
        return self.status == "changed" and not (self.added or self.removed or self.changed)


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that is another one: of rows, of lengths, of shares. ``name`` is an identifier, ``title`` says it;
    ``is_share``: 1 is all."""

    name: str
    title: str
    before: float
    after: float
    is_share: bool = False

    @property
    def moved(self) -> float | None:
        """By what share of the earlier value it moved; None where that was 0."""
        return (self.after - self.before) / abs(self.before) if self.before else None


@dataclass(frozen=True, slots=True)
class MetCondition:
    """A condition under which the comparison fails, and that is so: what was written, the dataset, what was found."""

    condition: str
    dataset: str
    found: str


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two datasets; ``path`` is what the user called it."""

    path: str
    name: str
    format: str


@dataclass(slots=True, repr=False)
class DatasetDiff(Tabular):
    """The result of `ragdatakit.diff`.

    ``tables`` are the canonical tables that a side has, ``kinds`` the records of files that differ, by kind of file:
    they say what those tables do not hold, too. ``tables_decide``: columns of tables do not count, so that files say
    nothing about whether the two differ. ``files`` are empty where the two are of different formats. ``other_files``
    are those below the two folders that belong to no dataset, compared by their bytes; empty where the formats are
    different, too. ``notes`` are sentences about what could not be compared or was left out. Where the two are folders
    with several datasets, these are in ``pairs``, and ``tables``, ``kinds``, ``files`` and ``metrics`` are empty.
    ``conditions`` are those under which the comparison fails, ``met`` those of them that are so.
    """

    before: Side
    after: Side
    tables: list[TableDiff] = field(default_factory=list)
    kinds: list[TableDiff] = field(default_factory=list)
    files: list[FileDiff] = field(default_factory=list)
    metrics: list[Metric] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    tables_decide: bool = False
    pairs: list[DatasetPair] = field(default_factory=list)
    other_files: list[FileDiff] = field(default_factory=list)
    conditions: tuple[str, ...] = ()
    met: list[MetCondition] = field(default_factory=list)
    _COLUMNS: ClassVar[Mapping[str, type]] = {
        **dict.fromkeys(("dataset", "table"), str),
        **dict.fromkeys(("before", "after", "added", "removed", "changed"), int),
    }

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """The canonical tables, and the kinds of files that differ; those of each pair of datasets."""
        for each in (*self.tables, *self.kinds):
            yield None, each.called, each.before, each.after, each.added, each.removed, each.changed
        for pair in self.pairs:
            for row in pair.diff._rows():
                yield pair.place, *row[1:]

    def __repr__(self) -> str:
        """One line: the two sides, and how many records are added, removed and changed."""
        counts = f"{self.added:,} added, {self.removed:,} removed, {self.changed:,} changed"
        state = "different" if self.different else "same"
        return f"<{type(self).__name__} of {self.before.path!r} and {self.after.path!r}: {state}, {counts}>"

    @property
    def fails(self) -> bool:
        """Whether a condition is met; where there are none, whether anything differs."""
        return bool(self.met) if self.conditions else self.different

    @property
    def different(self) -> bool:
        """Whether any record differs, or a file that holds none, or a dataset is on one side only."""
        files = self.files_as_wholes or self.other_files_that_differ
        return bool(self.differing or files) or any(pair.status not in ("same", "unread") for pair in self.pairs)

    @property
    def unread(self) -> list[tuple[Side, str]]:
        """What could not be read at all, so that nothing is said of it: on which side, and the table or file."""
        sides = {"before": self.before, "after": self.after}
        found = [(sides[word], table.called) for table in self.tables for word in table.unread]
        files = self.other_files if found else [*self.files, *self.other_files]  # those of a table are reported by it
        found += [(self.after, file.path) for file in files if file.status == "unread"]
        for pair in self.pairs:
            if pair.status == "unread":
                found.append((self.after if pair.diff.before.format else self.before, pair.place))
            found += pair.diff.unread
        return found

    @property
    def other_files_that_differ(self) -> list[FileDiff]:
        """The files of no dataset that only one side has, or that have other bytes."""
        return [file for file in self.other_files if file.status in ("added", "removed", "changed")]

    @property
    def differing(self) -> list[TableDiff]:
        """What the records are reported by: the canonical tables that differ or, if none does, the kinds of files."""
        tables = [table for table in self.tables if table.different]
        kinds = [] if self.tables_decide else [kind for kind in self.kinds if kind.different]
        return tables or kinds

    @property
    def files_as_wholes(self) -> list[FileDiff]:
        """The files that differ as wholes, because nobody knows their records."""
        return [] if self.tables_decide else [file for file in self.files if file.differs_as_a_whole]

    @property
    def added(self) -> int:
        """Records of canonical tables that only the second has."""
        return sum(t.added for t in self.tables) + sum(pair.diff.added for pair in self.pairs)

    @property
    def removed(self) -> int:
        """Records of canonical tables that only the first has."""
        return sum(t.removed for t in self.tables) + sum(pair.diff.removed for pair in self.pairs)

    @property
    def changed(self) -> int:
        """Records of canonical tables that have other values."""
        return sum(t.changed for t in self.tables) + sum(pair.diff.changed for pair in self.pairs)


@dataclass(slots=True)
class DatasetPair:
    """A dataset below two folders that hold several, by its place below them, which is the same on both sides.

    ``status`` is ``same`` (no record differs), ``changed``, ``added``, ``removed``, or ``unread``: the folder in
    which the other side may have it may not be looked into. ``diff`` has all records of a dataset that only one side
    has as added or removed, without examples; name and format of the other side are empty.
    """

    place: str
    status: str
    diff: DatasetDiff
