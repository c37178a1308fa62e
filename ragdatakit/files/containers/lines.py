"""Blocks cut into lines the way Python's text mode does: LF, CR LF and a lone CR all end a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragdatakit.late_patterns import late_pattern

_LINE = late_pattern(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


LONG_LINE = 1 << 24
"""Bytes from which on a line alone in ``data`` is given as a view of it instead of a copy."""


_WINDOW = 1 << 14


def iter_lines(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """(offset in ``data``, line without its end, its end) for each line; a very long one may be a `memoryview`."""
    if len(data) > LONG_LINE and b"\r" not in data and data.find(b"\n") in (-1, len(data) - 1):
        end = b"\n" if data.endswith(b"\n") else b""
        yield 0, memoryview(data)[: len(data) - len(end)], end  # type: ignore[misc]
        return
    if b"\r" not in data:
        offset = 0
        lines = data.split(b"\n")
        last = lines.pop()
        for line in lines:
            yield offset, line, b"\n"
            offset += len(line) + 1
        if last:
            yield offset, last, b""
        return
    for match in _LINE.finditer(data):
        whole = match.group()
        line = whole.rstrip(b"\r\n")
        yield match.start(), line, whole[len(line) :]


def chosen_lines(data: bytes, numbers: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    """(offset, line without its end) of the lines with these numbers, counted from 0 and ascending. All lines end in
    LF. Lines between are counted, not cut."""
    at = line = 0
    for number in numbers:
        while left := number - line:
            window = data[at : at + _WINDOW]
            if not window:
                return
            ends = window.count(b"\n")
            if ends >= left:
                at += len(window) - len(window.split(b"\n", left)[-1])
                line = number
            else:
                at, line = at + len(window), line + ends
        end = data.find(b"\n", at)
        yield at, data[at:] if end < 0 else data[at:end]


def line_ends(data: bytes) -> int:
    """How many lines end in the data."""
    return data.count(b"\n") + (data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else 0)


def line_begin(data: bytes, at: int) -> int:
    """Where the line begins that a place is in."""
    return max(data.rfind(b"\n", 0, at), data.rfind(b"\r", 0, at)) + 1
