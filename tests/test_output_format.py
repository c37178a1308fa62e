"""The form of an output: what was asked for, else what the name of its file tells; the same for all commands."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import click
import pytest

from ragdatakit.cli.output_format import output_form
from tests.command_line import DEMO, FIXTURES, run

SEARCH = FIXTURES / "demo-search"
FORMS = ("text", "json", "markdown", "ndjson", "trec")


@pytest.mark.parametrize(
    ("given", "file", "form"),
    [
        (None, None, "text"),
        (None, "a.json", "json"),
        (None, "a.MD", "markdown"),
        (None, "a.jsonl", "ndjson"),
        (None, "bm25.run", "trec"),
        (None, "json", "text"),
        (None, "a.txt", "text"),
        (None, "a.out", "text"),
        (None, "a.2026", "text"),
        ("markdown", "a.json", "markdown"),
        ("text", "a.html", "text"),
    ],
)
def test_the_form(given: str | None, file: str | None, form: str) -> None:
    assert output_form(given, Path(file) if file else None, FORMS) == form


@pytest.mark.parametrize(
    "file", ["a.html", "a.json.gz", "a.XLSX", "a.pdf", "a.png", "a.docx", "a.db", "a.csv", "a.tsv"]
)
def test_an_ending_of_another_form_is_refused(file: str) -> None:
    with pytest.raises(click.UsageError, match=r"name the file \.json, \.md, .*--output-format text\|json\|markdown"):
        output_form(None, Path(file), FORMS)


def test_names_of_temporary_files_have_no_ending(tmp_path: Path) -> None:
    with tempfile.NamedTemporaryFile(dir=tmp_path, prefix="tmp.aB3dE", suffix="") as made:
        assert output_form(None, Path(made.name), FORMS) == "text"
        made.write(b"something")
        made.flush()
        with pytest.raises(click.UsageError, match="is not an output format"):
            output_form(None, Path(made.name), FORMS)


@pytest.mark.parametrize(
    "words",
    [
        ("validate",),
        ("report",),
        ("diff", FIXTURES / "demo-search"),
        ("gate", "--suite", FIXTURES / "demo-search" / "corpus.jsonl"),
    ],
    ids=lambda words: words[0],
)
def test_commands_refuse_it_before_they_read(words: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "a.xlsx"

    outcome = run(words[0], FIXTURES / "demo-search", *words[1:], "--output-file", out)

    assert (outcome.code, outcome.out) == (2, "") and "the ending .xlsx is not an output format" in outcome.err
    assert not out.exists()


def test_query_writes_all_rows_of_a_table_into_a_file(tmp_path: Path) -> None:
    sql = "select 1 as one from documents a, documents b"

    outcome = run("query", FIXTURES / "demo-search", sql, "--output-file", tmp_path / "a.txt")
    lines = (tmp_path / "a.txt").read_text(encoding="utf-8").splitlines()

    assert (outcome.code, lines[-1], len(lines)) == (0, "(900 rows)", 2 + 900 + 1)
    assert run("query", FIXTURES / "demo-search", sql).out.splitlines()[-1].startswith("(the first 100 rows")


def test_validate_takes_the_form_from_the_name(tmp_path: Path) -> None:
    for name in ("a.json", "a.ndjson", "a.txt"):
        assert run("validate", DEMO, "--output-file", tmp_path / name).code == 1

    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["findings"]
    assert all(json.loads(line) for line in (tmp_path / "a.ndjson").read_text(encoding="utf-8").splitlines())
    assert "Found " in (tmp_path / "a.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "begins"), [("a.csv", "n\n"), ("a.json", "{"), ("a.md", "| n |"), ("a.jsonl", '{"n":')]
)
def test_query_takes_the_form_from_the_name(name: str, begins: str, tmp_path: Path) -> None:
    data = FIXTURES / "demo-search"

    assert run("query", data, "select count(*) as n from documents", "--output-file", tmp_path / name).code == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)


def test_query_writes_all_rows_of_a_file_that_is_no_table(tmp_path: Path) -> None:
    sql = "select 1 from documents a, documents b"

    run("query", FIXTURES / "demo-search", sql, "--output-file", tmp_path / "a.csv")
    assert len((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()) == 1 + 900


def test_retrieve_takes_the_form_from_the_name(tmp_path: Path) -> None:
    pytest.importorskip("tantivy")
    words = ("retrieve", FIXTURES / "demo-search", "tides", "--index-dir", tmp_path / "index", "--output-file")

    assert run(*words, tmp_path / "a.run").code == 0
    assert " Q0 d10 1 " in (tmp_path / "a.run").read_text(encoding="utf-8")
    assert run(*words, tmp_path / "a.json", "--tag", "x").code == 2  # a tag is for a run
    assert run(*words, tmp_path / "a.json").code == 0
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["version"] == 1
