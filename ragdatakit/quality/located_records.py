"""The records of a dataset's files with their places, one after the other: whoever looks for one reads them so."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from ragdatakit.files.containers.arrays import ELEMENTS, element_source
from ragdatakit.files.containers.csv_cells import CsvForm, split_record
from ragdatakit.files.containers.csv_rows import CsvBlock, CsvReader, RawRow
from ragdatakit.files.containers.lines import iter_lines
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.record_forms import JSON, REFUSED, JsonForm, MemberForm, RecordForm, form_of
from ragdatakit.files.containers.sources import HeadedSource, Source
from ragdatakit.files.containers.strict_json import escape
from ragdatakit.files.containers.tagged_text import ElementFinder
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.plain_names import READ_AS
from ragdatakit.files.detection.plain_sources import PLAIN_SOURCES
from ragdatakit.files.detection.sniffing import beginning, json_container
from ragdatakit.files.reading.record_reading import Progress
from ragdatakit.quality.named_rows import named_rows
from ragdatakit.scanner.library import library
from ragdatakit.schemas.declarations import File

LocatedRecord = tuple[RecordForm, Located, Any]
"""Form, the record, its decoded value."""
_HEAD = 1 << 10
_MOST_TEXT = 1 << 26


class LocatedRecords:
    """Reads files; a record longer than a quarter of the memory limit is passed over."""

    def __init__(self, memory_limit: int, progress: Progress | None = None) -> None:
        self._longest = max(memory_limit // 4, 1 << 16)
        self._progress = progress

    def of(self, part: Dataset, file: DataFile, having: Collection[str] = ()) -> Iterator[LocatedRecord]:
        """Each record that can be decoded, or those that may be ``having`` one of some texts; a row of a table that
        settings name, by its columns."""
        if READ_AS not in part.options:
            yield from self._decoded(part, file, having)
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

    def raw(self, part: Dataset, file: DataFile) -> Iterator[Located]:
        """Each record of JSON or of lines as it stands, also those that cannot be decoded."""
        container = _container(part, file)
        if container not in ("opaque", "streamed", "csv", "text"):
            yield from self._raw(file, part.format.file(file.kind), container, self._source(part, file), broken=True)

    def _source(self, part: Dataset, file: DataFile) -> Source:
        kind = part.format.file(file.kind)
        reader = HeadedSource if kind.columns.header else Source
        packed = file.path.name.lower().endswith(".gz")
        source = reader(file.path, packed, max_line_bytes=self._longest, text=False)  # a table has another encoding
        source.quoted = kind.quoted_columns
        return source

    def _decoded(self, part: Dataset, file: DataFile, having: Collection[str] = ()) -> Iterator[LocatedRecord]:
        if not file.readable or not file.path.is_file():
            return
        kind = part.format.file(file.kind)
        container = _container(part, file)
        if container in ("opaque", "streamed"):
            return
        source = self._source(part, file)
        if container == "csv":
            yield from self._rows(file, source, having)
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

    def _raw(
        self, file: DataFile, kind: File, container: str, source: Source, broken: bool = False
    ) -> Iterator[Located]:
        if container in ELEMENTS:
            for part in element_source(container, source, kind).parts():
                self._show_progress(file, source)
                for element in part.elements():
                    if broken or not element.error:
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
            record, above = 0, int(kind.columns.header)
            for block in source.blocks():
                self._show_progress(file, source)
                number = bool(block.skipped) - 1
                for number, (offset, line, _) in enumerate(iter_lines(block.data)):
                    if bytes(line[:1]).strip() or bytes(line).strip():
                        raw = block.shown(offset, line)
                        yield Located(record, above + block.line(number) + 1, block.offset + offset, raw)
                        record += 1
                above += number + 1 + len(block.breaks)

    def _rows(self, file: DataFile, source: Source, having: Collection[str]) -> Iterator[LocatedRecord]:
        reader = CsvReader(source)
        if not reader.open():
            return
        header = reader.header or []
        form = CsvForm(header, "", set())
        rows_of = _every_row
        if having and library() is not None:
            from ragdatakit.quality.rows_having import MOST_COLUMNS, RowsHaving  # needs numpy
            from ragdatakit.scanner.sheets import cut_records

            if len(header) <= MOST_COLUMNS:
                rows_of, reader.quick = RowsHaving(reader, having).of, cut_records
        for block in reader.blocks():
            self._show_progress(file, source)
            for number, row in rows_of(block):
                cells = [cell.text for cell in split_record(row.raw.decode("utf-8", "replace"))[0]]
                value = dict(zip(header, cells, strict=False))
                yield form, Located(block.first_row + number, row.line, row.offset, row.raw), value

    def _lines_of_text(self, file: DataFile, source: Source) -> Iterator[LocatedRecord]:
        """A text file is one record, which begins on its first line."""
        data = b"".join(source.pieces()) if source.size < _MOST_TEXT else b""
        if data:
            text = data.decode("utf-8", "replace")
            yield JSON, Located(0, 1, 0, data), {"": [text, text.strip(), file.name, file.path.name, file.path.stem]}

    def _show_progress(self, file: DataFile, source: Source) -> None:
        if self._progress is not None:
            self._progress(file.display, source.progress, source.size)


def _every_row(block: CsvBlock) -> Iterable[tuple[int, RawRow]]:
    return enumerate(block.raw_rows())


class _TabsForm(JsonForm):
    """A line of cells between tabs, as an object of the cells by their numbers; quotes mean nothing. ``names`` has the
    numbers of named columns."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self._numbers = {f"/{escape(name)}": f"/{number}" for name, number in (names or {}).items()}

    def plain(self, raw: bytes, alike: bool | None = None) -> Any:
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
