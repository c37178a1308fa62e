"""Whoever seeks to a finding's byte offset finds that record, on the line that was said, whatever the line ends."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragdatakit.files.containers.lines import chosen_lines, iter_lines
from ragdatakit.files.containers.positions import BlockTable, _counted, _found, byte_positions, locate_lines
from ragdatakit.files.containers.sources import Block, Source
from ragdatakit.schemas.findings import Finding
from ragdatakit.validators import dataset_run
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.reading import blocks
from ragdatakit.validators.run import validate_paths
from ragdatakit.validators.run_options import RunOptions
from tests.broad import examples

MARK = b"\xef\xbb\xbf"
PLANTED = {
    "sound": "",
    "accents": "",
    "text is null": "text-not-string",
    "id is text": "id-not-integer",
    "id twice": "duplicate-qid",
    "no text": "missing-field",
    "extra": "unexpected-field",
    "no JSON": "invalid-json",
    "cut": "invalid-json",
    "no object": "line-not-object",
    "key twice": "duplicate-key",
    "blank text": "blank-text",
    "not UTF-8": "invalid-utf8",
    "blank line": "",
}
NO_RECORD = "blank line"


def line_of(plant: str, number: int) -> bytes:
    """A line of a query master with that fault."""
    text = f"tide {number}"
    raw = {
        "accents": f'{{"qid": {number}, "text": "é漢\U0001f311 {number}"}}',
        "text is null": f'{{"qid": {number}, "text": null}}',
        "id is text": f'{{"qid": "{number}", "text": "{text}"}}',
        "id twice": f'{{"qid": 0, "text": "é {text}"}}',
        "no text": f'{{"qid": {number}}}',
        "extra": f'{{"qid": {number}, "text": "{text}", "lang": "é"}}',
        "no JSON": f'{{"qid": {number}, "text": "é {text}",}}',
        "cut": f'{{"qid": {number}, "te',
        "no object": f"[{number}]",
        "key twice": f'{{"qid": {number}, "text": "é", "text": "{text}"}}',
        "blank text": f'{{"qid": {number}, "text": " "}}',
        NO_RECORD: "",
    }.get(plant, f'{{"qid": {number}, "text": "{text}"}}')
    return raw.encode() if plant != "not UTF-8" else raw.encode().replace(b"tide", b"t\xefde")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file is written and read."""

    plants: tuple[tuple[str, bytes], ...]
    final_end: bool
    mark: bool
    zipped: bool
    block_bytes: int
    part_bytes: int
    threads: int

    def data(self) -> bytes:
        """The uncompressed bytes."""
        lines = [line_of("id twice" if not i else plant, i) + end for i, (plant, end) in enumerate(self.plants)]
        data = b"".join(lines)
        if not self.final_end:
            data = data.removesuffix(b"\n").removesuffix(b"\r")
        return (MARK if self.mark else b"") + data


LAYOUTS = st.builds(
    Layout,
    plants=st.one_of(
        *(
            st.lists(st.tuples(st.sampled_from(plants), st.sampled_from(ends)), min_size=1, max_size=30).map(tuple)
            for ends in ([b"\n"], [b"\r\n"], [b"\n", b"\r\n"], [b"\n", b"\r\n", b"\r"])
            for plants in (list(PLANTED), ["sound"] * 9 + list(PLANTED))
        )
    ),
    final_end=st.booleans(),
    mark=st.sampled_from([False, False, True]),
    zipped=st.booleans(),
    block_bytes=st.sampled_from([16, 40, 100, 300, 1 << 20]),
    part_bytes=st.sampled_from([1, 50, 120, 1 << 16]),
    threads=st.sampled_from([1, 1, 2]),
)


def physical_lines(data: bytes) -> list[tuple[int, bytes]]:
    """(offset, content) of each line as Python's text mode tells them, found byte by byte."""
    lines = []
    start = position = 3 if data.startswith(MARK) else 0
    while position < len(data):
        width = 2 if data[position : position + 2] == b"\r\n" else 1 if data[position] in b"\r\n" else 0
        if width:
            lines.append((start, data[start:position]))
            start = position + width
        position += max(width, 1)
    if start < len(data):
        lines.append((start, data[start:]))
    return lines


