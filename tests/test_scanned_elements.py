"""Big JSON arrays and objects, through the scanner: what is found, and where, is what plain Python finds.

``RAGDATA_FUZZ=100000`` tries that many files a container instead of the usual number.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit.files.containers.arrays import ArraySource
from ragdatakit.files.containers.element_scans import ElementScan, end_of_space
from ragdatakit.files.containers.indents import NO_INDENT
from ragdatakit.files.containers.sources import Source
from ragdatakit.scanner.blocks import BlockScanner, last_comma
from tests.block_mutations import TOKENS, tries
from tests.json_containers import NOTE, TRACE, validate
from tests.scanner_tools import needs_scanner

pytestmark = needs_scanner
TEXTS = ("tide", "TIDE", "", 'a "pier"', "\\", "é", "漢字 \U0001f311", "], [", '", "', "},\n {", "x" * 40)
SEEDS = range(4)


def text(rng: Random) -> Any:
    """A text, or seldom another value."""
    return rng.choice(TEXTS) if rng.random() < 0.95 else rng.choice((None, 1, 1e300, 2**60, ["a"], {"b": {}}, True))


def traces(rng: Random, many: int) -> list[Any]:
    """Traces, most of them sound."""
    found: list[Any] = []
    for i in range(many):
        value: dict[str, Any] = {"title": f"{rng.choice(TEXTS)}{i}"}
        if rng.random() < 0.5:
            value["cites"] = [f"{rng.choice(TEXTS)}{rng.randrange(9)}" for _ in range(rng.randrange(4))]
        if rng.random() < 0.2:
            value[rng.choice(("more", "text", "title", "a\n"))] = text(rng)
        found.append(value if rng.random() < 0.97 else text(rng))
    return found


def laid_out(rng: Random, value: Any) -> bytes:
    """JSON in one of its layouts."""
    separators = rng.choice(((",", ":"), (", ", ": "), (" ,\n", " : "), (",\r\n", ":")))
    indent = rng.choice((None, None, 2, 4))
    data = json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=separators, indent=indent).encode()
    return rng.choice((b"", b"\n", b"\xef\xbb\xbf")) + data + rng.choice((b"", b"\n", b"\r\n \n"))


def damaged(rng: Random, data: bytes) -> bytes:
    """The same with tokens put in, or bytes gone, copied, flipped."""
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(4)
        if how == 0:
            data = data[:at] + rng.choice((*TOKENS, b", ", b",\n", b"}, {", b"]\n", b'{"title": "x"},\n')) + data[at:]
        elif how == 1:
            data = data[:at] + data[at + rng.choice((1, 1, 2, 9, 60)) :]
        elif how == 2:
            data = data[:at] + data[max(0, at - rng.randrange(1, 40)) :]
        elif at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    return data


def differences(files: dict[str, Path], rng: Random, container: Any) -> str:
    """What the scanner's way finds in another way than plain Python."""
    plain = validate(files, container=container)
    size, jobs = rng.choice((1, 40, 150, 600, 1 << 19)), rng.choice((1, 2, 7))
    scanned = validate(files, size, True, container, jobs)
    more, fewer = [f for f in scanned if f not in plain], [f for f in plain if f not in scanned]
    return f"parts of {size}: more {more}, fewer {fewer}" if more or fewer or len(plain) != len(scanned) else ""


