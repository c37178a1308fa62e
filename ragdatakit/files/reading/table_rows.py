"""Rows of tables of any columns: CSV, JSON records, JSON objects by id, Parquet; every cell keeps its exact form.

A row is column to cell, a cell text (from CSV, or Parquet's text columns), JSON as it stands, or None. Nothing is taken
for a number that is not one in the file: ``007`` stays ``007``.
"""

from __future__ import annotations

import base64
import codecs
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import Any, Self

import msgspec

from ragdatakit.files.containers import json_text
from ragdatakit.files.containers.arrow_library import arrow_library, parquet_library
from ragdatakit.files.containers.json_text import Raw
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.detection.sniffing import json_container
from ragdatakit.files.reading.csv_tables import CsvForm, CsvRows, LineFault
from ragdatakit.files.reading.noted_rows import Note
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError

Cell = str | Raw | None
Row = dict[str, Cell]

HEAD_ROWS = 1000
"""Rows of JSON in which columns are looked for."""
REPEATED_COLUMN = "a column with the name of an earlier one"
MORE_CELLS = "cells after the last column of the header"
ODD_MEMBER = "a member that is not a text, record or list of ids"
_PEEK = 1 << 20
_PIECE = 1 << 13
_BATCH_ROWS = 1024
_VECTOR_STORE = frozenset({"embedding_dim", "matrix"})
"""Members of a store of vectors (nano-vectordb): the matrix is numbers written as text."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the beginning of a file says of all of it: the names of its columns, in the order of the cells where it is
    CSV, and of JSON what its rows are in."""

    header: tuple[str, ...] = ()
    container: str = ""


