"""Where the records that quality checks found are: file, line, offset, pointer.

The checks read a dataset as tables, which have no lines. So the files are read once more, and a record is recognised by
values that it has: the text and the id of a document, the three ids of a triplet. The record with most of them is the
one; of several with as many, the one before which as many records have the text as rows come before its row. A value
that is in no file as it is (a text that its reader puts together of sentences, an id that was made up) takes no
part; where none is found, a finding names the file, or the dataset, and no line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.record_forms import RecordForm
from ragdatakit.files.containers.strict_json import escape
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading.record_reading import Progress
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quality.findings import QualityFindings, RecordLookup
from ragdatakit.quality.located_records import LocatedRecords
from ragdatakit.schemas.declarations import Format
from ragdatakit.schemas.findings import Related
from ragdatakit.validators.collector import Place
from ragdatakit.validators.identity import key_fields, record_key

_DEEPEST = 12
_NAMED = re.compile(r"([^:]{1,60}):(.*)", re.DOTALL)
"""A record that is one text: an id, a colon, and the text that it names."""
_ESCAPE = re.compile(r"\\u[0-9a-f]{4}")
_LONG = 30
"""Characters of a value that no other record has by accident."""


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A record that was found; ``pointer`` is where the first of the values looked up is in it, else None."""

    file: DataFile
    form: RecordForm
    located: Located
    pointer: str | None

    def place(self, fragment: str, fmt: Format) -> Place:
        """Where the fragment is in the value at the pointer; without one, where the value is."""
        text = self.located.raw.decode("utf-8", "replace")
        start, length = None, 0
        span = self.form.span(text, self.pointer) if self.pointer is not None else None
        if span is not None:
            start, length = span
            for written in _spellings(fragment):
                inside = text.find(written, start, start + length)
                if inside >= 0:
                    start, length = inside, len(written)
                    break
        fields = key_fields(fmt, self.file.kind)
        key = record_key(fields, self.located, None, self.form, lambda record: {})
        return Place.within(self.located, text, start, length, key)

    def related(self, note: str) -> Related:
        """This place as the second one of a finding."""
        return Related(self.file.display, self.located.line, note, self.located.record)


class _Seen:
    """Counts the records that have a text that is looked up, in files of the split that is meant and in others."""

    def __init__(self, before: tuple[int, int]) -> None:
        self._before = before
        self._others = self._of_split = 0

    def meant(self, of_split: bool) -> bool:
        """Whether one more record is at the position of the one that is looked up."""
        if of_split:
            self._of_split += 1
            return self._of_split == self._before[1] + 1
        self._others += 1
        return self._others == self._before[0] + 1


class RecordFinder:
    """Looks for records in the files of a dataset; all at once, in one pass over each file."""

    def __init__(self, findings: QualityFindings, memory_limit: int, progress: Progress | None = None) -> None:
        self._parts = findings.parts
        self._before = findings.before
        self._records = LocatedRecords(memory_limit, progress)

    def find(self, lookups: Iterable[RecordLookup]) -> dict[RecordLookup, FoundRecord]:
        """Those for which there is a record."""
        wanted = [one for one in dict.fromkeys(lookups) if one.values]
        by_value: dict[str, list[int]] = {}
        for number, one in enumerate(wanted):
            for value in dict.fromkeys(one.values):
                by_value.setdefault(value, []).append(number)
        best: dict[int, tuple[float, FoundRecord]] = {}
        seen = [_Seen(self._before(one)) for one in wanted]
        for part in self._parts if wanted else ():
            for file in part.files:
                if _all_whole(wanted, best):
                    break
                self._look(part, file, wanted, by_value, seen, best)
        return {wanted[number]: found for number, (_, found) in best.items()}

    def _look(
        self,
        part: Dataset,
        file: DataFile,
        wanted: Sequence[RecordLookup],
        by_value: dict[str, list[int]],
        repeats: Sequence[_Seen],
        best: dict[int, tuple[float, FoundRecord]],
    ) -> None:
        for form, located, value in self._records.of(part, file, by_value):
            if _has_none(value, by_value):
                continue
            seen: dict[int, dict[str, str]] = {}
            for pointer, text in _values(value):
                for number in by_value.get(text, ()):
                    seen.setdefault(number, {}).setdefault(text, pointer)
            better = False
            for number, values in seen.items():
                one = wanted[number]
                of_split = one.split is not None and one.split in _splits(file)
                meant = one.text in values and repeats[number].meant(of_split)
                score = len(values) + (0.5 if of_split else 0) + (0.25 if meant else 0)
                before = best.get(number)
                if before is None or (score > before[0] and _may_replace(before[1], file, one, of_split)):
                    found = FoundRecord(file, form, located, values.get(one.values[0]))
                    best[number] = (score, found)
                    better = True
            if better and _all_whole(wanted, best):
                return


def _values(value: Any) -> Iterator[tuple[str, str]]:
    """The texts and numbers in a value, as text, each with its pointer; names of members, too."""
    if isinstance(value, str) and (parts := _NAMED.match(value)) is not None:
        yield "", parts[1]
        yield "", parts[2]
    pending: list[tuple[str, Any, int]] = [("", value, 0)]
    while pending:
        pointer, found, depth = pending.pop()
        if isinstance(found, str):
            yield pointer, found
        elif isinstance(found, dict) and depth < _DEEPEST:
            for name, below in found.items():
                path = f"{pointer}/{escape(name)}"
                if depth:
                    yield path, name
                pending.append((path, below, depth + 1))
        elif isinstance(found, list) and depth < _DEEPEST:
            pending += [(f"{pointer}/{place}", below, depth + 1) for place, below in enumerate(found)]
        elif isinstance(found, int | float) and not isinstance(found, bool):
            yield pointer, str(found)


def _spellings(fragment: str) -> Iterator[str]:
    """How a part of a text may be written in a file: as it is, or with escapes."""
    if fragment:
        escaped = json.dumps(fragment)[1:-1]
        yield from (fragment, json.dumps(fragment, ensure_ascii=False)[1:-1], escaped)
        yield _ESCAPE.sub(lambda match: match[0][:2] + match[0][2:].upper(), escaped)


def _has_none(value: Any, by_value: Mapping[str, object]) -> bool:
    """Whether a record clearly has nothing that is looked up: most are flat, and have not."""
    if not isinstance(value, dict):
        return False
    for found in value.values():
        if not isinstance(found, str):
            if isinstance(found, dict | list) or str(found) in by_value:
                return False
        elif found in by_value:
            return False
    return True


def _all_whole(wanted: Sequence[RecordLookup], best: Mapping[int, tuple[float, FoundRecord]]) -> bool:
    return len(best) == len(wanted) and all(_is_whole(wanted[n], *found) for n, found in best.items())


def _is_whole(one: RecordLookup, score: float, found: FoundRecord) -> bool:
    """Whether no other record can be meant: this one has all values, is where it should be, and is of no other
    split."""
    return score >= len(set(one.values)) + (0.25 if one.text else 0) and (
        one.split is None or found.file.split in (None, one.split)
    )


def _may_replace(before: FoundRecord, file: DataFile, one: RecordLookup, of_split: bool) -> bool:
    """A text that was found in one file is not looked for in one of another kind, but of the right split: what names
    it, too, may be made of it."""
    whole = before.pointer is not None and len(one.values[0]) >= _LONG
    return before.file.kind == file.kind or not whole or (of_split and one.split not in _splits(before.file))


def _splits(file: DataFile) -> tuple[str | None, str]:
    """The splits that a file speaks of: its own, and the one that its name is."""
    return file.split, file.path.name.partition(".")[0]
