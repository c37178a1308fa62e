"""Folders that nobody may look into: whoever reads a dataset says so, as a validation does, and makes nothing of a
part of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.database.views import open_views
from ragdatakit.schemas.errors import RagdataError
from tests.broad import some
from tests.command_line import FIXTURES, run

Lock = Callable[[Path], Path]
SEARCH = FIXTURES / "demo-search"


@pytest.fixture
def lock(monkeypatch: pytest.MonkeyPatch) -> Lock:
    """Takes the right to look into a folder, from an administrator, too."""
    locked: list[str] = []
    scandir = os.scandir

    def refusing(path: Any = ".") -> Any:
        name = "" if isinstance(path, int) else str(Path(path).absolute())
        if any(name == place or name.startswith(f"{place}/") for place in locked):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)

    def take(folder: Path) -> Path:
        locked.append(str(folder))
        return folder

    return take


@pytest.fixture
def dataset(tmp_path: Path, lock: Lock) -> Path:
    """A dataset whose judgements lie in such a folder."""
    folder = Path(shutil.copytree(SEARCH, tmp_path / "set"))
    lock(folder / "qrels")
    return folder


def test_a_validation_names_it_once(dataset: Path) -> None:
    found = ragdatakit.validate(dataset)

    assert [(f.rule, f.path) for f in found.findings if f.severity == "error"] == [
        ("unreadable-file", str(dataset / "qrels"))
    ]


def test_a_report_tells_it_as_a_loss(dataset: Path) -> None:
    (summary,) = ragdatakit.report(dataset)

    assert summary.losses == [f"files: {dataset / 'qrels'}: permission denied"]
    assert run("report", dataset, "-q").out.count("qrels: permission denied") == 1


@pytest.mark.parametrize(
    "sql", ["select * from qrels", "select split, count(*) from questions group by 1", "show tables"]
)
def test_there_is_no_answer_from_the_rest(dataset: Path, sql: str) -> None:
    asked = run("query", dataset, sql)

    assert (asked.code, asked.out) == (2, "")
    assert asked.err == (f"ragdata: no answer from a part of the data: files: {dataset / 'qrels'}: permission denied\n")


def test_the_list_of_tables_tells_it(dataset: Path) -> None:
    listed = run("query", dataset, "--tables")

    assert listed.code == 0 and f"{dataset / 'qrels'}" in listed.err


def test_a_gate_does_not_pass(dataset: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite.json"
    assert run("gate", SEARCH, "--init", "--output-file", suite).code == 0

    refused = run("gate", dataset, "--init")
    assert (refused.code, refused.out) == (2, "") and f"{dataset / 'qrels'}" in refused.err
    pytest.importorskip("great_expectations")
    assert any(f"{dataset / 'qrels'}" in each for each in ragdatakit.gate(dataset, suite).unread)


def test_quality_says_that_it_was_not_checked(dataset: Path) -> None:
    pytest.importorskip("ftfy")

    found = ragdatakit.validate(dataset, select="QU")

    assert [f.code for f in found.findings] == ["QU101"]
    assert f"{dataset / 'qrels'}" in found.findings[0].message


@pytest.mark.parametrize("turned", [False, True], ids=["before", "after"])
def test_a_comparison_says_nothing_of_its_tables(dataset: Path, turned: bool) -> None:
    sides = (SEARCH, dataset) if turned else (dataset, SEARCH)

    found = ragdatakit.diff(*sides)

    word = "after" if turned else "before"
    assert [(table.name, table.unread) for table in found.tables] == [
        (name, (word,)) for name in ("documents", "questions", "qrels")
    ]
    assert not found.different and not found.metrics
    assert {file.path: file.status for file in found.files}["qrels/test.tsv"] == "unread"
    assert any(f"{dataset / 'qrels'}" in note for note in found.notes)
    compared = run("diff", *sides)
    assert compared.code == 2 and "Not all compared" in compared.out and "; nothing else differs" in compared.out


@pytest.mark.parametrize("more", [[], ["--keep-going"], ["--dry-run"], ["--keep-going", "--dry-run"]])
def test_nothing_is_converted(dataset: Path, tmp_path: Path, more: list[str]) -> None:
    done = run("convert", dataset, tmp_path / "out", "--to", "trec", *more)

    assert done.code in (1, 2) and not (tmp_path / "out").exists()
    assert str(dataset / "qrels") in done.out + done.err


def test_it_is_not_read_as_tables(dataset: Path) -> None:
    with pytest.raises(RagdataError, match=r"qrels: permission denied"):
        ragdatakit.read(dataset)


@pytest.mark.parametrize("command", ["index", "eval", "retrieve"])
def test_nothing_is_searched(dataset: Path, tmp_path: Path, command: str) -> None:
    pytest.importorskip("scipy")
    words = ["words"] if command == "retrieve" else []

    done = run(command, dataset, *words, "--index-dir", tmp_path / "index")

    assert done.code == 2 and f"{dataset / 'qrels'}: permission denied" in done.err


def test_a_folder_in_which_the_dataset_has_nothing(tmp_path: Path, lock: Lock) -> None:
    folder = Path(shutil.copytree(SEARCH, tmp_path / "set"))
    (folder / "notes").mkdir()
    lock(folder / "notes")

    assert run("query", folder, "select count(*) as n from qrels", "--output-format", "ndjson").lines == [{"n": 27}]
    for more in ([], ["-q"], ["--output-format", "markdown"], ["--output-format", "html"]):
        output = " ".join(run("report", folder, *more).out.split())
        assert "Left out: 1 folder without permission" in output
        assert "notes (permission denied)" in output
    (left,) = run("report", folder, "--json").json["left_out"]
    assert left == {"path": str(folder / "notes"), "files": None}


def test_a_dataset_below_it_is_neither_added_nor_removed(tmp_path: Path, lock: Lock) -> None:
    for side in ("old", "new"):
        for name in ("a", "b", "c"):
            shutil.copytree(SEARCH, tmp_path / side / name)
    lock(tmp_path / "old" / "b")

    found = ragdatakit.diff(tmp_path / "old", tmp_path / "new")

    assert {pair.place: pair.status for pair in found.pairs} == {"a": "same", "b": "unread", "c": "same"}
    assert not found.different and (found.added, found.removed) == (0, 0)
    compared = run("diff", tmp_path / "old", tmp_path / "new")
    assert compared.code == 2 and "Not all compared: b of " in compared.out and "could not be read" in compared.out
    for form in ("json", "markdown", "html"):
        assert run("diff", tmp_path / "old", tmp_path / "new", "--output-format", form).code == 2


LAYOUTS = (
    "light-splade/valid/both",
    "datamind/valid/repository",
    "gfm-rag/valid/minimal",
    "arag/valid/predictions",
    "hipporag/valid/repository",
)


def said_by_a_report(folder: Path) -> list[str]:
    try:
        found = ragdatakit.report(folder)
    except RagdataError as error:
        return [str(error)]
    return [loss for summary in found for loss in summary.losses] + [each.path for each in found.left_out]


@pytest.mark.parametrize("case", [c for c in LAYOUTS if (FIXTURES / c).is_dir()])
def test_every_folder_of_a_format(case: str, tmp_path: Path, lock: Lock) -> None:
    """Whatever folder it is: a report has a word about it, or there is no dataset left."""
    source = FIXTURES / case
    places = sorted(p for p in source.rglob("*") if p.is_dir())
    for number in some(len(places), every=3, of=case):
        place = places[number]
        folder = Path(shutil.copytree(source, tmp_path / str(number)))
        name = str(lock(folder / place.relative_to(source)))
        summary = said_by_a_report(folder)
        assert any(name in each for each in summary), place


def test_what_a_conversion_kept_beside_its_output(tmp_path: Path, lock: Lock) -> None:
    made = tmp_path / "made"
    assert run("convert", SEARCH, made, "--to", "arag", "--sidecar", "--keep-going").code == 0
    lock(made / "ragdata.sidecar")

    with pytest.raises(RagdataError, match=r"ragdata\.sidecar: permission denied"):
        ragdatakit.report(made)


def test_a_list_of_all_tables_names_what_is_left_out(tmp_path: Path, lock: Lock) -> None:
    for name in ("a", "b", "c"):
        shutil.copytree(SEARCH, tmp_path / name)
    lock(tmp_path / "b")
    reason = f"{tmp_path / 'b'}: permission denied"

    for sql in ("show tables", "show all tables"):
        listed = run("query", tmp_path, sql, "--output-format", "ndjson")
        assert listed.code == 0 and listed.lines
        assert listed.err == f"! b is left out: {reason}\n"
        with pytest.warns(UserWarning, match="b is left out: .*permission denied"):
            ragdatakit.query(tmp_path, sql)
    assert run("query", tmp_path, "select 1 from a.documents limit 1").err == ""
    assert run("query", tmp_path, "from b.documents").err == f"ragdata: {reason}\n"
    faults = {
        t["dataset"]: t["fault"] for t in run("query", tmp_path, "--tables", "--output-format", "json").json["tables"]
    }
    assert faults["b"] == reason and not faults["a"]


def test_a_dataset_that_cannot_be_read_is_named_where_all_are_listed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        shutil.copytree(SEARCH, tmp_path / name)
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub" / "a-queries.jsonl").write_text('{"_id": "1", "text": "which one"}\n', encoding="utf-8")
    (tmp_path / "hub" / "b-queries.jsonl").write_text('{"_id": "1", "text": "which one"}\n', encoding="utf-8")

    listed = run("query", tmp_path, "show tables", "--output-format", "ndjson")

    assert [row["name"] for row in listed.lines] == [
        f"{name}.{table}" for name in ("a", "b") for table in ("documents", "qrels", "questions")
    ]
    assert listed.err.startswith("! hub is left out: ") and "--option prefix=a" in listed.err


def test_other_readers_refuse_it(dataset: Path, tmp_path: Path, lock: Lock) -> None:
    pairs = Path(shutil.copytree(FIXTURES / "light-splade/valid/shards", tmp_path / "pairs"))
    shards = next(place for place in sorted(pairs.rglob("*")) if place.is_dir() and "master" in place.name)
    lock(shards)

    with pytest.raises(RagdataError, match=r"qrels: permission denied"):
        open_views(dataset)
    with pytest.raises(RagdataError, match=f"{shards.name}: permission denied"):
        ragdatakit.training_samples(pairs)
