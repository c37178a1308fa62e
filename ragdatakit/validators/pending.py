"""Findings of set checks: known by row number until their records are looked up, all of a file in one go.

Line and offset of every row would cost time and memory while all is well. So set checks keep no more than row numbers,
and the files that have findings are read once more.

It is longer than others: what is kept of problems, which of them are shown, and what they become when their records are
there are one order of steps over the same lists.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from ragdatakit.files.containers import strict_json
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.record_forms import RecordForm
from ragdatakit.files.datasets import DataFile
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.findings import Problem, Related
from ragdatakit.validators.collector import Collector, Pending, PerFile, Place
from ragdatakit.validators.records import readable_key
from ragdatakit.validators.row_problems import RowProblems

_RecordKey = tuple[DataFile, int]
"""A file and the number of a record in it."""
KeyOf = Callable[[DataFile, Located, Any], str | None]
"""What identifies a record of a file, whose decoded value is given where it is at hand."""
FindFix = Callable[[DataFile, Problem, Located | None, Located | None, DataFile | None], None]
"""Notes what repairs a problem of a record, which one of another file may clash with."""
_LONGEST_NAME = 1 << 12
"""Characters of a reference beyond which nothing like it is looked for."""
_PART_BYTES = 64 << 20
"""About what the records take that are looked up at once."""
_PENDING_BYTES = 1000
"""What one of them takes besides its text."""
_RESPELLED_AT_ONCE = 1 << 12
"""References whose other spellings, dozens each, are held at once."""
_TOGETHER = 1 << 10
"""Findings that are completed together."""


@dataclass(slots=True)
class _KindRows:
    bases: list[int] = field(default_factory=list)
    files: list[DataFile] = field(default_factory=list)
    length: int = 0


class RowMap:
    """Row numbers of the set checks: consecutive over the files of a kind, in the order they are read."""

    def __init__(self) -> None:
        self._kinds: dict[str, _KindRows] = {}

    def begin(self, file: DataFile) -> int:
        """The row of the file's first record."""
        rows = self._kinds.setdefault(file.kind, _KindRows())
        rows.bases.append(rows.length)
        rows.files.append(file)
        return rows.length

    def end(self, file: DataFile, records: int) -> None:
        """The file has this many records."""
        rows = self._kinds[file.kind]
        rows.length = rows.bases[-1] + records

    def first_rows(self, kind: str) -> list[int]:
        """Those of the files of a kind, in the order they are read."""
        return self._kinds[kind].bases if kind in self._kinds else []

    def file(self, kind: str, number: int) -> DataFile:
        """A file by its number in that order."""
        return self._kinds[kind].files[number]

    def only_file(self, kind: str) -> DataFile | None:
        """The one file of a kind that was read, if it is one."""
        files = self._kinds[kind].files
        return files[0] if len(files) == 1 else None

    def find(self, kind: str, row: int) -> tuple[DataFile, int]:
        """The file and the number of the record in it."""
        rows = self._kinds[kind]
        i = bisect_right(rows.bases, row) - 1
        # an empty file shares its base with the next one: bisect finds the last, which has the row
        return rows.files[i], row - rows.bases[i]

    def copies(self, repeats: Iterable[RowProblems]) -> dict[DataFile, DataFile]:
        """The files each record of which repeats one of a single other file, with that file."""
        return whole_copies(
            Counter(
                (self.find(repeated.kind, int(row))[0], self.find(repeated.kind, int(first))[0])
                for row, first in zip(repeated.rows, repeated.firsts, strict=True)
            )
            for repeated in repeats
            if len(self._kinds[repeated.kind].files) > 1
        )

    def files_of(self, found: RowProblems) -> list[DataFile]:
        """The files from that of the first row to that of the last."""
        rows = self._kinds[found.kind]
        first, last = (bisect_right(rows.bases, int(found.rows[at])) - 1 for at in (0, -1))
        return rows.files[first : last + 1]

    def outside(self, found: RowProblems, those: Container[DataFile], inside: bool = False) -> RowProblems:
        """The same without the rows in those files, or without all others."""
        files = [self.find(found.kind, int(row))[0] for row in found.rows]
        kept = [i for i, file in enumerate(files) if (file in those) == inside]
        rows, values, firsts, facts = (
            None if column is None else [column[i] for i in kept]
            for column in (found.rows, found.values, found.firsts, found.facts)
        )
        return replace(found, rows=rows, values=values, firsts=firsts, facts=facts)


