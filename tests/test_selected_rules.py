"""Rules that are selected and check nothing; and every record of what is reported once a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import FIXTURES, run

BEIR, SPLADE = FIXTURES / "beir/valid/folder", FIXTURES / "light-splade/valid/triplet"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--select", "SP201"), "(SP201) check nothing in {}: none of them is of beir"),
        (("--select", "sp", "--select", "dangling-qid"), "(sp, dangling-qid) check nothing in {}: none of them is of"),
        (("--select", "RD114"), "none of them is as severe as warning; --severity info shows more"),
        (("--select", "BE203", "--ignore", "BE2"), "all of them are ignored, too"),
    ],
)
def test_selected_rules_that_check_nothing(words: tuple[str, ...], why: str) -> None:
    outcome = run("validate", BEIR, *words)

    assert outcome.code == 2 and not outcome.out
    assert why.format(BEIR) in outcome.err
    assert run("validate", BEIR, *words, "--skip-unrecognised").code == 0  # a hook meets all kinds of data


def test_rules_of_one_dataset_of_two() -> None:
    outcome = run("validate", BEIR, SPLADE, "--select", "SP201")

    assert outcome.code == 0
    assert outcome.err == f"ragdata: the selected rules (SP201) check nothing in {BEIR}: none of them is of beir\n"
    assert run("validate", SPLADE, "--select", "SP201").err == ""
    assert run("validate", BEIR, "--select", "QU101").err == ""  # which asks for quality
    assert run("validate", BEIR, "--select", "RD114", "--severity", "info").err == ""


def test_rules_that_the_settings_select(tmp_path: Path) -> None:
    (tmp_path / "ragdata.toml").write_text('select = ["SP"]\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "pears"}\n')

    outcome = run("validate", tmp_path, "--from", "beir")

    assert outcome.code == 0  # other folders below may have them
    assert "the selected rules check nothing in" in outcome.err


def test_python_refuses_them_too() -> None:
    with pytest.raises(RagdataError, match="none of them is of beir"):
        ragdatakit.validate(BEIR, select="SP201")


def _untitled(folder: Path) -> Path:
    folder.mkdir()
    titles = ("" if n % 3 == 0 else '"title": "", ' for n in range(1, 101))
    lines = (f'{{"_id": "d{n}", {title}"text": "t{n}"}}\n' for n, title in enumerate(titles, start=1))
    (folder / "corpus.jsonl").write_text("".join(lines))
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "pears"}\n')
    return folder


@pytest.mark.parametrize("engine", [(), ("--engine", "local")])
def test_each_record_of_what_is_reported_once(tmp_path: Path, engine: tuple[str, ...]) -> None:
    folder = _untitled(tmp_path / "d")

    once = run("validate", folder, *engine)
    each = run("validate", folder, "--select", "BE118", "--each-record", "--max-per-rule", "0", "--json", *engine)

    assert once.out.count("BE118 warning") == 1
    assert "… and 32 more records with BE118 missing-title (--each-record lists them)" in once.out
    document = json.loads(each.out)
    assert [f["line"] for f in document["findings"]] == list(range(3, 101, 3))
    assert {f["count"] for f in document["findings"]} == {1}
    assert document["by_rule"] == {"BE118": 33}
    few = run("validate", folder, "--each-record", "--max-per-rule", "3", *engine).out
    assert few.count("BE118 warning") == 3 and "… and 30 more of BE118" in few


def test_line_ends_are_of_the_file(tmp_path: Path) -> None:
    folder = _untitled(tmp_path / "d")
    (folder / "queries.jsonl").write_bytes(b'{"_id": "q1", "text": "a"}\n' + b'{"_id": "q2", "text": "a"}\r\n' * 3)

    found = ragdatakit.validate(folder, select="RD109", each_record=True)

    assert found.by_rule == {"RD109": 1} and found.findings[0].count == 3


def test_a_baseline_accepts_them_all(tmp_path: Path) -> None:
    folder, file = _untitled(tmp_path / "d"), tmp_path / "baseline.jsonl"

    assert run("validate", folder, "--baseline", file, "--write-baseline", "--each-record").code == 2
    assert run("validate", folder, "--baseline", file, "--write-baseline").code == 0
    known = run("validate", folder, "--baseline", file, "--each-record")

    assert "34 baselined" in known.out and "BE118 warning" not in known.out
