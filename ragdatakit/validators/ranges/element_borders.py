"""Where an element of an array, or a member of an object, seems to begin, seen from the middle of a file.

Nobody can tell for certain what is within quote marks there. So this is a guess, by what the first element begins with
and by reading some more elements from there; it is proved by whoever reads the elements before it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from re import Pattern

from ragdatakit.files.containers.arrays import ArraySource
from ragdatakit.files.containers.element_scans import ElementScan
from ragdatakit.files.containers.indents import NO_INDENT

_WINDOW = 1 << 18
_BEFORE = 1 << 6
"""Bytes before a place that say what the comma at it separates."""
_TRIES = 200
_ENOUGH = 4


class Borders:
    """Borders between the elements of a file of ``size`` bytes, the first of which begins as ``like`` does."""

    def __init__(self, fd: int, size: int, elements: ArraySource, like: bytes) -> None:
        self._fd, self._size, self._scan = fd, size, elements.SCAN
        self._patterns = [*_patterns(elements, like), elements.BORDER]
        self._tries = _TRIES

    def first_begin(self, start: int, end: int) -> int | None:
        """Behind the first comma from which on an element seems to begin: a place from ``start`` on, before ``end``."""
        for place in range(start, end, _WINDOW):
            before = max(place - _BEFORE, 0)
            data = os.pread(self._fd, min(place + _WINDOW, end) - before + _BEFORE, before)
            for begin in self._candidates(data, place - before, min(_WINDOW, end - place)):
                if self._goes_on(before + begin):
                    return before + begin
                self._tries -= 1
                if not self._tries:
                    return None
        return None

    def _candidates(self, data: bytes, first: int, length: int) -> Iterator[int]:
        for pattern in self._patterns:
            for found in pattern.finditer(data):
                if first <= found.end(1) < first + length:
                    yield found.end(1)

    def _goes_on(self, begin: int) -> bool:
        """Whether there are elements from here on, as far as one looks."""
        data = os.pread(self._fd, _WINDOW, begin)
        at_end = begin + len(data) >= self._size
        scan: ElementScan = self._scan(data, begin, 1, 1, NO_INDENT, at_end)
        for number, element in enumerate(scan.run()):
            if element.error or not scan.sound:
                return number > _ENOUGH  # it is not here that something is broken
        if not scan.sound:
            return False
        return not scan.closed or (at_end and data[scan.position :].strip(b" \t\r\n") in (b"", b"}"))


def _patterns(elements: ArraySource, like: bytes) -> Iterator[Pattern[bytes]]:
    """What a border between such elements looks like, the most certain first."""
    found = elements.BEGINNING.match(like)
    if found is None:
        return
    mark = re.escape(found["mark"])
    if b"\n" in found["blanks"]:
        yield re.compile(rb'(?<=["}\]0-9el])(,)(?=%b%b)' % (re.escape(found["blanks"]), mark))
    if found["name"]:
        yield re.compile(rb"(,)(?=[ \t\r\n]*%b)" % mark)
    elif found["mark"] == b'"' and elements.NOUN == "array":
        yield re.compile(rb'(?:(?<=[^\\]")|(?<=\\\\"))(,)(?=[ \t\r\n]*")')