@pytest.mark.parametrize("seed", SEEDS)
def test_arrays_are_checked_as_in_plain_python(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    notes, path = tmp_path / "notes.json", tmp_path / "traces.json"
    notes.write_text(json.dumps({f"{t}{i}": "a" for t in TEXTS for i in range(9) if t}))

    for _ in range(tries(160) // len(SEEDS)):
        data = damaged(rng, laid_out(rng, traces(rng, rng.choice((0, 1, 5, 30)))))
        path.write_bytes(data)
        assert not (wrong := differences({"notes": notes, "traces": path}, rng, "json-array")), f"{wrong}\n{data!r}"


@pytest.mark.parametrize("seed", SEEDS)
def test_objects_are_checked_as_in_plain_python(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    path = tmp_path / "notes.json"

    for _ in range(tries(160) // len(SEEDS)):
        members = {f"{rng.choice(TEXTS)}{i}": text(rng) for i in range(rng.choice((0, 1, 5, 30)))}
        data = damaged(rng, laid_out(rng, members))
        path.write_bytes(data)
        assert not (wrong := differences({"notes": path}, rng, "json-array")), f"{wrong}\n{data!r}"


@pytest.mark.parametrize("seed", SEEDS)
def test_elements_are_done_with_up_to_where_python_must_look(seed: int) -> None:
    """Both ways of the scanner, on bytes of any kind."""
    rng = Random(seed)
    records = ((TRACE, False), (NOTE, True))
    ways = [[BlockScanner(r, {"title": "title"}, (), portable) for portable in (False, True)] for r, _ in records]

    for _ in range(tries(2000) // len(SEEDS)):
        number = rng.randrange(2)
        value: Any = traces(rng, 5) if not number else {f"{rng.choice(TEXTS)}{i}": text(rng) for i in range(5)}
        data = damaged(rng, laid_out(rng, value).strip()[1:-1])
        places = {last_comma(data, portable) for portable in (False, True)}
        assert len(places) == 1
        place, lines = places.pop() or (-1, 0)
        assert lines == data[: max(place, 0)].count(b"\n")
        assert place < 0 or (data[place : place + 1] == b"," and data[end_of_space(data, place + 1)] not in b",]}")
        found = []
        for scanner in ways[number]:
            block, done = scanner.scan_elements(data, records[number][1])
            found.append((repr(block), done))
            assert 0 <= done <= len(data)
            assert all(start <= end <= done and row < block.rows for _, row, _, start, end in block.notes)
            assert all(line == data.count(b"\n", 0, start) for _, _, line, start, _ in block.notes)
            assert len(block.columns["title"].codes) == block.rows
        assert found[0] == found[1]


def test_what_is_shown_where_a_comma_is_missing_is_the_same_wherever_the_data_is_cut() -> None:
    data = b'\n {"title": "a"}\n {"title": "' + b"b" * 99 + b'"}\n]'

    def faults(cut: int) -> list[bytes]:
        return [e.raw for e in ElementScan(data[:cut], 0, 1, 0, NO_INDENT, at_end=cut == len(data)).run() if e.error]

    whole = faults(len(data))
    assert [len(raw) for raw in whole] == [80]
    assert all(faults(cut) in ([], whole) for cut in range(len(data)))


def test_sound_elements_are_proved(tmp_path: Path) -> None:
    """Else the speed would be gone without a word."""
    value = [{"title": f"tide {i}", "cites": ["a", "b"]} for i in range(50)]
    scanner = BlockScanner(TRACE, {"title": "title", "cites": "cites"})

    for data in (json.dumps(value), json.dumps(value, indent=2), json.dumps(value, separators=(",", ":"))):
        block, done = scanner.scan_elements(data[1:-1].encode(), False)
        assert (block.rows, block.notes, done) == (50, [], len(data) - 2)


@pytest.mark.parametrize("size", range(1, 12))
def test_a_part_may_end_with_what_was_read(size: int, tmp_path: Path) -> None:
    """Nothing is held then, and Python reads on all the same."""
    path = tmp_path / "numbers.json"
    path.write_text(json.dumps([*range(30)], separators=(",", ":")))
    elements = ArraySource(Source(path, gz=False, block_bytes=size))
    reader, count = elements.begin(), 0
    assert reader is not None

    while elements.goes_on(reader):
        part = elements.cut_part(reader, last_comma)
        count += 0 if part is None else part.data.count(b",") + 1
        count += elements.scanned_part(reader, count, few=1).count

    assert count == 30
