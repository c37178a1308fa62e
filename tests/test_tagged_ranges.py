"""Elements between tags judged range by range: the report is that of a run without ranges, to the byte."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit.api.validating import check as api
from ragdatakit.validators.ranges import plan
from tests.broad import some
from tests.test_ranges import PicklingEngine, cut, folders, named, outcome

PLACES = [place for place in folders("trec") if any("<" in f.read_text("latin-1") for f in place.rglob("*.*"))]


def compare(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    big: bool,
    cap: str,
    block: int = 1 << 20,
    hows: tuple[str, ...] = ("4", "random"),
) -> dict[str, Any]:
    """The report, the same with and without ranges."""
    monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", -1 if big else 3 << 20)
    for size in ("BLOCK_BYTES", "TEXT_BLOCK_BYTES"):
        monkeypatch.setattr(f"ragdatakit.validators.dataset_run.{size}", block)
    found: dict[str, tuple[int, str]] = {}
    for how in ("", *hows):
        monkeypatch.setattr(api, "chosen_engine", lambda options, how=how: PicklingEngine() if how else None)
        monkeypatch.setattr(plan, "bounds", cut(how, Random(how)))
        found[how] = outcome(folder, "--max-per-rule", cap)
    for how in hows:
        assert found[how] == found[""], how
    report: dict[str, Any] = json.loads(found[""][1])
    return report


@pytest.mark.parametrize("place", PLACES, ids=map(named, PLACES))
@pytest.mark.broad(5)
def test_fixtures(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for big in (False, True):
        compare(place, monkeypatch, big, "2")


def random_collection(folder: Path, random: Random) -> Path:
    """Documents and topics with whatever may be in and between them."""
    folder.mkdir()
    pieces = [
        "<DOC><DOCNO>d{n}</DOCNO><TEXT>Tides {n}\nfollow the moon.</TEXT></DOC>",
        "<doc>\n<docno> d{n} </docno>\n<text>\n\u00e9 {n}</text>\n</doc>",
        "<DOC>\n<DOCNO>d{n}</DOCNO>\n<TEXT>open",
        "<DOC\nid=d{n}><TEXT></TEXT></DOC\n>",
        "</DOC>",
        "<DOCNO>d1</DOCNO>",
        "<DOC><DOCNO>d 1</DOCNO><TEXT>a < b &amp; c</TEXT></DOC><DOC><DOCNO>d3</DOCNO></DOC>",
        "stray < text <do",
        "<DOC <DOC>",
    ]
    weights = [9, 9, *([random.choice([0, 1])] * 7)]
    between = ["", "\n", "\n\n", "\r\n", " \u00e9 ", "\n  "]
    text = "".join(
        random.choices(pieces, weights)[0].replace("{n}", str(random.randrange(30))) + random.choice(between)
        for _ in range(random.randrange(2, 60))
    )
    (folder / "docs.trec").write_bytes(
        random.choice([b"", b"\xef\xbb\xbf"]) + f"<DOC><DOCNO>d0</DOCNO>\n{text}".encode()
    )
    topic = "<top>\n<num> Number: {n}\n<title> tides\n\n<desc> Description:\nWhat {n}?\n</top>\n"
    (folder / "topics.txt").write_text("".join(topic.replace("{n}", str(random.randrange(9))) for _ in range(8)))
    (folder / "qrels.txt").write_text("".join(f"{n % 9} 0 d{n} 1\n" for n in range(40)))
    return folder


@pytest.mark.parametrize("seed", some(200, every=20))
def test_random_collections(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    folder = random_collection(tmp_path / "set", random)

    big, cap, block = random.random() < 0.7, random.choice(["0", "3"]), random.choice([80, 1 << 20])
    report = compare(folder, monkeypatch, big, cap, block)

    assert report["datasets"][0]["format"] == "trec"


@pytest.mark.parametrize("big", [False, True])
def test_each_byte_a_range(big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs.trec").write_bytes(
        b"\xef\xbb\xbf<DOC\n><DOCNO>d1</DOCNO><TEXT>a</TEXT></DOC>\n </DOC><DOC><DOCNO>d 2</DOCNO>\n<DOC>"
        b"<DOCNO>d1</DOCNO><TEXT></TEXT></DOC>\n\n<doc><docno>d3</docno><text>open"
    )

    report = compare(tmp_path, monkeypatch, big, "0", hows=("byte",))

    assert len(report["findings"]) > 3
