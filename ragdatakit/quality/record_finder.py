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
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from ragdatakit.files.containers.arrays import ELEMENTS, element_source
from ragdatakit.files.containers.csv_cells import CsvForm, split_record
from ragdatakit.files.containers.csv_rows import CsvReader
from ragdatakit.files.containers.lines import iter_lines
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.record_forms import JSON, REFUSED, JsonForm, MemberForm, RecordForm, form_of
from ragdatakit.files.containers.sources import HeadedSource, Source
from ragdatakit.files.containers.strict_json import escape
from ragdatakit.files.containers.tagged_text import ElementFinder
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.plain_sources import PLAIN_SOURCES, READ_AS
from ragdatakit.files.detection.sniffing import beginning, json_container
from ragdatakit.files.reading.record_reading import Progress
from ragdatakit.quality.findings import QualityFindings, RecordLookup
from ragdatakit.quality.named_rows import named_rows
from ragdatakit.schemas.declarations import File, Format
from ragdatakit.schemas.findings import Related
from ragdatakit.validators.collector import Place
from ragdatakit.validators.identity import key_fields, record_key

_DEEPEST = 12
_HEAD = 1 << 10
_Record = tuple[RecordForm, Located, Any]
"""Form, the record, its decoded value."""
_NAMED = re.compile(r"([^:]{1,60}):(.*)", re.DOTALL)
"""A record that is one text: an id, a colon, and the text that it names."""
_ESCAPE = re.compile(r"\\u[0-9a-f]{4}")
_LONG = 30
"""Characters of a value that no other record has by accident."""
_MOST_TEXT = 1 << 26


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
        return Related(self.file.display, self.located.line, note)


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
        self._longest = max(memory_limit // 4, 1 << 16)
        self._progress = progress

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
        for form, located, value in self.records(part, file):
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

    def records(self, part: Dataset, file: DataFile) -> Iterator[_Record]:
        """Each record that can be decoded; a row of a table that settings name, by its columns."""
        if READ_AS not in part.options:
            yield from self._decoded(part, file)
            return
        rows = enumerate(named_rows(part, file))
        number, row, named = -1, None, TABS
        for form, located, cells in self._decoded(part, file):
            if form is not TABS and not isinstance(form, CsvForm):  # JSON has the names of its fields
                yield form, located, cells
                continue
            if form is TABS and not located.record:
                named = _TabsForm({name: number for number, name in cells.items()})
                continue
            of_row = named if form is TABS else form
            wanted = located.record - (form is TABS)  # whose header is a record
            while number < wanted:
                number, row = next(rows, (wanted + 1, None))
            if number == wanted and row is not None:
                yield of_row, replace(located, record=wanted), row

    def _decoded(self, part: Dataset, file: DataFile) -> Iterator[_Record]:
        if not file.readable or not file.path.is_file():
            return
        kind = part.format.file(file.kind)
        container = _container(part, file)
        if container in ("opaque", "streamed"):
            return
        reader = HeadedSource if kind.columns.header else Source
        source = reader(file.path, file.path.name.lower().endswith(".gz"), max_line_bytes=self._longest)
        if container == "csv":
            yield from self._rows(file, source)
            return
        if container == "text":
            yield from self._lines_of_text(file, source)
            return
        form = form_of(kind)
        if kind.container == "opaque":
            form = {"tabs": TABS, "json-object": _MEMBERS}.get(container, JSON)
        for located in self._raw(file, kind, container, source):
            value = form.plain(located.raw)
            if value is REFUSED:
                value = form.value(located.raw.decode("utf-8", "replace"))
            if value is not None:
                yield form, located, value

    def _raw(self, file: DataFile, kind: File, container: str, source: Source) -> Iterator[Located]:
        if container in ELEMENTS:
            for part in element_source(container, source, kind).parts():
                self._show_progress(file, source)
                for element in part.elements():
                    if not element.error:
                        yield Located.element(element)
        elif container == "tagged":
            pieces = source.pieces()
            head = list(islice(pieces, 1))  # by which it is known whether there is a byte-order mark
            finder = ElementFinder(kind.tags, self._longest)
            for tagged in finder.elements(chain(head, pieces), 3 if source.bom else 0):
                self._show_progress(file, source)
                if not tagged.too_long:
                    yield Located.element(tagged)
        else:
            record, number = 0, int(kind.columns.header)
            for block in source.blocks():
                self._show_progress(file, source)
                number += bool(block.skipped)
                for offset, line, _ in iter_lines(block.data):
                    number += 1
                    if bytes(line[:1]).strip() or bytes(line).strip():
                        yield Located(record, number, block.offset + offset, bytes(line))
                        record += 1

    def _rows(self, file: DataFile, source: Source) -> Iterator[_Record]:
        reader = CsvReader(source)
        if not reader.open():
            return
        header = reader.header or []
        form = CsvForm(header, "", set())
        for block in reader.blocks():
            self._show_progress(file, source)
            for number, row in enumerate(block.raw_rows()):
                cells = [cell.text for cell in split_record(row.raw.decode("utf-8", "replace"))[0]]
                value = dict(zip(header, cells, strict=False))
                yield form, Located(block.first_row + number, row.line, row.offset, row.raw), value

    def _lines_of_text(self, file: DataFile, source: Source) -> Iterator[_Record]:
        """A text file is one record, which begins on its first line."""
        data = b"".join(source.pieces()) if source.size < _MOST_TEXT else b""
        if data:
            text = data.decode("utf-8", "replace")
            yield JSON, Located(0, 1, 0, data), {"": [text, text.strip(), file.name, file.path.name, file.path.stem]}

    def _show_progress(self, file: DataFile, source: Source) -> None:
        if self._progress is not None:
            self._progress(file.display, source.progress, source.size)


class _TabsForm(JsonForm):
    """A line of cells between tabs, as an object of the cells by their numbers; quotes mean nothing. ``names`` has the
    numbers of named columns."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self._numbers = {f"/{escape(name)}": f"/{number}" for name, number in (names or {}).items()}

    def plain(self, raw: bytes) -> Any:
        """The cells."""
        return dict(_cells(raw.decode("utf-8", "replace")))

    def span(self, text: str, pointer: str) -> tuple[int, int] | None:
        """Where a cell is: (first character, length)."""
        start, pointer = 0, self._numbers.get(pointer, pointer)
        for number, cell in _cells(text):
            if pointer == f"/{number}":
                return start, len(cell)
            start += len(cell) + 1
        return None


def _cells(text: str) -> Iterator[tuple[str, str]]:
    """The cells of a line between tabs, with their numbers from 1 on."""
    return ((str(number), cell) for number, cell in enumerate(text.rstrip("\r\n").split("\t"), 1))


TABS = _TabsForm()
"""That of lines of cells between tabs, of which a header is one."""
_MEMBERS = MemberForm("id", "text")


def _container(part: Dataset, file: DataFile) -> str:
    """How the records of a file are held; of plain data, of which nothing is declared, by its name and its beginning.

    Rows of Parquet files have no lines. CSV files are looked through where commas separate their cells.
    """
    kind = part.format.file(file.kind)
    if kind.container == "json":
        return json_container(file.path, file.boundary)
    if part.format.name not in PLAIN_SOURCES or kind.container != "opaque":
        return kind.container
    name = file.path.name.lower().removesuffix(".gz")
    if file.kind == "triples" or name.endswith(".tsv"):
        return "tabs"
    if name.endswith((".csv", ".jsonl", ".ndjson")):
        return "csv" if name.endswith(".csv") else "ndjson"
    if not name.endswith(".json"):
        return "opaque"
    container = json_container(file.path, file.boundary)
    if container != "json-single":
        return container
    data, _ = beginning(file.path, _HEAD, file.boundary)  # texts or records by id, or texts only
    return "json-array" if data.lstrip()[:1] == b"[" else "json-object"


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
