"""Tables cut into parts: rows of CSV, between which no line end is within quote marks, lines of JSON, row groups."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable
from itertools import pairwise

from ragdatakit.files.containers.beginnings import BOM, GZIP_MAGIC
from ragdatakit.files.containers.sources import file_state
from ragdatakit.files.datasets import FilePart
from ragdatakit.files.reading.file_sources import parts_of
from ragdatakit.files.reading.table_rows import TableFile

_ASCII_WITHIN = re.compile("utf-8|ascii|iso8859-[0-9]+|cp125[0-9]|koi8-[rtu]")
"""Encodings in which a byte below 128 is that character, wherever it is."""
_LONGEST = 1 << 26


def cut_table(table: TableFile, target: int) -> list[FilePart | None]:
    """The parts of a file whose shape is known, of about so many bytes; None alone where it cannot be cut, or is
    small."""
    file, shape = table.file, table.shape
    assert shape is not None
    if table.kind == "parquet":
        return _row_groups(table, target)
    if table.kind == "json":
        return parts_of(file, target) if shape.container == "ndjson" else [None]
    form, separator = table.form, table.form.separator
    if not _ASCII_WITHIN.fullmatch(codecs.lookup(form.encoding).name) or not separator.isascii():
        return [None]
    whole_rows = _whole_rows(separator.encode()) if form.quoting else None
    with file.boundary.open(file.path) as opened:
        fd = opened.fileno()
        info, head = os.fstat(fd), os.pread(fd, len(BOM), 0)
        if head.startswith(GZIP_MAGIC) or file.path.name.lower().endswith(".gz"):
            return [None]
        cuts = _cuts(fd, len(BOM) if head == BOM else 0, info.st_size, max(target, 1), whole_rows)
    if len(cuts) < 3:
        return [None]
    state = file_state(info)
    return [FilePart(start, end, not number, state) for number, (start, end) in enumerate(pairwise(cuts))]


def _cuts(fd: int, first: int, size: int, target: int, whole_rows: Callable[[bytes], int] | None) -> list[int]:
    """Where parts begin, each behind a line feed that ends a row, and the end of the file."""
    cuts, length = [first], target
    while cuts[-1] + length < size and length <= max(_LONGEST, target):
        data = os.pread(fd, length, cuts[-1])
        end = data.rfind(b"\n") + 1 if whole_rows is None or b'"' not in data else whole_rows(data)
        if end:
            cuts.append(cuts[-1] + end)
        length = target if end else 2 * length
    return [*cuts, size]


def _whole_rows(separator: bytes) -> Callable[[bytes], int]:
    """What says how many bytes at the beginning of data are whole rows, the last of which ends in a line feed. A quote
    mark opens a cell only at its beginning, as Python's reader has it."""
    sign = re.escape(separator)
    cell = rb'(?:"(?:[^"]++|"")*+"[^%b\r\n]*+|(?!")[^%b\r\n]*+)' % (sign, sign)
    row = rb"%b(?:%b%b)*+" % (cell, sign, cell)
    matched = re.compile(rb"(?:(?:%b\r(?!\n))*+%b\r?\n)*+" % (row, row)).match

    def length(data: bytes) -> int:
        found = matched(data)
        return found.end() if found is not None else 0

    return length


def _row_groups(table: TableFile, target: int) -> list[FilePart | None]:
    """Row groups, small ones together; their numbers are in the place of bytes."""
    state = file_state(table.file.path.stat())
    found: list[FilePart | None] = []
    first = held = 0
    sizes = table.row_groups()
    for number, size in enumerate(sizes, 1):
        held += size
        if held >= target or number == len(sizes):
            found.append(FilePart(first, number, not first, state))
            first, held = number, 0
    return found if len(found) > 1 else [None]
