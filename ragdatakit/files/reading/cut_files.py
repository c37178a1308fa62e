"""Files that end within a record, as copies do that were not finished."""

from __future__ import annotations

import os
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import IO

from ragdatakit.files.containers.beginnings import GZIP_MAGIC
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.sources import Source, file_state
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.files.paths.folders import size_of
from ragdatakit.late_patterns import late_pattern
from ragdatakit.quick_values import NamedTuple
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


class Ending(NamedTuple):
    """The unpacked bytes of a file from ``begin`` on, to its end, and how many it has; -1 where nobody can tell."""

    stream: IO[bytes]
    begin: int
    size: int


def ending_of(file: DataFile) -> Ending:
    """All of a plain file, of a packed one what may be looked at; to be closed."""
    try:
        stream = file.boundary.open(file.path)
    except OSError:  # it is gone since it was read, which is reported
        return Ending(BytesIO(), 0, -1)
    if stream.read(len(GZIP_MAGIC)) != GZIP_MAGIC:
        return Ending(stream, 0, size_of(file.path))
    with stream:
        size, end = _end_of_packed(file.path, file.boundary, file_state(os.fstat(stream.fileno())))
    return Ending(BytesIO(end), size - len(end), size)


@lru_cache(maxsize=1)
def _end_of_packed(path: Path, boundary: Boundary, state: str) -> tuple[int, bytes]:
    """How many bytes are packed in a file of this state, and the last of them; -1 and none where it is damaged."""
    source, end = Source(path, True, boundary=boundary, text=False), b""
    for piece in source.pieces():
        end = (end + piece)[-_MOST - _FIRST :]
    return (-1, b"") if source.faults else (source.bytes_read, end)


def is_cut(file: DataFile, located: Located, byte: int) -> bool:
    """Whether a file ends behind a fault at this byte of a record, without a line feed and within a value."""
    if _BEGUN.fullmatch(located.raw[byte:]) is None:
        return False
    fault = located.byte_offset + byte
    before = min(fault, 1)
    stream, begin, size = ending_of(file)
    with stream:
        if not 0 <= size - fault <= _MOST:
            return False
        stream.seek(fault - before - begin)
        end = stream.read(_FIRST)
        # as in all lines but the last one, of which there may be very many
        if b"\n" in end[before:].strip(b" \t\r\n,"):
            return False
        end += stream.read()
    return not end.endswith(b"\n") and _BEGUN.fullmatch(end[before:]) is not None


def ends_file(file: DataFile, located: Located) -> bool:
    """Whether a file ends with this record, without a line feed."""
    if located.cut or located.raw.endswith((b"\n", b"\r")):
        return False
    ending = ending_of(file)
    ending.stream.close()
    return located.byte_offset + len(located.raw) == ending.size


def is_cut_line(file: DataFile, located: Located, kind: File) -> bool:
    """Whether a file ends within this line of cells: some are missing, and none in the line before."""
    cells = [cell for cell in _BETWEEN.split(located.raw) if cell]
    if len(cells) >= len(kind.record.fields) or not ends_file(file, located):
        return False
    stream, begin, _ = ending_of(file)
    with stream:
        at = max(0, located.byte_offset - begin - _FIRST)
        stream.seek(at)
        before = stream.read(max(0, located.byte_offset - begin - at)).splitlines()
    try:
        LineReader(kind).record(before[-1].decode("utf-8", "replace"))
    except (IndexError, LineError):
        return False
    return True
