"""A dataset as files of cells, each one record with its bytes: what the injector changes, and what it writes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragdatakit.schemas.declarations import File, Format


class NoRecord:
    """Stands for the value of a cell that no reader can decode."""


UNREADABLE = NoRecord()
BLANK = NoRecord()


@dataclass(frozen=True, slots=True)
class Cell:
    """One record as it stands in a file: what a reader makes of it, its bytes, the line end behind them.

    ``end`` None is the file's usual one. ``lines`` is how many lines the bytes take.
    """

    value: Any
    raw: bytes
    end: bytes | None = None

    @property
    def lines(self) -> int:
        """How many lines it takes."""
        return self.raw.count(b"\n") + 1


def cell(value: Any) -> Cell:
    """A sound record."""
    return Cell(value, json.dumps(value, ensure_ascii=False).encode())


def row(value: dict[str, str]) -> Cell:
    """A sound row of a CSV file."""
    return Cell(value, ",".join(map(quoted, value.values())).encode())


def quoted(text: str) -> str:
    """A cell of a CSV file, between quotes where it has to be."""
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\r\n') else text


def line_of(value: dict[str, Any], separator: str) -> Cell:
    """A sound line of cells."""
    return Cell(value, (separator or " ").join(map(str, value.values())).encode())


def element(value: dict[str, str], tag: str) -> Cell:
    """A sound element of elements, on one line."""
    inside = "".join(f"<{name}>{text}</{name}>" for name, text in value.items())
    return Cell(value, f"<{tag}>{inside}</{tag}>".encode())


def member(value: dict[str, Any]) -> Cell:
    """A sound member of an object: its name, and its value."""
    name, content = value.values()
    return Cell(value, member_text(name, json.dumps(content, ensure_ascii=False)))


def member_text(name: str, content: str) -> bytes:
    """The bytes of a member whose value is that JSON text."""
    return f"{json.dumps(name, ensure_ascii=False)}: {content}".encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class DraftFile:
    """One file of a dataset; ``head`` stands before everything else, ``content`` replaces everything if given."""

    path: str
    kind: File
    cells: tuple[Cell, ...]
    split: str | None = None
    head: bytes = b""
    content: bytes | None = None
    line_end: bytes = b"\n"

    @property
    def is_array(self) -> bool:
        """Whether it is one JSON array, an element a line; or an object that holds one."""
        return self.kind.container in ("json-array", "json-wrapped")

    @property
    def is_object(self) -> bool:
        """Whether it is one JSON object, a member a line."""
        return self.kind.container == "json-object"

    @property
    def is_table(self) -> bool:
        """Whether it is a CSV file; its header has the fields of the first record."""
        return self.kind.container == "csv"

    @property
    def is_columns(self) -> bool:
        """Whether it has lines of cells."""
        return self.kind.container == "columns"

    @property
    def is_tagged(self) -> bool:
        """Whether it has elements between tags."""
        return self.kind.container == "tagged"

    @property
    def closing(self) -> bytes:
        """The last line of an array or object."""
        return b"]}\n" if self.kind.wrapper else b"]\n" if self.is_array else b"}\n"

    @property
    def header(self) -> bytes:
        """The first line, where it is no record."""
        if self.is_table:
            return ",".join(self.cells[0].value).encode() + self.line_end
        if self.is_columns:
            columns = self.kind.columns
            names = columns.separator.join(f.name for f in self.kind.record.fields)
            return names.encode() + self.line_end if columns.header else b""
        if self.kind.wrapper:
            return b'{"%b": [\n' % self.kind.wrapper[0].encode()
        return b"[\n" if self.is_array else b"{\n" if self.is_object else b""

    def sound(self, value: Any) -> Cell:
        """A sound record of this kind of file."""
        if self.is_columns:
            return line_of(value, self.kind.columns.separator)
        if self.is_tagged:
            return element(value, self.kind.tags[0])
        return row(value) if self.is_table else member(value) if self.is_object else cell(value)

    def line(self, index: int) -> int:
        """The 1-based line on which a cell begins."""
        return 1 + bool(self.header) + sum(c.lines for c in self.cells[:index])

    def data(self) -> bytes:
        """The bytes of the file."""
        if self.content is not None:
            return self.content
        if not (self.is_array or self.is_object):
            body = self.header + b"".join(c.raw + (self.line_end if c.end is None else c.end) for c in self.cells)
        else:
            ends = [b",\n"] * (len(self.cells) - 1) + [b"\n"]
            found = zip(self.cells, ends, strict=True)
            inside = b"".join(b"  " + c.raw + (e if c.end is None else c.end) for c, e in found)
            body = self.header + inside + self.closing
        return gzip.compress(self.head + body, mtime=0) if self.path.endswith(".gz") else self.head + body

    def with_cell(self, index: int, new: Cell) -> DraftFile:
        """With another cell in this place."""
        return replace(self, cells=(*self.cells[:index], new, *self.cells[index + 1 :]))

    def records(self) -> Iterator[tuple[int, Any]]:
        """(line, value) of the cells that can be decoded."""
        line = self.line(0)
        for one in self.cells:
            if not isinstance(one.value, NoRecord):
                yield line, one.value
            line += one.lines

    def unreadable(self) -> Iterator[int]:
        """Lines of the records that cannot be decoded."""
        line = self.line(0)
        for one in self.cells:
            if one.value is UNREADABLE:
                yield line
            line += one.lines


@dataclass(frozen=True, slots=True)
class Place:
    """A rule broken at a line of a file (None: the file as a whole)."""

    rule: str
    path: str
    line: int | None


Consequences = Callable[["Draft"], set[Place]]


@dataclass(frozen=True, slots=True)
class Draft:
    """A dataset: its files, what is reported of it although it is clean, and what its format adds.

    ``derive`` gives the keys of a record that are no fields, ``own_rules`` the rules that a damage of a field breaks
    by the format's own checks (kind, field, variant; a leading ``!``: of the file as a whole), ``consequences`` those
    that follow elsewhere and that no declaration says. ``notes`` name the field that a derived key is made from
    (``"chunks @id": "id"``) and, under ``"entry"``, the file to be validated in place of the folder, under ``"format"``
    the format to be named.
    """

    name: str
    format: Format
    files: tuple[DraftFile, ...]
    baseline: frozenset[tuple[str, str]] = frozenset()
    derive: Callable[[str, str, Any], dict[str, Any]] = lambda path, kind, value: {}
    own_rules: Callable[[str, str, str], tuple[str, ...]] = lambda kind, name, variant: ()
    consequences: Consequences = lambda draft: set()
    notes: dict[str, Any] = field(default_factory=dict)

    def with_file(self, new: DraftFile) -> Draft:
        """With another file of that path."""
        return replace(self, files=tuple(new if f.path == new.path else f for f in self.files))

    def file(self, path: str) -> DraftFile:
        """The file of that path."""
        return next(f for f in self.files if f.path == path)

    def write(self, root: Path) -> None:
        """Write all files below ``root``."""
        for each in self.files:
            write_file(root, each)


def write_file(root: Path, file: DraftFile) -> None:
    """Write one file of a dataset."""
    path = root / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file.data())
