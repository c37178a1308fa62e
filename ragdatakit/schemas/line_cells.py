"""Lines of cells: how a line of a ``columns`` file is cut, and what a cell is.

Python's csv reader takes a cell between quote marks to its end, whatever line that is on. `hide_breaks` hides line
breaks in cells from all who cut lines; what is read is the same place of the data in which nothing is hidden.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.late_patterns import late_pattern
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.declarations import Columns, File
from ragdatakit.schemas.texts import many

_WORD = late_pattern(r"\S+")
# A quoted cell as Python's csv reader takes it: what follows the closing quote belongs to it.
_QUOTED = late_pattern(r'"((?:[^"]|"")*+)"')
LONGEST_CELL = 131_072
"""Characters of a cell that Python's csv reader takes unless it is set otherwise; it stops at a longer one."""
_HIDE = bytes.maketrans(b"\n\r", b"\0\0")
_BREAK = late_pattern("\r\n|\r")
_CELL = late_pattern(rb'"[^"]*+(?:""[^"]*+)*+("?)')
_GOES_ON = late_pattern(rb'[\t\r\n]"[^"\r\n]*+(?:""[^"\r\n]*+)*+[\r\n]')
_CELL_END, _LINE_END = late_pattern(rb"[\t\r\n]"), late_pattern(rb"[\r\n]")


class LineError(ValueError):
    """A line that is no record; ``position`` is the 0-based character at which that shows, ``case`` what is wrong in a
    word: the ``columns`` that it lacks, ``further`` ones, a ``quote`` mark, the ``length`` of a cell."""

    def __init__(self, reason: str, case: str, position: int = 0) -> None:
        super().__init__(reason)
        self.position = position
        self.case = case

    @property
    def facts(self) -> dict[str, str]:
        """Of the problem that it is."""
        return {"reason": str(self), "case": self.case}


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
                raise LineError("a quote mark that is not closed", "quote", position)
            text, position = _text_of(quoted[1]), quoted.end()
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


class Hidden(NamedTuple):
    """Data of whole lines as ``data``, in which line breaks within cells are hidden; ``places``: where these cells are.
    Behind ``whole`` is the beginning of a line whose last cell is not closed in the data; what was ``added`` closes the
    last cell of all. But for that nothing has another place."""

    data: bytes
    places: tuple[tuple[int, int], ...]
    whole: int
    added: bytes = b""


def hide_breaks(data: bytes, last: bool, columns: int) -> Hidden:
    """Hide line breaks in cells between quote marks; ``last``: nothing comes behind the data. A quote mark that is not
    closed there, or only when a cell would be too long, counts as forgotten: its line ends as any other. But one in the
    last line, of which nothing else is missing, is closed by the end of the file; there are so many ``columns``.
    """
    hidden = _hide_breaks(data, last)
    if last and (added := _closing(hidden.data, columns)):
        return _hide_breaks(data + added, last)._replace(added=added)
    return hidden


def _hide_breaks(data: bytes, last: bool) -> Hidden:
    found, places = bytearray(), list[tuple[int, int]]()
    begin = 0
    while (line := _may_go_on(data, begin)) is not None:
        begin = line
        for start, end, closed in _cells_with_breaks(data, begin):
            cell = data[start:end]
            if not closed and not last and len(cell) <= 4 * LONGEST_CELL:
                return Hidden(bytes(found or data), tuple(place for place in places if place[0] < line), line)
            begin = start
            if not closed or _too_long(cell):
                break
            found = found or bytearray(data)
            found[start:end] = cell.translate(_HIDE)
            places.append((start, end))
            begin = end
        end_of_line = _LINE_END.search(data, begin)
        begin = end_of_line.end() if end_of_line else len(data)
    return Hidden(bytes(found or data), tuple(places), len(data))


def _closing(data: bytes, columns: int) -> bytes:
    """A quote mark, if the data end in an open cell of the last column, or behind it, that holds no other line."""
    text = data.rstrip(b"\r\n")
    at, cells = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1, 1
    while b'"' in data[at:]:
        if data.startswith(b'"', at) and (cell := _CELL.match(data, at)):
            if not cell[1]:
                return b'"' if cells >= columns else b""
            at = cell.end()
        end = data.find(b"\t", at)
        if end < 0:
            break
        at, cells = end + 1, cells + 1
    return b""


def _may_go_on(data: bytes, at: int) -> int | None:
    """The first line from the beginning of one on in which a cell may go on behind the end of the line."""
    if not at and data.startswith(b'"'):
        return at
    found = _GOES_ON.search(data, max(at - 1, 0))
    if found is None:
        return None
    return max(at, *(data.rfind(end, at, found.start() + 1) + 1 for end in (b"\n", b"\r")))


