"""Files that are not what their names say are errors; what was not checked is said, and counts where that is wanted."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from ragdatakit import validate
from ragdatakit.files.detection.find import detect
from tests.command_line import FIXTURES, run

BROKEN = {
    "five-columns": b"q1 Q0 d1 1 7.5\nq2 Q0 d3 1 4\n",
    "three-columns": b"q1 d1 1\nq2 d2 1\n",
    "tag-with-a-blank": b"q1 Q0 d1 1 7.5 my run\nq2 Q0 d3 1 4 my run\n",
    "csv": b"a,b,c\n1,2,3\n4,5,6\n",
    "prose": b"this is not a data at all\nreally not\n",
    "page": b"<html><body>404 not found</body></html>\n",
    "empty": b"",
    "blank": b"\n\n",
    "utf-16": "q1 0 d1 1\nq2 0 d2 0\n".encode("utf-16"),
    "utf-16-bare": "q1 0 d1 1\nq2 0 d2 0\n".encode("utf-16-le"),
    "other-json": b'{"user": "a", "n": 1}\n',
}
NAMED = [
    ("trec/valid/collection", "qrels.txt"),
    ("trec/valid/collection", "run.bm25.txt"),
    ("trec/valid/collection", "topics.xml"),
    ("trec/valid/collection", "documents.trec"),
    ("trec/valid/packed", "run.bm25.txt.gz"),
    ("trec/valid/packed", "topics.xml.gz"),
    ("trec/valid/sgml-topics", "docs.sgml"),
    ("trec/valid/sgml-topics", "qrels.301-302.txt"),
    ("trec/valid/topic-lines", "queries.dev.tsv"),
    ("sage/valid/corpus", "documents.jsonl"),
    ("sage/valid/corpus", "records.jsonl"),
]
"""Of formats known by content; those that names alone tell are tested with their formats."""


@pytest.mark.parametrize("content", BROKEN)
@pytest.mark.parametrize(("case", "name"), NAMED)
def test_a_broken_file_is_an_error_of_the_kind_that_its_name_says(
    case: str, name: str, content: str, tmp_path: Path
) -> None:
    shutil.copytree(FIXTURES / case, tmp_path / "set")
    data = BROKEN[content]
    (tmp_path / "set" / name).write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)

    report = validate(tmp_path / "set")
    outcome = run("validate", tmp_path / "set")

    assert not report.ok and report.unrecognised == []
    assert {Path(f.path).name for f in report.findings if f.severity == "error"} >= {name}
    assert outcome.code == 1 and name in outcome.out


@pytest.mark.parametrize("content", [c for c in BROKEN if c != "other-json"])
@pytest.mark.parametrize("name", ["input.jsonl", "results.json"])
def test_what_is_json_by_its_name_only_is_an_error_of_sage(name: str, content: str, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "sage/valid/benchmark", tmp_path / "set")
    (tmp_path / "set" / name).write_bytes(BROKEN[content])

    report = validate(tmp_path / "set")

    assert {Path(f.path).name for f in report.findings if f.severity == "error"} == {name}


def test_the_name_decides_where_the_content_is_of_another_kind(tmp_path: Path) -> None:
    trec, sage = tmp_path / "trec", tmp_path / "sage"
    shutil.copytree(FIXTURES / "trec/valid/collection", trec)
    shutil.copytree(FIXTURES / "sage/valid/corpus", sage)
    for folder, one, other in ((trec, "qrels.txt", "run.bm25.txt"), (sage, "documents.jsonl", "records.jsonl")):
        first, second = (folder / one).read_bytes(), (folder / other).read_bytes()
        (folder / one).write_bytes(second)
        (folder / other).write_bytes(first)

    swapped = {f.rule for path in (trec, sage) for f in validate(path).findings if f.severity == "error"}
    kinds = {f.name: f.kind for path in (trec, sage) for d in detect(path).datasets for f in d.files}

    assert swapped >= {"wrong-columns", "document-without-contents", "missing-query"}
    assert (kinds["qrels.txt"], kinds["documents.jsonl"]) == ("qrels", "documents")


@pytest.mark.parametrize("name", ["documents.jsonl", "records.jsonl"])
def test_a_name_decides_for_a_file_alone_as_in_a_folder(name: str, tmp_path: Path) -> None:
    other = "records.jsonl" if name == "documents.jsonl" else "documents.jsonl"
    shutil.copy(FIXTURES / "sage/valid/corpus" / other, tmp_path / name)

    assert not validate(tmp_path / name).ok
    assert not validate(tmp_path).ok


@pytest.mark.parametrize("name", ["run.sh", "qrels.md", "runs.csv", "notes.txt", "topics.py", "x.trec"])
def test_other_files_are_said_not_to_be_checked(name: str, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "trec/valid/collection", tmp_path / "set")
    (tmp_path / "set" / name).write_text("nothing of a collection\n", encoding="utf-8")

    plain, quiet = run("validate", tmp_path / "set"), run("validate", tmp_path / "set", "-q")
    strict = run("validate", tmp_path / "set", "-q", "--strict-files")
    report = run("validate", tmp_path / "set", "--output-format", "json", "--strict-files")

    listed = report.json["unrecognised"]
    if name in ("topics.py", "run.sh", "qrels.md", "runs.csv", "notes.txt", "x.trec"):
        assert [Path(p).name for p in listed] == [name]
    assert (plain.code, quiet.code, strict.code, report.code) == (0, 0, 1, 1)
    assert "1 file not checked" in plain.out and name in plain.out
    assert quiet.out.startswith("Valid") and "1 file not checked" in quiet.out
    assert strict.out.startswith("Not all files checked")
    assert validate(tmp_path / "set").ok and not validate(tmp_path / "set", strict_files=True).ok


def test_files_about_the_data_are_not_missed(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "trec/valid/collection", tmp_path / "set")
    for name in ("README.md", "LICENSE.txt", "SOURCE.md"):
        (tmp_path / "set" / name).write_text("about the collection\n", encoding="utf-8")

    outcome = run("validate", tmp_path / "set", "--strict-files")

    assert (outcome.code, "not checked" in outcome.out) == (0, False)
    assert run("validate", tmp_path / "set", "--strict-files", "--exit-zero").code == 0


@pytest.mark.parametrize("content", [c for c in BROKEN if c not in ("empty", "blank", "other-json")])
def test_broken_predictions_beside_chunks_alone_are_an_error(content: str, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "arag/valid/predictions", tmp_path / "set")
    (tmp_path / "set/questions.json").unlink()
    (tmp_path / "set/predictions.jsonl").write_bytes(BROKEN[content])

    report = validate(tmp_path / "set")

    assert not report.ok and report.unrecognised == []
