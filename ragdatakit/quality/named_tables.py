"""The check of the tables that settings name: columns, values, ids, references.

Rows are read as conversions read them, whatever separates their cells; where they are in the files is looked up
afterwards, for those that are reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from ragdatakit.converters.column_maps import parse
from ragdatakit.converters.plain.row_ids import ColumnedFile
from ragdatakit.files.containers.strict_json import escape
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.plain_sources import READ_AS
from ragdatakit.files.reading.table_rows import Row, text_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quality.checked_tables import checked_plain
from ragdatakit.quality.located_records import LocatedRecords
from ragdatakit.quality.named_rows import named_file
from ragdatakit.quality.record_finder import FoundRecord
from ragdatakit.schemas.errors import MachineError, MissingExtraError, RagdataError
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.collector import Collector, Place, Selection
from ragdatakit.validators.run_options import RunOptions

_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,18}(?:\.0+)?\s*")
_Columns = Mapping[str, tuple[str, ...]]
"""What a row has, as the words of `--map` call it, to its columns."""


@dataclass(slots=True)
class _Table:
    """A file, and what its columns are."""

    rows: ColumnedFile
    columns: _Columns

    @property
    def file(self) -> DataFile:
        return self.rows.file

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


@dataclass(slots=True)
class NamedTables:
    """What finds and checks such tables."""

    _ids: dict[str, set[str]] = field(default_factory=dict)
    _partly: set[str] = field(default_factory=set)

    def find(self, path: Path, follow_links: bool, read_as: Mapping[str, str]) -> list[Dataset]:
        """As `TableCheck` says."""
        return checked_plain(path, "table", follow_links, read_as)

    def check_tables(
        self, dataset: Dataset, options: RunOptions, selection: Selection, carried: Counter[str]
    ) -> Collector:
        """As `TableCheck` says."""
        collector = Collector(dataset.format, (), selection, options.on_finding, carried)
        records = LocatedRecords(options.memory_limit, options.progress)
        self._ids, self._partly = {}, set()
        tables = list(self._tables(dataset, collector))
        for table in sorted(tables, key=lambda one: one.is_judgement):  # ids before what refers to them
            kept: dict[int, list[Problem]] = {}
            try:
                self._check(table, kept, collector)
            except (MissingExtraError, MachineError):
                raise
            except RagdataError as error:
                self._not_read(table.file, table.columns, error, collector)
            _place(dataset, table, kept, records, collector)
        collector.finish()
        return collector

    def _check(self, table: _Table, kept: dict[int, list[Problem]], collector: Collector) -> None:
        file, number = table.file, 0
        for number, row in enumerate(table.rows.rows([]), 1):
            for problem in self._problems(table, row):
                if collector.room(problem.rule, file):
                    collector.count(problem.rule, file, records=(number - 1,))
                    collector.reserve(problem.rule, file)
                    kept.setdefault(number - 1, []).append(problem)
                else:
                    collector.count(problem.rule, file, records=(number - 1,))
        file.records = number

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

    def _tables(self, dataset: Dataset, collector: Collector) -> Iterator[_Table]:
        """Those whose columns are there; what is wrong with the others is reported."""
        read_as = dataset.options[READ_AS]
        items = parse(read_as["map"])
        for file in dataset.files:
            rows = named_file(dataset, file)
            columns = {item.target: item.columns for item in items if item.concerns(rows)}
            try:
                names = rows.column_names()
            except (MissingExtraError, MachineError):
                raise
            except RagdataError as error:
                self._not_read(file, columns, error, collector)
                continue
            missing = [name for listed in columns.values() for name in listed if name not in names and name != "*"]
            for name in missing if names else ():
                facts = {"column": repr(name), "columns": ", ".join(names[:20])}
                collector.add(file, Problem("missing-table-column", facts=facts), Place())
            if names and not missing:
                yield _Table(rows, columns)
            elif names:
                self._partly.add(_ids_of(columns)[0])

    def _not_read(self, file: DataFile, columns: _Columns, error: RagdataError, collector: Collector) -> None:
        """What it has ids of is not all known then."""
        self._partly.add(_ids_of(columns)[0])
        reason = str(error).removeprefix(f"{file.display}: ")
        collector.add(file, Problem("unreadable-file", facts={"reason": reason}), Place())


def _ids_of(columns: _Columns) -> tuple[str, str]:
    if "text" in columns:
        return "document", columns["id"][0]
    return ("question", columns["question_id"][0]) if "question" in columns else ("", "")


def _pointer(column: str, row: Row) -> str | None:
    return f"/{escape(column)}" if column in row else None


def _place(
    dataset: Dataset, table: _Table, kept: dict[int, list[Problem]], records: LocatedRecords, collector: Collector
) -> None:
    """Make the findings, each with the line of its row where that can be found."""
    file = table.file
    found = records.of(dataset, file) if kept else iter(())
    for form, located, _ in found:
        for problem in kept.pop(located.record, ()):
            place = FoundRecord(file, form, located, problem.pointer).place("", dataset.format)
            collector.complete(file, problem, place)
        if not kept:
            break
    for number, problems in kept.items():
        for problem in problems:
            collector.complete(file, problem, Place(record=number))
