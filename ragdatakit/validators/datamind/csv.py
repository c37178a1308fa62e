"""What DataMind's CSV import makes of a file in uploads/. A pure function."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from ragdatakit.schemas.findings import Problem

_USABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def csv_problems(data: bytes) -> Iterator[Problem]:
    """The faults of a CSV file; lines are those on which a row starts."""
    # The import reads in text mode, which makes every line end a LF.
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    reader = csv.reader(io.StringIO(text))
    rows = 0
    start = 1
    try:
        header = next(reader, None)
        _refuse_long(header or [])
        if header:
            yield from _header_problems(header)
        elif header is not None:
            yield Problem("unreadable-csv", facts={"reason": "the first line, which is the header, is blank"}, line=1)
            return
        start = reader.line_num + 1
        for row in reader if header is not None else ():
            _refuse_long(row)
            rows += 1
            if header is not None:
                yield from _row_problems(row, len(header), start)
            start = reader.line_num + 1
    except csv.Error as error:
        yield Problem("unreadable-csv", facts={"reason": str(error)}, line=start)
        return
    if not rows:
        yield Problem("empty-csv")


LONGEST_CELL = 131_072
"""What Python's reader takes unless a program says otherwise, as others in this process may have done."""


def _refuse_long(row: list[str]) -> None:
    if any(len(cell) > LONGEST_CELL for cell in row):
        raise csv.Error(f"field larger than field limit ({LONGEST_CELL})")


def _header_problems(header: list[str]) -> Iterator[Problem]:
    names: set[str] = set()
    for number, raw in enumerate(header, 1):
        name = raw.strip()
        if not _USABLE.fullmatch(name):
            name = f"col_{number}"
            yield Problem("renamed-csv-header", value=raw, facts={"name": name}, line=1)
        if name.lower() in names:
            yield Problem("duplicate-csv-header", value=name, line=1)
        names.add(name.lower())


def _row_problems(row: list[str], expected: int, line: int) -> Iterator[Problem]:
    if not row:
        yield Problem("blank-csv-row", line=line)
    elif len(row) != expected:
        yield Problem("ragged-csv-row", facts={"count": len(row), "expected": expected}, line=line)
