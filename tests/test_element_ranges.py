"""JSON arrays and objects judged range by range: wherever they are cut and however they are written or broken, the
report is that of a run without ranges."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit.api.validating import check as api
from ragdatakit.validators.ranges import plan
from ragdatakit.validators.ranges.element_replaying import RangedElementsRun
from tests.command_line import FIXTURES
from tests.test_ranges import PicklingEngine, cut, outcome


def results(count: int) -> list[dict[str, Any]]:
    """Results of DataMind's benchmark, with faults in some, and texts that look like what is between elements."""
    odd = ['", {"question": "', "\\", '\\"', "]}, {[", "é" * 9, ',\n  {"index": 1}', "\u2028", "[,"]
    return [
        {
            "index": n if n % 7 else str(n),
            "question": f"Which tide? {odd[n % len(odd)]}",
            "answer": odd[-n % len(odd)],
            "latency_s": 0.5,
            "reference_answer": "no" if n % 5 == 0 else f"the tide {odd[n % len(odd)]} of the moon",
            "index_of": [{"index": n, "question": "?"}, {"index": n, "question": None}],
        }
        for n in range(count)
    ]


def written(values: list[Any], how: str) -> bytes:
    """As a file of an array."""
    if how == "comma first":
        return b"[ " + "\n, ".join(json.dumps(value, ensure_ascii=False) for value in values).encode() + b"\n]\n\n"
    indent = {"pretty": 2, "crlf": 4, "flat": 0}.get(how)
    text = json.dumps(values, ensure_ascii=how == "escaped", indent=indent)
    return (text.replace("\n", "\r\n") if how == "crlf" else text).encode()


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Compares reports of a file; the JSON."""
    used: list[PicklingEngine] = []
    monkeypatch.setattr(api, "chosen_engine", lambda options: used[0] if used else None)
    path = tmp_path / "set" / "benchmark_results.json"
    path.parent.mkdir()

    def compare(data: bytes, how: str, big: bool, cap: str = "20", seed: int = 0) -> dict[str, Any]:
        monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", -1 if big else 3 << 20)
        path.write_bytes(data)
        used.clear()
        expected = outcome(path, "--from", "datamind", "--max-per-rule", cap)
        used.append(PicklingEngine())
        monkeypatch.setattr(plan, "bounds", cut(how, Random(seed)))
        assert outcome(path, "--from", "datamind", "--max-per-rule", cap) == expected
        return json.loads(expected[1])  # type: ignore[no-any-return]

    return compare


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what reads elements here, as often as they are called."""
    called: list[str] = []

    def noted(name: str) -> Callable[..., Any]:
        old = getattr(RangedElementsRun, name)

        def note(run: Any, *given: Any) -> Any:
            called.append(name)
            return old(run, *given)

        return note

    for name in ("_read_all", "_read_rest"):
        monkeypatch.setattr(RangedElementsRun, name, noted(name))
    return called


@pytest.mark.parametrize("how", ["pretty", "one line", "crlf", "flat", "escaped", "comma first"])
@pytest.mark.parametrize("big", [False, True])
@pytest.mark.broad(3)
def test_however_an_array_is_written(how: str, big: bool, compared: Any, read_here: list[str]) -> None:
    for count, cuts, cap in ((40, "random", "2"), (40, "32", "0"), (1, "byte", "20"), (0, "4", "20")):
        mark = b"\xef\xbb\xbf" if count == 1 else b""

        report = compared(mark + written(results(count), how), cuts, big, cap, count)

        assert report["datasets"][0]["files"][0]["records"] == count
        assert ("DM508" in report["by_rule"]) is (count > 0)
    assert read_here == []


