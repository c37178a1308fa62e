"""Lines of cells that the compiled scanner takes for clean are clean line by line, with the same keys."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.schemas import get_format
from ragdatakit.validators import checks_of
from tests.columnar_mutations import tries
from tests.scanner_tools import BothWays, cut_anywhere, needs_scanner

pytestmark = needs_scanner

KINDS = [("beir", "qrels"), ("trec", "qrels"), ("trec", "run"), ("trec", "topic-lines")]
CELLS = ["q1", "d-12", "é", "漢字", '"q"', 'q"1', "#1", "", "a b", "\u3000x", "x\x1cy", "\x85", "NA", "Q0", "\0"]
NUMBERS = ["0", "1", "3", "-0", "007", "+1", "1_0", "１", "4", "999999", "1000000", "9" * 15, "9" * 16, "1.0", " 1", ""]
SCORES = ["7.5", "-1e3", ".5", "5.", "1e400", "inf", "nan", "+2E-3", "1e", "e5", ".", "0x1", "1_0.5", "1e-400", "--1"]
PIECES = ["\t", " ", "\n", "\r\n", "\r", '"', "#", "\t\t", "\x0b", "\x1c", "\u00a0", "x", "\n \n", "\ufeff"]


def lines(kind: str, separator: str, rng: Random) -> bytes:
    """Some lines of cells, some of them damaged."""
    text = ""
    for _ in range(rng.randrange(6)):
        usual = rng.random() < 0.6
        words = ["q1", "q2", "d1", "d2"] if usual else CELLS
        number, score = rng.choice(["0", "1"] if usual else NUMBERS), rng.choice(["7.5", "3"] if usual else SCORES)
        one, other = rng.choice(words), rng.choice(words)
        cells = {
            "qrels": [one, "0", other, number] if not separator else [one, other, number],
            "run": [one, "Q0", other, number, score, "tag"],
            "topic-lines": [one, other],
        }[kind]
        text += (separator or rng.choice(["\t", " ", "  "])).join(cells) + rng.choice(["\n", "\n", "\n", "\r\n"])
    for _ in range(rng.choice([0, 0, 1, 2])):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(PIECES) + text[at + rng.randrange(2) :]
    data = text.encode()
    if data and rng.random() < 0.1:
        at = rng.randrange(len(data))
        data = data[:at] + rng.choice([b"\xff", b"\xc3", b""]) + data[at + 1 :]
    return data


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_damaged_lines_are_checked_as_line_by_line(name: str, kind: str) -> None:
    rng = Random(f"{name} {kind}")
    fmt = get_format(name)
    declared = fmt.file(kind)
    checks = None
    if name == "beir":
        checks = checks_of(name)(Dataset(Path(), "", fmt, "file", [DataFile(Path("x"), "x", "x", kind)]), ())
    extra = None if checks is None else lambda value: checks.record(DataFile(Path("x"), "x", "x", kind), value)
    ways = BothWays(declared, (), extra, checks)

    for _ in range(tries(1500)):
        data = lines(kind, declared.columns.separator, rng)
        for part in cut_anywhere(data, rng) if rng.random() < 0.3 else [data]:
            wrong = [*ways.differences(part)]
            assert not wrong, f"{wrong[0]}\n{part!r}"


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_sound_lines_are_proved(name: str, kind: str) -> None:
    rng = Random(1)
    declared = get_format(name).file(kind)
    scanner = BothWays(declared).scanners[0]
    separator = declared.columns.separator
    one = {
        "qrels": ["q1", "0", "d1", "1"],
        "run": ["q1", "Q0", "d1", "1", "7.5", "b"],
        "topic-lines": ["q1", "reefs x"],
    }
    cells = ["q1", "d1", "1"] if separator and kind == "qrels" else one[kind]

    data = "".join((separator or rng.choice("\t ")).join(cells) + "\n" for _ in range(100)).encode()
    found = scanner.scan(data)

    assert found is not None
    assert (found.rows, found.notes) == (100, [])
