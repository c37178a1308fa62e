"""Whatever the columnar decoder accepts, reading line by line finds clean, with the same values.

``RAGDATA_FUZZ=100000`` tries that many blocks a record instead of the usual number.
"""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import Any

import pytest

from ragdatakit.columnar.blocks import ColumnarDecoder, ColumnBlock
from ragdatakit.columnar.text_template import TextTemplate
from ragdatakit.files.containers.lines import iter_lines
from ragdatakit.schemas import all_formats
from ragdatakit.schemas.beir.format import BEIR
from ragdatakit.schemas.declarations import Record
from ragdatakit.validators.records import RecordChecker
from tests.columnar_mutations import block, mutated, tries

RECORDS = [
    pytest.param(record, id=f"{fmt.name} {record.name}")
    for fmt in all_formats()
    for file in fmt.files
    if file.container == "ndjson" and len(file.records) == 1
    for record in file.records
    if record.shape == "object" and all(field.values is None for field in record.fields)
]


def objection(record: Record, data: bytes, found: ColumnBlock) -> str:
    """What is wrong with having accepted these bytes; nothing if it is right."""
    checker = RecordChecker((record,))
    values = []
    starts = []
    for start, line, end in iter_lines(data):
        if end not in (b"", b"\r\n" if found.crlf else b"\n"):
            return f"line end {end!r} and crlf is {found.crlf}"
        value, problems = checker.examine(line)
        if problems or not isinstance(value, dict):
            return f"{[(p.rule, p.pointer) for p in problems]} in {line!r}"
        values.append(value)
        starts.append((start, line))
    if found.length != len(values):
        return f"{found.length} rows, {len(values)} lines"
    for row, (start, line) in enumerate(starts):
        if (found.start(row), found.line(data, row)) != (start, line):
            return f"row {row} is at {found.start(row)}: {found.line(data, row)!r}"
    if record.ordered and any(list(v) != list(values[0]) for v in values):
        return "the order of the fields differs"
    return _differing(record, values, found)


def _differing(record: Record, values: list[dict[str, Any]], found: ColumnBlock) -> str:
    if found.integers is not None:
        rows = [dict(zip(found.integers, row, strict=True)) for row in zip(*found.integers.values(), strict=True)]
    else:
        assert found.table is not None
        rows = found.table.to_pylist()
    declared = {f.name for f in record.fields}
    for value, row in zip(values, rows, strict=True):
        # A text that Arrow takes for a time is harmless where nothing looks at it: below and beside what is declared.
        dates = {name for name, found in row.items() if isinstance(found, datetime) and name not in declared}
        if not all(_same(value.get(name), row.get(name)) for name in {*value, *row} - dates):
            return f"{value} is read as {row}"
    return ""


def _same(value: Any, found: Any) -> bool:
    """Whether Arrow read what Python did; it gives every row every key, so null and not there are one."""
    if isinstance(value, dict) and isinstance(found, dict):
        return all(_same(value.get(k), found.get(k)) or isinstance(found.get(k), datetime) for k in {*value, *found})
    if isinstance(value, list) and isinstance(found, list):
        return len(value) == len(found) and all(map(_same, value, found))
    return bool(value == found) and isinstance(value, bool) == isinstance(found, bool)


@pytest.mark.parametrize("record", RECORDS)
def test_what_is_accepted_is_clean_line_by_line(record: Record) -> None:
    rng = Random(record.name)
    decoder = ColumnarDecoder(record)

    accepted = 0
    number = tries(800)
    for _ in range(number):
        data = mutated(record, rng)
        found = decoder.decode(data) if data else None
        if found is not None:
            accepted += 1
            assert not (said := objection(record, data, found)), f"{said}\n{data!r}"

    assert accepted > number // 20


@pytest.mark.parametrize("record", RECORDS)
def test_clean_blocks_of_one_shape_are_accepted(record: Record) -> None:
    """Else the speed would be gone without a word."""
    rng = Random(1)
    decoder = ColumnarDecoder(record)

    blocks = [block(record, rng) for _ in range(200)]
    accepted = sum(decoder.decode(data) is not None for data in blocks)

    assert accepted > 60


def test_empty_objects_are_part_of_the_template() -> None:
    """All metadata of BEIR's own sets is ``{}``."""
    record = BEIR.file("corpus").record
    texts = [b"of %d" % n if n % 2 else b'of \\"%d\\"' % n for n in range(50)]
    lines = [b'{"_id": "d%d", "title": "", "text": "%b", "metadata": {}}\n' % (n, text) for n, text in enumerate(texts)]
    data = b"".join(lines)

    found = ColumnarDecoder(record).decode(data)

    assert TextTemplate(record).decode(data) is not None
    assert TextTemplate(record).decode(data + b'{"_id": "d", "title": "", "text": "", "metadata": {"a": 1}}\n') is None
    assert TextTemplate(record).decode(data.replace(b'"title": ""', b'"title": {}')) is None
    assert found is not None
    assert objection(record, data, found) == ""