class TableFile:
    """One file of rows, or a part of one whose ``shape`` is known. ``lines`` are those of CSV that were read."""

    def __init__(self, file: DataFile, records: RecordReader, form: CsvForm, shape: Shape | None = None) -> None:
        self.file = file
        self._records = records
        self.form = form
        self.shape = shape
        self.lines = 0
        name = file.path.name.lower()
        self.stem = re.sub(r"(?:\.[a-z]+)(?:\.gz)?$", "", name)
        ending = name.removesuffix(".gz").rsplit(".", 1)[-1]
        self.kind = {"csv": "csv", "tsv": "csv", "txt": "csv", "parquet": "parquet"}.get(ending, "json")

    def columns(self) -> list[str]:
        """The names of the columns, in order; of JSON records those of the first `HEAD_ROWS`."""
        if self.kind == "parquet":
            return list(dict.fromkeys(self._open_parquet().schema_arrow.names))
        if self.kind == "csv":
            with self._csv() as rows:
                return list(dict.fromkeys(rows.header))
        return list(dict.fromkeys(name for row in islice(self.rows([]), HEAD_ROWS) for name in row))

    def read_by(self, records: RecordReader) -> Self:
        """The same file for another reader."""
        found = copy(self)
        found._records = records
        return found

    def known_form(self) -> tuple[CsvForm, Shape]:
        """How it is written, with what its beginning says of that."""
        if self.kind == "csv":
            with self._csv() as rows:
                return replace(self.form, delimiter=rows.delimiter), Shape(tuple(rows.header))
        return self.form, Shape(container=self._container() if self.kind == "json" else "")

    def row_groups(self) -> list[int]:
        """The sizes of the row groups of a Parquet file, in bytes as they are when they are unpacked."""
        with self._open_parquet() as table:
            return [table.metadata.row_group(number).total_byte_size for number in range(table.num_row_groups)]

    def is_object_by_id(self) -> bool:
        """Whether it is one JSON object whose members are the rows, by their ids."""
        return self.kind == "json" and self._container() == "members"

    def rows(self, notes: list[Note]) -> Iterator[Row]:
        """The rows in order; what of them is left out is noted."""
        if self.kind == "parquet":
            return self._parquet_rows()
        return self._csv_rows(notes) if self.kind == "csv" else self._json_rows(notes)

    @contextmanager
    def _csv(self) -> Iterator[CsvRows]:
        try:
            with self._records.stream(self.file) as stream:
                part = self.file.part
                header = self.shape.header if self.shape is not None and part is not None and not part.exact else None
                yield CsvRows(stream, self.file, self.form, header)
        except UnicodeError as error:
            why = error.reason if isinstance(error, UnicodeDecodeError) else str(error)
            reason, option = f"not {self.form.encoding.upper()} ({why})", "give its encoding with --option encoding=…"
            raise LineFault(self.file, self._undecodable_line(), reason, option, is_encoding=True) from None

    def _undecodable_line(self) -> int:
        """The line of the first character that is not of the encoding (text is decoded in pieces of many lines)."""
        decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(self.form.encoding)(), translate=True)
        line = 1
        with self._records.stream(self.file) as stream, suppress(UnicodeError):
            while piece := stream.read(_PIECE):
                state = decoder.getstate()
                try:
                    line += decoder.decode(piece).count("\n")
                except UnicodeError:
                    decoder.setstate(state)
                    for place in range(len(piece)):
                        line += decoder.decode(piece[place : place + 1]).count("\n")
        return line

    def _csv_rows(self, notes: list[Note]) -> Iterator[Row]:
        with self._csv() as rows:
            header, width = rows.header, len(rows.header)
            repeated = len(set(header)) < width
            part = self.file.part
            for name, count in Counter(header).items() if part is None or part.exact else ():
                notes.extend([("lost", "table", name or None, REPEATED_COLUMN, self.file.name)] * (count - 1))
            for cells in rows:
                if len(cells) > width:
                    line = rows.line + (part.lines if part is not None else 0)
                    shown = f"{self.file.name} line {line}: {' '.join(cells[width:])}"
                    notes.append(("lost", "table", None, MORE_CELLS, shown))
                pairs = zip(header, cells, strict=False)
                yield dict(reversed(list(pairs))) if repeated else dict(pairs)
            self.lines = rows.line

    def _json_rows(self, notes: list[Note]) -> Iterator[Row]:
        container = self._container()
        if container == "members":
            for name, value in self._records.members(self.file):
                yield from self._rows_of_member(name, value, notes)
        elif container == "strings":
            for value in self._records.values(self.file, "json-array"):
                yield {"text": value if isinstance(value, str) else Raw(json_text.dumps(value).encode())}
        else:
            yield from map(dict, self._records.objects(self.file, container))

    def _container(self) -> str:
        """``members``: one object whose members are the rows; ``strings``: an array of texts."""
        if self.shape is not None:
            return self.shape.container
        if self.file.path.name.removesuffix(".gz").lower().endswith((".jsonl", ".ndjson")):
            return "ndjson"
        found = json_container(self.file.path, self.file.boundary)
        with self._records.stream(self.file) as stream:
            head = stream.read(_PEEK)
        more, head = len(head) == _PEEK, head.lstrip()
        if head[:1] == b"[":
            return "strings" if found == "json-single" else found
        _, newline, rest = head.partition(b"\n")
        alone = found == "json-single" or not newline or not (rest.strip() or more)
        if head[:1] != b"{" or not alone:
            return found
        names = {name.lower() for name, _ in islice(self._records.members(self.file), 8)}
        return found if names & RECORD_NAMES or names >= _VECTOR_STORE else "members"

    def _rows_of_member(self, name: str, value: Raw, notes: list[Note]) -> Iterator[Row]:
        """Texts by id, records by id, or judgements: ``{question: {document: grade}}``, ``{question: [document]}``."""
        opening = bytes(value)[:1]
        if opening == b'"':
            yield {"id": name, "text": value}
        elif opening == b"{":
            fields = json_text.fields_of(value)
            if fields and all(bytes(v)[:1] in b"-0123456789" for v in fields.values()):
                for doc, grade in fields.items():
                    yield {"question_id": name, "doc_id": doc, "grade": grade}
            else:
                yield {"id": name, **fields}
        elif opening == b"[" and all(type(v) in (str, int) for v in json_text.loads(value)):
            for doc in json_text.loads(value):
                yield {"question_id": name, "doc_id": str(doc)}
        else:
            shown = f"{self.file.name}: {name}: {json_text.compact(value)}"
            notes.append(("dropped", "table", None, ODD_MEMBER, shown))

    def _open_parquet(self) -> Any:
        pa, parquet = arrow_library(), parquet_library()
        try:
            return parquet.ParquetFile(self.file.path)
        except (pa.ArrowException, OSError) as error:
            raise RagdataError(f"{self.file.display}: no Parquet file that can be read: {error}") from None

    def _parquet_rows(self) -> Iterator[Row]:
        pa = arrow_library()
        try:
            with self._open_parquet() as table:
                part = self.file.part
                groups = range(part.start, part.end) if part is not None else None
                for batch in table.iter_batches(_BATCH_ROWS, row_groups=groups):
                    columns = [_cells(column) for column in batch.columns]
                    for row in zip(*columns, strict=True):
                        yield dict(zip(batch.schema.names, row, strict=True))
        except (pa.ArrowException, OSError) as error:
            raise RagdataError(f"{self.file.display}: damaged: {error}") from None


RECORD_NAMES = frozenset(
    "id _id doc_id docid docno text body content contents passage title question query question_id query_id qid answer "
    "answers".split()
)
"""Names that show that an object is one record, not rows by their ids."""


def text_of(cell: Cell) -> str | None:
    """A cell as text: strings as they are, all else as its JSON is; None for null."""
    if cell is None or isinstance(cell, str):
        return cell
    data = bytes(cell)
    if data[:1] == b'"':
        return json_text.string_of(cell)
    if data == b"null":
        return None
    return json_text.compact(data) if data[:1] in b"[{" else data.decode()


def _cells(column: Any) -> list[Cell]:
    """The cells of a Parquet column: texts, dates and times as text, all else as JSON."""
    pa = arrow_library()
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return _cells(column.dictionary_decode())
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        found: list[Cell] = column.to_pylist()
        return found
    if types.is_temporal(kind):
        texts: list[Cell] = column.cast(pa.string()).to_pylist()
        return texts
    if types.is_decimal(kind) or types.is_float16(kind) or types.is_float32(kind):
        return [_number(text) for text in column.cast(pa.string()).to_pylist()]
    return [_json_cell(value) for value in column.to_pylist()]


def _number(text: str | None) -> Cell:
    return Raw(text.encode()) if text is not None and re.fullmatch(r"-?[0-9].*", text) else text


def _json_cell(value: Any) -> Cell:
    if value is None:
        return None
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return Raw(msgspec.json.encode(value, enc_hook=str))
