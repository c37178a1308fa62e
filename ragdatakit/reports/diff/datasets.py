"""Compare two datasets: their canonical tables, the records of their files, the files, and what the numbers say."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from errno import EACCES, EINVAL
from os.path import commonpath
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import Kind, packed
from ragdatakit.database.dataset_database import FILES, DatasetDatabase
from ragdatakit.database.file_counts import unpacked_size
from ragdatakit.database.quick_plans import plan_at_once
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.memory_database import memory_database
from ragdatakit.files.paths.digests import file_digest
from ragdatakit.files.paths.own_files import MANIFEST
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.diff.kinds import KindSide, compare_kind
from ragdatakit.reports.diff.tables import Rows, TableComparison, stored_rows
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.diffs import DatasetDiff, FileDiff, Side, TableDiff
from ragdatakit.schemas.errors import MachineError, RagdataError, UnknownNameError
from ragdatakit.schemas.options import DiffOptions

if TYPE_CHECKING:
    import duckdb

Progress = Callable[[str, int, int], None]
FORM_COLUMNS = ("field_order",)
"""Columns that say how a record was written, not what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """How to compare.

    ``records`` are shown of each table as added, removed and changed, each. ``ignored`` are columns that do not count,
    as ``column`` or ``table.column``; ``keys`` are the columns by which the records of a table are found again, where
    not those that it declares.
    """

    records: int = DiffOptions.records
    ignored: tuple[str, ...] = ()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    progress: Progress | None = None

    @property
    def leaves_out(self) -> bool:
        """Whether columns of canonical tables do not count."""
        return any(not name.startswith(f"{FILES}.") for name in self.ignored)

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
        """What is reported of it."""
        return Side(self.path, self.database.name, self.database.format)

    @property
    def format(self) -> str:
        """The format of the files."""
        return self.parts[0].format.name if self.parts else self.database.format

    def files(self) -> dict[str, DataFile]:
        """The files by their names; those of further parts from the folder in which all parts lie."""
        found: dict[str, DataFile] = {}
        roots = [part.root.resolve() for part in self.parts]
        for number, part in enumerate(self.parts):
            below = ""
            if number:  # what the folder is called in which all of them lie is no part of the names
                below = roots[number].relative_to(commonpath(roots)).as_posix()
            for file in part.files:
                name = file.name if below in ("", ".") else f"{below}/{file.name}"
                found.setdefault(name if found.get(name, file).path == file.path else f"{part.root.name}/{name}", file)
        return found


def compare_datasets(
    before: Compared, after: Compared, options: CompareOptions, *, checked: bool = False
) -> DatasetDiff:
    """How ``after`` differs from ``before``. Raises `UnknownNameError` for a table or column that options name and
    neither side has; not where they are ``checked``, as those of several comparisons."""
    if not checked:
        refuse_unknown(options, [table for side in (before, after) for table in side.database.tables])
    diff = DatasetDiff(before.side, after.side)
    same = before.format == after.format
    if same:
        diff.files = _compare_files(before, after, options)
    if not same or not _all_same(diff.files) or _is_converted(before) or _is_converted(after):
        _compare_records(before, after, diff, options)
    else:
        diff.notes.append("All files of the dataset are the same, byte for byte; their records were not read.")
    for side, word, counted in ((before, "before", "added"), (after, "after", "removed")):
        is_partial = diff.tables and not any(word in table.unread for table in diff.tables)
        diff.notes.extend(_losses(side, f"; what is missing there counts as {counted}" if is_partial else ""))
    return diff


def _compare_records(before: Compared, after: Compared, diff: DatasetDiff, options: CompareOptions) -> None:
    spilled = str(before.database.scratch / "compared")
    with memory_database({"temp_directory": spilled, "memory_limit": "512MB"}) as work:
        plan_at_once(work, (*before.parts, *after.parts))
        comparison = TableComparison(work, options.records)
        diff.tables = list(_compare_tables(comparison, before.database, after.database, options))
        if before.format == after.format and diff.files:
            _compare_kinds(comparison, before, after, diff, options)
        if options.leaves_out and diff.files:
            diff.tables_decide = True
            if not diff.differing and (diff.kinds or any(file.differs_as_a_whole for file in diff.files)):
                note = "Columns of tables were left out: files may differ in them, and in what no table holds."
                diff.notes.append(note)