BROKEN = {
    "not closed": lambda data: data[:-3],
    "cut in a text": lambda data: data[: len(data) // 2 + 3],
    "a brace alone": lambda data: data.replace(b'"latency_s"', b'} "latency_s"', 1),
    "a quote alone": lambda data: data.replace(b"tide", b'ti"de', 9),
    "no comma": lambda data: re.sub(rb"(\]\s*\}),", rb"\1\n", data, count=2),
    "two commas": lambda data: re.sub(rb"(\]\s*\},)", rb"\1,", data, count=1),
    "a comma last": lambda data: data.rstrip(b"]\n ") + b",\n]",
    "garbage behind": lambda data: data + b"\n{}\n" + b" " * 5000 + b"[1]",
    "blanks behind": lambda data: data + b"\n" * 9000,
    "closed early": lambda data: re.sub(rb"(\]\s*\}),", rb"\1]\n", data, count=1),
    "another bracket": lambda data: data.replace(b"}", b"]", 3),
    "objects behind": lambda data: data.rstrip(b"]\n ") + b"]\n" + data[1:],
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("how", ["pretty", "one line"])
@pytest.mark.broad(2)
def test_however_it_is_broken(name: str, how: str, compared: Any, read_here: list[str]) -> None:
    values = results(30)
    data, behind = written(values[:12], how), written(values[12:], how)[1:]
    data = data.rstrip(b"]\n ") + b"," + (b"\n" if how == "pretty" else b"") + BROKEN[name](behind)
    for big, cuts, cap in ((False, "random", "0"), (True, "random", "20"), (True, "32", "2")):
        compared(data, cuts, big, cap, len(name))

    assert bool(read_here) is (name != "blanks behind")


def test_what_looks_like_an_element_is_not_taken_for_one(
    compared: Any, read_here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A range that begins in a list of what looks like elements is judged again from where its first one begins."""
    monkeypatch.setattr("ragdatakit.validators.ranges.element_borders._WINDOW", 1 << 8)
    values = results(6)
    values[2]["index_of"] = [{"index": n, "question": "?"} for n in range(99)]
    for big in (False, True):
        compared(written(values, "one line"), "32", big)

    assert read_here == []


@pytest.mark.parametrize("big", [False, True])
def test_elements_that_are_no_objects(big: bool, compared: Any, read_here: list[str]) -> None:
    values = [*results(3), None, '", "', [[1, 2], {"a": "]"}], 1.5, *results(2), True, ""]
    for how in ("one line", "pretty"):
        compared(written(values, how), "32", big)

    assert read_here == []


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """Switches ranges on, cut so (empty: off), of datasets that are checked as large ones."""
    used: list[PicklingEngine] = []
    monkeypatch.setattr(api, "chosen_engine", lambda options: used[0] if used else None)
    monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", -1)

    def switch(how: str, seed: int = 0) -> None:
        used[:] = [PicklingEngine()] if how else []
        if how:
            monkeypatch.setattr(plan, "bounds", cut(how, Random(seed)))

    return switch


SETS = {
    "arag/valid/strings": "chunks.json",
    "arag/broken/ragged-chunk-start/data": "chunks.json",
    "hipporag/valid/hotpotqa": "hotpotqa_reefs_corpus.json",
    "hipporag/broken/gold-passage-not-in-corpus/data": "*_corpus.json",
    "ragchecker/broken/group-metric-differs/data": "*.json",
    "sage/valid/array": "*.json",
    "lightrag/valid/ingested": "kv_store_full_docs.json",
    "gfm-rag/valid/raw-only": "raw/documents.json",
}
"""Datasets, and files of them whose elements are judged in ranges."""


@pytest.mark.parametrize("name", SETS)
def test_formats(name: str, engine: Any, read_here: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What their checks know of other records goes along, comes back, or is found where all is known."""
    folder, taken = FIXTURES / name, list[Path]()
    old = RangedElementsRun._go_on_behind

    def note(run: Any, *given: Any) -> None:
        taken.append(run.file.path)
        old(run, *given)

    monkeypatch.setattr(RangedElementsRun, "_go_on_behind", note)
    engine("")
    expected = outcome(folder)

    engine("32", len(name))

    assert outcome(folder) == expected
    assert max(taken.count(path) for path in folder.glob(SETS[name])) > 1
    assert read_here == []


def test_only_the_first_dot_of_a_file_is_shown(tmp_path: Path, engine: Any) -> None:
    """Ranges behind the first do not look for one, unless nobody has found it before."""
    for first, count in ((0, 40), (30, 40), (1500, 1600)):
        chunks = [f"{n}:The lamp weighs {'3.5' if n >= first else 'three'} tons and more." for n in range(count)]
        (tmp_path / "chunks.json").write_text(json.dumps(chunks))
        engine("")
        expected = outcome(tmp_path)

        engine("4")

        assert outcome(tmp_path) == expected
        assert json.loads(expected[1])["by_rule"].get("AR117", 0) == (first < 1000)


@pytest.mark.parametrize("broken", [False, True])
def test_packed_arrays(broken: bool, tmp_path: Path, engine: Any, read_here: list[str]) -> None:
    """Each is one part; of a broken one all is read here."""
    folder = shutil.copytree(FIXTURES / "lightrag" / "valid" / "ingested", tmp_path / "set")
    path = folder / "kv_store_full_docs.json"
    data = gzip.compress(path.read_bytes())
    path.unlink()
    path.with_name(f"{path.name}.gz").write_bytes(data[:-9] if broken else data)
    engine("")
    expected = outcome(folder)

    engine("4")

    assert outcome(folder) == expected
    assert read_here == ["_read_all"] * broken
    assert ("RD105" in json.loads(expected[1])["by_rule"]) is broken
