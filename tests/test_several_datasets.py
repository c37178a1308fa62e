"""Folders that hold several datasets: each has a name; queries across them, comparisons of those of the same place."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import duckdb
import pytest

import ragdatakit
from ragdatakit.api.arguments import reading
from ragdatakit.api.sources import find_datasets
from ragdatakit.database.database_group import DatabaseGroup, Opener
from ragdatakit.database.dataset_database import DatasetDatabase, SharedConnection
from ragdatakit.database.safe_queries import SafeQueries
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.schemas.canonical import Document
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import SourceOptions
from tests.command_line import FIXTURES, run

TWO_SETS = FIXTURES / "hipporag" / "valid" / "two-sets"


def write_corpus(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True)
    rows = [json.dumps({"_id": key, "title": "", "text": text}) + "\n" for key, text in texts.items()]
    (folder / "corpus.jsonl").write_text("".join(rows), encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_corpus(tmp_path / "all" / "old reef", d1="the reef", d2="the tug")
    write_corpus(tmp_path / "all" / "table", d2="the tug", d3="the barge")
    return tmp_path / "all"


def names(path: Path, **words: str) -> list[str]:
    return [found.name for found in find_datasets([path], reading(SourceOptions(**words)))]


def asked(path: Path, sql: str, *words: object) -> list[object]:
    shown = run("query", path, sql, "--output-format", "ndjson", *words)
    assert shown.code == 0, shown.err
    return shown.lines


def test_each_has_a_name_of_its_own(tmp_path: Path) -> None:
    for place in ("2024/data", "2025/data", "2024/reefs", "2025/reefs", "Main", "files"):
        write_corpus(tmp_path / place, d1="x")

    assert sorted(names(tmp_path)) == ["2024", "2024/reefs", "2025", "2025/reefs", "Main beir", "files beir"]
    assert names(TWO_SETS) == ["harbours", "reefs"]


def test_show_tables_lists_those_of_all(folder: Path) -> None:
    listed = [{"name": '"old reef".documents'}, {"name": '"table".documents'}]

    assert asked(folder, "show tables") == asked(folder, "SHOW TABLES; -- all") == listed
    assert asked(folder / "table", "show tables") == [{"name": "documents"}]


def test_names_are_those_of_a_saved_database(folder: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved.duckdb"
    ragdatakit.report(folder, save=saved)
    with duckdb.connect(str(saved), read_only=True) as connection:
        listed = [name for (name,) in connection.execute('select "schema" from datasets').fetchall()]
        assert listed == names(folder) == ["old reef", "table"]
        assert connection.execute('select count(*) from "old reef".documents').fetchall() == [(2,)]


@pytest.mark.skipif(os.name == "nt", reason="names of files are text on Windows")
def test_a_name_that_is_not_utf8(folder: Path) -> None:
    (folder / "table").rename(folder / os.fsdecode(b"caf\xe9"))
    for name in (b"\xe9", b"\xe8"):
        shutil.copytree(FIXTURES / "hipporag" / "valid" / "generic", folder / os.fsdecode(name))
        for file in (folder / os.fsdecode(name)).iterdir():
            file.rename(file.with_name(file.name.replace("reefs", os.fsdecode(name))))
    sql = 'select (select count(*) from "caf\ufffd".documents) as n, count(*) as m from "old reef".documents'
    assert json.loads(run("query", str(folder), sql, "--output-format", "ndjson").out) == {"n": 2, "m": 2}
    for name in ("caf\ufffd", os.fsdecode(b"caf\xe9")):
        asked = run(
            "query", str(folder), "select doc_id from documents", "--dataset", name, "--output-format", "ndjson"
        )
        assert asked.out == '{"doc_id":"d2"}\n{"doc_id":"d3"}\n'


def test_a_query_joins_datasets_and_their_files(folder: Path) -> None:
    sql = 'select a.doc_id from "old reef".documents a join "table".files.corpus b on b._id = a.doc_id'

    assert asked(folder, sql) == [{"doc_id": "d2"}]
    assert asked(folder, "select 1 as n") == [{"n": 1}]
    assert asked(folder, "select count(*) as n from (show databases) where not database_name ^@ 'memory'") == [{"n": 2}]
    assert asked(folder, 'summarize "table".documents')


def test_only_the_datasets_that_a_query_names_are_opened() -> None:
    opened = []

    def opener(name: str) -> Opener:
        def open_one(shared: SharedConnection) -> DatasetDatabase:
            opened.append(name)
            if name == "broken":
                raise RagdataError("nothing to be read there")
            tables = CanonicalTables(name, "beir", {"documents": lambda: iter([Document("d1", name)])}, Losses())
            return DatasetDatabase(tables, shared=shared, called=name)

        return open_one

    with DatabaseGroup({name: opener(name) for name in ("a", "b", "broken")}) as group:
        assert list(SafeQueries(group).run("select text from A.documents").rows()) == [[("a",)]]
        assert opened == ["a"]
    with DatabaseGroup({name: opener(name) for name in ("a", "broken")}) as group:
        listed = [(t.called, t.rows, t.fault) for t in SafeQueries(group).tables()]
        assert listed == [("a.documents", 1, ""), ("broken", None, "nothing to be read there")]
        with pytest.raises(RagdataError, match="nothing to be read there"):
            SafeQueries(group).run("from broken.documents")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("from documents", 'Table with name documents does not exist; there are "old reef".documents'),
        ('from "table".docs', 'Table with name docs does not exist; there are "old reef".documents'),
        ('from "old reef".files.corpse', 'Table with name corpse does not exist; there are "old reef".documents'),
        ("from 'corpus.jsonl'", "no files and no network"),
        ("attach 'x.db' as y", "ATTACH is not available"),
        ("use memory", "is not available"),
    ],
)
def test_faults_name_the_tables_of_the_dataset(folder: Path, sql: str, message: str) -> None:
    shown = run("query", folder, sql)

    assert (shown.code, shown.out) == (2, "")
    assert message in shown.err


def test_all_tables_are_listed(folder: Path) -> None:
    (folder / "table" / "queries.jsonl").write_text('{"_id": "q1", "text": "where?"}\n')
    shown = run("query", folder, "--tables")
    document = run("query", folder, "--tables", "--output-format", "json").json

    assert '"old reef".documents  2 rows' in shown.out and '"table".files.queries  1 row' in shown.out
    assert {t["dataset"] for t in document["tables"]} == {"old reef", "table"}
    assert '\'select count(*) from "old reef".documents a join "table".documents b using (doc_id)\'' in shown.out


@pytest.mark.parametrize("name", ["table", "TABLE", "./table/", "all/table"])
def test_a_dataset_is_named(folder: Path, name: str) -> None:
    assert asked(folder, "select count(*) as n from documents where doc_id = 'd3'", "--dataset", name) == [{"n": 1}]


def test_names_of_data_sets_in_one_folder(tmp_path: Path) -> None:
    found = asked(TWO_SETS, "select count(*) as n from documents", "--dataset", "reefs")

    assert found == asked(TWO_SETS, "select count(*) as n from reefs.documents")
    assert ragdatakit.read(TWO_SETS, dataset="reefs").tables
    assert run("gate", TWO_SETS, "--init", "--dataset", "reefs", "--output-file", tmp_path / "suite.json").code == 0


def test_unknown_and_needed_names(folder: Path) -> None:
    unknown = run("query", folder, "from documents", "--dataset", "tabel")
    needed = run("gate", folder, "--init")

    assert (unknown.code, unknown.err.count("\n")) == (2, 1)
    assert "unknown dataset 'tabel' of" in unknown.err and "did you mean table?" in unknown.err
    assert needed.code == 2 and "holds 2 datasets; give one of them with --dataset: old reef, table" in needed.err


def test_datasets_of_several_formats(folder: Path) -> None:
    source = FIXTURES / "light-splade" / "valid" / "triplet"
    shutil.copytree(source, folder / "splade")

    assert asked(folder, 'select count(*) as n from splade.documents, "table".documents') == [{"n": 8}]
    assert "several formats (beir, light-splade)" in run("gate", folder, "--init").err


def test_datasets_of_the_same_place_are_compared(folder: Path, tmp_path: Path) -> None:
    after = tmp_path / "after"
    write_corpus(after / "old reef", d1="the reefs", d2="the tug")
    write_corpus(after / "new", d1="x", d2="y")

    shown = run("diff", folder, after)
    document = run("diff", folder, after, "--output-format", "json").json

    assert shown.code == 1
    assert [(d["place"], d["status"]) for d in document["datasets"]] == [
        ("new", "added"),
        ("old reef", "changed"),
        ("table", "removed"),
    ]
    assert document["counts"] == {"added": 2, "removed": 2, "changed": 1} and document["tables"] == []
    changed = document["datasets"][1]["diff"]
    assert changed["counts"] == {"added": 0, "removed": 0, "changed": 1}
    assert changed["before"]["path"] == f"{folder}/old reef"
    assert '"the reefs"' in shown.out
    assert "Datasets: 1 added, 1 removed, 1 changed; records: 2 added, 2 removed, 1 changed" in shown.out
    for form in ("markdown", "html"):
        page = run("diff", folder, after, "--output-format", form).out
        assert "reefs" in page and "old reef" in page and "removed" in page


def test_the_same_folders_do_not_differ(folder: Path) -> None:
    shown = run("diff", folder, folder)

    assert (shown.code, shown.err) == (0, "")
    assert "No record of 2 datasets differs" in shown.out


def test_a_dataset_is_not_compared_with_several(folder: Path) -> None:
    shown = run("diff", folder / "table", folder)

    assert shown.code == 2 and "holds 2 datasets; give one of them with --dataset" in shown.err
    assert run("diff", folder / "table", folder, "--dataset", "table").code == 0


def test_columns_of_a_table_that_only_one_dataset_has(folder: Path) -> None:
    (folder / "table" / "queries.jsonl").write_text('{"_id": "q1", "text": "where?"}\n')

    assert run("diff", folder, folder, "--ignore", "questions.text", "--key", "questions=question_id").code == 0
    shown = run("diff", folder, folder, "--ignore", "questions.txt")
    assert shown.code == 2 and "did you mean text?" in shown.err


def test_datasets_of_a_revision(folder: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], cwd=folder, check=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    write_corpus(folder / "third", d1="x")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        shown = run("diff", "HEAD:./", ".", "--output-format", "json")
        named = run("diff", "HEAD:./", ".", "--dataset", "tabel")

    assert shown.code == 1
    assert [(d["place"], d["status"]) for d in shown.json["datasets"]] == [
        ("old reef", "same"),
        ("table", "same"),
        ("third", "added"),
    ]
    assert shown.json["datasets"][0]["diff"]["before"]["path"] == "HEAD:./old reef"
    assert "unknown dataset 'tabel' of HEAD:./" in named.err