def one_sided(side: Compared, missing: str, status: str) -> DatasetDiff:
    """A dataset that the other side, called ``missing``, does not have: all of it is ``added`` or ``removed``."""
    is_new = status == "added"
    other = Side(missing, "", "")
    diff = DatasetDiff(other, side.side) if is_new else DatasetDiff(side.side, other)
    for table in side.database.tables:
        is_unread = _is_unread(side.database, table)
        rows = side.database.count(table)
        sides = (None, rows) if is_new else (rows, None)
        found = TableDiff("main", table, tuple(TABLES[table].key), *sides)
        setattr(found, status, rows)
        if is_unread:
            found.unread = ("after" if is_new else "before",)
        diff.tables.append(found)
    for name, file in side.files().items():
        size = unpacked_size(file.path, file.boundary) if file.path.is_file() else None
        diff.files.append(FileDiff(name, file.kind, status, *((None, size) if is_new else (size, None))))
    diff.notes.extend(_losses(side))
    return diff


def refuse_unknown(options: CompareOptions, known_tables: Iterable[str]) -> None:
    """Raise `UnknownNameError` for a table that is not among these, and for a column that they do not have."""
    tables = list(dict.fromkeys(known_tables))
    columns = {table: TABLES[table].columns for table in tables}
    every = sorted({column for names in columns.values() for column in names})
    for table, key in options.keys.items():
        if table not in tables:
            raise UnknownNameError("table", table, tables)
        for column in key:
            if column not in columns[table]:
                raise UnknownNameError("column", column, columns[table], where=f"of {table}")
    for name in options.ignored:
        owner, dot, column = name.rpartition(".")
        if dot and owner not in tables and owner.partition(".")[0] != FILES:
            raise UnknownNameError("table", owner, tables)
        known = columns.get(owner, every) if dot else every
        if column not in known and owner.partition(".")[0] != FILES:
            raise UnknownNameError("column", column, known)


def _compare_tables(
    comparison: TableComparison, before: DatasetDatabase, after: DatasetDatabase, options: CompareOptions
) -> Iterator[TableDiff]:
    for number, table in enumerate(TABLES):
        if table not in before.tables and table not in after.tables:
            continue
        if options.progress is not None:
            options.progress(f"comparing {table}", number, len(TABLES))
        databases = {"before": before, "after": after}
        if unread := [word for word, database in databases.items() if _is_unread(database, table)]:
            old, new = (None if word in unread else databases[word].count(table) for word in databases)
            yield TableDiff("main", table, tuple(TABLES[table].key), old, new, unread=tuple(unread))
            continue
        sides = [_canonical_rows(database, table) for database in (before, after)]
        key, instead = options.keys.get(table, TABLES[table].key), ""
        ignored = options.ignored_of(table)
        if table == "questions" and not {table, "question_id"} & {*options.keys, *ignored}:
            key, instead = ("question_id",), "text"  # a question with another text is a changed one
        yield comparison.compare("main", table, sides[0], sides[1], key, ignored, instead=instead)


def _is_unread(database: DatasetDatabase, table: str) -> bool:
    """Whether a table has no row because a file, or the rest of one, could not be read; fills it. Of a dataset with a
    folder that may not be looked into no table is known."""
    if any(part.unreadable for part in database.parts):
        return True
    known = _unread(database)
    return not database.count(table) and _unread(database) > known


def _unread(database: DatasetDatabase) -> int:
    """How many files could not be read whole so far."""
    return sum(loss.count for loss in database.losses if loss.unread)


def _canonical_rows(database: DatasetDatabase, table: str) -> Rows | None:
    if table not in database.tables:
        return None
    connection = database.load(table)
    if table == "assets":
        return _asset_rows(connection, database)
    return stored_rows(connection, table)


def _asset_rows(connection: duckdb.DuckDBPyConnection, database: DatasetDatabase) -> Rows:
    """Files that go along by their digests: the database does not take large ones."""
    rows = [(asset.path, asset.kind, *_content(asset.content)) for asset in database.rows("assets")]
    schema = {"path": Kind.TEXT, "kind": Kind.TEXT, "bytes": Kind.INTEGER, "sha256": Kind.TEXT}
    columns = zip(schema.values(), zip(*rows, strict=True), strict=True) if rows else ()
    batches = [[packed(kind, values) for kind, values in columns]] if rows else []
    with incoming(connection, "asset_digests", schema, batches):
        connection.execute("create or replace temp table compared_assets as from asset_digests")
    return Rows(connection, "(select *, rowid as rid from compared_assets)", tuple(schema))


def _content(content: bytes | Path) -> tuple[int | None, str | None]:
    if isinstance(content, bytes):
        return len(content), hashlib.sha256(content).hexdigest()
    try:
        return content.stat().st_size, file_digest(content)
    except OSError:
        return None, None


