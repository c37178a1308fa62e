"""Settings and baselines further down than a path do not hold for it: `validate` and `config` say so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import run

ROW = {"id": "c1", "page_content": "The reef was mapped in one summer.", "metadata": {}}
NOTE = "ragdata: data/ragdata.toml holds for paths at or below data and is not used here; run `ragdata validate data`\n"
BOTH = (
    "ragdata: data/ragdata-baseline.jsonl and data/ragdata.toml hold for paths at or below data and are not used here; "
    "run `ragdata validate data`\n"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset with an error, and a table that the settings of their folder name."""
    faq = tmp_path / "data" / "faq"
    (faq / "qrels").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (faq / "corpus.jsonl").write_text('{"_id": "f1", "title": "", "text": "The reef"}\n')
    (faq / "queries.jsonl").write_text('{"_id": "q1", "text": "which reef"}\n')
    (faq / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tf2\t1\n")
    (tmp_path / "data" / "tables").mkdir()
    (tmp_path / "data" / "tables" / "all.jsonl").write_text(f"{json.dumps(ROW)}\n")
    monkeypatch.chdir(tmp_path)
    assert run("init-config", "data").code == 0
    return tmp_path


def test_validate_says_what_it_does_not_use(project: Path) -> None:
    above = run("validate", ".")
    assert (above.code, above.err) == (1, NOTE)
    assert "not recognised, not checked: data/tables/all.jsonl" in above.out

    assert run("validate", "data", "--write-baseline").code == 0
    assert run("validate", ".").err == BOTH
    assert run("validate", ".", "--no-baseline").err == NOTE
    for words in (["data"], [".", "data"], [".", "--config", "data/ragdata.toml", "--no-baseline"]):
        assert run("validate", *words).err == ""


@pytest.mark.parametrize(
    "words", [["report"], ["report", "--no-findings"], ["eval"], ["convert", "--to=trec", "--dry-run"]]
)
def test_what_reads_a_dataset_says_it_too(words: list[str], project: Path) -> None:
    note = NOTE.replace("run `ragdata validate data`", "give data as the path")

    assert run(*words, ".").err.startswith(note)
    assert "not used" not in run(*words, "data/faq").err
    assert "not used" not in run(*words, ".", "--config", "data/ragdata.toml").err
    assert "not used" not in run(*words, ".", "--isolated").err
    if words == ["report"]:
        assert "not used" not in run(*words, ".", "data").err


def test_where_nothing_else_is_recognised(project: Path) -> None:
    (project / "data" / "faq").rename(project.parent / "faq")

    (project / "data" / "nothing").mkdir()
    (project / "data" / "nothing" / "ragdata-baseline.jsonl").write_text("")
    assert "not used" not in run("validate", "data/nothing").err
    (project / "data" / "nothing" / "ragdata-baseline.jsonl").unlink()

    refused = run("validate", ".")

    assert refused.code == 2
    assert refused.err.endswith(f"; {NOTE.removeprefix('ragdata: ')}")
    passed = run("validate", ".", "--skip-unrecognised")
    assert (passed.code, passed.out) == (2, "") and passed.err.endswith(NOTE.removeprefix("ragdata: "))


@pytest.mark.parametrize(
    ("name", "text", "is_said"),
    [
        ("data/faq/pyproject.toml", "[tool.ragdata]\nignore = ['BE203']\n", True),
        ("data/faq/pyproject.toml", "[tool.other]\n", False),
        ("data/faq/ragdata.toml", "ignore = [\n", True),
        ("data/.hidden/ragdata.toml", "", False),
        ("raw/ragdata.toml", "", False),
        ("base.toml", "", False),
    ],
)
def test_what_is_settings(name: str, text: str, is_said: bool, project: Path) -> None:
    """The nearest one of a path holds, and says which others there are."""
    (project / "data" / "ragdata.toml").rename(project / "base.toml")
    (project / "ragdata.toml").write_text('exclude = ["raw/**"]\n')
    place = project / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(text)

    assert (f"{name} holds for paths at or below data/faq" in run("validate", ".").err) is is_said


def test_settings_that_are_extended_are_used(project: Path) -> None:
    (project / "data" / "ragdata.toml").write_text("ignore = ['BE203']\n")
    (project / "ragdata.toml").write_text('extend = "data/ragdata.toml"\n')

    assert (run("validate", ".").code, run("validate", ".").err) == (0, "")


def test_many_folders(project: Path) -> None:
    for number in range(9):
        (project / f"part{number}").mkdir()
        (project / f"part{number}" / "ragdata.toml").write_text("")

    lines = run("validate", ".").err.splitlines()

    assert len(lines) == 6 and lines[-1] == "ragdata: 5 more folders have settings or a baseline of their own"


def test_config_shows_the_baseline_and_what_is_not_used(project: Path) -> None:
    assert "Baseline" not in run("config", "data").out
    run("validate", "data", "--write-baseline")

    assert run("config", "data").out.endswith("\nBaseline: data/ragdata-baseline.jsonl\n")
    assert run("config", "data/faq", "--json").json["baseline"] == "data/ragdata-baseline.jsonl"
    above = run("config", ".")
    assert above.out.endswith(
        "\nNot used here, but for paths at or below their folders: data/ragdata-baseline.jsonl, data/ragdata.toml\n"
    )
    found = run("config", ".", "--output-format", "json").json
    assert (found["baseline"], found["not_used"]) == (None, ["data/ragdata-baseline.jsonl", "data/ragdata.toml"])


def test_a_named_baseline_is_shown(project: Path) -> None:
    (project / "data" / "ragdata.toml").write_text('baseline = "known.jsonl"\n')

    assert run("config", "data").out.endswith("\nBaseline: data/known.jsonl (not there yet)\n")
