"""Files that are written piece by piece, counted and digested: lines, JSON arrays and objects, CSV."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import msgspec

from ragdatakit.files.paths.boundary import open_listed
from ragdatakit.schemas.conversions import WrittenFile

_ENCODER = msgspec.json.Encoder()
PIECE = 1 << 20
"""Bytes that are held before they are written."""
_ROWS = 1 << 10
"""Rows of a table that are held as text."""
_LONG_CELL = 200


def encoded(values: Sequence[Any]) -> list[bytes]:
    """Each of some values as compact JSON."""
    if len(values) == 1:  # which may be long
        return [_ENCODER.encode(values[0])]
    return _ENCODER.encode_lines(values).split(b"\n")[:-1]


class FileWriter:
    """One file that is being written; ``records`` counts what was written to it."""

    def __init__(self, name: str, file: IO[bytes] | None, counts_records: bool = True) -> None:
        self.name = name
        self.records = 0
        self.bytes = 0
        self.counts_records = counts_records
        self._file = file
        self._digest = hashlib.sha256()
        self._held: list[bytes] = []
        self._held_bytes = 0

    def put(self, data: bytes) -> None:
        """Write bytes as they are."""
        self._held.append(data)
        self._held_bytes += len(data)
        if self._held_bytes > PIECE:
            self.flush()

    def append(self, path: Path, records: int) -> None:
        """The content of a file, which has so many records."""
        with open_listed(path) as source:
            while piece := source.read(PIECE):
                self.put(piece)
        self.records += records

    def flush(self) -> None:
        """Hand on what is held."""
        data = b"".join(self._held)
        self._held.clear()
        self._held_bytes = 0
        self.bytes += len(data)
        self._digest.update(data)
        rest = memoryview(data)
        while self._file is not None and rest:
            rest = rest[self._file.write(rest) :]

    def close(self) -> None:
        """Put what belongs at the end."""

    def written(self) -> WrittenFile:
        """What was written so far."""
        return WrittenFile(
            self.name, self.records if self.counts_records else None, self.bytes, self._digest.hexdigest()
        )


class LineWriter(FileWriter):
    """Records, one a line."""

    def write(self, value: Any) -> None:
        """A record as compact JSON; `msgspec.Raw` values are as they are."""
        self.put(_ENCODER.encode(value) + b"\n")
        self.records += 1

    def write_json(self, text: str) -> None:
        """A record that is compact JSON already."""
        self.put(text.encode() + b"\n")
        self.records += 1

    def write_line(self, text: str) -> None:
        """A line of text (without its end)."""
        self.put(text.encode() + b"\n")
        self.records += 1


MOST_LAID_OUT = 1 << 24
"""Bytes of an element up to which it is indented."""


class ArrayWriter(FileWriter):
    """One JSON array, an element at a time; laid out as Python's ``json.dump`` with this ``indent`` does it.

    There is no line end behind the last bracket. An element of many megabytes is written in one line: laid out it may
    take twice the room, and more than its readers take.
    """

    _opening, _closing = b"[", b"]"

    def __init__(self, name: str, file: IO[bytes] | None, indent: int | None = None) -> None:
        super().__init__(name, file)
        self.indent = indent
        self._margin = b"" if indent is None else b"\n" + b" " * indent
        self._end = self._margin[:1]

    def write(self, value: Any) -> None:
        """An element; `msgspec.Raw` values in it are laid out anew, their numbers and strings as they stand."""
        self._add(b"", value)

    def _add(self, name: bytes, value: Any) -> None:
        data = _ENCODER.encode(value)
        if self.indent is not None and not isinstance(value, str) and len(data) < MOST_LAID_OUT:
            data = msgspec.json.format(data, indent=self.indent).replace(b"\n", self._margin)
        self.put((b"," if self.records else self._opening) + self._margin + name + data)
        self.records += 1

    def close(self) -> None:
        """End the array, and what is around it."""
        self.put((self._end if self.records else self._opening) + self._closing)


class ObjectWriter(ArrayWriter):
    """One JSON object, a member at a time."""

    _opening, _closing = b"{", b"}"

    def write_member(self, name: str, value: Any) -> None:
        """A member."""
        self._add(_ENCODER.encode(name) + self._colon, value)

    def write_texts(self, names: Sequence[str], texts: Sequence[str]) -> None:
        """Some members that are texts, one at least."""
        self.put((b"," if self.records else self._opening) + self._margin)
        members = (
            b"%b%b%b" % (name, self._colon, text) for name, text in zip(encoded(names), encoded(texts), strict=True)
        )
        self.put((b"," + self._margin).join(members))
        self.records += len(names)

    @property
    def _colon(self) -> bytes:
        return b":" if self.indent is None else b": "


class WrappedWriter(ArrayWriter):
    """One JSON object with an array in a member, an element at a time; ``beside`` are members behind it."""

    _closing = b"]"

    def __init__(self, name: str, file: IO[bytes] | None, member: str) -> None:
        super().__init__(name, file, indent=2)
        self._opening = b"{\n  %b: [" % _ENCODER.encode(member)
        self._margin, self._end = b"\n    ", b"\n  "
        self.beside: dict[str, Any] = {}

    def close(self) -> None:
        """End both."""
        super().close()
        for name, value in self.beside.items():
            data = msgspec.json.format(_ENCODER.encode(value), indent=2).replace(b"\n", b"\n  ")
            self.put(b",\n  %b: %b" % (_ENCODER.encode(name), data))
        self.put(b"\n}\n")


class CsvWriter(FileWriter):
    """A CSV table with ``\\n`` line ends, which begins with its header."""

    def __init__(self, name: str, file: IO[bytes] | None, header: Sequence[str], delimiter: str) -> None:
        super().__init__(name, file)
        self._text = io.StringIO()
        self._rows = 0
        self._csv = csv.writer(self._text, delimiter=delimiter, lineterminator="\n")
        # which leaves a lone carriage return bare, and every reader takes it for a line end
        self._quoted = csv.writer(self._text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        self._delimiter, self._needs_quotes = delimiter, re.compile(f'["\n{re.escape(delimiter)}]').search
        self._row(header)

    def write(self, row: Sequence[object]) -> None:
        """A row of cells."""
        self._row(row)
        self.records += 1

    def write_with_json(self, names: Sequence[str], kind: str, objects: Sequence[bytes]) -> None:
        """Rows of three cells: a name, a kind that all of them have, and an object of JSON that has members and is one
        line."""
        joined = "".join(names)
        if "\r" in joined:
            for name, text in zip(names, objects, strict=True):
                self.write((name, kind, text.decode()))
            return
        names = self._cells(names, joined)
        self._hand_on()
        between = f"{self._delimiter}{self._cell(kind)}{self._delimiter}".encode()
        rows = zip(names, objects, strict=True)
        self.put(b"".join([b'%b%b"%b"\n' % (name.encode(), between, text.replace(b'"', b'""')) for name, text in rows]))
        self.records += len(names)

    def write_columns(self, columns: Sequence[Sequence[str]]) -> None:
        """Many rows of two texts or more, column by column."""
        joined = ["".join(column) for column in columns]
        if any("\r" in text for text in joined):
            for row in zip(*columns, strict=True):
                self.write(row)
            return
        self._hand_on()
        cells = [self._cells(column, text) for column, text in zip(columns, joined, strict=True)]
        self.put("\n".join([*map(self._delimiter.join, zip(*cells, strict=True)), ""]).encode())
        self.records += len(columns[0])

    def _cells(self, column: Sequence[str], joined: str) -> Sequence[str]:
        """The cells of a column, in which some may be there often."""
        if self._needs_quotes(joined) is None:
            return column
        cells = {text: self._cell(text) for text in {*column}}
        return [cells[text] for text in column]

    def _row(self, row: Sequence[object]) -> None:
        writer = self._csv
        for cell in row:
            if isinstance(cell, str) and "\r" in cell:
                writer = self._quoted
        if writer is self._csv and len(row) and type(row[-1]) is str and len(row[-1]) > _LONG_CELL:
            self._text.write(self._delimiter.join(map(self._cell, row)) + "\n")
        else:
            writer.writerow(row)
        self._rows += 1
        if self._rows >= _ROWS or self._text.tell() > PIECE:
            self.flush()

    def _cell(self, cell: object) -> str:
        """A cell as the library writes it, which looks at its characters one by one."""
        text = "" if cell is None else str(cell)
        return text if self._needs_quotes(text) is None else '"' + text.replace('"', '""') + '"'

    def _hand_on(self) -> None:
        if self._rows:
            self._held.append(self._text.getvalue().encode())
            self._text.seek(0)
            self._text.truncate()
            self._rows = 0

    def flush(self) -> None:
        """Hand on what is held."""
        self._hand_on()
        super().flush()
