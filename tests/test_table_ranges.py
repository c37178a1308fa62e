"""CSV tables judged range by range: the report is that of a run without ranges, to the byte, whatever is in cells."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit.api.validating import check as api
from ragdatakit.scanner.library import library
from ragdatakit.validators.ranges import plan
from tests.broad import some
from tests.command_line import FIXTURES
from tests.test_ranges import PicklingEngine, cut, folders, named, outcome

pytestmark = pytest.mark.skipif(library() is None, reason="ranges of CSV need the scanner")

TABLES = [place for place in folders("gfm-rag") if [*place.rglob("*.csv*")]]
Compare = Callable[..., dict[str, Any]]


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Compare:
    """Checks a folder with and without ranges, as large data; the report. Types are inferred of so many rows."""

    def compare(folder: Path, cap: str = "3", rows: int = 3, hows: tuple[str, ...] = ("4", "byte")) -> dict[str, Any]:
        monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", -1)
        monkeypatch.setattr("ragdatakit.files.containers.csv_rows.chunk_rows", lambda columns: rows)
        found: dict[str, tuple[int, str]] = {}
        for how in ("", *hows):
            monkeypatch.setattr(api, "chosen_engine", lambda options, how=how: PicklingEngine() if how else None)
            monkeypatch.setattr(plan, "bounds", cut(how, Random(how)))
            found[how] = outcome(folder, "--max-per-rule", cap)
        for how in hows:
            assert found[how] == found[""], how
        report: dict[str, Any] = json.loads(found[""][1])
        return report

    return compare


@pytest.mark.parametrize("place", TABLES, ids=map(named, TABLES))
@pytest.mark.broad(10)
def test_fixtures(place: Path, compared: Compare) -> None:
    compared(place, cap="2", rows=2)


def random_tables(folder: Path, random: Random) -> Path:
    """A graph whose names and attributes are whatever a CSV file may hold, with rows that are no rows."""
    stage = folder / "processed" / "stage1"
    stage.mkdir(parents=True)
    plain = random.random() < 0.3
    numeric = random.random()
    names = [_name(random, plain, numeric) for _ in range(random.randrange(2, 30))]
    ends = [random.choice(names) if random.random() < 0.9 else _name(random, plain, numeric) for _ in range(200)]
    attributes = [
        "{}",
        '{"content": "Tides, and moons."}',
        "{'a': 1}",
        "",
        "None",
        "1",
        "{'a': \\ud83d}",
        '{"a": "x\ny"}',
    ]
    relations = [_name(random, plain, numeric) for _ in range(3)] + ["is_mentioned_in"]
    uid = random.random() < 0.2
    nodes = [
        [n, *([n] if uid else ()), random.choice(["entity", "document", "x", ""]), random.choice(attributes)]
        for n in names
    ]
    edges = [[a, random.choice(relations), b, random.choice(["{}", "", "{'a': 1}"])] for a, b in pairwise(ends)]
    tables = {
        "nodes": [["uid", "name", "type", "attributes"] if uid else ["name", "type", "attributes"], *nodes],
        "relations": [["name", "attributes"], *([name, random.choice(attributes)] for name in relations)],
        "edges": [["source", "relation", "target", "attributes"], *edges[: random.randrange(0, 120)]],
    }
    for name, rows in tables.items():
        (stage / f"{name}.csv").write_bytes(_text(rows, random, plain))
    return folder


def _name(random: Random, plain: bool, numeric: float) -> str:
    if random.random() < numeric:
        return random.choice(
            ["7", "007", "1.5", "-3", "9223372036854775808", "18446744073709551616", "True", "inf", "NA"]
        )
    text = f"tide {random.randrange(40)}"
    if plain or random.random() < 0.8:
        return text
    odd = ["\n", "\r", "\r\n", '"', '""', ",", "\0", " ", "\t", "\x85", "é", "nan", "\n\n", '",\n"']
    return random.choice([f"{text}{random.choice(odd)}x", random.choice(odd) + text, text + random.choice(odd)])


def _cell(cell: str, random: Random, plain: bool) -> str:
    if any(c in cell for c in '",\r\n') or random.random() < 0.1:
        whole = '"' + cell.replace('"', '""') + '"'
        return whole if plain or random.random() < 0.98 else random.choice([cell, whole[:-1], f"{whole}x"])
    return cell


def _text(rows: list[list[str]], random: Random, plain: bool) -> bytes:
    end = random.choice(["\n", "\r\n", "\n"])
    lines = []
    for number, row in enumerate(rows):
        if number and not plain and random.random() < 0.03:
            row = random.choice([row[:-1], [*row, "more"], [""], row[:1], [*row, "", ""], ["\t "]])
        lines.append(
            ",".join(_cell(cell, random, plain) for cell in row)
            + (random.choice([end, end, "\r"]) if not plain else end)
        )
    data = "".join(lines).encode("utf-8", "surrogatepass")
    if not plain and random.random() < 0.1:
        place = random.randrange(len(data))
        data = data[:place] + random.choice([b"\xff", b'"', b"\n", b"\0", b""]) + data[place + random.randrange(2) :]
    return data[: -len(end)] if random.random() < 0.3 else data


@pytest.mark.parametrize("seed", some(200, every=20))
def test_random_tables(seed: int, tmp_path: Path, compared: Compare) -> None:
    random = Random(seed)
    compared(random_tables(tmp_path / "set", random), random.choice(["0", "2", "20"]), random.randrange(1, 9))


def test_what_was_compared_was_cut(tmp_path: Path, compared: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[int] = []
    whole = PicklingEngine.map
    monkeypatch.setattr(
        PicklingEngine, "map", lambda self, judge, keys: parts.append(len(keys)) or whole(self, judge, keys)
    )
    folder = FIXTURES / "gfm-rag" / "valid" / "both-loaders"

    compared(folder, rows=4, hows=("byte",))

    assert max(parts) > 2


def test_a_table_that_changes_meanwhile_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = random_tables(tmp_path / "set", Random(3))
    edges = folder / "processed" / "stage1" / "edges.csv"

    class Changing(PicklingEngine):
        elsewhere = False

        def map(self, function: Callable[[Any], Any], keys: Sequence[Any], /) -> Iterator[Any]:
            for number, found in enumerate(super().map(function, keys)):
                if not number and len(keys) > 20:
                    edges.write_bytes(edges.read_bytes()[:200])
                yield found

    monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", -1)
    monkeypatch.setattr("ragdatakit.files.containers.csv_rows.chunk_rows", lambda columns: 2)
    monkeypatch.setattr(api, "chosen_engine", lambda options: Changing())
    monkeypatch.setattr(plan, "bounds", cut("byte", Random(1)))

    code, words = outcome(folder)

    assert code == 1
    (found,) = [f["message"] for f in json.loads(words)["findings"] if f["rule"] == "unreadable-file"]
    assert "it changed while it was read" in found
