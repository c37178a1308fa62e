"""Which parts of a file are judged by themselves."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.beginnings import BOM, GZIP_MAGIC, HEAD_BYTES
from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.containers.parquet_tables import opened_parquet
from ragdatakit.files.containers.sources import HeadedSource, Source, file_state
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ragdatakit.files.containers.arrays import ArraySource, Buffer

_LIKE_BYTES = 1 << 10
"""Of the beginning of an element by which others are recognised."""
RANGE_BYTES = 32 << 20
"""Of a file in one range, about: its findings and the keys of its records are held together."""
SMALL_BYTES, _MOST_FILES = 4 << 20, 1 << 8
"""Of files whose ranges are judged at once."""


@dataclass(frozen=True, slots=True)
class Range:
    """The records of a file that begin at ``start`` or behind, and before ``end``: lines, or elements behind a comma.

    ``file`` is its number in the dataset; ``number`` counts from 0, and that one begins with the first record, below
    the header. ``state`` is that of the file when it was planned. ``whole``: the file has to be read from its
    beginning, header and all; of Parquet that is true of each range, which has the ``rows`` from the first number up to
    the second, where it does not have all. Rows of CSV have numbers, too, and the first one its ``line``. Of elements
    it may be known where the first one begins (``exact``), what the first one of the file is ``like``, and what the
    checks are ``given`` by the range before (`Needs.passed_on`).
    """

    file: int
    number: int
    start: int
    end: int
    state: str
    whole: bool = False
    rows: tuple[int, int] | None = None
    line: int = 1
    exact: int | None = None
    like: bytes = b""
    given: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The ranges of a file; None where it is not what its name says, or cannot be read. ``elements`` were read up to
    the first one, where ``reader`` is."""

    ranges: list[Range] | None = None
    elements: ArraySource | None = None
    reader: Buffer | None = None


def plan_ranges(
    source: Source, file_number: int, elements: ArraySource | None = None, target_bytes: int | None = None
) -> Plan:
    """How a file of lines, or of ``elements``, is cut. Packed data are one range, and so are elements in Parquet; of
    lines in Parquet it is row groups, and lines with cells that go on in the next one are cut before records; of lines
    the header and the byte-order mark are left in ``source``."""
    target = max(target_bytes or RANGE_BYTES, 1)
    try:
        with source.boundary.open(source.path) as file:
            info, head = os.fstat(file.fileno()), file.read(HEAD_BYTES)
    except OSError:
        return Plan()
    if head.startswith(GZIP_MAGIC) != source.gz or source.head_fault(head, info.st_size) is not None:
        return Plan()
    state = file_state(info)
    whole = Range(file_number, 0, 0, info.st_size, state, whole=True)
    if source.gz:
        return Plan([whole])
    if elements is not None:
        return Plan([whole]) if is_parquet(source.path) else _of_elements(elements, whole, target)
    return Plan(
        _of_row_groups(source, whole, target) if is_parquet(source.path) else _of_lines(source, whole, target, head)
    )


def _of_lines(source: Source, whole: Range, target: int, head: bytes) -> list[Range]:
    safe = source.safe_cuts()
    if len(safe) == 1:
        return [whole]
    first = _first_line(source, head, whole.end)
    cuts = bounds(first, whole.end, target)
    if safe:
        behind = [*safe, whole.end]
        cuts = sorted({behind[min(bisect_left(behind, cut), len(safe))] for cut in cuts})
    return _between(cuts, whole)


def _between(cuts: list[int], whole: Range) -> list[Range]:
    return [
        replace(whole, number=number, start=start, end=end, whole=False)
        for number, (start, end) in enumerate(pairwise(cuts))
    ]


def _of_elements(elements: ArraySource, whole: Range, target: int) -> Plan:
    """Elements wherever they are cut; None where the file has none at all."""
    reader = elements.begin()
    if reader is None:
        return Plan()
    first, like = reader.offset, reader.data[:_LIKE_BYTES]
    reader.close()
    elements.head = b""
    ranges = _between(bounds(first, whole.end, target), replace(whole, like=like))
    ranges[0] = replace(ranges[0], exact=first)
    return Plan(ranges, elements, reader)


def _of_row_groups(source: Source, whole: Range, target: int) -> list[Range]:
    """The row groups of a Parquet file, small ones together; all in one where its footer cannot be read."""
    cuts = bounds(0, whole.end, target)
    if len(cuts) < 3:
        return [whole]
    try:
        with opened_parquet(source.path, source.boundary) as parquet:
            parts = parquet.parts()
    except RagdataError:
        return [whole]
    found = list[Range]()
    for _, of_range in groupby(parts, lambda part: bisect_right(cuts, part.begin)):
        first, *_, last = [*of_range] * 2
        found.append(replace(whole, number=len(found), start=first.begin, rows=(first.first, last.end)))
    ends = [*(each.start for each in found[1:]), whole.end]
    return [replace(each, end=end) for each, end in zip(found, ends, strict=True)] if len(found) > 1 else [whole]


def small_ones_together(plans: Iterable[Plan]) -> list[tuple[Range, ...]]:
    """The ranges of files as they are judged: those of several small files in a row at once."""
    found, last, left = list[tuple[Range, ...]](), list[Range](), 0
    for plan in plans:
        ranges = plan.ranges or []
        size = sum(part.end - part.start for part in ranges)
        if len(ranges) == 1 and last and size <= left and len(last) < _MOST_FILES:
            last.append(ranges[0])
            left -= size
            continue
        found += [tuple(last)] if last else []
        last, left = [], 0
        if len(ranges) == 1:
            last, left = [*ranges], SMALL_BYTES - size
        else:
            found += [(part,) for part in ranges]
    return [*found, tuple(last)] if last else found


def bounds(first: int, end: int, target: int) -> list[int]:
    """Where ranges begin and end, from the first byte to the last."""
    return [*range(first, end, target), end] if first < end else [first, first]


def _first_line(source: Source, head: bytes, size: int) -> int:
    """Where the first record begins."""
    if isinstance(source, HeadedSource):
        return next((block.offset for block in source.blocks()), size)
    source.bom = head.startswith(BOM)
    return len(BOM) if source.bom else 0
