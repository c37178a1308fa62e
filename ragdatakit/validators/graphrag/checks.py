"""The checks of GraphRAG data that its declaration cannot say, and which module judges what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ragdatakit.files.allocation import give_back_memory
from ragdatakit.files.containers.parquet_tables import damage
from ragdatakit.files.containers.sources import CHANGED, is_lfs_pointer, lfs_size
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.graphrag.frame_metadata import metadata_damage
from ragdatakit.files.graphrag.index import Index
from ragdatakit.files.graphrag.settings import Settings, SettingsError, read_settings
from ragdatakit.files.graphrag.tables import StoredTable
from ragdatakit.files.paths.folders import size_of
from ragdatakit.outputs.file_states import WatchedFiles
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.graphrag.tables import BY_KIND, VECTORS
from ragdatakit.validators.checks import FormatChecks
from ragdatakit.validators.graphrag.extraction import claim_problems, extraction_problems
from ragdatakit.validators.graphrag.layout import has_other_header, layout_problems, settings_problem

if TYPE_CHECKING:
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.graphrag.coded_columns import Coded
    from ragdatakit.validators.graphrag.codes import Codes
    from ragdatakit.validators.graphrag.plain_columns import Numbering, Plain
    from ragdatakit.validators.graphrag.references import Asked, Found
    from ragdatakit.validators.graphrag.sql_tables import SqlTable, SqlTables

_INDEXES = ("index", "project")
_JOINED = ("0.1", "0.5")
"""Releases that may put several ids into one text, with commas."""
_REQUIRED_ROWS = {"entities": "empty-table", "text-units": "empty-table", "communities": "empty-table"}
_NOT_READ = "it cannot be read"
_WANTED_ROWS = {"reports": "no-reports", "relationships": "no-relationships"}


class GraphRagChecks(FormatChecks):
    """One index, one folder of vectors, or of extractions."""

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        self._forced = profiles[0] if len(profiles) == 1 else ""
        self._unreliable: set[str] = set()
        self._generation = self._forced
        self._found_settings: Settings | None = None
        self._columns: dict[str, dict[str, Coded]] = {}
        self._numbering: Numbering | None = None

    def start(self) -> Iterator[Placed]:
        """The release is not known yet, unless it was asked for."""
        self.dataset.profile = self._forced or None
        yield from ()

    def text(self, file: DataFile, data: bytes) -> Iterable[Problem]:
        """The faults of an answer of a model, or of the settings."""
        if file.kind == "settings":
            return self._settings(data)
        return claim_problems(data) if file.kind == "claims" else extraction_problems(data)

    def _settings(self, data: bytes) -> Iterator[Problem]:
        try:
            self._found_settings = settings = read_settings(data)
        except SettingsError as error:
            yield Problem("unusable-settings", facts={"reason": error.reason}, line=error.line)
            return
        place = settings.base_dir.strip("/").removeprefix("./")
        if place and not place.startswith("output") and "$" not in place:
            yield Problem("tables-elsewhere", None, settings.base_dir, line=settings.line)

    def finish(self) -> Iterator[Placed]:
        """The tables, which the engine does not open."""
        files = [file for file in self.dataset.files if file.kind in BY_KIND or file.kind == VECTORS]
        if not files:
            return
        from ragdatakit.validators.graphrag.sql_tables import SqlTables

        watched = WatchedFiles(file.path for file in files)
        tables = SqlTables(sum(size_of(file.path) for file in files))
        try:
            yield from self._checked(tables, files)
        finally:
            tables.close()
        changed = watched.changed()
        for file in files:
            if file.readable and file.path in changed:
                yield file, Problem("unreadable-file", facts={"reason": CHANGED})

    def _checked(self, tables: SqlTables, files: list[DataFile]) -> Iterator[Placed]:
        stored: dict[DataFile, StoredTable] = {}
        known = {file: StoredTable(file) for file in files}
        if tables.are_tiny:
            self._hold(table for file, table in known.items() if file.readable and file.kind in BY_KIND)
        for file in files:
            problem = self._opened(tables, known[file], stored)
            if problem is not None:
                yield file, problem
        index = Index(self.dataset, {file: table for file, table in stored.items() if file.kind in BY_KIND})
        self._generation = self._forced or index.generation
        if index.tables:
            self.dataset.profile = self._generation
        if self.dataset.layout in _INDEXES:
            yield from layout_problems(index, self._generation, self.dataset)
            if self._found_settings is not None and index.tables:
                settings = self.dataset.of_kind("settings")[0]
                problem = settings_problem(self._found_settings, self._generation, next(iter(index.tables.values())))
                if problem is not None:
                    yield settings, problem
        aside = {table.file for table in index.aside}
        for file, table in stored.items():
            if not file.readable or file.kind not in BY_KIND or file in aside:
                continue
            if self.dataset.layout in _INDEXES and has_other_header(table):  # which was reported
                self._unreliable.add(file.kind)
            else:
                yield from self._table(tables, file, table)
        yield from self._related(tables)

    def _hold(self, known: Iterable[StoredTable]) -> None:
        from ragdatakit.files.graphrag.held_rows import hold_rows
        from ragdatakit.validators.graphrag.plain_columns import Numbering

        if hold_rows(known):
            self._numbering = Numbering()

    def _opened(self, tables: SqlTables, table: StoredTable, stored: dict[DataFile, StoredTable]) -> Problem | None:
        """Learn the columns of a file; what is wrong with it where that cannot be done."""
        from ragdatakit.validators.graphrag.sql_tables import UnreadableTableError

        file = table.file
        if not file.readable:
            self._unreliable.add(file.kind)
            return None
        if is_lfs_pointer(file.path, file.boundary):
            self._lost(file)
            return Problem("lfs-pointer", facts={"size": lfs_size(file.boundary.read_bytes(file.path)[:256])})
        try:
            file.boundary.open(file.path).close()  # which waits for no pipe
            damaged = "" if table.is_csv else metadata_damage(file.path, file.boundary)
            table.columns = tables.columns_of(table)
        except (UnreadableTableError, OSError) as error:
            self._lost(file)
            locked = isinstance(error, PermissionError)
            return _unreadable((not locked and not table.is_csv and damage(file.path, file.boundary)) or error)
        if table.is_csv and (table.file_faults or not table.columns):
            self._lost(file)
            faults = (Problem(fault.rule, facts=fault.facts, hint=fault.hint) for fault in table.file_faults)
            return next(faults, _unreadable("there is nothing in it"))
        stored[file] = table
        return _unreadable(damaged) if damaged else None

    def _lost(self, file: DataFile) -> None:
        file.readable = file.to_end = False
        self._unreliable.add(file.kind)

    def _table(self, tables: SqlTables, file: DataFile, stored: StoredTable) -> Iterator[Placed]:
        """The rows of one table by themselves; it becomes one that others may refer to."""
        from ragdatakit.validators.graphrag.coded_columns import has_sizes
        from ragdatakit.validators.graphrag.plain_columns import plain_columns
        from ragdatakit.validators.graphrag.row_faults import row_faults
        from ragdatakit.validators.graphrag.sql_tables import UnreadableTableError, database_errors

        kind = file.kind
        try:
            old = self._generation in _JOINED
            table = tables.add(kind, stored, old)
            plain = plain_columns(table, old)
            self._columns[kind] = self._coded(tables, table, plain)
            whole = self._columns.get(kind, {})
            proved = ("odd-size",) if has_sizes(whole) else ()
            count, found = row_faults(tables, kind, table, self._generation, whole.keys(), proved, plain)
            if stored.fault is not None:
                self._forget(tables, kind, file)
                line, reason, hint, case = stored.fault
                verdict = "it is not read as it was written" if case else _NOT_READ
                facts = {"verdict": verdict, "reason": reason, "case": case}
                yield file, Problem("unreadable-table", facts=facts, line=line, hint=hint)
                return
            for problem in found:
                yield file, problem
        except (UnreadableTableError, database_errors()) as error:
            self._forget(tables, kind, file)
            yield file, _failed(error, stored)
            return
        file.records = count
        if not count and self.dataset.layout in _INDEXES:
            rule = _REQUIRED_ROWS.get(kind) or _WANTED_ROWS.get(kind)
            if rule:
                yield file, Problem(rule, facts={"table": stored.table.name if stored.table else ""})
                self._unreliable.add(kind)

    def _forget(self, tables: SqlTables, kind: str, file: DataFile) -> None:
        self._lost(file)
        tables.tables.pop(kind, None)
        self._columns.pop(kind, None)

    def _coded(self, tables: SqlTables, table: SqlTable, plain: Plain) -> dict[str, Coded]:
        """The columns of a table that `ArrayProofs` compares; of a large one none where ids are not stored plainly."""
        from ragdatakit.validators.graphrag.coded_columns import MOST, coded_columns, value_count, viewed_columns
        from ragdatakit.validators.graphrag.codes import compared_columns

        stored = table.stored
        names = [name for name in compared_columns(stored.file.kind) if table.has(name)]
        if self._numbering is not None:  # with which codes of the database are not compared
            return self._numbering.coded(plain, names)
        if not tables.are_large:
            return viewed_columns(tables, table, names)
        names = [name for name in names if name in stored.columns]
        if stored.is_csv or self._generation in _JOINED:
            return {}
        held = sum(len(column.codes) for columns in self._columns.values() for column in columns.values())
        return coded_columns(stored, names) if held + value_count(stored, names) <= MOST else {}

    def _related(self, tables: SqlTables) -> Iterator[Placed]:
        """What the tables say of each other."""
        from ragdatakit.validators.graphrag.codes import Codes
        from ragdatakit.validators.graphrag.references import answers
        from ragdatakit.validators.graphrag.sql_tables import database_errors

        if not tables.tables:
            return
        try:
            codes = Codes(tables)
            for questions in self._unproved(codes):
                yield from self._placed(tables, answers(codes, questions))
            yield from self._vectors(tables)
        except database_errors() as error:  # a table that changed, or that takes more memory than there is
            first = next(iter(tables.tables.values())).stored
            yield first.file, _failed(error, first)

    def _unproved(self, codes: Codes) -> list[list[Asked]]:
        """What arrays of codes do not prove. They are let go before the database is asked, as both take memory."""
        from ragdatakit.validators.graphrag.array_proofs import ArrayProofs
        from ragdatakit.validators.graphrag.communities import CommunityChecks
        from ragdatakit.validators.graphrag.references import ReferenceChecks

        proofs = ArrayProofs(self._columns)
        references = ReferenceChecks(codes, self._unreliable)
        communities = CommunityChecks(codes, self._unreliable, self._generation)
        found = [list(references.questions(proofs)), list(communities.questions(proofs))]
        proofs.forget()
        self._columns.clear()
        if codes.tables.are_large:
            give_back_memory()
        return found

    def _vectors(self, tables: SqlTables) -> Iterator[Placed]:
        from ragdatakit.validators.graphrag.sql_tables import UnreadableTableError, database_errors
        from ragdatakit.validators.graphrag.vectors import store_problems, vector_problems

        for file in self.dataset.of_kind(VECTORS):
            if not file.readable:
                continue
            stored = StoredTable(file)
            try:
                table = tables.add(file.name, stored, old=False)
                for problem in vector_problems(tables, file.path.name, table, self._unreliable):
                    yield file, problem
            except (UnreadableTableError, database_errors()) as error:
                yield file, _failed(error, stored)
        if self.dataset.layout in _INDEXES:
            yield from store_problems(tables, self.dataset, self._unreliable)

    def _placed(self, tables: SqlTables, found: Iterable[Found]) -> Iterator[Placed]:
        for kind, rule, column, row, line, value, facts in found:
            problem = Problem(rule, f"/{column}", value, facts, line=line, record=row)
            yield tables[kind].stored.file, problem


def _failed(error: Exception, stored: StoredTable) -> Problem:
    """That a table could not be read, or that it takes too much memory."""
    from ragdatakit.validators.graphrag.sql_tables import database_errors, reason_of, takes_too_much

    if takes_too_much(error):
        return Problem("unchecked-table", facts={"reason": "it takes more memory than the check may use"})
    return _unreadable(reason_of(error, stored) if isinstance(error, database_errors()) else error)


def _unreadable(reason: object) -> Problem:
    """A file that may not be opened needs no new index."""
    rule = "unreadable-file" if isinstance(reason, PermissionError) else "unreadable-table"
    facts = {"verdict": _NOT_READ, "reason": getattr(reason, "strerror", None) or str(reason), "case": ""}
    return Problem(rule, facts=facts)
