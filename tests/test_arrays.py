"""JSON arrays of any layout, cut anywhere: every element at its place, and a break costs no more than itself."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from ragdatakit.files.containers.arrays import ArraySource
from ragdatakit.files.containers.sources import Source
from tests.arrays_of_elements import array, places, read, value
from tests.block_mutations import TOKENS, tries

SEEDS = range(4)


@pytest.mark.parametrize("seed", SEEDS)
def test_elements_are_those_of_json_and_stand_where_they_are_said_to(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)

    for _ in range(tries(1000) // len(SEEDS)):
        written = array(rng, [value(rng) for _ in range(rng.randrange(12))])
        found, top = read(tmp_path / "a.json", written.data, rng.choice((1, 7, 16, 50, 200, 5000)))

        assert top == ("array" if written.values else "empty")
        assert [e.error for e in found] == [""] * len(written.values)
        assert [json.loads(e.raw) for e in found] == list(written.values)
        assert [e.byte_offset for e in found] == list(written.offsets)
        assert [e.line for e in found] == [written.line(i) for i in range(len(found))]
        assert [e.record for e in found] == list(range(len(found)))
        for element in found:
            line = written.data[: element.byte_offset].rsplit(b"\n", 1)[-1].removeprefix(b"\xef\xbb\xbf")
            assert element.indent.characters == len(line.decode())


BREAKS = (
    b'{"a": 1,}',
    b"{'a': 1}",
    b"{a: 1}",
    b'{"a" 1}',
    b'{"a": 1 "b": 2}',
    b'{"a": None}',
    b'{"a": 01}',
    b'{"a": "x\ty"}',
    b'{"a": "\xff"}',
    b'{"a": "\\ud800"}',
    b'{"a": NaN}',
    b'"a\\x41"',
    b"12 13",
    b"",
    b"nul",
    b'{"a": 1}}',
    b'"a" "b"',
)


@pytest.mark.parametrize("broken", BREAKS)
@pytest.mark.parametrize("block_bytes", [7, 60, 100_000])
def test_a_broken_element_costs_no_other_one(broken: bytes, block_bytes: int, tmp_path: Path) -> None:
    rows = [json.dumps({"n": i, "text": f"tide {i}"}).encode() for i in range(9)]
    rows[4] = broken
    data = b"[\n" + b",\n".join(rows) + b"\n]\n"

    found, _ = read(tmp_path / "a.json", data, block_bytes)

    sound = {e.line: e for e in found if not e.error and e.raw == rows[e.line - 2]}
    assert set(sound) >= {2, 3, 4, 5, 7, 8, 9, 10}
    for line, element in sound.items():
        assert data[element.byte_offset :].startswith(rows[line - 2])


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_that_happens_to_an_array_stops_the_reading(seed: int, tmp_path: Path) -> None:
    rng = Random(-seed - 1)

    for _ in range(tries(1000) // len(SEEDS)):
        written = array(rng, [value(rng) for _ in range(rng.randrange(8))])
        data = written.data
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(data) + 1)
            data = data[:at] + rng.choice((*TOKENS, b"")) + data[at + rng.randrange(4) :]
        by_size = [read(tmp_path / "a.json", data, size) for size in (rng.choice((1, 9, 40)), 100_000)]

        assert places(by_size[0][0]) == places(by_size[1][0])
        for found, _ in by_size:
            offsets = [e.byte_offset for e in found]
            assert offsets == sorted(offsets)
            for element in found:
                assert data[element.byte_offset :].startswith(element.raw)
                assert element.line == data[: element.byte_offset].count(b"\n") + 1
            records = [e.record for e in found if not e.error]
            assert records == list(range(len(records)))


@pytest.mark.parametrize("seed", SEEDS)
def test_lines_behind_a_break_are_read(seed: int, tmp_path: Path) -> None:
    """In an array with an element a line, what befalls one line leaves all but it and the next one alone."""
    rng = Random(seed + 100)

    for _ in range(tries(1000) // len(SEEDS)):
        rows = [json.dumps({"n": i, "text": rng.choice(("tide", "a ] b", "x, y"))}).encode() for i in range(8)]
        at = rng.randrange(len(rows[3]) + 1)
        rows[3] = rows[3][:at] + rng.choice([t for t in TOKENS if b"\n" not in t]) + rows[3][at + rng.randrange(4) :]
        data = b"[\n" + b",\n".join(rows) + b"\n]\n"
        found, _ = read(tmp_path / "a.json", data, rng.choice((20, 100_000)))

        sound = {e.line for e in found if not e.error and e.raw == rows[e.line - 2]}
        assert sound >= {2, 3, 4, 7, 8, 9}, data


@pytest.mark.parametrize("indent", [None, 2])
def test_long_elements_are_decoded_together(indent: int | None, tmp_path: Path) -> None:
    passages = [{"id": n, "text": "a passage, {of} words " * 90} for n in range(9)]
    rows = [{"id": str(n), "passages": passages, "labels": [["yes", "no"]] * 9} for n in range(60)]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows, indent=indent))

    parts = list(ArraySource(Source(path, False, 1 << 19)).parts())

    assert [part.proved for part in parts] == [True] * (len(parts) - 1) + [False]  # the last one has the bracket
    assert [row for part in parts for row in (part.values or [json.loads(e.raw) for e in part.elements()])] == rows
