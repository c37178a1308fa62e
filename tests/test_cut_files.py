"""A file of JSON that ends within a record is said to be cut; other faults are not, wherever they are."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragdatakit.files.reading.cut_files import is_cut
from tests.command_line import FIXTURES, run

CUT = "not JSON: the file ends within a record and seems to be cut"
AGAIN = "copy the file again, or write it again"
BEGUN = (
    '{"_id": "d9", "te',
    '{"_id": "d9"',
    '{"_id": "d9",',
    '{"_id": tr',
    '{"_id": 1.',
    r'{"_id": "d\u00',
    '{"_id": "d9\\',
)


def ndjson(end: str, folder: Path) -> Path:
    folder = Path(shutil.copytree(FIXTURES / "beir/valid/folder", folder, dirs_exist_ok=True))
    (folder / "corpus.jsonl").write_text((FIXTURES / "beir/valid/folder/corpus.jsonl").read_text() + end)
    return folder


def said(folder: Path, *words: str) -> list[tuple[str, str]]:
    found = run("validate", folder, "--output-format", "json", *words).json["findings"]
    return [(f["message"].partition(";")[0], f["hint"]) for f in found if "JSON" in f["message"]]


@pytest.mark.parametrize("end", BEGUN)
def test_lines(end: str, tmp_path: Path) -> None:
    assert said(ndjson(end, tmp_path)) == [(CUT, AGAIN)]
    assert CUT not in str(said(ndjson(f"{end}\n", tmp_path)))


@pytest.mark.parametrize(
    "end", ["{'_id': 'd9'}", '{"_id": "d9"}}', '{"_id": d9}', '{"_id": "d9", }', '{"_id": nil', "  "]
)
def test_other_faults(end: str, tmp_path: Path) -> None:
    assert CUT not in str(said(ndjson(end, tmp_path)))


@pytest.mark.parametrize("words", [("--jobs", "2"), ("--engine", "local", "--jobs", "2")])
@pytest.mark.parametrize("scanner", ["", "off"])
def test_every_way_of_reading(
    words: tuple[str, ...], scanner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGDATA_SCANNER", scanner)
    more = "".join(json.dumps({"_id": f"n{n}", "title": "", "text": "word " * 100}) + "\n" for n in range(7_000))

    assert said(ndjson(more + BEGUN[0], tmp_path), *words) == [(CUT, AGAIN)]


@pytest.mark.parametrize("share", [0.5, 0.9, 1])
def test_an_array(share: float, tmp_path: Path) -> None:
    whole = json.dumps([{"title": f"title {n}", "text": f"text {n}", "idx": n} for n in range(9)], indent=1)
    (tmp_path / "set_corpus.json").write_text(whole[: int(len(whole) * share) - 1].rstrip())

    assert said(tmp_path, "--from", "hipporag")[-1] == (CUT, AGAIN)


def test_of_a_fault_before_others_little_is_read(tmp_path: Path) -> None:
    """There may be very many."""
    (tmp_path / "corpus.jsonl").write_text('{"_id"\n' * 50_000)
    stream = (tmp_path / "corpus.jsonl").open("rb", buffering=0)
    copy = os.dup(stream.fileno())
    file = SimpleNamespace(path=tmp_path / "corpus.jsonl", boundary=SimpleNamespace(open=lambda _: stream))

    assert not is_cut(file, 6)  # type: ignore[arg-type]
    assert os.lseek(copy, 0, os.SEEK_CUR) < 10_000
    os.close(copy)