def whole_copies(repeats: Iterable[Mapping[tuple[DataFile, DataFile], int]]) -> dict[DataFile, DataFile]:
    """The files each record of which repeats one of a single other file, with that file; ``repeats`` count, for each
    key, how many records of a file repeat one of another."""
    found: dict[DataFile, DataFile] = {}
    for counted in repeats:
        for (file, other), number in counted.items():
            if other is not file and number == file.records and number > 1:
                found.setdefault(file, other)
    return found


class PendingFindings:
    """Counts problems at rows as they come; those that are kept become findings at the end, when their records are
    looked up, a number of them at a time: until then there is no more in memory than their rows."""

    def __init__(self, collector: Collector, rows: RowMap, all_are_wanted: Callable[[str], bool]) -> None:
        self._collector = collector
        self._rows = rows
        self._all_are_wanted = all_are_wanted
        self._kept: list[tuple[RowProblems, bool]] = []

    def take(self, found: RowProblems) -> None:
        """Count all rows and keep those there is room for."""
        collector = self._collector
        if collector.state(found.rule).rule.per_file:
            self._take_per_file(found)
            return
        if ignored := self._ignoring(found):
            self._take_unseen(self._rows.outside(found, ignored, inside=True))
            found = self._rows.outside(found, ignored)
        total, taken = len(found.rows), 0
        while taken < total:
            file, _ = self._rows.find(found.kind, int(found.rows[taken]))
            if not collector.room(found.rule, file):
                break
            collector.count(found.rule, file)
            collector.reserve(found.rule, file)
            taken += 1
        if taken:
            self._keep(found, 0, taken)
        self._take_unseen(found, taken)

    def _ignoring(self, found: RowProblems) -> set[DataFile]:
        """The files in which the rule is ignored, though not in others."""
        selection, rule = self._collector.selection, self._collector.state(found.rule).rule
        if selection.ignored_in is None or not len(found.rows):
            return set()
        return {file for file in self._rows.files_of(found) if selection.leaves_out(rule, file)}

    def _take_unseen(self, found: RowProblems, start: int = 0) -> None:
        """Count the rows from this one on, of which none is shown."""
        total = len(found.rows)
        if start < total:
            self._count_rest(found, start)
            if self._all_are_wanted(found.rule):
                self._keep(found, start, total, shown=False)

    def _keep(self, found: RowProblems, start: int, end: int, shown: bool = True) -> None:
        from copy import copy

        rows, values, firsts, facts = (
            None if column is None else copy(column[start:end])  # a view would hold all of an array
            for column in (found.rows, found.values, found.firsts, found.facts)
        )
        self._kept.append((replace(found, rows=rows, values=values, firsts=firsts, facts=facts), shown))

    def _entries(self) -> Iterator[Pending[_RecordKey]]:
        """What is kept, one by one."""
        for found, shown in self._kept:
            for position, row in enumerate(found.rows):
                value = found.values[position] if found.values is not None else None
                facts = found.facts[position] if found.facts is not None else {}
                first = None
                if found.firsts is not None:
                    first = self._rows.find(found.first_kind, int(found.firsts[position]))
                problem = Problem(found.rule, f"/{found.field}", value, dict(facts))
                record = self._rows.find(found.kind, int(row))
                yield Pending(problem, record, first, found.note, are_keys=found.are_keys, shown=shown)

    def _parts(self) -> Iterator[list[Pending[_RecordKey]]]:
        """What is kept, in parts whose records fit into memory."""
        part: list[Pending[_RecordKey]] = []
        size = 0
        for pending in self._entries():
            part.append(pending)
            size += _PENDING_BYTES + sum(_usual_bytes(key[0]) for key in (pending.record, pending.other) if key)
            if size > _PART_BYTES:
                yield part
                part, size = [], 0
        if part:
            yield part

    def _take_per_file(self, found: RowProblems) -> None:
        """The first row of each file, and the number of the others."""
        single = self._rows.only_file(found.kind)
        wanted = self._all_are_wanted(found.rule)
        most = 0 if wanted else self._collector.selection.max_per_rule
        rows = found.rows[:most] if single is not None and most else found.rows
        those: dict[DataFile, PerFile] = {}
        for position, row in enumerate(rows):
            file, record = self._rows.find(found.kind, int(row))
            if file not in those:
                those[file] = PerFile()
                if self._collector.room(found.rule, file):
                    self._collector.reserve(found.rule, file)
                    self._keep(found, position, position + 1)
                elif wanted:
                    self._keep(found, position, position + 1, shown=False)
            elif wanted:
                self._keep(found, position, position + 1, shown=False)
            those[file].count += 1
            those[file].records.append(record)
        for file, its in those.items():
            self._collector.count(found.rule, file, len(found.rows) if single is not None else its.count, its.records)

    def _count_rest(self, found: RowProblems, position: int) -> None:
        """By file: the rows of one file are consecutive in most cases, but not in all."""
        number: dict[int, int] = {}
        files: dict[int, DataFile] = {}
        single = self._rows.only_file(found.kind)
        if single is not None:
            self._collector.count(found.rule, single, len(found.rows) - position)
            return
        for row in found.rows[position:]:
            file, _ = self._rows.find(found.kind, int(row))
            number[id(file)] = number.get(id(file), 0) + 1
            files[id(file)] = file
        for key, count in number.items():
            self._collector.count(found.rule, files[key], count)

    def complete(
        self,
        locate: Callable[[DataFile, Iterable[int]], Iterable[Located]],
        form_of: Callable[[DataFile], RecordForm],
        value_of: Callable[[DataFile, str, Any], Any],
        key_of: KeyOf,
        find_fix: FindFix,
    ) -> None:
        """Look up the records of all that is kept, and hand it to the collector.

        ``locate`` finds records of a file again, ``form_of`` says what their text is, ``value_of`` derives the columns
        that a format makes from a record, ``key_of`` says what identifies it, ``find_fix`` notes what repairs it.
        """
        for part in self._parts():
            found = _located(part, locate)
            for start in range(0, len(part), _TOGETHER):
                self._complete(part[start : start + _TOGETHER], found, form_of, value_of, key_of, find_fix)
        self._kept = []

    def _complete(
        self,
        part: Sequence[Pending[_RecordKey]],
        found: Mapping[_RecordKey, Located],
        form_of: Callable[[DataFile], RecordForm],
        value_of: Callable[[DataFile, str, Any], Any],
        key_of: KeyOf,
        find_fix: FindFix,
    ) -> None:
        places: list[Place] = []
        for pending in part:
            other = None
            if pending.other is not None and (there := found.get(pending.other)) is not None:
                other = form_of(pending.other[0]).value(there.raw.decode("utf-8", "replace"))
            form = form_of(pending.record[0])
            places.append(_placed(pending, found.get(pending.record), other, form, value_of, key_of))
        _name_similar([p for p, place in zip(part, places, strict=True) if place.line is not None])
        for pending, place in zip(part, places, strict=True):
            related: tuple[Related, ...] = ()
            there = found.get(pending.other) if pending.other is not None else None
            other_file = pending.other[0] if pending.other is not None else None
            find_fix(pending.record[0], pending.problem, found.get(pending.record), there, other_file)
            if not pending.shown:
                continue
            if pending.other is not None:
                file, record = pending.other
                related = (Related(file.display, _line_of(file, there), pending.note, record),)
            self._collector.complete(pending.record[0], pending.problem, place, related)


