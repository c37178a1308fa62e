"""What is wrong in a table that settings name: what its reading leaves out, as problems, and where problems are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragdatakit.files.containers.json_text import HALVES, first_half
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading.noted_rows import Note
from ragdatakit.files.reading.record_reading import NO_NUMBERS, RecordReader
from ragdatakit.files.reading.table_rows import MORE_CELLS, ODD_MEMBER, REPEATED_COLUMN
from ragdatakit.quality.located_records import LocatedRecords
from ragdatakit.quality.record_finder import FoundRecord
from ragdatakit.schemas.conversions import Losses, LossKind
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.collector import Collector, Place

_NOT_UTF8 = re.compile(r"no JSON: byte 0x([0-9a-f]{2}) is not UTF-8")
_WORDS = {
    "no JSON object": "it is JSON, but not an object",
    "no JSON: Input data was truncated": "the JSON is cut off",
    ODD_MEMBER: f"it is {ODD_MEMBER}",
}
_UNREAD = ("invalid-utf8", "unreadable-row")


class UnreadRows(Losses):
    """The account of a reader, of which each record that is dropped can be asked for as soon as it is passed over."""

    def __init__(self) -> None:
        super().__init__()
        self.reader = RecordReader(self)
        self.notes: list[Note] = []
        self._dropped: list[str] = []
        self._changed: list[Problem] = []
        self._repeated: list[str] = []

    def add(
        self,
        kind: LossKind,
        table: str,
        column: str | None,
        reason: str,
        example: object = None,
        count: int = 1,
        unread: bool = False,
        place: str = "",
        by_option: bool = False,
    ) -> None:
        """Keep why a record is dropped, or how it is changed."""
        super().add(kind, table, column, reason, example, count, unread, place, by_option)
        if kind == "dropped" and not unread:
            self._dropped.append(reason)
        elif reason == HALVES:
            half = first_half(str(example).encode()) or "of an escape"
            self._changed.append(Problem("lone-surrogate", facts={"surrogate": half}))
        elif reason == NO_NUMBERS:
            self._changed.append(Problem("non-finite-number", facts={"value": "NaN or Infinity"}))

    def dropped(self) -> Iterator[Problem]:
        """The records that were passed over since the last call, in order."""
        self._dropped += [reason for _, _, _, reason, _ in self.notes if reason == ODD_MEMBER]
        for reason in self._dropped:
            yield _unreadable(reason)
        self._dropped.clear()

    def of_row(self) -> Iterator[Problem]:
        """What was read in another form of the row that came last, or not read."""
        yield from self._changed
        self._changed.clear()
        for _, _, _, reason, _ in self.notes:
            if reason == MORE_CELLS:
                yield Problem("cells-without-column")
        self._clear_notes()

    def _clear_notes(self) -> None:
        """Only the columns that are not read are of the file as a whole."""
        self._repeated += [column or "" for _, _, column, reason, _ in self.notes if reason == REPEATED_COLUMN]
        self.notes.clear()

    def of_file(self) -> Iterator[Problem]:
        """Which columns are not read, and why the file was not read to its end."""
        self._clear_notes()
        for column in self._repeated:
            yield Problem("repeated-table-column", facts={"column": repr(column)})
        for fault in self.reader.faults:
            yield Problem(fault.rule, facts=fault.facts)


def _unreadable(reason: str) -> Problem:
    if found := _NOT_UTF8.fullmatch(reason):
        return Problem("invalid-utf8", facts={"byte": int(found[1], 16)})
    return Problem("unreadable-row", facts={"reason": _WORDS.get(reason, reason.removeprefix("no JSON: "))})


class FoundInTable:
    """The problems of the records of a file: counted at once, and those for which there is room kept until their places
    are looked up."""

    def __init__(self, file: DataFile, collector: Collector) -> None:
        self._file, self._collector = file, collector
        self.records = 0
        """Those so far, read or not."""
        self._kept: dict[int, list[Problem]] = {}
        self._unread: dict[int, list[Problem]] = {}

    def add(self, problem: Problem) -> None:
        """Count one of the record behind those so far."""
        record = self.records
        room = self._collector.room(problem.rule, self._file)
        self._collector.count(problem.rule, self._file, records=(record,))
        if room:
            self._collector.reserve(problem.rule, self._file)
            of_kind = self._unread if problem.rule in _UNREAD else self._kept
            of_kind.setdefault(record, []).append(problem)

    def place(self, dataset: Dataset, records: LocatedRecords) -> None:
        """Make the findings, each with the line of its record where that can be found."""
        for located in records.raw(dataset, self._file) if self._unread else ():
            for problem in self._unread.pop(located.record, ()):
                text = located.raw.decode("utf-8", "replace")
                self._collector.complete(self._file, problem, Place.within(located, text, None, 0))
            if not self._unread:
                break
        for form, located, _ in records.of(dataset, self._file) if self._kept else ():
            for problem in self._kept.pop(located.record, ()):
                place = FoundRecord(self._file, form, located, problem.pointer).place("", dataset.format)
                self._collector.complete(self._file, problem, place)
            if not self._kept:
                break
        for number, problems in (*self._unread.items(), *self._kept.items()):
            for problem in problems:
                self._collector.complete(self._file, problem, Place(record=number))
