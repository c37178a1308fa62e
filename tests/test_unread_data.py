"""Data that cannot be read: no answer, suite or pass is made from a part of it; records left out are reported."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ragdatakit
from ragdatakit.api.gate import first_suite
from ragdatakit.api.query import query
from ragdatakit.database.row_batches import row_batches
from ragdatakit.reports.summaries import loss_words
from ragdatakit.schemas.canonical import Question
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import FIXTURES, obey_permissions, run, spawn
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


def copy(fixture: str, folder: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / fixture, folder))


def losses_of(path: Path) -> list[str]:
    found = run("report", path, "--output-format", "json").json["datasets"][0]["losses"]
    return [words.replace(f"{path if path.is_dir() else path.parent}/", "") for words in found]


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


@pytest.mark.skipif(os.geteuid() == 0 and sys.platform != "linux", reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set")
    (folder / "corpus.jsonl").chmod(0)
    for words in (("query", folder, COUNT), ("gate", folder, "--init")):
        refused = spawn(*words, first=obey_permissions)
        assert (refused.code, refused.out) == (2, "") and "corpus.jsonl: Permission denied" in refused.err
    assert spawn("query", folder, "from questions", first=obey_permissions).code == 0


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


def test_records_left_out_of_an_answer_are_reported(tmp_path: Path) -> None:
    folder = a_broken_line(write_files(tmp_path / "set"))

    asked = run("query", folder, COUNT, "--output-format", "ndjson")

    assert (asked.code, asked.lines) == (0, [{"n": 29}])
    assert asked.err.startswith(f"! {LEFT_OUT}") and asked.err.count("\n") == 1
    assert run("query", folder, "from questions").err == ""
    with pytest.warns(UserWarning, match=LEFT_OUT):
        assert query(folder, COUNT).to_pylist() == [{"n": 29}]


def test_a_graph_that_is_cut(tmp_path: Path) -> None:
    folder = copy("lightrag/valid/ingested", tmp_path / "set")
    graph = folder / "graph_chunk_entity_relation.graphml"
    graph.write_text(graph.read_text(encoding="utf-8").partition("<edge")[0], encoding="utf-8")

    why = "graph_chunk_entity_relation.graphml could not be read whole: no element found"
    assert losses_of(folder) == [f"graph: {why}; the rest is missing, from record 6 on"]
    assert run("query", folder, "select count(*) from edges").code == run("gate", folder, "--init").code == 2
    assert run("query", folder, COUNT).code == 0
    compared = run("diff", FIXTURES / "lightrag/valid/ingested", folder)
    assert "what is missing there counts as removed" in compared.out + compared.err


def test_records_of_lightrag_that_are_left_out(tmp_path: Path) -> None:
    folder = copy("lightrag/valid/ingested", tmp_path / "set")
    chunks = folder / "kv_store_text_chunks.json"
    chunks.write_text(chunks.read_text(encoding="utf-8").replace('"content"', '"contents"', 1), encoding="utf-8")
    relation = {"src_id": "Mara", "tgt_id": 7}
    parts = {"chunks": [{"content": " ", "source_id": "c1"}, 3], "relationships": [relation]}
    names = [{"entity_name": "Mara"}, {"entity_name": "Mara"}, {"entity_name": None}]
    payload = tmp_path / "custom_kg.json"
    payload.write_text(json.dumps({**parts, "entities": names}), encoding="utf-8")

    assert losses_of(folder) == ["chunks: 1 record left out: it has no content (kv_store_text_chunks.json record 1)"]
    assert losses_of(payload) == [
        "chunks: 1 record left out: it has no content (custom_kg.json/chunks/0)",
        "chunks: 1 record left out: it is not an object (custom_kg.json/chunks/1)",
        "entities: 1 record left out: a later entity has its name (custom_kg.json/entities/0)",
        "entities: 1 record left out: it has no name (custom_kg.json/entities/2)",
        "relationships: 1 record left out: it has no two names (custom_kg.json/relationships/0)",
    ]


@pytest.mark.parametrize("before", [0, 100_000])
def test_an_element_that_is_cut(before: int, tmp_path: Path) -> None:
    folder = copy("trec/valid/collection", tmp_path / "set")
    text = (folder / "documents.trec").read_text(encoding="utf-8")
    more = "".join(f"<DOC><DOCNO>n{i}</DOCNO><TEXT>{i}</TEXT></DOC>\n" for i in range(before))
    (folder / "documents.trec").write_text(more + text[: text.rindex("</doc>")], encoding="utf-8")
    topics = folder / "topics.xml"
    topics.write_text(topics.read_text(encoding="utf-8").replace("</top>", "", 1), encoding="utf-8")

    why = "1 record left out: the element is not closed"
    assert losses_of(folder) == [
        f"documents: {why} (documents.trec record {before + 3})",
        f"topics: {why} (topics.xml record 1)",
    ]


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
    (found,) = written.json["meta"]["ragdata_left_out"]
    assert found.startswith(LEFT_OUT)
    assert "ragdata_left_out" not in first_suite(folder, tables=["questions"])["meta"]


@needs_library
def test_no_pass_from_a_part_of_the_data(unread: Path, tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite.json", expect("table_row_count_to_be_between", min_value=0))

    text, outcome = (run("gate", unread, "--suite", suite, "--output-format", form) for form in ("text", "json"))

    assert (text.code, outcome.code) == (2, 2)
    assert text.out.splitlines()[-1].endswith("1 of 1 expectations hold, but not all of the data could be read")
    assert outcome.json["success"] is False and "could not be read" in outcome.json["unread"][0]
    assert not ragdatakit.gate(unread, suite).success


@needs_library
def test_the_last_line_names_the_dataset(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_files(tmp_path / "sets" / name)
    suite = write_suite(tmp_path / "suite.json", expect("table_row_count_to_equal", value=30))

    shown = run("gate", tmp_path / "sets", "--suite", suite, "--dataset", "two")

    assert shown.out == f"{tmp_path / 'sets'}, two (beir): 1 of 1 expectations hold\n"


def test_nothing_read_is_not_a_rest(tmp_path: Path) -> None:
    losses = Losses()

    def refused() -> Iterator[Question]:
        raise RagdataError("the topics have other numbers")
        yield

    assert not list(row_batches("questions", refused(), losses))
    assert loss_words(losses) == ["questions: it could not be read: the topics have other numbers"]


def test_an_empty_packed_file(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set")
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl.gz").write_bytes(b"")
    words = f"{folder / 'corpus.jsonl.gz'} is empty: there is no gzip data"

    (summary,) = ragdatakit.report(folder)
    assert summary.losses == [f"corpus: {words}"]
    (found,) = [f for f in ragdatakit.validate(folder).findings if f.rule == "broken-compression"]
    assert found.message.startswith("gzip data is missing after 0 uncompressed bytes")
    listed = run("query", folder, "--tables", "--output-format", "json").json["tables"]
    faults = {table["name"]: table["fault"] for table in listed}
    assert faults["documents"] == f"corpus: {words}"
    assert faults["files.corpus"] == words


def test_the_list_of_tables_tells_a_fault_once(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set")
    cut_off(folder)

    listed = run("query", folder, "--tables")

    assert listed.err == "" and listed.out.count("could not be read whole: cut off") == 2  # the table and its file


def test_a_table_of_files_is_whole_or_none(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set")
    packed = bytearray(gzip.compress((folder / "corpus.jsonl").read_bytes(), mtime=0))
    packed[len(packed) // 2 : len(packed) // 2 + 4] = b"XXXX"
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl.gz").write_bytes(packed)

    asked = run("query", folder, "from files.corpus")

    assert (asked.code, asked.out) == (2, "")
    assert asked.err.startswith("ragdata: no answer from a part of the data: ") and "damaged" in asked.err
    with pytest.raises(RagdataError, match=r"no suite is made from a part of the data: .*damaged"):
        first_suite(folder, tables=["files.corpus"])
    pointer(folder)
    (folder / "corpus.jsonl.gz").unlink()
    assert "it is a Git LFS pointer" in run("query", folder, "from files.corpus").err


def denying(opened: Callable[..., Any], denied: Path) -> Callable[..., Any]:
    def asked(path: Any, *rest: Any, **more: Any) -> Any:
        if str(path) == str(denied):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *rest, **more)

    return asked


def test_a_comparison_names_what_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = write_files(tmp_path / "one"), write_files(tmp_path / "other")
    for owner in (os, Path):
        monkeypatch.setattr(owner, "open", denying(owner.open, one / "corpus.jsonl"))

    found = ragdatakit.diff(one, other)

    assert {file.path: file.status for file in found.files}["corpus.jsonl"] == "unread"
    assert [(side.path, what) for side, what in found.unread] == [(str(one), "documents")]
    assert not found.different
    shown = run("diff", one, other)
    assert shown.code == 2 and "Not all compared" in shown.out


def test_a_saved_database_tells_what_it_has_not(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "data" / "set")
    pointer(folder)
    write_files(tmp_path / "data" / "whole")
    saved = tmp_path / "all.duckdb"

    ragdatakit.report(tmp_path / "data", save=saved)

    with duckdb.connect(str(saved), read_only=True) as connection:
        tables = connection.execute("select table_schema, table_name from information_schema.tables").fetchall()
        losses = connection.execute('select "schema", kind, "table", "column", count, unread from losses').fetchall()
        (reason,) = connection.execute("select reason from losses").fetchone() or ()
    assert ("whole", "documents") in tables and ("set", "questions") in tables
    assert ("set", "documents") not in tables
    assert losses == [("set", "dropped", "corpus", None, 1, True)]
    assert reason.startswith(f"{folder / 'corpus.jsonl'} could not be read: it is a Git LFS pointer")


def test_a_saved_database_names_datasets_that_it_has_not(tmp_path: Path) -> None:
    write_files(tmp_path / "data" / "whole")
    for name in ("a", "b"):
        (tmp_path / "data" / "hub").mkdir(exist_ok=True)
        queries = tmp_path / "data" / "hub" / f"{name}-queries.jsonl"
        queries.write_text('{"_id": "1", "text": "which one"}\n', encoding="utf-8")

    ragdatakit.report(tmp_path / "data", save=tmp_path / "all.duckdb")

    with duckdb.connect(str(tmp_path / "all.duckdb"), read_only=True) as connection:
        losses = connection.execute('select "schema", "table", count, unread from losses').fetchall()
        assert connection.execute('select "schema" from datasets').fetchall() == [("whole",)]
    assert losses == [("hub", None, 1, True)]