def _located(
    part: Sequence[Pending[_RecordKey]], locate: Callable[[DataFile, Iterable[int]], Iterable[Located]]
) -> dict[_RecordKey, Located]:
    """The records that findings are about, by file and number."""
    wanted: dict[DataFile, set[int]] = {}
    for file, record in (key for pending in part for key in (pending.record, pending.other) if key is not None):
        wanted.setdefault(file, set()).add(record)
    return {(file, place.record): place for file, records in wanted.items() for place in locate(file, records)}


def _usual_bytes(file: DataFile) -> int:
    return file.bytes // file.records if file.records else 0


def _placed(
    pending: Pending[_RecordKey],
    located: Located | None,
    other: Any,
    form: RecordForm,
    value_of: Callable[[DataFile, str, Any], Any],
    key_of: KeyOf,
) -> Place:
    """Where a problem is, which gets its pointer, value and facts; ``other`` is the record that this one clashes with,
    decoded."""
    problem = pending.problem
    if located is None:
        problem.facts = _facts(problem, None)
        return Place(record=pending.record[1])
    text = located.raw.decode("utf-8", "replace")
    record = form.value(text)
    field, named = (problem.pointer or "/")[1:], problem.value
    if cell := form.column_of(field):
        problem.pointer, problem.value = f"/{cell}", record.get(cell)
    else:
        problem.pointer, problem.value = _point(record, field, pending, other, value_of)
    if record is None and problem.value is None:  # a record too long to be read once more
        problem.value = named if named is not None else form.glimpse(text, field)
    problem.facts = _facts(problem, record)
    key = key_of(pending.record[0], located, record)
    start, length = form.span(text, problem.pointer) or (None, 0)
    return Place.within(located, text, start, length, key, problem.value)


