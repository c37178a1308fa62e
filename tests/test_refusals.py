"""What a run refuses, and what it could not look into: never silence, never "valid"."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import ragdatakit
from ragdatakit.cli import group
from ragdatakit.schemas.light_splade import LIGHT_SPLADE
from ragdatakit.tables.folders import Tree


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """The example of light-splade."""
    for name, content in LIGHT_SPLADE.example.items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path / "data"


def test_folder_without_permission_is_told(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
