"""Cells of a CSV file as pandas' ``read_csv`` takes them: how a record is cut, what a column of cells turns into.

pandas infers the type of a column from all its cells, and of a big file chunk by chunk: a column (or chunk) in which
every cell looks like a number becomes numbers, and ``007`` is then 7. Established by running pandas 2.3 and 3.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas.cells import MISSING

Kind = Literal["integer", "decimal", "boolean", "text"]

_SPACE = r"[ \t\n\v\f\r]*"
_INTEGER = late_pattern(rf"{_SPACE}([+-]?)([0-9]+){_SPACE}")
_DECIMAL = late_pattern(
    rf"{_SPACE}[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?{_SPACE}|[+-]?inf(?:inity)?", re.I
)
_BOOLEANS = {"true": "true", "false": "false"}
_INT64_MAX, _UINT64_MAX = 2**63 - 1, 2**64 - 1
_MOST_DIGITS = 4000  # Python refuses to make an int of more than 4,300 digits
_LAST = frozenset("0123456789. \t")
"""How what looks like a number mostly ends: one look at a text of many lines saves the pattern."""


def chunk_rows(columns: int) -> int:
    """How many rows pandas infers types from at a time, for a table of so many columns."""
    rows = 1  # as the loop in pandas' `TextReader`: the greatest power of two below a million cells
    while rows * 2 < (1 << 20) // max(columns, 1):
        rows *= 2
    return rows


@dataclass(slots=True)
class ColumnScan:
    """What the cells of a column, in order, would be turned into.

    ``texts`` counts the cells that can only be text, up to two; ``first_text`` is the 0-based place of the first.
    ``huge`` and ``first_huge`` are the same of integers beyond 64 bits, which make text of a column of integers.
    ``bare``, where it is wanted, is the same without the cells that pandas takes for missing by default.
    """

    cells: int = 0
    texts: int = 0
    first_text: int = -1
    numbers: bool = False
    huge: int = 0
    first_huge: int = -1
    bare: ColumnScan | None = None
    _integers: bool = True
    _beyond: Literal["", "int64", "uint64"] = ""
    _negative: bool = False
    _decimals: bool = True
    _booleans: bool = True

    def add(self, cells: Iterable[str]) -> None:
        """Take in cells, until it is certain that more than one of them is text."""
        for cell in cells:
            if self.texts < 2:
                self._add(cell)
            self.cells += 1
            if self.bare is not None and cell not in MISSING:
                self.bare.add((cell,))

    def _add(self, cell: str) -> None:
        integer = _INTEGER.fullmatch(cell)
        if integer is not None:
            self._booleans = False
            self.numbers = True
            if self._integers:
                self._add_integer(integer.group(1) == "-", integer.group(2))
            return
        self._integers = False
        if _DECIMAL.fullmatch(cell):
            self._booleans = False
            self.numbers = True
        elif cell.lower() in _BOOLEANS:
            self._decimals = False
        else:
            self._decimals = self._booleans = False
            self.first_text = self.cells if not self.texts else self.first_text
            self.texts += 1

    def _add_integer(self, negative: bool, digits: str) -> None:
        size = int(digits) if len(digits) < _MOST_DIGITS else _UINT64_MAX + 1
        self._negative |= negative
        if size > _UINT64_MAX:
            self._beyond = "uint64"
            self.first_huge = self.cells if not self.huge else self.first_huge
            self.huge += 1
        elif size > _INT64_MAX + negative and not self._beyond:
            self._beyond = "int64"

    def close(self, cells: int, numbers: bool) -> None:
        """It is certain that these cells are text, and some of them look like numbers, or none does."""
        self.texts, self.first_text, self.cells, self.numbers = 2, 0, cells, numbers
        self._integers = self._decimals = self._booleans = False
        if self.bare is not None:
            self.bare.close(cells, numbers)

    @staticmethod
    def is_number(cell: str) -> bool:
        """Whether a cell looks like a number."""
        return cell[-1:] in _LAST and _DECIMAL.fullmatch(cell) is not None

    def follow(self, later: ColumnScan) -> None:
        """Take in what was seen in the cells behind these."""
        if later.texts and self.texts < 2:
            self.first_text = self.cells + later.first_text if not self.texts else self.first_text
        self.texts = min(self.texts + later.texts, 2)
        if later.huge and not self.huge:
            self.first_huge = self.cells + later.first_huge
        self.huge += later.huge
        if self._integers:  # a number too big counts only before the first cell that is no integer
            self._beyond = max(self._beyond, later._beyond, key=("", "int64", "uint64").index)
            self._negative |= later._negative
        self._integers &= later._integers
        self._decimals &= later._decimals
        self._booleans &= later._booleans
        self.numbers |= later.numbers
        self.cells += later.cells
        if self.bare is not None and later.bare is not None:
            self.bare.follow(later.bare)

    @property
    def kind(self) -> Kind:
        """What the column turns into; a column without cells is text."""
        if not self.cells or self.texts or self._beyond == "uint64":
            return "text"
        if self._integers and self._beyond and self._negative:
            return "text"
        if self._integers:
            return "integer"
        return "decimal" if self._decimals else "boolean" if self._booleans else "text"


def coerced(cell: str, kind: Kind) -> str:
    """How a cell of a column of this kind is spelled when it is written as a JSON key again."""
    if kind == "text":
        return cell
    if kind == "boolean":
        return cell.lower()
    if kind == "integer":
        return str(int(cell))
    number = float(cell)
    if number in (float("inf"), float("-inf")):
        return "Infinity" if number > 0 else "-Infinity"
    return repr(number)


def key_of(cell: str, kind: Kind) -> str:
    """What two cells have in common if a look-up takes one for the other: text equals text, a number equals a number.

    Numbers and booleans begin with a NUL, which no cell that was read can have.
    """
    if kind == "text":
        return cell
    if kind == "boolean":
        return f"\0?{cell.lower()}"
    number = float(cell) if kind == "decimal" else int(cell)
    whole = isinstance(number, float) and number.is_integer() and abs(number) < 2**63
    return f"\0#{int(number) if whole else number!r}"


# A field, from its first character: quoted with whatever follows the closing quote, or up to the next comma. Possessive
# (``*+``), as a cell may have megabytes: a place to come back to for each character takes more memory than the cell.
_FIELD = late_pattern(r'"((?:[^"]|"")*+)"([^,\r\n]*+)|([^,\r\n]*+)')
_OPEN = late_pattern(r'"(?:[^"]|"")*+\Z')


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record: its text, and where it is in the record (quotes included)."""

    text: str
    start: int
    end: int