def _name_similar(part: Sequence[Pending[_RecordKey]]) -> None:
    """Name the keys that differ from dangling references in their blanks, their case or their Unicode form only; for
    those that have none, the only key that is the same written otherwise."""
    from ragdatakit.schemas.search.id_spellings import loosely_the_same, nearly_the_same

    dangling = [p for p in part if p.are_keys is not None and isinstance(p.problem.value, str)]
    for pending, known in _known(dangling, nearly_the_same):
        pending.problem.nearly = known[0] if known else ""
    rest = [p for p in dangling if not p.problem.nearly]
    for start in range(0, len(rest), _RESPELLED_AT_ONCE):
        for pending, known in _known(rest[start : start + _RESPELLED_AT_ONCE], loosely_the_same):
            pending.problem.nearly = known[0] if len(known) == 1 else ""


def _known(
    part: Sequence[Pending[_RecordKey]], spellings: Callable[[str], list[str]]
) -> Iterator[tuple[Pending[_RecordKey], list[str]]]:
    """The spellings of each dangling reference that are keys. All are looked up at once: a query for each would take a
    thousand times as long."""
    asked: dict[Callable[[Sequence[str]], list[bool]], list[tuple[Pending[_RecordKey], list[str]]]] = {}
    for pending in part:
        if pending.are_keys is not None:
            value = pending.problem.value
            names = spellings(value) if len(value) <= _LONGEST_NAME else []
            asked.setdefault(pending.are_keys, []).append((pending, names))
    for are_keys, those in asked.items():
        there = iter(are_keys([name for _, names in those for name in names]))
        for pending, names in those:
            yield pending, [name for name, found in zip(names, there, strict=False) if found]


def _facts(problem: Problem, record: Any) -> dict[str, Any]:
    """Facts that are functions are made from the record, now that it is read again (None where it is not)."""
    return {name: fact(record) if callable(fact) else fact for name, fact in problem.facts.items()}


def _point(
    record: Any, field: str, pending: Pending[_RecordKey], other: Any, value_of: Callable[[DataFile, str, Any], Any]
) -> tuple[str, Any]:
    """The JSON Pointer and the value that is meant; ``other`` is the record that this one clashes with."""
    pointer, named = f"/{field}", pending.problem.value
    if field.startswith("@"):
        return "", value_of(pending.record[0], field, record)
    value = strict_json.resolve(record, pointer)
    if isinstance(value, dict):
        return pointer, named
    if isinstance(value, list):
        there = strict_json.resolve(other, pointer)
        common = there if isinstance(there, list) else []
        for i, item in enumerate(value):
            if _is_meant(item, named) if named is not None else item in common:
                return f"{pointer}/{i}", item
        return pointer, value[0] if len(value) == 1 else None
    return pointer, value


def _is_meant(item: Any, value: Any) -> bool:
    """Whether a list's item is the one a set check named: by its value, or by its code."""
    if type(value) is int:
        return bool(readable_key(item, "integer") == value)
    if isinstance(value, str | float):
        return bool(type(item) is not bool and (item == value or str(item) == str(value)))
    if value.dtype.names is None:
        number = readable_key(item, "integer")
        return number is not None and number % 2**64 == int(value)
    if not isinstance(item, str):
        return False
    from ragdatakit.arrays.codes import narrowed
    from ragdatakit.arrays.text_codes import codes_of_texts

    codes = codes_of_texts([item])
    return bool(codes[0] == value or narrowed(codes)[0] == value)


def _line_of(file: DataFile, there: Located | None) -> int | None:
    """The line of a record; a Parquet file has none."""
    return there.line if there is not None and not file.row_groups else None