def findings_of(path: Path, layout: Any, scanned: bool) -> list[Finding]:
    """What is reported of a file, read in blocks of that size by that engine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset_run, "BLOCK_BYTES", layout.block_bytes)
        patch.setattr(dataset_run, "TEXT_BLOCK_BYTES", layout.block_bytes)
        patch.setattr(blocks, "PART_BYTES", layout.part_bytes)
        if scanned:
            patch.setattr(dataset_run, "SMALL_DATASET", -1)
        options = RunOptions(jobs=layout.threads)
        return validate_paths([path], selection=Selection(max_per_rule=0, each_record=True), options=options).findings


def check_column(finding: Finding, line: str) -> None:
    """The value at fault stands in the column that was said."""
    if finding.column is None:
        return
    assert 1 <= finding.column <= len(line) + 1
    if finding.pointer and isinstance(finding.value, str | int | None) and finding.rule != "duplicate-key":
        assert line[finding.column - 1 :].startswith(json.dumps(finding.value, ensure_ascii=False))


@given(layout=LAYOUTS)
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_lines(layout: Layout, tmp_path: Path) -> None:
    data = layout.data()
    path = tmp_path / f"query_master.ndjson{'.gz' if layout.zipped else ''}"
    path.write_bytes(gzip.compress(data, mtime=0) if layout.zipped else data)

    findings = findings_of(path, layout, scanned=False)

    assert findings_of(path, layout, scanned=True) == findings

    lines = physical_lines(data)
    records = [number for number, (_, content) in enumerate(lines) if content.strip()]
    for finding in findings:
        if finding.rule == "byte-order-mark":
            assert (finding.line, finding.byte_offset) == (1, 0)
        elif finding.line is not None:
            offset, content = lines[finding.line - 1]
            assert finding.byte_offset == offset
            if finding.record is not None:
                assert records[finding.record] == finding.line - 1
                check_column(finding, content.decode("utf-8", "replace"))
    rules = {(f.rule, f.line) for f in findings}
    assert rules >= set(planted(lines))


def planted(lines: list[tuple[int, bytes]]) -> Iterator[tuple[str, int]]:
    """The faults that were put in, by the content of the lines as they came out."""
    kinds = {line_of(p, n): rule for p, rule in PLANTED.items() for n in range(1, len(lines) + 1) if rule}
    kinds |= {line_of("id twice", n): "duplicate-qid" for n in range(1, len(lines) + 1)}
    for number, (_, content) in enumerate(lines, 1):
        if content in kinds:
            yield kinds[content], number
        elif not content.strip():
            yield "blank-line", number


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """How a questions.json is written and read."""

    plants: tuple[str, ...]
    indent: int | None
    between: str
    before: str
    mark: bool
    block_bytes: int
    part_bytes: int = 1 << 16
    threads: int = 1


QUESTIONS = {
    "sound": "",
    "accents": "",
    "question is null": "question-without-text",
    "answer is a number": "number-answer",
    "id twice": "duplicate-question-id",
    "no answer": "question-without-answer",
    "no JSON": "questions-not-json",
    "no object": "question-not-object",
    "key twice": "duplicate-key",
}

ARRAYS = st.builds(
    ArrayLayout,
    plants=st.one_of(
        *(
            st.lists(st.sampled_from(plants), min_size=1, max_size=12).map(tuple)
            for plants in (list(QUESTIONS), ["sound"] * 6 + list(QUESTIONS))
        )
    ),
    indent=st.sampled_from([None, None, 1, 4]),
    between=st.sampled_from([",", ", ", ",\n", ",\n  ", "\n, ", ",\r\n", ",\n\n\t", " ,\n"]),
    before=st.sampled_from(["", "\n", "\n  ", " ", "\r\n"]),
    mark=st.sampled_from([False, False, True]),
    block_bytes=st.sampled_from([1, 30, 200, 1 << 20]),
)


def question(plant: str, number: int, indent: int | None) -> bytes:
    """One element with that fault."""
    value: Any = {"id": f"s{number}", "question": f"é漢 When {number}?", "answer": f"in {number}"}
    value |= {
        "question is null": {"question": None},
        "answer is a number": {"answer": number},
        "id twice": {"id": "s0"},
        "accents": {"answer": f"\U0001f311 {number}"},
    }.get(plant, {})
    if plant == "no answer":
        del value["answer"]
    if plant == "no object":
        value = [f"é {number}"]
    raw = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    if plant == "no JSON":
        return raw.replace(b'"answer":', b"'answer':")
    return raw.replace(b'"answer":', b'"id": "s%d", "answer":' % number) if plant == "key twice" else raw


@given(layout=ARRAYS)
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_elements(layout: ArrayLayout, tmp_path: Path) -> None:
    data = (MARK if layout.mark else b"") + b"[" + layout.before.encode()
    offsets = []
    plants = ("id twice", *layout.plants[1:])
    raws = [question(plant, number, layout.indent) for number, plant in enumerate(plants)]
    for number, raw in enumerate(raws):
        data += layout.between.encode() if number else b""
        offsets.append(len(data))
        data += raw
    data += b"\n]\n"
    path = tmp_path / "questions.json"
    path.write_bytes(data)

    findings = findings_of(path, layout, scanned=False)

    assert findings_of(path, layout, scanned=True) == findings

    lines = data.removeprefix(MARK).split(b"\n")
    seen: set[tuple[str, int]] = set()
    for finding in findings:
        if finding.rule == "byte-order-mark":
            assert (finding.line, finding.byte_offset) == (1, 0)
        elif finding.record is not None:
            assert finding.byte_offset == offsets[finding.record]
            raw = raws[finding.record]
            first = data.count(b"\n", 0, finding.byte_offset) + 1
            assert finding.line is not None
            assert first <= finding.line <= first + raw.count(b"\n")
            if finding.column is None:
                assert finding.line == first
            else:
                check_column(finding, lines[finding.line - 1].decode())
            seen.add((finding.rule, finding.record))
    wanted = {(QUESTIONS[plant], number) for number, plant in enumerate(plants) if number and QUESTIONS[plant]}
    assert seen >= wanted


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_chosen_lines_are_those_of_all_lines(end: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragdatakit.files.containers.lines._WINDOW", 7)
    data = b"\n".join(b"x" * (n * 5 % 17) for n in range(60)) + b"y" + end
    lines = [(offset, line) for offset, line, _ in iter_lines(data)]
    for step in (1, 2, 7, 59):
        chosen = range(0, len(lines), step)
        assert list(chosen_lines(data, chosen)) == [lines[n] for n in chosen]
    assert list(chosen_lines(data, [59, 60])) == [lines[59]] + [(len(data), b"")] * bool(end)


@given(
    lines=st.lists(st.sampled_from(["{}", " {}", "", " ", "\t", "\v\f ", "x" * 30])),
    end=st.sampled_from(["", "\n", " "]),
)
@settings(max_examples=examples(200), deadline=None)
def test_records_are_counted_where_they_are(lines: list[str], end: str) -> None:
    data = ("\n".join(lines) + end).encode()
    records = [n for n, (_, line, _) in enumerate(iter_lines(data)) if line.strip()]
    for step in (1, 3):
        numbers = list(range(0, len(records), step))
        assert list(_counted(data, numbers, True)) == list(_found(Block(data, 0), numbers))


@pytest.mark.parametrize("raw", ["aé漢😀b".encode(), b"a\xffb\xc3\xa9", b"\xc3\xa9ab\xe6\xbc", "é\ufffdé".encode()])
def test_bytes_are_counted_from_the_nearer_end(raw: bytes) -> None:
    text = raw.decode("utf-8", "replace")
    counted = [next(n for n in range(len(raw) + 1) if len(raw[:n].decode("utf-8", "replace")) == at
                    and raw[n:].decode("utf-8", "replace") == text[at:]) for at in range(len(text) + 1)]  # fmt: skip
    for first in range(len(text) + 1):
        for last in range(first, len(text) + 1):
            assert byte_positions(raw, text, (first, last)) == [counted[first], counted[last]]


def test_no_more_is_read_again_than_the_blocks_that_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, table, lines = tmp_path / "records.jsonl", BlockTable(), [b'{"id": %d}' % n for n in range(5000)]
    path.write_bytes(MARK + b"\n".join(lines))
    source = Source(path, False, block_bytes=1000)
    first = 0
    for block in source.blocks():
        table.add(first, first + 1, block.offset)
        first += block.data.count(b"\n")
    read: list[int] = []
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: read.append(size) or pread(fd, size, at))

    found = list(locate_lines(Source(path, False, block_bytes=1000), table, [4999, 0, 2500, 2501]))

    assert [(f.record, f.line, f.raw) for f in found] == [(n, n + 1, lines[n]) for n in (0, 2500, 2501, 4999)]
    assert sum(read[1:]) < 10_000  # the first look is at the head of the file
