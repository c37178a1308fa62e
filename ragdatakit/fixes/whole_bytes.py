"""All bytes of a file, where these are not too many."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from ragdatakit.files.containers.beginnings import BOM
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.outputs.file_states import PresentState, present_state
from ragdatakit.schemas.fixes import Edit

LONGEST = 1 << 28
"""Bytes of a file that is read at once."""
_LONG = 1 << 26
"""The same, where the places of all lines are held, too."""


def whole_bytes(path: Path, boundary: Boundary, most: int = LONGEST, marked: bool = False) -> bytes | None:
    """What a file holds, unpacked, with its byte-order mark only if it is to be ``marked``; None where it is too long
    or cannot be read."""
    source = Source(path, path.name.endswith(".gz"), boundary=boundary)
    pieces, size = [], 0
    for piece in source.pieces():
        pieces.append(piece)
        size += len(piece)
        if size > most:
            return None
    mark = BOM if marked and source.bom else b""
    return None if source.faults else mark + b"".join(pieces)


def without_lines_of(file: DataFile, first: str, separator: bytes | None = None) -> tuple[Edit, ...]:
    """All lines of a file whose first cell is this one go; none where the file is long, or has quote marks, between
    which a cell may go on on the next line. ``separator`` None: any blanks, and no header, which else stays."""
    spans = _lines_by_first(file.path, present_state(file.path), file.boundary, separator).get(first.encode(), ())
    return tuple(Edit(start, end, part="line") for start, end in spans)


@lru_cache(2)
def _lines_by_first(
    path: Path, state: PresentState | None, boundary: Boundary, separator: bytes | None
) -> Mapping[bytes, list[tuple[int, int]]]:
    found: dict[bytes, list[tuple[int, int]]] = {}
    data, at = whole_bytes(path, boundary, _LONG, marked=True) or b"", 0
    below_header = separator is None
    if separator is not None and b'"' in data:
        return found
    for line in data.split(b"\n"):
        row = line.removesuffix(b"\r")
        if row.strip() and below_header:
            found.setdefault(row.split(separator, 1)[0], []).append((at, at + len(row)))
        below_header = below_header or bool(row.strip())
        at += len(line) + 1
    return found
