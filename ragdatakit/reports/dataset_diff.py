"""Compare two datasets: their canonical tables, the records of their files, the files, and what the numbers say."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.reports.table_diff import Rows, TableComparison, stored_rows, viewed_rows
from ragdatakit.schemas import get_format
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.diffs import DatasetDiff, FileDiff, Side, TableDiff
from ragdatakit.schemas.errors import UnknownNameError
from ragdatakit.tables.dataset_database import FILES, DatasetDatabase
from ragdatakit.tables.datasets import DataFile, Dataset
from ragdatakit.tables.manifest import file_digest
from ragdatakit.tables.own_files import MANIFEST

if TYPE_CHECKING:
    import duckdb

Progress = Callable[[str, int, int], None]
USUAL_RECORDS = 20
FORM_COLUMNS = ("field_order",)
"""Columns that tell how a record was written, not what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions:
    """How to compare.

    ``records`` are shown of each table as added, removed and changed, each. ``ignored`` are columns that do not count,
    as ``column`` or ``table.column``; ``keys`` are the columns by which the records of a table are found again, where
    not those that it declares.
    """

    records: int = USUAL_RECORDS
    ignored: tuple[str, ...] = ()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    progress: Progress | None = None

    def ignored_of(self, table: str) -> list[str]:
        """The columns of a table that do not count."""
        found = list(FORM_COLUMNS)
        for name in self.ignored:
            owner, dot, column = name.rpartition(".")
            if not dot or owner == table:
                found.append(column)
        return found


@dataclass(frozen=True, slots=True)
class Compared:
    """One side: a database, the datasets that it was read from, what the user called it."""

    database: DatasetDatabase
    parts: Sequence[Dataset]
    path: str

    @property
    def side(self) -> Side:
        """What is told of it."""
        return Side(self.path, self.database.name, self.database.format)

    @property
    def format(self) -> str:
        """The format of the files."""
        return self.parts[0].format.name if self.parts else self.database.format

    def files(self) -> dict[str, DataFile]:
        """The files by their names; those of further parts below the names of their folders."""
        found: dict[str, DataFile] = {}
        for number, part in enumerate(self.parts):
            for file in part.files:
                name = file.name if number == 0 else f"{part.root.name}/{file.name}"
                found.setdefault(name, file)
        return found


def compare_datasets(before: Compared, after: Compared, options: DiffOptions) -> DatasetDiff:
    """How ``after`` differs from ``before``. Raises `UnknownNameError` for a table or column that options name and
    neither side has."""
    import duckdb

    _refuse_unknown(options, before.database, after.database)
    diff = DatasetDiff(before.side, after.side)
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as work:
        work.execute("set enable_progress_bar = false")
        work.execute(f"set temp_directory = {_text(str(before.database.scratch / 'compared'))}")
        work.execute("set memory_limit = '512MB'")
        comparison = TableComparison(work, options.records)
        same = before.format == after.format
        if same:
            diff.files = _compare_files(before, after, options)
        if not same or not _all_same(diff.files) or _is_converted(before) or _is_converted(after):
            diff.tables = list(_compare_tables(comparison, before.database, after.database, options))
            if same:
                _compare_kinds(comparison, before, after, diff, options)
        else:
            diff.notes.append("All files are the same, byte for byte; their records were not read.")
    for side in (before, after):
        diff.notes.extend(_losses(side))
    return diff


def _refuse_unknown(options: DiffOptions, *databases: DatasetDatabase) -> None:
    tables = list(dict.fromkeys(table for database in databases for table in database.tables))
    columns = {table: TABLES[table].columns for table in tables}
    every = sorted({column for names in columns.values() for column in names})
    for table, key in options.keys.items():
        if table not in tables:
            raise UnknownNameError("table", table, tables)
        for column in key:
            if column not in columns[table]:
                raise UnknownNameError(f"column of {table}", column, columns[table])
    for name in options.ignored:
        owner, dot, column = name.rpartition(".")
        if dot and owner not in tables and owner.partition(".")[0] != FILES:
            raise UnknownNameError("table", owner, tables)
        known = columns.get(owner, every) if dot else every
        if column not in known and owner.partition(".")[0] != FILES:
            raise UnknownNameError("column", column, known)


def _compare_tables(
    comparison: TableComparison, before: DatasetDatabase, after: DatasetDatabase, options: DiffOptions
) -> Iterator[TableDiff]:
    for number, table in enumerate(TABLES):
        if table not in before.tables and table not in after.tables:
            continue
        if options.progress is not None:
            options.progress(f"comparing {table}", number, len(TABLES))
        sides = [_canonical_rows(database, table) for database in (before, after)]
        key = options.keys.get(table, TABLES[table].key)
        yield comparison.compare("main", table, sides[0], sides[1], key, options.ignored_of(table))


def _canonical_rows(database: DatasetDatabase, table: str) -> Rows | None:
    if table not in database.tables:
        return None
    connection = database.load(table)
    if table == "assets":
        return _asset_rows(connection, database)
    return stored_rows(connection, table)


