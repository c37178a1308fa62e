"""Settings of a project: what does not exist or is not supported is an error in every command that reads data."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ragdatakit import query
from tests.command_line import GOOD, run


@pytest.mark.parametrize(
    ("name", "text", "given"),
    [
        ("pyproject.toml", "[tool.ragdata]\nqualty = {}\n", "{}:2: unknown setting 'qualty', did you mean quality?"),
        ("pyproject.toml", "[tool.ragdata]\nmax_hop = 4\n", "{}:2: unknown setting 'max_hop', did you mean max-hops"),
        (
            "pyproject.toml",
            "[[tool.ragdata.dataset]]\nx = 'x'\n",
            "{}:2: unknown setting 'x' of [[tool.ragdata.dataset]]",
        ),
        ("ragdata.toml", "[quality]\nmost-tokens = 'x'\n", "expected an integer"),
        (
            "ragdata.toml",
            "severity = 'info'\n",
            '{}:1: [severity] is not a table; write severity = {{ SP210 = "info" }}',
        ),
        ("pyproject.toml", "[tool]\nragdata = 3\n", "{}: [tool.ragdata] is not a table"),
        ("pyproject.toml", "[tool.ragdata\n", "{} is not TOML"),
    ],
)
@pytest.mark.parametrize("above", [False, True], ids=["here", "above"])
def test_a_setting_that_does_not_exist(
    name: str, text: str, given: str, above: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    folder = tmp_path / "below" if above else tmp_path
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)

    outcome = run("validate", folder)

    assert (outcome.code, outcome.out) == (2, "")
    assert given.format(tmp_path / name if above else name) in outcome.err


@pytest.mark.parametrize(
    "words",
    [
        ("report", "data"),
        ("query", "data", "--tables"),
        ("diff", "data", GOOD),
        ("convert", "data", "out", "--to", "beir"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_that_reads_data_says_so(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(GOOD, tmp_path / "data")
    (tmp_path / "ragdata.toml").write_text("slect = ['SP']\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    refused = run(*words)

    assert (refused.code, "ragdata.toml:1: unknown setting 'slect'" in refused.err) == (2, True)
    assert run(words[0], "--help").code == 0
    assert run("rules", "SP2", "--isolated").code == 0


def test_sections_say_how_data_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "faq.csv").write_bytes("nr,body\n1,caf\u00e9\n".encode("latin-1"))
    (tmp_path / "ragdata.toml").write_text(
        "[[dataset]]\npath = 'notes'\nformat = 'table'\noptions = {map = 'id=nr,text=body', encoding = 'latin-1'}\n"
    )
    monkeypatch.chdir(tmp_path)
    sql = "select doc_id, text from documents"

    assert run("query", "notes", sql, "--output-format", "json").json["rows"] == [{"doc_id": "1", "text": "caf\u00e9"}]
    assert query("notes", sql, config=True).to_pylist() == [{"doc_id": "1", "text": "caf\u00e9"}]
    assert run("query", "notes", sql, "--isolated").code == 2
    assert run("query", "notes", sql, "--option", "encoding=utf-8").code == 2
    assert run("report", "notes", "--output-format", "json").code == 0
    assert run("convert", "notes", "out", "--to", "beir").code == 0
    assert "caf\u00e9" in (tmp_path / "out" / "corpus.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text", ["[tool.black]\nx = 1\n", "[tool.black\n", "[tool.ragdata]\n", "[project]\ndependencies = ['ragdatakit']\n"]
)
def test_files_without_our_settings_are_passed_over(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert run("validate", GOOD).code == 0


@pytest.mark.parametrize(
    ("word", "meant"),
    [("check", "validate"), ("lint", "validate"), ("search", "retrieve"), ("download", "fetch"), ("Compare", "diff")],
)
def test_a_command_by_the_name_of_other_tools(word: str, meant: str) -> None:
    outcome = run(word, GOOD)

    assert (outcome.code, outcome.out) == (2, "")
    assert f"unknown command '{word}', did you mean {meant}?" in outcome.err


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("validate --from bei", "beir"),
        ("validate --select BE20", "BE204"),
        ("validate --select be20", "BE204"),
        ("validate --select BE201,be20", "BE201,BE204"),
        ("explain conflicting-j", "conflicting-judgement"),
        ("rules bei", "beir"),
        ("convert --to datam", "datamind"),
        ("fetch beir/scif", "beir/scifact"),
        ("validate --profile dist", "distil"),
        ("schema beir qu", "queries"),
        ("eval --mode bm25,hyb", "bm25,hybrid"),
    ],
)
def test_completion_knows_values(words: str, value: str) -> None:
    from click.shell_completion import BashComplete

    from ragdatakit.cli.commands import group

    *before, begun = words.split()
    found = BashComplete(group, {}, "ragdata", "_RAGDATA_COMPLETE").get_completions(before, begun)

    assert value in [item.value for item in found]


def test_synonyms_are_no_commands() -> None:
    from ragdatakit.cli.commands import COMMAND_OF, COMMANDS

    assert not set(COMMAND_OF) & set(COMMANDS)
    assert {command.split(" --fix")[0] for command in COMMAND_OF.values()} <= {*COMMANDS, "--help", "--version"}
