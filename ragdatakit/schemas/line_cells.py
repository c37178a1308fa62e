"""Lines of cells: how a line of a ``columns`` file is cut, and what a cell is."""

from __future__ import annotations

import math
import re
from typing import Any

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.declarations import Columns, File
from ragdatakit.schemas.texts import many

_WORD = re.compile(r"\S+")
# A quoted cell as Python's csv reader takes it: what follows the closing quote belongs to it.
_QUOTED = re.compile(r'"((?:[^"]|"")*+)"')


class LineError(ValueError):
    """A line that is no record; ``position`` is the 0-based character at which that shows."""

    def __init__(self, reason: str, position: int = 0) -> None:
        super().__init__(reason)
        self.position = position


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a line: its text, and where it is (quotes included)."""

    text: str
    start: int
    end: int


def cut(line: str, columns: Columns) -> list[Cell]:
    """The cells of a line. Raises `LineError` where a quote mark is not closed."""
    if not columns.separator:
        return [Cell(m.group(), m.start(), m.end()) for m in _WORD.finditer(line)]
    cells, position, separator = [], 0, columns.separator
    while True:
        text = ""
        begin = position
        if columns.quoted and line.startswith('"', position):
            quoted = _QUOTED.match(line, position)
            if quoted is None:
                raise LineError("a quote mark that is not closed", position)
            text, position = quoted.group(1).replace('""', '"'), quoted.end()
        end = line.find(separator, position)
        cells.append(Cell(text + line[position : end if end >= 0 else None], begin, end if end >= 0 else len(line)))
        if end < 0:
            return cells
        position = end + len(separator)


def texts(line: str, columns: Columns) -> list[str]:
    """The texts of the cells of a line."""
    if not columns.separator:
        return line.split()
    if columns.quoted and '"' in line:
        return [cell.text for cell in cut(line, columns)]
    return line.split(columns.separator)


class LineReader:
    """Reads lines of one kind of file as records."""

    def __init__(self, kind: File) -> None:
        self.columns = kind.columns
        self.names = [f.name for f in kind.record.fields]
        self._types = {f.name: f.type for f in kind.record.fields if f.type in ("integer", "number")}
        self._count = len(self.names)

    def record(self, line: str) -> dict[str, Any]:
        """The record of a line. Raises `LineError` where it has another number of cells.

        A comment is a record of one field called ``comment``; cells after the last column, where they are passed over,
        are together one field called ``column N``.
        """
        columns = self.columns
        if columns.comment and line.startswith(columns.comment):
            return {"comment": line}
        cells = texts(line, columns)
        if len(cells) != self._count and (len(cells) < self._count or not columns.further):
            raise LineError(self._miscounted(line, len(cells)))
        record: dict[str, Any] = dict(zip(self.names, cells, strict=False))
        for name, kind in self._types.items():
            record[name] = typed(record[name], kind)
        if len(cells) > self._count:
            record[f"column {self._count + 1}"] = (columns.separator or " ").join(cells[self._count :])
        return record

    def looks_like_record(self, line: str) -> bool:
        """Whether what may be a header has the numbers that a record has, and does not name its columns."""
        try:
            record = self.record(line)
        except LineError:
            return False
        return not any(isinstance(record.get(n), str) if n in self._types else record.get(n) == n for n in self.names)

    def _miscounted(self, line: str, found: int) -> str:
        what = {"\t": "tab-separated column", "": "column"}[self.columns.separator]
        words = f"{many(found, what)} instead of {self._count}"
        if self.columns.separator and found < self._count and len(line.split()) >= self._count:
            words += " (there are blanks where tabs should be)"
        return words


def typed(cell: str, kind: str) -> Any:
    """A cell as Python reads a number of that kind; as text where it is none (or is not finite)."""
    try:
        number: int | float = int(cell) if kind == "integer" else float(cell)
    except ValueError:
        return cell
    return cell if isinstance(number, float) and not math.isfinite(number) else number