def _asset_rows(connection: duckdb.DuckDBPyConnection, database: DatasetDatabase) -> Rows:
    """Files that go along by their digests: the database does not take large ones."""
    import pyarrow as pa

    rows = [(asset.path, asset.kind, *_content(asset.content)) for asset in database.peek("assets")]
    names = ("path", "kind", "bytes", "sha256")
    kinds = (pa.string(), pa.string(), pa.int64(), pa.string())
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    arrays = [pa.array(list(column), kind) for column, kind in zip(columns, kinds, strict=True)]
    connection.register("asset_digests", pa.Table.from_arrays(arrays, names=list(names)))
    connection.execute("create or replace temp table compared_assets as from asset_digests")
    connection.unregister("asset_digests")
    return Rows(connection, "(select *, rowid as rid from compared_assets)", names)


def _content(content: bytes | Path) -> tuple[int | None, str | None]:
    if isinstance(content, bytes):
        return len(content), hashlib.sha256(content).hexdigest()
    try:
        return content.stat().st_size, file_digest(content)
    except OSError:
        return None, None


def _compare_files(before: Compared, after: Compared, options: DiffOptions) -> list[FileDiff]:
    """The files by name: which are there, and which are the same byte for byte."""
    old, new = before.files(), after.files()
    found = []
    names = sorted({*old, *new})
    for number, name in enumerate(names):
        if options.progress is not None:
            options.progress(f"comparing {name}", number, len(names))
        sides = [_file(files.get(name)) for files in (old, new)]
        file = new.get(name) or old[name]
        if sides[0] is None or sides[1] is None:
            status = "removed" if sides[1] is None else "added"
        else:
            status = "same" if sides[0] == sides[1] else "form"
        a, b = (side[0] if side is not None else None for side in sides)
        found.append(FileDiff(name, file.kind, status, a, b))
    return found


def _file(file: DataFile | None) -> tuple[int, str] | None:
    """Size and digest."""
    if file is None or not file.path.is_file():
        return None
    return file.path.stat().st_size, file_digest(file.path)


def _all_same(files: Iterable[FileDiff]) -> bool:
    files = list(files)
    return bool(files) and all(file.status == "same" for file in files)


def _is_converted(side: Compared) -> bool:
    """Whether values that are kept beside the files may have a part in what is read."""
    folders = [folder for part in side.parts for folder in (part.root.resolve(), *part.root.resolve().parents)]
    return any((folder / MANIFEST).is_file() for folder in folders) or any(part.config for part in side.parts)


def _compare_kinds(
    comparison: TableComparison, before: Compared, after: Compared, diff: DatasetDiff, options: DiffOptions
) -> None:
    """The records of the files that differ, by kind of file; they are told where no canonical table tells of them."""
    import duckdb

    changed = {file.kind for file in diff.files if file.status != "same"}
    for view in dict.fromkeys((*before.database.views, *after.database.views)):
        kinds = {file.kind for file in diff.files if file.kind.replace("-", "_") == view}
        if not kinds & changed:
            continue
        sides: list[Rows | None] = []
        try:
            for side in (before, after):
                there = view in side.database.views
                sides.append(viewed_rows(side.database.load(), FILES, view) if there else None)
            key = _declared_key(after, kinds)
            ignored = options.ignored_of(f"{FILES}.{view}")
            found = comparison.compare(FILES, view, sides[0], sides[1], key, ignored, apart="file")
        except duckdb.Error as error:
            told = str(error).splitlines()[0]
            diff.notes.append(f"{FILES}.{view} could not be compared: {told}; `ragdata validate` says what is wrong")
            continue
        _tell_files(comparison, diff.files, kinds)
        if found.different and not any(table.different for table in diff.tables):
            diff.kinds.append(found)


def _declared_key(side: Compared, kinds: set[str]) -> tuple[str, ...]:
    """The columns by which records of this kind are unique within a split."""
    for key in get_format(side.format).keys:
        if key.kind in kinds:
            return ("split", *key.fields)
    return ()


def _tell_files(comparison: TableComparison, files: Sequence[FileDiff], kinds: set[str]) -> None:
    groups = comparison.by_group()
    old, new = comparison.counts_by_group()
    for file in files:
        if file.kind not in kinds:
            continue
        file.before_records = old.get(file.path, 0) if file.before_bytes is not None else None
        file.after_records = new.get(file.path, 0) if file.after_bytes is not None else None
        file.removed, file.added, file.changed = groups.get(file.path, (0, 0, 0))
        if file.status == "form" and (file.removed or file.added or file.changed):
            file.status = "changed"


def _losses(side: Compared) -> Iterator[str]:
    for loss in side.database.losses:
        if loss.kind in ("dropped", "lost"):
            what = loss.table if loss.column is None else f"{loss.table}.{loss.column}"
            yield f"{side.path}: {loss.count:,} of {what} could not be read: {loss.reason}"


def _text(value: Any) -> str:
    return "'" + str(value).replace("'", "''") + "'"