def _cells_with_breaks(data: bytes, at: int) -> Iterator[tuple[int, int, bool]]:
    """Of a line, the cells with line breaks in them: begin, end, and whether they are closed."""
    while True:
        if data.startswith(b'"', at) and (cell := _CELL.match(data, at)):
            at = cell.end()
            if _LINE_END.search(data, cell.start(), at):
                yield cell.start(), at, bool(cell[1])
        end = _CELL_END.search(data, at)
        if end is None or end[0] != b"\t":
            return
        at = end.end()


def _too_long(cell: bytes) -> bool:
    return len(cell) > LONGEST_CELL and len(_text_of(cell[1:-1].decode("utf-8", "replace"))) > LONGEST_CELL


def _text_of(cell: str) -> str:
    """What is between quote marks as it is read: line ends of all kinds are one character, as in any text."""
    return _BREAK.sub("\n", cell.replace('""', '"'))


_BETWEEN = late_pattern(r"[\s,;|\"]+")
_SEPARATORS = {"blanks": None, "commas": ",", "semicolons": ";", "vertical bars": "|"}


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
            raise self._miscounted(line, len(cells))
        if columns.quoted and len(line) > LONGEST_CELL and (longest := max(map(len, cells))) > LONGEST_CELL:
            raise LineError(f"a cell of {longest:,} characters, of which csv takes {LONGEST_CELL:,}", "length")
        record: dict[str, Any] = dict(zip(self.names, cells, strict=False))
        for name, kind in self._types.items():
            record[name] = typed(record[name], kind)
        if len(cells) > self._count:
            record[f"column {self._count + 1}"] = (columns.separator or " ").join(cells[self._count :])
        return record

    def looks_like_record(self, line: str) -> bool:
        """Whether what may be a header has the numbers that a record has, or ends in one, and does not name its
        columns."""
        words = line.split()
        if words and not set(self.names) & set(words) and not isinstance(typed(words[-1], "number"), str):
            return True  # a record with columns more or fewer, or with blanks for tabs, is none, either
        try:
            record = self.record(line)
        except LineError:
            return False
        return not any(isinstance(record.get(n), str) if n in self._types else record.get(n) == n for n in self.names)

    def behind_header(self, line: str) -> str:
        """The record that runs on behind the header on its line; empty where there is none."""
        names = self.columns.separator.join(self.names)
        rest = line.removeprefix(names).strip() if line.startswith(names) else ""
        return rest if len(rest.split()) >= self._count and self.looks_like_record(rest) else ""

    def other_names(self, line: str) -> list[str]:
        """What a header names in place of the columns, whatever is between the names; nothing where it names these. A
        column of numbers may be called as one likes."""
        found = [name for name in _BETWEEN.split(line.casefold()) if name]
        expected = [name for name in self.names if name not in self._types]
        return found if found[: len(expected)] != expected else []

    def _miscounted(self, line: str, found: int) -> LineError:
        what = {"\t": "tab-separated column", "": "column"}[self.columns.separator]
        words = f"{many(found, what)} instead of {self._count}"
        for cell in cut(line, self.columns) if self.columns.quoted else ():
            if "\n" in cell.text and self.columns.separator in cell.text:
                return LineError(f"{closed_below(cell.text)}, which leaves {words}", "columns", cell.start)
            if len(cell.text) == len(line) - 2 and len(cell.text.split(self.columns.separator)) == self._count:
                return LineError(f"{words} (all are between one pair of quote marks)", "columns", cell.start)
        plain = _QUOTED.sub("-", line) if self.columns.quoted else line
        others = _SEPARATORS.items() if found < self._count else ()
        for called, sign in others:
            if sign != (self.columns.separator or None) and self._count <= len(plain.split(sign)):
                words += f" (there are {called} where {'tabs' if self.columns.separator else 'blanks'} should be)"
                break
        return LineError(words, "columns" if found < self._count else "further")


def closed_below(cell: str) -> str:
    """What is said of the quote mark before a cell that has other lines in it."""
    return f"a quote mark that is closed only {many(cell.count(chr(10)), 'line')} below"


def typed(cell: str, kind: str) -> Any:
    """A cell as Python reads a number of that kind; as text where it is none (or is not finite)."""
    try:
        number: int | float = int(cell) if kind == "integer" else float(cell)
    except ValueError:
        return cell
    return cell if isinstance(number, float) and not math.isfinite(number) else number
