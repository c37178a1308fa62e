"""The records of files as they stand there, exactly: for comparisons, which must see what no canonical table holds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress

import msgspec

from ragdatakit.files.containers.csv_cells import split_record
from ragdatakit.files.containers.csv_rows import CsvReader
from ragdatakit.files.containers.json_text import compact
from ragdatakit.files.containers.lines import iter_lines
from ragdatakit.files.containers.parquet_rows import row_form
from ragdatakit.files.containers.parquet_tables import rows_as_json
from ragdatakit.files.containers.record_runs import ANY, FIELDS, as_utf8
from ragdatakit.files.containers.sources import Block, Source
from ragdatakit.files.containers.tagged_text import ElementFinder, TaggedReader
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.detection.sniffing import json_container
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.declarations import File
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.line_cells import LineError, LineReader

WHOLE = "value"
"""The field of a record that has no fields, such as a text."""

_ENCODER = msgspec.json.Encoder(order="sorted")
_LONGEST = 1 << 28
"""Bytes of the longest line."""
_JSON_STARTS = frozenset('"{[-0123456789tfn')


class FileRecords:
    """Reads the records of a file of some kind; ``losses`` says what could not be read.

    ``header`` are the columns of a table, once its first record was read: with other ones the same bytes are another
    record.
    """

    def __init__(self, kind: File, file: DataFile) -> None:
        self.kind = kind
        self.file = file
        self.header: tuple[str, ...] = ()
        self.losses = Losses()
        self._container = _container(kind, file)
        self._lines = LineReader(kind) if kind.container == "columns" else None
        self._tags = TaggedReader(kind.tags, tuple(f.name for f in kind.record.fields)) if kind.tags else None
        # An object of members gives two fields a name; so does a text "name: content" in place of such an object.
        objects = next((r.fields for r in kind.records if r.shape == "object"), ())
        self._pair = tuple(f.name for f in objects) if len(objects) == 2 else ()

    def read(self) -> Iterator[bytes]:
        """The records in order, as they stand. Raises `RagdataError` where the file cannot be read."""
        ways = {
            "csv": self._rows,
            "table": lambda: rows_as_json(self.file.path, self.file.boundary),
            "columns": self._cut_lines,
            "tagged": self._elements,
            "ndjson": self._lines_of_json,
        }
        if self._container in ways:
            return ways[self._container]()
        kind = self.kind if self.kind.wrapper else None
        return (raw for _, raw in RecordReader(self.losses).raw_records(self.file, self._container, kind))

    def fields(self, raw: bytes) -> dict[str, str]:
        """A record's fields, as texts that are `comparable`; what cannot be decoded is the field `WHOLE`."""
        if self.header:
            return _named_cells(self.header, [f.text for f in split_record(raw.decode("utf-8", "replace"))[0]])
        if self._tags is not None:
            return self._tags.record(raw.decode("utf-8", "replace"))
        if self._lines is not None:
            text = raw.decode("utf-8", "backslashreplace")
            try:
                return {name: str(value) for name, value in self._lines.record(text).items()}
            except LineError:
                return {WHOLE: text}
        if self._container == "json-object":
            return self._member(raw)
        try:
            return {name: comparable(bytes(value)) for name, value in FIELDS.decode(as_utf8(raw)).items()}
        except (ValueError, RecursionError):
            return self._whole(raw)

    def _member(self, raw: bytes) -> dict[str, str]:
        try:
            ((name, value),) = FIELDS.decode(as_utf8(b"{%b}" % raw)).items()
        except (ValueError, RecursionError):
            return self._whole(raw)
        first, second = self._pair or ("name", WHOLE)
        return {first: name, second: comparable(bytes(value))}

    def _whole(self, raw: bytes) -> dict[str, str]:
        value = comparable(raw)
        if self._pair and raw.lstrip()[:1] == b'"' and ":" in value:
            name, _, rest = value.partition(":")
            return {self._pair[0]: _quoted(name), self._pair[1]: _quoted(rest)}
        return {WHOLE: value}

    def _rows(self) -> Iterator[bytes]:
        source = self._source()
        reader = CsvReader(source)
        if reader.open():
            self.header = _distinct(reader.header or [])
            for block in reader.blocks():
                yield from (row.raw for row in block.raw_rows())
        self._close(source)

    def _lines_of_json(self) -> Iterator[bytes]:
        source = self._source()
        for block in self._blocks(source):
            data = block.data
            lines = [bytes(line) for _, line, _ in iter_lines(data)] if b"\r" in data else data.split(b"\n")
            yield from filter(bytes.strip, lines)
        self._close(source)

    def _cut_lines(self) -> Iterator[bytes]:
        source = self._source()
        source.quoted = self.kind.columns.quoted
        assert self._lines is not None
        first = self.kind.columns.header
        for block in self._blocks(source):
            for offset, line, _ in iter_lines(block.data):
                raw = block.shown(offset, line)
                is_header, first = first, False
                if is_header and not self._lines.looks_like_record(raw.decode("utf-8", "replace")):
                    continue
                if raw.strip():
                    yield raw
        self._close(source)

    def _elements(self) -> Iterator[bytes]:
        source = self._source()
        for element in ElementFinder(self.kind.tags).elements(source.pieces()):
            yield element.raw
        self._close(source)

    def _source(self) -> Source:
        path = self.file.path
        form = row_form(self.kind, self._container)
        packed = path.name.lower().endswith(".gz")
        return Source(path, packed, max_line_bytes=_LONGEST, boundary=self.file.boundary, row_form=form)

    def _blocks(self, source: Source) -> Iterator[Block]:
        for block in source.blocks():
            if block.skipped:
                raise RagdataError(f"{self.file.display}: a line has {block.skipped:,} bytes, too many to be compared")
            yield block

    def _close(self, source: Source) -> None:
        for fault in source.faults:
            if fault.rule == "unreadable-file":
                raise RagdataError(f"{self.file.display}: {fault.facts['reason']}")
            if fault.rule != "mislabelled-compression":  # which was read nonetheless
                self.losses.add("dropped", self.file.kind, None, fault.in_words(self.file.display), unread=True)


