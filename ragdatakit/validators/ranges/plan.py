"""Which parts of a file are judged by themselves."""

from __future__ import annotations

import os
from itertools import pairwise

from ragdatakit.files.containers.beginnings import BOM, GZIP_MAGIC, HEAD_BYTES
from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.containers.sources import HeadedSource, Source, file_state
from ragdatakit.late_dataclasses import dataclass

RANGE_BYTES = 32 << 20
"""Of a file in one range, about: its findings and the keys of its records are held together."""


@dataclass(frozen=True, slots=True)
class Range:
    """The lines of a file that begin at ``start`` or behind, and before ``end``. ``file`` is its number in the dataset;
    ``number`` counts from 0, and that one begins with the first line below the header. ``state`` is that of the file
    when it was planned. ``whole``: the file has to be read from its beginning, header and all."""

    file: int
    number: int
    start: int
    end: int
    state: str
    whole: bool = False


def plan_ranges(source: Source, file_number: int, target_bytes: int | None = None) -> list[Range] | None:
    """The ranges of a file of lines; None where it is not what its name says, or cannot be read. Packed data and
    Parquet are one range, and so are lines with cells that go on in the next one; of others the header and the
    byte-order mark are left in ``source``."""
    target = max(target_bytes or RANGE_BYTES, 1)
    try:
        with source.boundary.open(source.path) as file:
            info, head = os.fstat(file.fileno()), file.read(HEAD_BYTES)
    except OSError:
        return None
    if head.startswith(GZIP_MAGIC) != source.gz or source.head_fault(head, info.st_size) is not None:
        return None
    state = file_state(info)
    if source.gz or is_parquet(source.path) or source.has_breaks():
        return [Range(file_number, 0, 0, info.st_size, state, whole=True)]
    first = _first_line(source, head, info.st_size)
    return [Range(file_number, i, *pair, state) for i, pair in enumerate(pairwise(bounds(first, info.st_size, target)))]


def bounds(first: int, end: int, target: int) -> list[int]:
    """Where ranges begin and end, from the first byte to the last."""
    return [*range(first, end, target), end] if first < end else [first, first]


def _first_line(source: Source, head: bytes, size: int) -> int:
    """Where the first record begins."""
    if isinstance(source, HeadedSource):
        return next((block.offset for block in source.blocks()), size)
    source.bom = head.startswith(BOM)
    return len(BOM) if source.bom else 0
