"""Tables in CSV as Python's reader cuts them: how they are written, and their rows."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import BinaryIO

from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading.record_reading import refuse_encoding
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError

LONGEST_CELL = 1 << 28
_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}


@dataclass(frozen=True, slots=True)
class CsvForm:
    """How CSV files are written. ``delimiter`` empty: by the file's name and header; ``header`` false: columns are
    called by their numbers, from 1; ``quoting`` false: quotes are characters like others."""

    delimiter: str = ""
    encoding: str = "utf-8"
    header: bool = True
    quoting: bool = True

    def check(self) -> None:
        """Raise `RagdataError` where the values make no sense."""
        refuse_encoding(self.encoding)
        if self.delimiter and len(self.separator) != 1:
            known = ", ".join(name for name in _DELIMITERS if name.isalpha())
            raise RagdataError(f"--option delimiter={self.delimiter}: expected one character, or one of {known}")

    @property
    def separator(self) -> str:
        """The delimiter as a character; empty where it is to be detected."""
        return _DELIMITERS.get(self.delimiter, self.delimiter)


class LineFault(RagdataError):
    """A file of cells cannot be read from a line on; ``is_encoding``: because it has another encoding. ``option`` is
    which option may help."""

    def __init__(self, file: DataFile, line: int, reason: str, option: str, is_encoding: bool = False) -> None:
        super().__init__(f"{file.display}: line {line:,}: {reason}{option and f'; {option}'}")
        self.line, self.reason, self.option, self.is_encoding = line, reason, option, is_encoding


class CsvRows:
    """The rows of a CSV file behind its ``header`` (given where it is not there); ``line`` is where the last one ended,
    1-based."""

    def __init__(self, stream: BinaryIO, file: DataFile, form: CsvForm, header: Sequence[str] | None = None) -> None:
        self._file, self._form = file, form
        self._text = io.TextIOWrapper(stream, form.encoding, newline="")
        self.line, self.delimiter = 0, form.separator
        self._rows = self._read()
        if header is not None:
            self.header = [*header]
            return
        first = next(self._rows, [])
        if form.header:
            self.header = first
        else:
            self.header = [str(number) for number in range(1, len(first) + 1)]
            self._rows = chain([first], self._rows)

    def __iter__(self) -> Iterator[list[str]]:
        return self._rows

    def _read(self) -> Iterator[list[str]]:
        import csv

        csv.field_size_limit(LONGEST_CELL)
        try:
            line = self._text.readline()
            delimiter = self.delimiter = self.delimiter or _delimiter_of(line, self._file.path.name)
            # Strict, so that a quote in the wrong place does not swallow rows.
            lines = chain([line], self._text)
            if self._form.quoting:
                reader = csv.reader(lines, delimiter=delimiter, strict=True)
            else:
                reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
            for row in reader:
                self.line = reader.line_num
                if row:
                    yield row
        except csv.Error as error:
            raise LineFault(self._file, self.line + 1, *_csv_fault(str(error))) from None


def _csv_fault(message: str) -> tuple[str, str]:
    """What is wrong, and the option that may help."""
    if "field larger" in message:
        return f"a cell has more than {LONGEST_CELL:,} characters; is a quote not closed?", ""
    if "unexpected end" in message:
        message = "a quote is not closed"
    return message, "where quotes are characters like others, give --option quoting=none"


def _delimiter_of(header: str, name: str) -> str:
    """A comma, in ``.tsv`` and ``.txt`` a tab; another one that the header has, if it has none of these."""
    usual = "\t" if name.lower().removesuffix(".gz").endswith((".tsv", ".txt")) else ","
    others = [d for d in (",", ";", "\t", "|") if d != usual and d in header]
    return others[0] if usual not in header and len(others) == 1 else usual