def _named_files(before: Compared, after: Compared) -> tuple[dict[str, DataFile], dict[str, DataFile]]:
    """The files of both sides by their names; two lone ones have that of the second."""
    old, new = before.files(), after.files()
    lone = all(len(side.parts) == 1 and side.parts[0].layout == "file" for side in (before, after))
    if lone and len(old) == len(new) == 1:
        (mine,), (name, other) = old.values(), *new.items()
        if mine.kind == other.kind:
            return {name: mine}, new
    return old, new


def _compare_files(before: Compared, after: Compared, options: CompareOptions) -> list[FileDiff]:
    """The files by name: which are there, and which are the same byte for byte."""
    old, new = _named_files(before, after)
    found = []
    names = sorted({*old, *new})
    for number, name in enumerate(names):
        if options.progress is not None:
            options.progress(f"comparing {name}", number, len(names))
        file = new.get(name) or old[name]
        try:
            sides = [_file(side, name, files.get(name)) for side, files in ((before, old), (after, new))]
        except OSError:  # the tables say why
            found.append(FileDiff(name, file.kind, "unread", None, None))
            continue
        if sides[0] is None or sides[1] is None:
            status = "removed" if sides[1] is None else "added"
        else:
            status = "same" if sides[0] == sides[1] else "form"
        a, b = (side[0] if side is not None else None for side in sides)
        if status != "same":
            a, b = (
                unpacked_size(side[name].path, side[name].boundary) if size is not None else None
                for side, size in ((old, a), (new, b))
            )
        found.append(FileDiff(name, file.kind, status, a, b))
    return found


def _file(side: Compared, name: str, file: DataFile | None) -> tuple[int, str] | None:
    """Size and digest. Raises `OSError` where it cannot be read, or may lie in a folder that may not be looked into."""
    if file is None or not file.path.is_file():
        for part in side.parts:
            if any((part.root / name).is_relative_to(folder) for folder in part.unreadable):
                raise PermissionError(EACCES, "no permission", name)
        if file is not None and os.path.lexists(file.path):
            raise OSError(EINVAL, "it is not a regular file", name)
        return None
    return file.path.stat().st_size, file_digest(file.path)


def _all_same(files: Iterable[FileDiff]) -> bool:
    files = list(files)
    return bool(files) and all(file.status == "same" for file in files)


def _is_converted(side: Compared) -> bool:
    """Whether values that are kept next to the files may have a part in what is read."""
    folders = [folder for part in side.parts for folder in (part.root.resolve(), *part.root.resolve().parents)]
    return any((folder / MANIFEST).is_file() for folder in folders) or any(part.config for part in side.parts)


def _compare_kinds(
    comparison: TableComparison, before: Compared, after: Compared, diff: DatasetDiff, options: CompareOptions
) -> None:
    """The records of the files that differ, by kind of file, and what became of each file."""
    databases = before.database.load(), after.database.load()
    sides = list(zip(_named_files(before, after), databases, strict=True))
    changed = {file.kind for file in diff.files if file.status != "same"}
    changed -= {file.kind for file in diff.files if file.status == "unread"}  # the tables say that
    format_ = after.parts[0].format  # plain texts and tables are not among those that are known by name
    for number, kind in enumerate(format_.files):
        if kind.kind not in changed or not kind.records:
            continue
        if options.progress is not None:
            options.progress(f"comparing the files of {kind.kind}", number, len(format_.files))
        old, new = (
            KindSide({name: file for name, file in files.items() if file.kind == kind.kind}, connection)
            for files, connection in sides
        )
        ignored = options.ignored_of(f"{FILES}.{kind.kind.replace('-', '_')}")
        try:
            found = compare_kind(comparison, format_, kind, (old, new), diff.files, ignored)
        except MachineError:
            raise
        except RagdataError as error:
            diff.notes.append(f"The files of {kind.kind} could not be compared: {error}")
            continue
        for side, lost in ((before, old.lost), (after, new.lost)):
            known = [loss for loss in side.database.losses if loss.table == kind.kind]  # `_losses` tells them
            diff.notes.extend(
                f"{side.path}: {loss.count:,} of {kind.kind} could not be compared: {loss.reason}"
                for loss in lost
                if not any(each.reason == loss.reason or (each.unread and loss.unread) for each in known)
            )
        if found.different:
            diff.kinds.append(found)
    for file in diff.files:
        if file.status == "form" and file.after_records is None:  # nobody read it
            file.status = "changed"


def _losses(side: Compared, missing: str = "") -> Iterator[str]:
    """What could not be read, in sentences; ``missing`` ends those of files of which a part is missing."""
    lost = [loss for loss in side.database.losses if loss.kind in ("dropped", "lost")]
    if not lost:
        return
    from ragdatakit.reports.summaries import loss_text  # what it imports is worth it where there is something to tell

    for loss in lost:
        yield f"{side.path}: {loss_text(loss)}{missing if loss.unread else ''}"