def _quoted(text: str) -> str:
    """A text as `comparable` has it."""
    return comparable(json.dumps(text).encode())


def _container(kind: File, file: DataFile) -> str:
    """What the file is, where its kind may be one of several things."""
    if kind.container == "table" and file.path.name.lower().endswith(".csv"):
        return "csv"
    return json_container(file.path, file.boundary) if kind.container == "json" else kind.container


def _distinct(header: list[str]) -> tuple[str, ...]:
    """The names of columns, those that come again with a number."""
    found: list[str] = []
    for name in header:
        number, called = 1, name
        while called in found:
            number += 1
            called = f"{name} {number}"
        found.append(called)
    return tuple(found)


def _named_cells(header: tuple[str, ...], cells: list[str]) -> dict[str, str]:
    named = dict(zip(header, cells, strict=False))
    if len(cells) > len(header):
        named[f"column {len(header) + 1}"] = json.dumps(cells[len(header) :], ensure_ascii=False)
    return named


def comparable(raw: bytes) -> str:
    """A JSON value as text: equal where the values are, whatever the order of fields, white space and spelling.

    A text is as it is, except for one that could be taken for other JSON, which is quoted (``"12"``); what is not JSON
    is as it is, too.
    """
    try:
        value = ANY.decode(as_utf8(raw))
        if not isinstance(value, str):
            return _ENCODER.encode(value).decode()
    except (ValueError, RecursionError, OverflowError):
        with suppress(ValueError, RecursionError):
            return compact(as_utf8(raw))
        return raw.decode("utf-8", "backslashreplace")
    if value[:1] in _JSON_STARTS:
        with suppress(ValueError, RecursionError):
            ANY.decode(value)
            return _ENCODER.encode(value).decode()
    return value


def other_fields(fields: Mapping[str, str]) -> str | None:
    """Fields, as `FileRecords.fields` gives them, together as one JSON object; None where there are none."""
    members = (f"{json.dumps(name, ensure_ascii=False)}:{_member_text(text)}" for name, text in sorted(fields.items()))
    return "{" + ",".join(members) + "}" if fields else None


def _member_text(text: str) -> str:
    if text[:1] in _JSON_STARTS:
        with suppress(ValueError, RecursionError):
            ANY.decode(text)
            return text
    return json.dumps(text, ensure_ascii=False)
