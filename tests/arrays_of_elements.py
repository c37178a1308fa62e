"""JSON arrays in every layout, with the places of their elements known as they are written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from ragdatakit.files.containers.arrays import ArraySource, Element
from ragdatakit.files.containers.sources import Source

TEXTS = (
    "tide",
    'a "pier"',
    "\\",
    "é",
    "漢字 \U0001f311",
    "line\nend",
    "], [",
    '", "',
    "}, {",
    "",
    "x" * 60,
    "a\\",
    ",\n{",
)


@dataclass(frozen=True, slots=True)
class Written:
    """An array's bytes, and for each element its offset, its bytes, its value."""

    data: bytes
    offsets: tuple[int, ...]
    raws: tuple[bytes, ...]
    values: tuple[Any, ...]

    def line(self, index: int) -> int:
        """The 1-based line of an element, counted anew."""
        return self.data[: self.offsets[index]].count(b"\n") + 1


def value(rng: Random, depth: int = 0) -> Any:
    """Any JSON value."""
    kind = rng.randrange(9 if depth < 3 else 6)
    if kind < 3:
        return "".join(rng.choice(TEXTS) for _ in range(rng.randrange(3)))
    if kind == 3:
        return rng.choice((0, -1, 12345678901234567890, 1.5, -0.25, 1e300, True, False, None))
    if kind < 6:
        return rng.choice(TEXTS)
    if kind == 6:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(TEXTS): value(rng, depth + 1) for _ in range(rng.randrange(4))}


def array(rng: Random, values: list[Any]) -> Written:
    """The values as an array in a layout of its own."""
    indent = rng.choice((None, None, 1, 4))
    separators = rng.choice(((",", ":"), (", ", ": "), (" ,  ", " : ")))
    between = rng.choice((", ", ",\n", ",\n  ", "\n,", " , ", ",", ",\r\n", ",\n\n\t"))
    mark = rng.choice((b"", b"", b"\xef\xbb\xbf"))
    raws = [
        json.dumps(v, indent=indent, separators=separators, ensure_ascii=rng.random() < 0.5).encode() for v in values
    ]
    data = mark + rng.choice((b"", b"\n", b" \n ")) + b"[" + rng.choice((b"", b"\n", b"\n  ", b" "))
    offsets = []
    for i, raw in enumerate(raws):
        data += between.encode() if i else b""
        offsets.append(len(data))
        data += raw
    data += rng.choice((b"", b"\n", b" ")) + b"]" + rng.choice((b"", b"\n", b"\n\n"))
    return Written(data, tuple(offsets), tuple(raws), tuple(values))


def read(path: Path, data: bytes, block_bytes: int) -> tuple[list[Element], str]:
    """What is found in a file of those bytes, and what its top level is."""
    path.write_bytes(data)
    source = ArraySource(Source(path, gz=False, block_bytes=block_bytes))
    found = [element for part in source.parts() for element in part.elements()]
    return found, source.top


def places(found: list[Element]) -> list[tuple[int, int, int, str]]:
    """What is found where, however much is read at a time."""
    return [(e.record, e.line, e.byte_offset, e.error) for e in found]
