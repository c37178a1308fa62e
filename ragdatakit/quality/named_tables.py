"""The check of the tables that settings name: columns, values, ids, references.

Rows are read as conversions read them, whatever separates their cells; where they are in the files is looked up
afterwards, for those that are reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from ragdatakit.converters.column_maps import parse
from ragdatakit.files.configuration.named_tables import place_of_column
from ragdatakit.files.containers.strict_json import escape
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.plain_names import READ_AS
from ragdatakit.files.reading.csv_tables import LineFault
from ragdatakit.files.reading.table_rows import Row, text_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quality.checked_tables import checked_plain
from ragdatakit.quality.located_records import LocatedRecords
from ragdatakit.quality.named_rows import named_file
from ragdatakit.quality.unread_rows import FoundInTable, UnreadRows
from ragdatakit.schemas.errors import MachineError, MissingExtraError, RagdataError
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.collector import Collector, Place, Selection
from ragdatakit.validators.run_options import RunOptions

_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,18}(?:\.0+)?\s*")
_ENCODING = "say in its `[[table]]` what its `encoding` is"
_Columns = Mapping[str, tuple[str, ...]]
"""What a row has, as the words of `--map` call it, to its columns."""


@dataclass(slots=True)
class _Table:
    """A file, and what its columns are."""

    file: DataFile
    columns: _Columns
    names: list[str]
    """The columns that it has; none where nothing can be read as a row."""

    @property
    def missing(self) -> list[str]:
        """The columns that it should have."""
        wanted = (name for listed in self.columns.values() for name in listed)
        return [name for name in wanted if name not in self.names and name != "*"]

    @property
    def needed(self) -> list[str]:
        """The columns in which each row has a value."""
        wanted = {"question_id", "doc_id"} if self.is_judgement else {"id", "text", "question_id", "question"}
        wanted |= {"source", "relation", "target"}
        return [names[0] for word, names in self.columns.items() if word in wanted]

    @property
    def is_judgement(self) -> bool:
        """Whether its rows are judgements alone."""
        return "question_id" in self.columns and "question" not in self.columns

    @property
    def ids_of(self) -> tuple[str, str]:
        """What is called by an id in each row, and its column; empty where nothing is."""
        return _ids_of(self.columns)

    @property
    def references(self) -> Iterator[tuple[str, str]]:
        """What the rows name by its id, and the column."""
        if self.is_judgement:
            yield "question", self.columns["question_id"][0]
            for column in self.columns["doc_id"] if len(self.columns["doc_id"]) == 1 else ():
                yield "document", column


class NamedTables:
    """What finds and checks such tables."""

    _dataset: Dataset
    _ids: dict[str, set[str]]
    _partly: set[str]

    def find(self, path: Path, follow_links: bool, read_as: Mapping[str, str]) -> list[Dataset]:
        """As `TableCheck` says."""
        return checked_plain(path, "table", follow_links, read_as)

    def check_tables(
        self, dataset: Dataset, options: RunOptions, selection: Selection, carried: Counter[str]
    ) -> Collector:
        """As `TableCheck` says."""
        collector = Collector(dataset.format, (), selection, options.on_finding, carried)
        records = LocatedRecords(options.memory_limit, options.progress)
        self._ids, self._partly, self._dataset = {}, set(), dataset
        tables = list(self._tables(dataset, options, collector))
        for table in sorted(tables, key=lambda one: one.is_judgement):  # ids before what refers to them
            found, unread = FoundInTable(table.file, collector), UnreadRows()
            try:
                self._check(table, unread, found)
            except (MissingExtraError, MachineError):
                raise
            except RagdataError as error:
                self._not_read(table.file, table.columns, error, collector)
            for problem in unread.of_file():
                collector.add(table.file, problem, Place())
            if unread.reader.faults:
                self._partly.add(table.ids_of[0])
            elif not (table.names or found.records):
                self._without_columns(table, options, collector)
            found.place(dataset, records)
        collector.finish()
        return collector

    def _check(self, table: _Table, unread: UnreadRows, found: FoundInTable) -> None:
        """Check the rows; those that cannot be read are records of the file, too."""
        try:
            for row in named_file(self._dataset, table.file, unread.reader).rows(unread.notes):
                self._pass_over(table, unread, found)
                for problem in (*unread.of_row(), *self._problems(table, row)):
                    found.add(problem)
                found.records += 1
        finally:
            self._pass_over(table, unread, found)
            table.file.records = found.records

    def _pass_over(self, table: _Table, unread: UnreadRows, found: FoundInTable) -> None:
        """The records that were not read before the row that came last, or the end."""
        for problem in unread.dropped():
            found.add(problem)
            found.records += 1
            self._partly.add(table.ids_of[0])

    def _problems(self, table: _Table, row: Row) -> Iterator[Problem]:
        texts = {column: text_of(row.get(column)) for names in table.columns.values() for column in names}
        missing = {column for column in table.needed if not (texts[column] or "").strip()}
        for column in table.needed:
            if column in missing:
                yield Problem("missing-table-value", _pointer(column, row), None, {"column": column})
        kind, column = table.ids_of
        if kind and column not in missing and (value := texts[column]) is not None:
            ids = self._ids.setdefault(kind, set())
            if value in ids:
                yield Problem("repeated-table-id", _pointer(column, row), value)
            ids.add(value)
        for kind, column in table.references:
            known = kind in self._ids and kind not in self._partly
            if known and column not in missing and texts[column] not in self._ids[kind]:
                yield Problem("unknown-table-id", _pointer(column, row), texts[column], {"what": kind})
        for column in table.columns.get("grade", ()):
            if (grade := texts[column]) is not None and grade.strip() and not _INTEGER.fullmatch(grade):
                yield Problem("grade-not-integer", _pointer(column, row), grade)

    def _tables(self, dataset: Dataset, options: RunOptions, collector: Collector) -> Iterator[_Table]:
        """Those whose columns are there, or in which nothing can be read as a row; what is wrong with the others is
        reported."""
        items = parse(dataset.options[READ_AS]["map"])
        for file in dataset.files:
            rows = named_file(dataset, file)
            columns = {item.target: item.columns for item in items if item.concerns(rows)}
            try:
                table = _Table(file, columns, rows.column_names())
            except (MissingExtraError, MachineError):
                raise
            except RagdataError as error:
                self._not_read(file, columns, error, collector)
                continue
            if table.names and table.missing:
                self._without_columns(table, options, collector)
            else:
                yield table

    def _without_columns(self, table: _Table, options: RunOptions, collector: Collector) -> None:
        self._partly.add(table.ids_of[0])
        configuration = options.configurations.of(self._dataset.root)
        for name in table.missing:
            place = place_of_column(configuration, table.file, name)
            facts = {"column": repr(name), "place": place, "columns": ", ".join(table.names[:20]) or "none"}
            collector.add(table.file, Problem("missing-table-column", facts=facts), Place())

    def _not_read(self, file: DataFile, columns: _Columns, error: RagdataError, collector: Collector) -> None:
        """What it has ids of is not all known then."""
        self._partly.add(_ids_of(columns)[0])
        line, reason = None, str(error).removeprefix(f"{file.display}: ")
        if isinstance(error, LineFault):
            line, reason = error.line, error.reason + (f"; {_ENCODING}" if error.is_encoding else "")
        collector.add(file, Problem("unreadable-file", facts={"reason": reason}), Place(line=line))


def _ids_of(columns: _Columns) -> tuple[str, str]:
    if "text" in columns:
        return "document", columns["id"][0]
    return ("question", columns["question_id"][0]) if "question" in columns else ("", "")


def _pointer(column: str, row: Row) -> str | None:
    return f"/{escape(column)}" if column in row else None
