"""JSON objects in every layout, with the places of their members known as they are written."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from ragdatakit.files.containers.arrays import ObjectSource
from ragdatakit.files.containers.element_scans import Element
from ragdatakit.files.containers.sources import Source
from tests.arrays_of_elements import TEXTS, Written, value

NAMES = (*TEXTS, "tide", "title", "a: b", '": "', '", "x": "y', "~/", "{", "\n")


def pairs(rng: Random, most: int = 12) -> list[tuple[str, Any]]:
    """Members, some of the same name."""
    return [(rng.choice(NAMES) + rng.choice(("", "", str(i))), value(rng)) for i in range(rng.randrange(most))]


def written_object(rng: Random, members: list[tuple[str, Any]]) -> Written:
    """The members as an object in a layout of its own; ``values`` are the pairs."""
    indent = rng.choice((None, None, 1, 4))
    separators = rng.choice(((",", ":"), (", ", ": "), (" ,  ", " : ")))
    colon = rng.choice((":", ": ", " : ", ":\n  ", "\n:\t"))
    between = rng.choice((", ", ",\n", ",\n  ", "\n,", " , ", ",", ",\r\n", ",\n\n\t"))
    mark = rng.choice((b"", b"", b"\xef\xbb\xbf"))
    ascii_only = rng.random() < 0.5
    raws = [
        (
            json.dumps(name, ensure_ascii=ascii_only)
            + colon
            + json.dumps(v, indent=indent, separators=separators, ensure_ascii=ascii_only)
        ).encode()
        for name, v in members
    ]
    data = mark + rng.choice((b"", b"\n", b" \n ")) + b"{" + rng.choice((b"", b"\n", b"\n  ", b" "))
    offsets = []
    for i, raw in enumerate(raws):
        data += between.encode() if i else b""
        offsets.append(len(data))
        data += raw
    data += rng.choice((b"", b"\n", b" ")) + b"}" + rng.choice((b"", b"\n", b"\n\n"))
    return Written(data, tuple(offsets), tuple(raws), tuple(members))


def read(path: Path, data: bytes, block_bytes: int) -> tuple[list[Element], str]:
    """What is found in a file of those bytes, and what its top level is."""
    path.write_bytes(data)
    source = ObjectSource(Source(path, gz=False, block_bytes=block_bytes))
    found = [element for part in source.parts() for element in part.elements()]
    return found, source.top
