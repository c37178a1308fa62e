"""Findings of set checks: known by row number until their lines are looked up, all of a file in one go."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from ragdatakit.files import strict_json
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.positions import Located
from ragdatakit.files.record_forms import RecordForm
from ragdatakit.schemas.findings import Problem, Related
from ragdatakit.validators.collector import Collector, Place
from ragdatakit.validators.excerpts import place_of
from ragdatakit.validators.python_keys import nearly_the_same
from ragdatakit.validators.records import readable_key
from ragdatakit.validators.row_problems import RowProblems

_LONGEST_NAME = 1 << 12
"""Characters of a reference beyond which nothing like it is looked for."""
_PART_BYTES = 64 << 20
"""About what the records take that are looked up at once."""
_HELD_BYTES = 1000
"""What one of them takes beside its text."""
_TOGETHER = 1 << 10
"""Findings that are worded together."""


@dataclass(slots=True)
class _Held:
    rule: str
    file: DataFile
    record: int
    field: str
    value: Any
    first: tuple[DataFile, int] | None
    note: str
    facts: Mapping[str, Any]
    are_keys: Callable[[Sequence[str]], list[bool]] | None


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
        found: dict[DataFile, DataFile] = {}
        for hits in repeats:
            if len(self._kinds[hits.kind].files) < 2:
                continue
            others: dict[DataFile, Counter[DataFile]] = {}
            for row, first in zip(hits.rows, hits.firsts, strict=True):
                file, other = self.find(hits.kind, int(row))[0], self.find(hits.kind, int(first))[0]
                others.setdefault(file, Counter())[other] += 1
            for file, counted in others.items():
                (other, number), *_ = counted.most_common(1)
                if other is not file and number == file.records and number > 1:
                    found.setdefault(file, other)
        return found

    def outside(self, hits: RowProblems, copies: Mapping[DataFile, DataFile]) -> RowProblems:
        """The hits but for those in a file that repeats another."""
        files = [self.find(hits.kind, int(row))[0] for row in hits.rows]
        kept = [i for i, file in enumerate(files) if file not in copies]
        rows, values, firsts, facts = (
            None if column is None else [column[i] for i in kept]
            for column in (hits.rows, hits.values, hits.firsts, hits.facts)
        )
        return replace(hits, rows=rows, values=values, firsts=firsts, facts=facts)


class HeldFindings:
    """Counts hits as they come and words the ones that are kept at the end, a number of them at a time: of the others
    there is no more in memory than their rows."""

    def __init__(self, collector: Collector, rows: RowMap) -> None:
        self._collector = collector
        self._rows = rows
        self._held: list[RowProblems] = []

    def take(self, hits: RowProblems) -> None:
        """Count all rows of a hit and hold those there is room for."""
        collector = self._collector
        if collector.state(hits.rule).rule.per_file:
            self._take_per_file(hits)
            return
        total, taken = len(hits.rows), 0
        while taken < total:
            file, _ = self._rows.find(hits.kind, int(hits.rows[taken]))
            if not collector.room(hits.rule, file):
                break
            collector.count(hits.rule, file)
            collector.reserve(hits.rule, file)
            taken += 1
        if taken:
            self._hold(hits, 0, taken)
        if taken < total:
            self._count_rest(hits, taken)

    def _hold(self, hits: RowProblems, start: int, end: int) -> None:
        rows, values, firsts, facts = (
            None if column is None else copy(column[start:end])  # a view would hold all of an array
            for column in (hits.rows, hits.values, hits.firsts, hits.facts)
        )
        self._held.append(replace(hits, rows=rows, values=values, firsts=firsts, facts=facts))

    def _entries(self) -> Iterator[_Held]:
        """What is held, one by one."""
        for hits in self._held:
            for position in range(len(hits.rows)):
                file, record = self._rows.find(hits.kind, int(hits.rows[position]))
                value = hits.values[position] if hits.values is not None else None
                first = None
                if hits.firsts is not None:
                    first = self._rows.find(hits.first_kind, int(hits.firsts[position]))
                facts = hits.facts[position] if hits.facts is not None else {}
                yield _Held(hits.rule, file, record, hits.field, value, first, hits.note, facts, hits.are_keys)

    def _parts(self) -> Iterator[list[_Held]]:
        """What is held, in parts whose records fit into memory."""
        part: list[_Held] = []
        size = 0
        for held in self._entries():
            part.append(held)
            size += _HELD_BYTES + _usual_bytes(held.file) + (_usual_bytes(held.first[0]) if held.first else 0)
            if size > _PART_BYTES:
                yield part
                part, size = [], 0
        if part:
            yield part

    def _take_per_file(self, hits: RowProblems) -> None:
        """The first row of each file, and the number of the others."""
        single = self._rows.only_file(hits.kind)
        rows = hits.rows[:1] if single is not None else hits.rows
        number: Counter[int] = Counter()
        files: dict[int, DataFile] = {}
        for position, row in enumerate(rows):
            file, _ = self._rows.find(hits.kind, int(row))
            if id(file) not in files:
                files[id(file)] = file
                if self._collector.room(hits.rule, file):
                    self._collector.reserve(hits.rule, file)
                    self._hold(hits, position, position + 1)
            number[id(file)] += 1
        for key, file in files.items():
            self._collector.count(hits.rule, file, len(hits.rows) if single is not None else number[key])

    def _count_rest(self, hits: RowProblems, position: int) -> None:
        """By file: the rows of one file are consecutive in most hits, but not in all."""
        number: dict[int, int] = {}
        files: dict[int, DataFile] = {}
        single = self._rows.only_file(hits.kind)
        if single is not None:
            self._collector.count(hits.rule, single, len(hits.rows) - position)
            return
        for row in hits.rows[position:]:
            file, _ = self._rows.find(hits.kind, int(row))
            number[id(file)] = number.get(id(file), 0) + 1
            files[id(file)] = file
        for key, count in number.items():
            self._collector.count(hits.rule, files[key], count)

    def word(
        self,
        locate: Callable[[DataFile, Iterable[int]], Iterable[Located]],
        form_of: Callable[[DataFile], RecordForm],
        value_of: Callable[[DataFile, str, Any], Any],
    ) -> None:
        """Look up the lines of all that is held, and hand it to the collector.

        ``locate`` finds records of a file again, ``form_of`` says what their text is, ``value_of`` derives the columns
        that a format makes from a record.
        """
        for part in self._parts():
            found = _located(part, locate)
            for start in range(0, len(part), _TOGETHER):
                self._word(part[start : start + _TOGETHER], found, form_of, value_of)
        self._held = []

    def _word(
        self,
        part: Sequence[_Held],
        found: Mapping[tuple[DataFile, int], Located],
        form_of: Callable[[DataFile], RecordForm],
        value_of: Callable[[DataFile, str, Any], Any],
    ) -> None:
        worded: list[tuple[Problem, Place]] = []
        for held in part:
            other = None
            if held.first is not None and (there := found.get(held.first)) is not None:
                other = form_of(held.first[0]).value(there.raw.decode("utf-8", "replace"))
            located = found.get((held.file, held.record))
            worded.append(_worded(held, located, other, form_of(held.file), value_of))
        _name_similar(part, worded)
        for held, (problem, place) in zip(part, worded, strict=True):
            related: tuple[Related, ...] = ()
            if held.first is not None:
                there = found.get(held.first)
                related = (Related(held.first[0].display, there.line if there else None, held.note),)
            self._collector.word(held.file, problem, place, related=related)


def _located(
    part: Sequence[_Held], locate: Callable[[DataFile, Iterable[int]], Iterable[Located]]
) -> dict[tuple[DataFile, int], Located]:
    """The records that findings are about, by file and number."""
    wanted: dict[DataFile, set[int]] = {}
    for held in part:
        wanted.setdefault(held.file, set()).add(held.record)
        if held.first is not None:
            wanted.setdefault(held.first[0], set()).add(held.first[1])
    return {(file, place.record): place for file, records in wanted.items() for place in locate(file, records)}


def _usual_bytes(file: DataFile) -> int:
    return file.bytes // file.records if file.records else 0


def _worded(
    held: _Held, place: Located | None, other: Any, form: RecordForm, value_of: Callable[[DataFile, str, Any], Any]
) -> tuple[Problem, Place]:
    """``other`` is the decoded record that this one clashes with."""
    if place is None:
        return Problem(held.rule, f"/{held.field}", held.value, _facts(held, None)), Place(record=held.record)
    text = place.raw.decode("utf-8", "replace")
    record = form.value(text)
    if cell := form.column_of(held.field):
        pointer, value = f"/{cell}", record.get(cell)
    else:
        pointer, value = _point(record, held, other, value_of)
    start, length = form.span(text, pointer) or (None, 0)
    line, column, shown = place_of(text, start, length, place.line, place.indent)
    if record is None and value is None:  # a record too long to be read once more
        value = held.value if held.value is not None else form.glimpse(text, held.field)
    problem = Problem(held.rule, pointer, value, _facts(held, record))
    return problem, Place(line, column, place.byte_offset, held.record, shown)


def _name_similar(part: Sequence[_Held], worded: Sequence[tuple[Problem, Place]]) -> None:
    """Name the keys that differ from dangling references in their blanks, their case or their Unicode form only. All
    are looked up at once: a query for each would take a thousand times as long."""
    asked: dict[Callable[[Sequence[str]], list[bool]], list[tuple[Problem, list[str]]]] = {}
    for held, (problem, place) in zip(part, worded, strict=True):
        value = problem.value
        if held.are_keys is not None and place.line is not None and isinstance(value, str):
            names = nearly_the_same(value) if len(value) <= _LONGEST_NAME else []
            asked.setdefault(held.are_keys, []).append((problem, names))
    for are_keys, problems in asked.items():
        there = iter(are_keys([name for _, names in problems for name in names]))
        for problem, names in problems:
            known = [name for name, found in zip(names, there, strict=False) if found]
            problem.nearly = known[0] if known else ""


def _facts(held: _Held, record: Any) -> dict[str, Any]:
    """Facts that are functions are made from the record, now that it is read again (None where it is not)."""
    return {name: fact(record) if callable(fact) else fact for name, fact in held.facts.items()}


def _point(record: Any, held: _Held, other: Any, value_of: Callable[[DataFile, str, Any], Any]) -> tuple[str, Any]:
    """The JSON Pointer and the value that a hit means; ``other`` is the record it clashes with."""
    if held.field.startswith("@"):
        return "", value_of(held.file, held.field, record)
    value = strict_json.resolve(record, f"/{held.field}")
    if isinstance(value, dict):
        return f"/{held.field}", held.value
    if isinstance(value, list):
        there = strict_json.resolve(other, f"/{held.field}")
        common = there if isinstance(there, list) else []
        for i, item in enumerate(value):
            if _is_meant(item, held.value) if held.value is not None else item in common:
                return f"/{held.field}/{i}", item
        return f"/{held.field}", value[0] if len(value) == 1 else None
    return f"/{held.field}", value


def _is_meant(item: Any, value: Any) -> bool:
    """Whether a list's item is the one a set check named: by its value, or by its code."""
    if isinstance(value, int | str | float):
        return bool(type(item) is not bool and (item == value or str(item) == str(value)))
    number = readable_key(item, "integer")
    if number is not None and number % 2**64 == int(value):
        return True
    if not isinstance(item, str):
        return False
    from ragdatakit.columnar.string_hash import hash_strings
    from ragdatakit.files.arrow_columns import string_array

    return bool(hash_strings(string_array([item.encode("utf-8", "backslashreplace").decode()]))[0] == value)
