"""Files of JSON that end within a record, as copies do that were not finished."""

from __future__ import annotations

from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.folders import size_of
from ragdatakit.late_patterns import late_pattern

_MOST, _FIRST = 1 << 20, 1 << 12
"""Bytes of a text that nothing ends, beyond which it is not looked at, and those that are looked at first."""
_BEGUN = late_pattern(
    rb'[ \t\r\n]*+,?[ \t\r\n]*+(?:"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+\\?|\\?u[0-9A-Fa-f]{0,3}|\.|[eE][+-]?|'
    rb"-|-?I[a-z]*|Na?|tr?u?|fa?l?s?|nu?l?)?"
)
"""What is left of a text of JSON from a fault on, where only its end is missing."""


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
