"""What a run refuses, and what it could not look into: never silence, never "valid"."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ragdatakit
from ragdatakit.cli.commands import group
from ragdatakit.engines.local_engine import cause_of
from ragdatakit.files.paths.folders import Tree
from ragdatakit.schemas.light_splade.format import LIGHT_SPLADE
from tests.command_line import FIXTURES, GOOD, run


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """The example of light-splade."""
    for name, content in LIGHT_SPLADE.example.items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path / "data"


def test_folder_without_permission_is_reported(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = Tree.names

    def refuse(tree: Tree, folder: Path) -> tuple[list[str], list[str]]:
        if folder.name == "train":
            if folder not in tree.unreadable:
                tree.unreadable.append(folder)
            return [], []
        return names(tree, folder)

    monkeypatch.setattr(Tree, "names", refuse)

    report = ragdatakit.validate(dataset)

    assert [(f.code, f.path) for f in report.findings if f.severity == "error"] == [("RD101", str(dataset / "train"))]
    assert report.counts["error"] == 1


@pytest.mark.parametrize("path", ["", []])
def test_no_path_is_an_error(path: str | list[str]) -> None:
    with pytest.raises(ragdatakit.RagdataError):
        ragdatakit.validate(path)


def test_empty_path_on_the_command_line() -> None:
    result = CliRunner().invoke(group, ["validate", ""])

    assert result.exit_code == 2
    assert "empty path" in result.output


@pytest.mark.parametrize("words", [{"select": ["nope"]}, {"ignore": "XX999"}, {"severity": "fatal"}])
def test_unknown_words_are_refused(dataset: Path, words: dict[str, object]) -> None:
    with pytest.raises(ragdatakit.UnknownNameError):
        ragdatakit.validate(dataset, **words)  # type: ignore[arg-type]


def test_one_rule_may_be_given_as_text(dataset: Path) -> None:
    triplets = dataset / "train" / "triplets.ndjson"
    triplets.write_text(triplets.read_text().replace('"qid": 1', '"qid": 77'))

    report = ragdatakit.validate(dataset, select="SP201,SP202")

    assert report.by_rule == {"SP201": 1}


def test_distil_wants_teacher_scores(dataset: Path) -> None:
    report = ragdatakit.validate(dataset, profile="distil")

    assert [f.rule for f in report.findings if f.severity == "error"] == ["missing-file"]


def test_the_same_files_given_twice_count_once(dataset: Path) -> None:
    report = ragdatakit.validate([dataset, dataset, dataset / "train"])

    assert sum(len(d.files) for d in report.datasets) == 7


def test_rules_show_the_severity_of_the_format() -> None:
    result = CliRunner().invoke(group, ["rules", "--format", "light-splade"])

    assert "RD202  error" in result.output


def test_one_path_without_permission_hides_no_other(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").mkdir()
    stat = Path.stat

    def refuse(path: Path, *, follow_symlinks: bool = True) -> object:
        if path.name == "locked":
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", refuse)

    report = ragdatakit.validate([dataset, tmp_path / "locked"])

    assert [(f.code, f.path) for f in report.findings if f.severity == "error"] == [("RD101", str(tmp_path / "locked"))]
    assert report.datasets
    with pytest.raises(ragdatakit.RagdataError, match=r"locked: permission denied"):
        ragdatakit.validate(tmp_path / "locked")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"memory_limit": "1GiB"}, "memory_limit is '1GiB', expected a number of bytes, such as 1 << 30"),
        ({"memory_limit": 1000}, "memory_limit is 1,000, expected at least 16,777,216"),
        ({"max_hops": 0}, "max_hops is 0, expected 1 to 64"),
        ({"max_hops": 65}, "max_hops is 65, expected 1 to 64"),
        ({"max_hops": True}, "max_hops is True, expected an integer"),
        ({"max_per_rule": -1}, "max_per_rule is -1, expected at least 0"),
        ({"max_per_rule": 2.5}, "max_per_rule is 2.5, expected an integer"),
    ],
)
def test_numbers_out_of_range_are_refused(dataset: Path, words: dict[str, Any], message: str) -> None:
    with pytest.raises(ragdatakit.RagdataError) as error:
        ragdatakit.validate(dataset, **words)

    assert str(error.value) == message


def test_a_file_without_permission_given_by_name_is_a_finding(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dataset / "train" / "triplets.ndjson"
    open_file = os.open

    def refuse(name: Any, *args: Any, **words: Any) -> int:
        if Path(name) == path:
            raise PermissionError(13, "Permission denied", str(name))
        return open_file(name, *args, **words)

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "access", lambda name, *_, **__: Path(name) != path)

    result = CliRunner().invoke(group, ["validate", str(path)])

    assert "RD101 error cannot be read: Permission denied" in result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-"], "standard input is not read, as data is read more than once: write it to a file"),
        ([FIXTURES / "beir/valid/folder/qrels"], "it is part of the beir dataset"),
        ([GOOD, "--select", "SP201 SP202"], "several have commas between them: SP201,SP202"),
        ([GOOD, "--select", "ALL"], "unknown rule 'ALL'; all are checked where none is selected"),
        ([GOOD, "--unsafe-fixes"], "--unsafe-fixes repairs nothing by itself: add --fix, or --diff to look first"),
    ],
)
def test_words_that_do_not_do_what_they_seem_to(words: list[object], said: str) -> None:
    assert said in run("validate", *words).err


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ('ray::judge() (pid=1)\n  File "a.py", line 2\nValueError: too short\n', "ValueError: too short"),
        (
            "Job aborted\n\tat org.Task\nCaused by: java.io.IOException: full\n... 3 more",
            "Caused by: java.io.IOException: full",
        ),
        ("The cluster is gone\nand more", "The cluster is gone"),
        ("", "OSError"),
    ],
)
def test_the_cause_of_what_a_cluster_says(said: str, cause: str) -> None:
    assert cause_of(OSError(said)) == cause


@pytest.mark.parametrize(
    ("known", "name", "suggested"),
    [
        (["bm25", "lightrag-local", "graphrag-local"], "local", ["lightrag-local", "graphrag-local"]),
        (["unknown-query", "unknown-endpoint"], "unknown-end", ["unknown-endpoint"]),
        (["unknown-query", "unknown-endpoint"], "unknown-querry", ["unknown-query", "unknown-endpoint"]),
        (["bm25"], "local", []),
    ],
)
def test_names_that_hold_the_word_or_begin_with_it_are_suggested(
    known: list[str], name: str, suggested: list[str]
) -> None:
    assert ragdatakit.UnknownNameError("mode", name, known).suggestions == suggested
