"""Files written anew as a whole, in a stream."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO

import orjson

from ragdatakit.files.containers import strict_json
from ragdatakit.files.containers.arrays import ArraySource
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.paths.boundary import ANYWHERE, Boundary
from ragdatakit.fixes.applying import PlainFile
from ragdatakit.fixes.csv_rewriting import OTHER_SEPARATORS, with_commas, without_last_comma
from ragdatakit.fixes.triple_lines import trimmed_parts
from ragdatakit.fixes.whole_bytes import LONGEST, whole_bytes

_PIECE = 1 << 20
_BLANKS = b" \t\r\n"
_BREAK = re.compile(rb"\s*[\r\n]\s*")
"""A line break within a JSON value: it is between tokens, as texts have none."""

Rewrite = Callable[[PlainFile, IO[bytes]], list[bytes] | None]
"""Writes a file anew; what it leaves out is given, where that says something."""


def can_be_lines(path: Path, boundary: Boundary) -> bool:
    """Whether a file is a JSON array, or objects one behind the other, without a fault."""
    try:
        return any([bool(value) for value in _values(path, boundary)])  # noqa: C419 - to the end: a fault is raised
    except ValueError:
        return False


def is_wrapped(path: Path, boundary: Boundary) -> bool:
    """Whether a file is a JSON object with one member, which is a list."""
    data = whole_bytes(path, boundary)
    return data is not None and _wrapped(data) is not None


def _line_feeds(source: PlainFile, target: IO[bytes]) -> None:
    """Lines that end in CR LF end in LF."""
    held = b""
    for at in range(0, source.size, _PIECE):
        piece = held + source.read(at, min(at + _PIECE, source.size))
        held = b"\r" if piece.endswith(b"\r") else b""
        target.write(piece[: len(piece) - len(held)].replace(b"\r\n", b"\n"))
    target.write(held)


def _array_of_lines(source: PlainFile, target: IO[bytes]) -> None:
    """Lines that are JSON values as the elements of one array."""
    before = b"["
    for block in Source(source.path, gz=False, max_line_bytes=LONGEST).blocks():
        for line in block.data.splitlines():
            if value := line.strip(_BLANKS):
                target.write(before + b"\n" + value)
                before = b","
    target.write(b"\n]\n" if before == b"," else b"[]\n")


def _lines_of_values(source: PlainFile, target: IO[bytes]) -> None:
    """Elements of an array, or objects one behind the other, each on a line."""
    for value in _values(source.path, ANYWHERE):
        target.write(_BREAK.sub(b" ", value) + b"\n")


def _values(path: Path, boundary: Boundary) -> Iterator[bytes]:
    """The values of which a file is made; raises `ValueError` where it is anything else."""
    source = Source(path, path.name.endswith(".gz"), max_line_bytes=LONGEST, boundary=boundary)
    elements = ArraySource(source)
    number = 0
    for part in elements.parts():
        for element in part.elements():
            if element.error:
                raise ValueError(element.error)
            orjson.loads(element.raw)
            number += 1
            yield element.raw
    if source.faults or (number and not elements.whole):
        raise ValueError("not an array")
    if not number:
        yield from _objects(path, boundary)


def _objects(path: Path, boundary: Boundary) -> Iterator[bytes]:
    data = whole_bytes(path, boundary)
    if data is None:
        raise ValueError("too long")
    text, at = data.decode("utf-8"), 0
    at = strict_json.solid(text, 0)
    while at < len(text):
        if text[at] != "{":
            raise ValueError("not an object")
        end = strict_json.end_of(text, at)
        yield text[at:end].encode()
        at = strict_json.solid(text, end)


def _in_a_list(source: PlainFile, target: IO[bytes]) -> None:
    """The value of a file as the one element of an array."""
    target.write(b"[")
    source.copy(0, source.size, target)
    target.write(b"]\n")


def _unwrapped(source: PlainFile, target: IO[bytes]) -> list[bytes]:
    """The list that is the one member of an object; the object around it is left out."""
    span = _wrapped(source.read(0, source.size))
    if span is None:
        return []
    source.copy(*span, target)
    target.write(b"\n")
    return [source.read(0, span[0]).strip(_BLANKS), source.read(span[1], source.size).strip(_BLANKS)]


def _wrapped(data: bytes) -> tuple[int, int] | None:
    """Where the list is in an object that has nothing else."""
    try:
        text = data.decode("utf-8")
        begin = strict_json.solid(text, 0)
        if text[begin] != "{" or strict_json.decode(text).error:
            return None
        found = list(strict_json.members(text, begin))
    except (ValueError, IndexError, RecursionError):
        return None
    if len(found) != 1 or text[found[0][1][0]] != "[":
        return None
    start, end = found[0][1]
    return len(text[:start].encode()), len(text[:end].encode())


REWRITES: Mapping[str, Rewrite] = {
    "line-feeds": _line_feeds,
    "array-of-lines": _array_of_lines,
    "lines-of-values": _lines_of_values,
    "in-a-list": _in_a_list,
    "unwrapped": _unwrapped,
    "without-last-comma": without_last_comma,
    "trimmed-parts": trimmed_parts,
    **{name: partial(with_commas, separator) for name, separator in OTHER_SEPARATORS.items()},
}
"""By the names that fixes have for them."""
