"""Options are called alike in all commands, and what they were called before still works and says so."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from ragdatakit.cli.commands import COMMANDS, group
from ragdatakit.cli.dataset_options import named_value
from tests.command_line import FIXTURES, GOOD, run

DEMO = FIXTURES / "demo-search"


def shown_options() -> dict[str, dict[str, click.Parameter]]:
    """The options in the help of each command, by name."""
    found = {}
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        found[name] = {o: p for p in command.params if not getattr(p, "hidden", False) for o in p.opts if o[0] == "-"}
    return found


OPTIONS = shown_options()


def test_what_has_a_form_has_json_and_a_file() -> None:
    with_form = {name for name, options in OPTIONS.items() if "--output-format" in options}

    assert with_form == {name for name, options in OPTIONS.items() if "--json" in options}
    to_file = {name for name, options in OPTIONS.items() if "--output-file" in options}
    assert with_form == to_file - {"export"}  # whose form is what it is about: --to
    assert with_form >= set("validate convert report index retrieve eval query diff gate formats rules".split())


def test_one_name_for_one_thing() -> None:
    reading = set("validate convert report index retrieve eval query explore export diff gate push".split())

    assert {name for name, options in OPTIONS.items() if "--from" in options} == reading
    assert {name for name, options in OPTIONS.items() if "--dataset" in options} == reading - {"validate", "push"}
    for old in ("--format", "--queries"):
        assert [name for name, options in OPTIONS.items() if old in options] == []
    assert [name for name, options in OPTIONS.items() if "--report" in options] == ["validate"]
    assert [OPTIONS[name]["--questions"].metavar for name in ("retrieve", "eval")] == ["FILE", "FILE"]


@pytest.mark.parametrize(
    ("words", "old", "new"),
    [
        (("validate", GOOD, "--format", "light-splade"), "--format", "--from"),
        (("rules", "--format", "beir"), "--format", "rules NAME"),
        (("eval", DEMO, "--mode", "bm25", "--report", "FILE"), "--report", "--output-file"),
        (("retrieve", DEMO, "--queries", "ASKED"), "--queries", "--questions"),
        (("retrieve", DEMO, "--questions"), "--questions without FILE", "--all-questions"),
    ],
    ids=lambda value: " ".join(str(v) for v in value[0::2]) if isinstance(value, tuple) else None,
)
def test_an_old_spelling_works_and_says_so(
    words: tuple[str, ...], old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "asked.txt").write_text("lanterns\n", encoding="utf-8")
    places = {"FILE": tmp_path / "report.json", "ASKED": tmp_path / "asked.txt"}

    outcome = run(*(places.get(word, word) for word in words))

    assert outcome.code in (0, 1) and outcome.out
    assert f"ragdata: {old} is deprecated: use {new}\n" in outcome.err
    assert (tmp_path / "report.json").exists() == ("FILE" in words)


def test_the_old_format_is_the_new_from() -> None:
    old, new = (run("validate", GOOD, option, "beir") for option in ("--format", "--from"))

    assert (old.code, old.out) == (new.code, new.out)
    assert run("validate", GOOD, "--format", "nope").code == 2


@pytest.mark.parametrize(
    "words",
    [
        ("validate",),
        ("report",),
        ("query", "--tables"),
        ("query", "select count(*) from documents"),
        ("retrieve", "where does the map hang"),
        ("retrieve", "--all-questions", "-k", "1"),
        ("index",),
        ("eval", "--mode", "bm25"),
    ],
    ids=" ".join,
)
def test_the_path_is_here_where_it_is_left_out(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(DEMO)

    outcome = run(*words)

    assert outcome.code in (0, 1) and len(outcome.out) > 20
    assert "beir" in outcome.out or words[0] != "report"


def test_a_word_that_is_neither_a_path_nor_a_text_is_asked_about() -> None:
    outcome = run("retrieve", "lanterns")

    assert outcome.code == 2
    assert "no such file or folder: lanterns (is it QUESTION? Give PATH before it: . lanterns)" in outcome.err


def test_convert_one_of_several_datasets(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    run("init", "beir", folder / "one")
    run("init", "beir", folder / "two")

    outcome = run("convert", folder, tmp_path / "out", "--to", "arag", "--dataset", "two", "--json")

    assert outcome.code == 0
    assert [Path(c["source"]).name for c in outcome.json["conversions"]] == ["two"]
    assert (tmp_path / "out" / "chunks.json").is_file()
    assert run("convert", folder, tmp_path / "no", "--to", "arag", "--dataset", "three").code == 2


def test_outputs_go_to_files_by_their_ending(tmp_path: Path) -> None:
    for command in (
        ("rules",),
        ("formats",),
        ("convert", DEMO, tmp_path / "out", "--to", "arag", "--dry-run", "--keep-going"),
    ):
        outcome = run(*command, "--output-file", tmp_path / f"{command[0]}.json")

        assert (outcome.code, outcome.out) == (0, "")
        assert (tmp_path / f"{command[0]}.json").read_bytes()[:1] in (b"[", b"{")


def test_rules_and_explain_take_prefixes() -> None:
    listed = [line.split()[0] for line in run("rules", "SP2").out.splitlines()]
    explained = run("explain", "SP2").out

    assert listed and all(code.startswith("SP2") for code in listed)
    assert all(f"\n{code} " in explained for code in listed)
    assert "dangling-qid" in run("explain", "dangling").out
    assert {line.split()[2].split("-")[0] for line in run("rules", "dangling").out.splitlines()} == {"dangling"}
    assert run("rules", "beir", "dangling").out.count("\nSP") == 0
    assert "What to do:" in run("explain", "SP201").out
    assert "did you mean" in run("rules", "danglin-qid").err and run("explain", "").code == 2


def test_nonsense_is_near_to_nothing() -> None:
    assert "did you mean" not in run("rules", "nonsense").err
    assert run("valdate").err.strip().endswith("did you mean validate?")


def test_help_of_eval_has_sections() -> None:
    output = run("eval", "--help").out
    own = run("explore", "--help").out.partition("\nOptions:")[2]

    assert "--port" in own and "--no-plugins" not in own and "--community-level" not in own
    headings = [line for line in output.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert headings == [
        "What is measured:",
        "Runs, answers and gold from files:",
        "Output:",
        "How the dataset is read:",
        "How it is indexed and searched:",
    ]


@pytest.mark.parametrize(("text", "found"), [("k=v", "v"), ("k = v ", "v"), ("k= v", " v"), ("k= ", " "), ("k==", "=")])
def test_blanks_around_the_sign_of_a_value_are_no_part_of_it(text: str, found: str) -> None:
    assert named_value("--option", text) == ("k", found)
