"""Data that cannot be read: no answer, no suite and no pass is made from a part of it; records left out are told."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.api.gate import first_suite
from ragdatakit.api.query import query
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import run
from tests.gate_tools import expect, needs_library, write_files, write_suite

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n"
COUNT = "select count(*) as n from documents"
LEFT_OUT = "corpus: 1 record left out: no JSON"


def cut_off(folder: Path) -> None:
    corpus = folder / "corpus.jsonl"
    packed = gzip.compress(corpus.read_bytes())
    corpus.with_name("corpus.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    corpus.unlink()


def pointer(folder: Path) -> None:
    (folder / "corpus.jsonl").write_text(POINTER, encoding="utf-8")


def a_broken_line(folder: Path) -> Path:
    lines = (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "corpus.jsonl").write_text("\n".join([*lines[:5], '{"_id": oops', *lines[6:]]) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(params=[cut_off, pointer], ids=["cut off", "pointer"])
def unread(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = write_files(tmp_path / "set")
    break_it: Callable[[Path], None] = request.param
    break_it(folder)
    return folder


def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_files(tmp_path / "set")
    opened = os.open

    def denied(path: Any, *rest: Any, **more: Any) -> int:
        if str(path).endswith("corpus.jsonl"):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *rest, **more)

    monkeypatch.setattr(os, "open", denied)
    for words in (("query", folder, COUNT), ("gate", folder, "--init")):
        refused = run(*words)
        assert (refused.code, refused.out) == (2, "") and "corpus.jsonl: Permission denied" in refused.err
    assert run("query", folder, "from questions").code == 0


def test_no_answer_from_a_part_of_the_data(unread: Path, tmp_path: Path) -> None:
    asked = run("query", unread, COUNT, "--output-file", tmp_path / "rows.csv")

    assert (asked.code, asked.out) == (2, "") and not (tmp_path / "rows.csv").exists()
    assert asked.err.startswith("ragdata: no answer from a part of the data: corpus: ") and asked.err.count("\n") == 1
    assert "could not be read" in asked.err
    assert run("query", unread, "select count(*) as n from questions", "--output-format", "ndjson").lines == [{"n": 10}]
    with pytest.raises(RagdataError, match="no answer from a part"):
        query(unread, COUNT)


def test_tables_that_cannot_be_read_have_no_number_of_rows(unread: Path) -> None:
    listed = run("query", unread, "--tables", "--output-format", "json")

    tables = {t["name"]: (t["rows"], bool(t["fault"])) for t in listed.json["tables"]}
    assert (tables["documents"], tables["questions"]) == ((None, True), (10, False))
    assert "could not be read" in listed.err and listed.code == 0


def test_records_left_out_of_an_answer_are_told(tmp_path: Path) -> None:
    folder = a_broken_line(write_files(tmp_path / "set"))

    asked = run("query", folder, COUNT, "--output-format", "ndjson")

    assert (asked.code, asked.lines) == (0, [{"n": 29}])
    assert asked.err.startswith(f"! {LEFT_OUT}") and asked.err.count("\n") == 1
    assert run("query", folder, "from questions").err == ""
    with pytest.warns(UserWarning, match=LEFT_OUT):
        assert query(folder, COUNT).to_pylist() == [{"n": 29}]


def test_topics_that_are_counted_by_their_judgements(tmp_path: Path) -> None:
    topics = "".join(f"<top><num>{n}</num><title>which {n}</title></top>\n" for n in (7, 8, 9))
    (tmp_path / "topics.xml").write_text(f"<topics>\n{topics}</topics>\n", encoding="utf-8")
    (tmp_path / "qrels.txt").write_text("".join(f"{n} 0 d{n} 1\n" for n in (1, 2, 3)), encoding="utf-8")
    sql = "select count(*) as n from questions"

    refused = run("query", tmp_path, sql)
    assert refused.code == 2 and "Choose --option topics=position" in refused.err
    assert run("query", tmp_path, sql, "-o", "topics=position", "--output-format", "ndjson").lines == [{"n": 3}]


def test_no_suite_from_a_part_of_the_data(unread: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite.json"

    refused = run("gate", unread, "--init", "--output-file", suite)

    assert (refused.code, refused.out) == (2, "") and not suite.exists()
    assert refused.err.startswith("ragdata: no suite is made from a part of the data: corpus: ")
    assert run("gate", unread, "--init", "--output-file", suite, "--table", "questions").code == 0
    assert json.loads(suite.read_text(encoding="utf-8"))["expectations"]


def test_a_suite_tells_the_records_that_were_left_out(tmp_path: Path) -> None:
    folder = a_broken_line(write_files(tmp_path / "set"))

    written = run("gate", folder, "--init", "--table", "documents")

    assert written.code == 0 and written.err.startswith(f"! {LEFT_OUT}")
    (told,) = written.json["meta"]["ragdata_left_out"]
    assert told.startswith(LEFT_OUT)
    assert "ragdata_left_out" not in first_suite(folder, tables=["questions"])["meta"]


@needs_library
def test_no_pass_from_a_part_of_the_data(unread: Path, tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite.json", expect("table_row_count_to_be_between", min_value=0))

    text, told = (run("gate", unread, "--suite", suite, "--output-format", form) for form in ("text", "json"))

    assert (text.code, told.code) == (2, 2)
    assert text.out.splitlines()[-1].endswith("1 of 1 expectations hold, but not all of the data could be read")
    assert told.json["success"] is False and "could not be read" in told.json["unread"][0]
    assert not ragdatakit.gate(unread, suite).success


@needs_library
def test_the_last_line_names_the_dataset(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_files(tmp_path / "sets" / name)
    suite = write_suite(tmp_path / "suite.json", expect("table_row_count_to_equal", value=30))

    shown = run("gate", tmp_path / "sets", "--suite", suite, "--dataset", "two")

    assert shown.out == f"{tmp_path / 'sets'}, two (beir): 1 of 1 expectations hold\n"