def split_record(text: str, start: int = 0) -> tuple[list[Field], int, bool]:
    """(fields, behind the record's last field, whether its last quote is closed) of the record at ``start``."""
    fields: list[Field] = []
    position = start
    while True:
        if text.startswith('"', position) and _OPEN.match(text, position):
            inside = text[position + 1 :].replace('""', '"')
            fields.append(Field(inside, position - start, len(text) - start))
            return fields, len(text), False
        match = _FIELD.match(text, position)
        assert match is not None
        quoted, tail, plain = match.groups()
        value = plain if quoted is None else quoted.replace('""', '"') + tail
        fields.append(Field(value, position - start, match.end() - start))
        position = match.end()
        if not text.startswith(",", position):
            return fields, position, True
        position += 1


_UNDECODED = late_pattern("[\udc80-\udcff]")


def cells_of_broken(raw: bytes, closed: bool, guess: bool) -> list[str | None]:
    """The cells of a record that is not UTF-8, or has an open quote (``closed`` is false); None for unreadable ones.

    ``guess``: bytes that are not UTF-8 are read as Latin-1, as which they were most often written, and an open cell is
    cut at its commas.
    """
    fields, _, _ = split_record(raw.decode("utf-8", "surrogateescape"))
    cells = [field.text for field in fields]
    if not closed:
        cells[-1:] = cells[-1].split(",") if guess else []
    latin = [cell.encode("utf-8", "surrogateescape").decode("latin-1") if guess else None for cell in cells]
    return [other if _UNDECODED.search(cell) else cell for cell, other in zip(cells, latin, strict=True)]


class CsvForm:
    """What the text of one CSV record is: cells by the names of the header (of two columns with one name the first).

    ``key`` is the column that the loader takes as the key of a record, ``inferred`` are those whose types pandas
    infers.
    """

    def __init__(self, header: list[str], key: str = "", inferred: Iterable[str] = ()) -> None:
        self.header = header
        self.key = key
        self.inferred = frozenset(inferred)
        self._places: dict[str, int] = {}
        for place, name in enumerate(header):
            self._places.setdefault(name, place)

    def value(self, text: str) -> dict[str, str]:
        """The record as a dict of the cells that are there."""
        fields, _, _ = split_record(text)
        return {name: fields[place].text for name, place in self._places.items() if place < len(fields)}

    def span(self, text: str, pointer: str) -> tuple[int, int] | None:
        """Where the cell of the column ``/<name>`` is, with its quotes: (first character, length)."""
        fields, _, _ = split_record(text)
        place = self._places.get(pointer.removeprefix("/").replace("~1", "/").replace("~0", "~"), len(fields))
        return (fields[place].start, fields[place].end - fields[place].start) if place < len(fields) else None

    def glimpse(self, text: str, field_name: str) -> Any:
        """Nothing: a record that is too long has no cells to be seen."""
        return None

    def column_of(self, name: str) -> str:
        """The column that a key column (``@key``, ``@<column>``) is made of; else ``""``."""
        column = self.key if name == "@key" else name.removeprefix("@")
        return column if name.startswith("@") and column in self.inferred else ""
