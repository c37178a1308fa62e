"""Faults that have fixes, put into the files of a dataset."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.mutations import CELLS, RECORDS

Lines = list[bytes]


def spoil(folder: Path, rng: Random) -> list[str]:
    """Faults that have fixes, in files drawn at random; what was done, in words."""
    said = []
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink() and p.suffix in RECORDS | CELLS]
    for _ in range(rng.choice((0, 1, 2, 3, 5)) if files else 0):
        path, change = rng.choice(files), rng.choice(SPOILING)
        lines = path.read_bytes().split(b"\n")
        path.write_bytes(b"\n".join(change(lines, rng)))
        said.append(f"{change.__name__} {path.name}")
    return said


def copied(lines: Lines, rng: Random) -> Lines:
    """A line once more, somewhere behind it."""
    at = rng.randrange(len(lines))
    where = rng.randrange(at, len(lines))
    return [*lines[:where], lines[at], *lines[where:]]


def copied_with_another_between(lines: Lines, rng: Random) -> Lines:
    """A line, the same with another last digit or letter, and the line again."""
    at = rng.randrange(len(lines))
    line = lines[at]
    places = [i for i, byte in enumerate(line) if chr(byte).isalnum()]
    if not places:
        return lines
    other = bytearray(line)
    other[rng.choice(places[-8:])] = rng.choice(b"123abc")
    return [*lines[: at + 1], bytes(other), line, *lines[at + 1 :]]


def with_comma(lines: Lines, rng: Random) -> Lines:
    """A comma that nothing follows."""
    at = rng.randrange(len(lines))
    line = lines[at]
    place = max(line.rfind(b"}"), line.rfind(b"]"))
    return lines if place < 0 else [*lines[:at], line[:place] + b"," + line[place:], *lines[at + 1 :]]


def joined(lines: Lines, rng: Random) -> Lines:
    """Two lines in one."""
    at = rng.randrange(len(lines))
    return [*lines[:at], b" ".join(lines[at : at + 2]), *lines[at + 2 :]]


def blank(lines: Lines, rng: Random) -> Lines:
    """A line of nothing."""
    at = rng.randrange(len(lines) + 1)
    return [*lines[:at], rng.choice((b"", b" ", b"\t", b"\r")), *lines[at:]]


def marked(lines: Lines, rng: Random) -> Lines:
    """A byte-order mark."""
    return [b"\xef\xbb\xbf" + lines[0], *lines[1:]]


def ended_otherwise(lines: Lines, rng: Random) -> Lines:
    """CR LF at the end of some lines."""
    return [line + b"\r" if rng.random() < 0.5 and line else line for line in lines]


def number_as_text(lines: Lines, rng: Random) -> Lines:
    """A number in quotes, or a text of digits without them."""
    at = rng.randrange(len(lines))
    return [*lines[:at], _other_type(lines[at], rng), *lines[at + 1 :]]


def _other_type(line: bytes, rng: Random) -> bytes:
    value = _value(line)
    places = [(home, key) for home, key in _places(value) if not isinstance(home[key], dict)]
    if not places:
        return line
    home, key = rng.choice(places)
    each = home[key]
    digits = isinstance(each, str) and each.isascii() and each.isdigit()
    home[key] = (
        str(each)
        if isinstance(each, int | float)
        else int(each[:9])
        if digits
        else rng.choice((None, [each], f" {each}" if isinstance(each, str) else each))
    )
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    for key, each in items:
        yield value, key
        yield from _places(each)


def as_python(lines: Lines, rng: Random) -> Lines:
    """A record as Python prints it."""
    at = rng.randrange(len(lines))
    value = _value(lines[at])
    return lines if value is None else [*lines[:at], repr(value).encode("utf-8", "replace"), *lines[at + 1 :]]


SPOILING: tuple[Callable[[Lines, Random], Lines], ...] = (
    *(copied, copied, copied_with_another_between, copied_with_another_between, with_comma, joined, blank, marked),
    *(ended_otherwise, number_as_text, number_as_text, number_as_text, as_python),
)


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
