"""The JSON Schemas of what ``ragdata query`` and ``ragdata diff`` print as JSON: docs/output-schema-….json.

Version 1 may gain fields, so readers should pass over those they do not know; none is renamed or dropped. Values are
texts, numbers, truth values or null; lists and objects are JSON text; a long text is cut, with … at the cut.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from ragdatakit.reports.derived_schema import Schema, schema_of
from ragdatakit.schemas.diffs import ColumnUse, MetCondition, RecordChange, Side


class _Column(TypedDict):
    """A column; repeated names have a number. ``type`` is DuckDB's."""

    name: str
    type: str


class _Rows(TypedDict):
    """What `ragdata query --output-format json` prints. Fields may be added; none is renamed or dropped."""

    version: Literal[1]
    columns: list[_Column]
    rows: list[dict[str, Any]]


class _QueryTable(TypedDict):
    """A table that queries can name: a canonical one (``main``), or a file as it is (``files``).

    ``dataset`` says which of several it belongs to. ``table`` is the name without the schema; empty for a dataset that
    could not be read at all. ``rows`` is null where they could not be read, ``fault`` says why.
    """

    name: str
    dataset: str | None
    schema: Literal["main", "files"]
    table: str
    rows: int | None
    fault: str | None
    columns: list[_Column]


class _Tables(TypedDict):
    """What `ragdata query --tables --output-format json` prints. Fields may be added; none is renamed or dropped."""

    version: Literal[1]
    tables: list[_QueryTable]


class _Counts(TypedDict):
    """Records that are added, removed and changed."""

    added: int
    removed: int
    changed: int


class _Both(TypedDict):
    """Those before and after; null where there are none, or they were not read."""

    before: int | None
    after: int | None


class _Record(TypedDict):
    """A record of one side: its key and its values."""

    key: dict[str, Any]
    values: dict[str, Any]


class _Table(_Counts):
    """How the records of a canonical table (``main``) or of a kind of file (``files``) differ.

    ``key`` are the columns by which records are found again. ``not_read`` are the sides of which nothing could be read,
    so that the table is not compared. ``changed_columns`` counts changed records by the column that is another one;
    ``columns_used`` are columns that gained their first values or lost their last. Records are the first ones.
    """

    schema: Literal["main", "files"]
    name: str
    key: list[str]
    rows: _Both
    not_read: list[Literal["before", "after"]]
    changed_columns: dict[str, int]
    columns_used: list[ColumnUse]
    added_records: list[_Record]
    removed_records: list[_Record]
    changed_records: list[RecordChange]


class _File(_Counts):
    """A file, by its path below the folder of the dataset, or of both; ``kind`` is empty for one of no dataset.

    ``status`` same: byte for byte; form: other bytes, the same records; moved: records that another file had
    before, or has now; unread: it cannot be read. ``bytes`` of a packed file of a dataset are those that it holds; on
    the disk where both are the same.
    """

    path: str
    kind: str
    status: Literal["same", "form", "moved", "changed", "added", "removed", "unread"]
    bytes: _Both
    records: _Both


class _Metric(TypedDict):
    """A number that is different; ``moved`` says by what share of the first, null where that is 0."""

    name: str
    title: str
    before: float
    after: float
    moved: float | None


class _Pair(TypedDict):
    """A dataset of one place below the two folders.

    ``status`` same: no record differs; unread: one side may have it where permission is denied. ``diff`` is what
    differs, as this document has it of two datasets, without version; name and format are empty on the side that does
    not have it.
    """

    place: str
    status: Literal["same", "changed", "added", "removed", "unread"]
    diff: dict[str, Any]


class _Diff(TypedDict):
    """What `ragdata diff --output-format json` prints. Fields may be added; none is renamed or dropped.

    ``different``: any record differs, or a file that has none. ``complete``: all could be read; what could not has
    ``not_read``, or is a file of status unread. ``counts`` are of all canonical tables; ``tables`` are those that a
    side has, empty where all files are the same; ``kinds`` are the records of files that differ, by kind of file.
    ``other_files`` are those below both folders of no dataset; they and ``files`` are empty where the formats differ.
    ``metrics`` are the numbers of the two reports that are different, ``notes`` says what could not be compared or was
    left out. Where the two are folders with several datasets, these are in ``datasets``, by place. ``conditions`` are
    those under which the comparison fails, ``met`` those that are so.
    """

    version: Literal[1]
    different: bool
    complete: bool
    before: Side
    after: Side
    counts: _Counts
    tables: list[_Table]
    kinds: list[_Table]
    files: list[_File]
    other_files: list[_File]
    metrics: list[_Metric]
    notes: list[str]
    seconds: float
    datasets: list[_Pair]
    conditions: list[str]
    met: list[MetCondition]


def query_schemas() -> dict[str, Schema]:
    """The schemas by what follows ``output-schema-`` in the names of their files."""
    forms = {"query": _Rows, "query-tables": _Tables, "diff": _Diff}
    return {name: schema_of(form, f"output-{name}", name) for name, form in forms.items()}
