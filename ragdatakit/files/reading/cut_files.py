"""Files that end within a record, as copies do that were not finished."""

from __future__ import annotations

from ragdatakit.files.containers.positions import Located
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.folders import size_of
from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas.declarations import File
from ragdatakit.schemas.line_cells import LineError, LineReader

AGAIN = "copy the file again, or write it again"
"""What to do about such a file."""
CUT_HERE = f"the file seems to be cut here: {AGAIN}"
_MOST, _FIRST = 1 << 20, 1 << 12
"""Bytes of a text that nothing ends, beyond which it is not looked at, and those that are looked at first."""
_BEGUN = late_pattern(
    rb'[ \t\r\n]*+,?[ \t\r\n]*+(?:"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+\\?|\\?u[0-9A-Fa-f]{0,3}|\.|[eE][+-]?|'
    rb"-|-?I[a-z]*|Na?|tr?u?|fa?l?s?|nu?l?)?"
)
"""What is left of a text of JSON from a fault on, where only its end is missing."""
_BETWEEN = late_pattern(rb"[\s,;|]+")
"""What is between columns, also in a file that has others than it should."""


def is_cut(file: DataFile, fault: int) -> bool:
    """Whether a file that is not packed ends behind a fault at this offset, without a line feed and within a value."""
    left = size_of(file.path) - fault
    if not 0 <= left <= _MOST or file.path.name.lower().endswith(".gz"):
        return False
    before = min(fault, 1)
    with file.boundary.open(file.path) as stream:
        stream.seek(fault - before)
        end = stream.read(_FIRST)
        # as in all lines but the last one, of which there may be very many
        if b"\n" in end[before:].strip(b" \t\r\n,"):
            return False
        end += stream.read()
    return not end.endswith(b"\n") and _BEGUN.fullmatch(end[before:]) is not None


def ends_file(file: DataFile, located: Located) -> bool:
    """Whether a file that is not packed ends with this record, without a line feed."""
    if located.cut or file.path.name.lower().endswith(".gz"):
        return False
    return located.byte_offset + len(located.raw) == size_of(file.path) and not located.raw.endswith((b"\n", b"\r"))


def is_cut_line(file: DataFile, located: Located, kind: File) -> bool:
    """Whether a file ends within this line of cells: some are missing, and none in the line before."""
    cells = [cell for cell in _BETWEEN.split(located.raw) if cell]
    if len(cells) >= len(kind.record.fields) or not ends_file(file, located):
        return False
    begin = max(0, located.byte_offset - _FIRST)
    with file.boundary.open(file.path) as stream:
        stream.seek(begin)
        before = stream.read(located.byte_offset - begin).splitlines()
    try:
        LineReader(kind).record(before[-1].decode("utf-8", "replace"))
    except (IndexError, LineError):
        return False
    return True
