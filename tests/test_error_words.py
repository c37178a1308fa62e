"""Errors in plain words: what is unknown and where, what to do with an archive, how a name is written in a query."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.database.select_statements import parse_select
from ragdatakit.files.detection.find import detect
from ragdatakit.quality.run import Quality
from ragdatakit.schemas.errors import QueryError, RagdataError, UnknownNameError
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.run_options import RunOptions
from tests.command_line import FIXTURES, run

SEARCH = FIXTURES / "demo-search"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("report", "--from", "nosuch", SEARCH), "unknown format 'nosuch'; known: "),
        (("validate", "--engine", "loacl", SEARCH), "'--engine': unknown engine 'loacl', did you mean local?"),
        (("validate", "--severity", "warn", SEARCH), "unknown severity 'warn', did you mean warning?"),
        (("validate", "--output-format", "jsn", SEARCH), "unknown output format 'jsn', did you mean json"),
        (("validate", "--jobs", "x", SEARCH), "'--jobs': 'x' is not a whole number from 1 to 256"),
        (
            ("validate", "--output-file", "a.foo", SEARCH),
            "--output-file a.foo: the ending .foo is not an output format",
        ),
        (("query", SEARCH, "select field_order from documents"), 'column "field_order" not found'),
        (
            ("report", "--dataset", "demo-serch", SEARCH),
            f"unknown dataset 'demo-serch' of {SEARCH}, did you mean demo-search",
        ),
        (("gate", SEARCH, "--init", "--table", "docs"), "ragdata: unknown table 'docs', did you mean "),
        (("diff", SEARCH, SEARCH, "--key", "documents=nam"), "unknown column 'nam' of documents"),
        (("validate", SEARCH, "--profile", "v9"), "unknown profile 'v9' of "),
        (("retrieve", SEARCH, "--id", "q999"), f"unknown question 'q999' of {SEARCH}"),
    ],
    ids=[
        *("format", "engine", "severity", "output-format", "jobs", "ending", "field_order"),
        *("dataset", "table", "column", "profile", "question"),
    ],
)
def test_what_is_unknown_goes_before_where(words: tuple[str, ...], message: str) -> None:
    outcome = run(*words)

    assert outcome.code == 2 and message in outcome.err


def test_where_is_left_out_where_there_is_nothing_to_tell() -> None:
    assert str(UnknownNameError("mode", "x", ["a"])) == "unknown mode 'x'; known: a"


@pytest.mark.parametrize("name", ["data.zip", "data.TAR.gz", "data.7z"])
def test_an_archive_is_to_be_unpacked(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / name, "w") as file:
        file.write(SEARCH / "corpus.jsonl", "corpus.jsonl")

    for words in (("report",), ("query", "select 1"), ("validate",)):
        outcome = run(words[0], tmp_path / name, *words[1:])
        assert outcome.code == 2 and "is an archive, which is not read: unpack it first" in outcome.err


def test_a_database_is_no_dataset(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    saved = tmp_path / "saved.duckdb"
    assert run("report", SEARCH, "-q", "--save-database", saved).code == 0

    assert "is a database, no dataset: ask it with duckdb" in run("report", saved).err


@pytest.mark.parametrize(
    ("sql", "right"),
    [
        ("select count(*) from scifact-beir.documents", '"scifact-beir".documents'),
        ("from 2wiki-hipporag.qrels", '"2wiki-hipporag".qrels'),
        ("select 1\nfrom documents d join a.b-c x on true", 'a."b-c"'),
    ],
)
def test_a_name_with_a_hyphen_stands_in_quotes(sql: str, right: str) -> None:
    pytest.importorskip("duckdb")
    with pytest.raises(QueryError, match=f"syntax error .* must be quoted: {right}$"):
        parse_select(sql)


@pytest.mark.parametrize("sql", ["selec 1", "select 1 -+ from x", "select * from where"])
def test_other_faults_say_nothing_of_quotes(sql: str) -> None:
    pytest.importorskip("duckdb")
    with pytest.raises(QueryError) as error:
        parse_select(sql)
    assert "quotes" not in str(error.value)


def test_files_that_are_left_out_are_reported_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text("id,text\n1,some words\n")
    for number in range(5):
        (tmp_path / f"other{number}.csv").write_text("a,b\n1,2\n")

    output = " ".join(run("report", tmp_path, "-q").out.split())

    assert (
        "5 files left out: a file without a text, question, judgement or edge (other0.csv, other1.csv, other2.csv and "
        "2 more)" in output
    )


quality = pytest.mark.skipif(
    subprocess.run([sys.executable, "-c", "import ftfy"], capture_output=True, check=False).returncode != 0,
    reason="needs ragdatakit[quality]",
)


@quality
def test_a_part_of_the_rules_says_nothing_of_valid() -> None:
    broken = FIXTURES / "beir" / "broken"
    folder = next(path for path in sorted(broken.iterdir()) if not validate(path / "data").ok) / "data"

    for words, each in (
        (("--select", "QU206"), "Only QU206 checked"),
        (("--select", "QU206,QU201", "--select", "QU202,QU203"), "Only QU206, QU201, QU202 and 1 more checked"),
    ):
        assert run("validate", folder, *words).out.splitlines()[-1].startswith(each)
    assert any(line.startswith("Found ") for line in run("validate", folder).out.splitlines())


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv", ""])
def test_what_was_not_checked_is_reported_of_the_file_that_the_reason_names(name: str) -> None:
    def read(*_: object) -> Iterator[Any]:
        raise RagdataError(f"{SEARCH / name}: Permission denied")
        yield

    parts = detect(SEARCH).datasets
    checked = Quality(read=read, plain=lambda *_: []).check(parts, RunOptions(), Selection(), Counter(), alone=False)

    assert [(f.code, Path(f.path)) for f in checked.kept] == [("QU101", SEARCH / name)]


@quality
def test_a_lost_character_obeys_nothing(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": "some \ufffd words"}, {"id": "b", "text": "other \x07 words"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    lost, control = (f.message for f in validate(tmp_path, quality=True, select="QU205").findings)

    assert "U+FFFD" in lost and "obey" not in lost
    assert "U+0007" in control and "obey" in control


def test_bad_thresholds_of_a_file_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ragdata.toml").write_text("[quality]\nmost-token = 3\n")
    monkeypatch.chdir(tmp_path)

    errors = run("validate", ".", "--quality").err

    assert "ragdata.toml:2: unknown setting 'most-token' of [quality], did you mean most-tokens" in errors
    with pytest.raises(RagdataError, match="unknown quality option 'most-token', did you mean"):
        validate(SEARCH, quality={"most-token": 3})
