"""What a comparison of two datasets found: records by key, files, and numbers that moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
    records by the column that is another one. The examples are the first ones in the order of their side.
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
    """A file of the two datasets, by its path below their folders; sizes in bytes on the disk, None where it is not.

    ``status`` is ``same`` (byte for byte), ``form`` (other bytes, the same records), ``changed``, ``added`` or
    ``removed``. Records are None where the file has none or they could not be read.
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


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that is another one: of rows, of lengths, of shares. ``name`` is an identifier, ``title`` says it."""

    name: str
    title: str
    before: float
    after: float

    @property
    def moved(self) -> float | None:
        """By what share of the earlier value it moved; None where that was 0."""
        return (self.after - self.before) / abs(self.before) if self.before else None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two datasets; ``path`` is what the user called it."""

    path: str
    name: str
    format: str


@dataclass(slots=True)
class DatasetDiff:
    """The result of `ragdatakit.diff`.

    ``tables`` are the canonical tables that a side has, ``kinds`` the records of files that differ in a way that those
    tables do not hold. ``files`` are empty where the two are of different formats. ``notes`` are sentences about what
    could not be compared or was left out.
    """

    before: Side
    after: Side
    tables: list[TableDiff] = field(default_factory=list)
    kinds: list[TableDiff] = field(default_factory=list)
    files: list[FileDiff] = field(default_factory=list)
    metrics: list[Metric] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def different(self) -> bool:
        """Whether any record differs."""
        return any(table.different for table in (*self.tables, *self.kinds))

    @property
    def added(self) -> int:
        """Records of canonical tables that only the second has."""
        return sum(table.added for table in self.tables)

    @property
    def removed(self) -> int:
        """Records of canonical tables that only the first has."""
        return sum(table.removed for table in self.tables)

    @property
    def changed(self) -> int:
        """Records of canonical tables that have other values."""
        return sum(table.changed for table in self.tables)
