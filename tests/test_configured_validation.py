"""What the settings of a project change in `validate`: through the library and through the command line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.files.configuration.chosen import Configurations
from ragdatakit.files.detection.find import detect
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.run_options import RunOptions
from ragdatakit.validators.run_settings import RunSettings
from tests.command_line import FIXTURES, GOOD, Outcome, run

SPLADE = FIXTURES / "light-splade" / "broken" / "dangling-qid" / "data"
BEIR = FIXTURES / "beir" / "valid" / "folder"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    shutil.copytree(SPLADE, tmp_path / "data" / "splade")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configure(project: Path, text: str) -> None:
    (project / "ragdata.toml").write_text(text, encoding="utf-8")


def checked(*words: str | Path) -> tuple[int, dict[str, str], Any]:
    """The exit code, severities by code, and the whole document; the library agrees."""
    outcome = run("validate", *words, "--severity", "info", "--output-format", "json")
    paths = [w for w in words if not str(w).startswith("-")]
    if len(paths) == len(words):
        report = validate(paths, config=True)
        assert report.as_dict()["by_rule"] == outcome.json["by_rule"]
        assert report.ok == outcome.json["ok"] == (outcome.code == 0)
    return outcome.code, {f["code"]: f["severity"] for f in outcome.json["findings"]}, outcome.json


@pytest.mark.parametrize(
    ("settings", "code", "found"),
    [
        ("", 1, {"SP201": "error"}),
        ("ignore = ['SP2']", 0, {}),
        ("ignore = 'dangling-qid'", 0, {}),
        ("select = ['RD']", 0, {}),
        ("severity = {SP2 = 'info', SP201 = 'warning', SP210 = 'error'}", 0, {"SP201": "warning"}),
        ("severity = {dangling-qid = 'info', SP201 = 'warning'}", 0, {"SP201": "info"}),
        ("severity = {SP2 = 'warning'}\nfail-on = 'warning'", 1, {"SP201": "warning"}),
        ("fail-on = 'never'", 0, {"SP201": "error"}),
        ("max = {SP201 = 1}", 0, {"SP201": "error"}),
        ("max = {SP201 = 0}\nseverity = {SP201 = 'info'}", 1, {"SP201": "info"}),
        ("max = {SP = 0}\nfail-on = 'never'", 0, {"SP201": "error"}),
        ("[per-path-ignores]\n'**/triplets.ndjson' = ['SP2']", 0, {}),
        ("[per-path-ignores]\n'**/doc_master.ndjson' = ['SP2']", 1, {"SP201": "error"}),
        ("exclude = ['data/splade']", 0, {}),
        ("exclude = ['**/*.ndjson']", 0, {}),
        ("ignore = ['SP2']\n[[dataset]]\npath = 'data/*'\nignore = []", 1, {"SP201": "error"}),
        ("[[dataset]]\npath = 'data'\nignore = 'SP2'\n[[dataset]]\npath = 'data/splade'\nselect = 'SP'", 0, {}),
        ("[[dataset]]\npath = 'other'\nignore = 'SP2'", 1, {"SP201": "error"}),
    ],
)
@pytest.mark.parametrize("path", ["data", "data/splade/train/triplets.ndjson"])
def test_settings_of_rules(settings: str, code: int, found: dict[str, str], path: str, project: Path) -> None:
    configure(project, settings)
    words: tuple[str, ...] = (path,) if path == "data" else (path, "--whole-datasets")

    assert checked(*words)[:2] == (code, found)


def test_what_is_ignored_in_one_file_is_shown_of_the_next(project: Path) -> None:
    """Though the set checks find the repeats of both together, those of the ignored file first."""
    train = project / "data/splade/train"
    document = (train / "doc_master.ndjson").read_text().splitlines()[0]
    (train / "doc_master").mkdir()
    (train / "doc_master.ndjson").rename(train / "doc_master/a.ndjson")
    with (train / "doc_master/a.ndjson").open("a") as first:
        first.write(f"{document}\n")
    (train / "doc_master/b.ndjson").write_text(f'{document}\n{{"doc_id": 424242, "text": "another"}}\n')
    configure(project, "select = 'SP302'\n[per-path-ignores]\n'**/a.ndjson' = ['SP302']")

    (found,) = checked("data")[2]["findings"]

    assert (found["code"], found["path"].rpartition("/")[2], found["line"]) == ("SP302", "b.ndjson", 1)


def test_the_command_line_goes_first(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(project, "select = ['SP2']\nfail-on = 'never'")

    assert checked("data", "--select", "RD")[:2] == (0, {})
    assert checked("data", "--fail-on", "error")[0] == 1
    assert checked("data", "--isolated")[:2] == (1, {"SP201": "error"})
    (project / "other.toml").write_text("ignore = ['SP']")
    assert checked("data", "--config", "other.toml")[:2] == (0, {})
    monkeypatch.setenv("RAGDATA_CONFIG", "other.toml")
    assert checked("data", "--ignore", "RD")[:2] == (1, {"SP201": "error"})
    assert "exclude each other" in run("validate", "data", "--config", "other.toml", "--isolated").err
    assert validate("data").by_rule == {"SP201": 1}


def test_each_path_has_its_own_settings(project: Path) -> None:
    inner = project / "inner"
    shutil.copytree(SPLADE, inner / "splade")
    (inner / "ragdata.toml").write_text("severity = {SP201 = 'warning'}")
    configure(project, "ignore = ['SP201']")

    _, _, document = checked("data", "inner")

    assert [(f["path"].split("/")[0], f["severity"]) for f in document["findings"]] == [("inner", "warning")]


def test_datasets_of_which_the_same_is_said_share_their_settings(project: Path) -> None:
    shutil.copytree(SPLADE, project / "data" / "again")
    shutil.copytree(SPLADE, project / "data" / "other")
    shutil.copytree(BEIR, project / "data" / "beir")
    configure(project, "ignore = ['SP1']\n[[dataset]]\npath = '**/other'\nselect = 'SP2'")
    configuration = Configurations(True).of(project)
    found = {each.root.name: each for each in detect(project / "data").datasets}
    run_settings = RunSettings(Selection(), (), RunOptions())

    settings = {name: run_settings.of(dataset, configuration) for name, dataset in found.items()}

    assert settings["splade"] is settings["again"]
    assert len({id(each) for each in settings.values()}) == 3
    assert (settings["splade"].selection.select, settings["other"].selection.select) == ((), ("SP2",))


def shown(outcome: Outcome) -> list[str]:
    return [
        line for line in outcome.out.splitlines() if "allowed" in line or line.startswith(("Valid", "Found", "Fail"))
    ]


def test_budgets_are_shown(project: Path) -> None:
    triplets = project / "data" / "splade" / "train" / "triplets.ndjson"
    triplets.write_text(triplets.read_text() + '{"qid": 78, "pos_doc_id": 10, "neg_doc_id": 12}\n' * 1200)
    configure(project, "[max]\nSP201 = 1234\nSP1 = 0")

    passed = run("validate", "data")
    configure(project, "[max]\ndangling-qid = 1000")
    failed = run("validate", "data")

    assert (passed.code, failed.code) == (0, 1)
    assert shown(passed)[0] == "SP201: 1,201 of 1,234 allowed"
    assert shown(passed)[1].startswith("Found 1,201 errors, 1,199 warnings, all allowed: ")
    assert shown(failed)[0] == "dangling-qid: 1,201 of 1,000 allowed, 201 too many"
    assert checked("data")[2]["budgets"] == [
        {"path": "data/splade", "rule": "dangling-qid", "found": 1201, "allowed": 1000}
    ]


def test_sections_name_formats_of_what_is_not_recognised(project: Path) -> None:
    odd = project / "data" / "odd"
    odd.mkdir()
    shutil.copy(GOOD / "train" / "doc_master.ndjson", odd / "things.txt")
    shutil.copytree(BEIR, project / "data" / "beir")
    configure(project, "[[dataset]]\npath = 'data/od?/*.txt'\nformat = 'light-splade'\nprofile = 'triplet'")

    _, found, document = checked("data")
    formats = {d["path"]: d["format"] for d in document["datasets"]}

    assert formats == {"data/odd/things.txt": "light-splade", "data/splade": "light-splade", "data/beir": "beir"}
    assert "SP201" in found
    assert {d["profile"] for d in document["datasets"] if d["path"].startswith("data/odd")} == {"triplet"}
    assert document["unrecognised"] == []


def test_a_profile_that_the_format_does_not_have(project: Path) -> None:
    configure(project, "[[dataset]]\npath = 'data/*'\nprofile = 'tripel'")

    assert (
        "ragdata.toml:3: unknown profile 'tripel' of light-splade, did you mean triplet?" in run("validate", "data").err
    )
    with pytest.raises(RagdataError, match="unknown profile"):
        validate("data", config=True)


def test_excluded_folders_are_not_listed(project: Path) -> None:
    (project / "data" / "raw").mkdir()
    (project / "data" / "raw" / "left.jsonl").write_text("{}\n")
    configure(project, "")
    assert checked("data")[2]["unrecognised"] == ["data/raw/left.jsonl"]

    configure(project, "exclude = ['data/raw']")

    assert checked("data")[2]["unrecognised"] == []
    assert run("validate", "data/raw/left.jsonl").out == "Nothing to check\n"


def test_required_files(project: Path) -> None:
    settings = """
[[dataset]]
path = "data/splade"
required = [
  "train/*.ndjson",
  "test/*.ndjson",
  "README.md",
]
"""
    configure(project, settings)

    outcome = run("validate", "data", "--select", "missing-required-file", "--output-format", "json")

    assert [(f["rule"], f["path"], f["message"].partition(";")[0]) for f in outcome.json["findings"]] == [
        ("missing-required-file", "data/splade", "has no file 'test/*.ndjson', which ragdata.toml:6 requires"),
        ("missing-required-file", "data/splade", "has no file 'README.md', which ragdata.toml:7 requires"),
    ]
    assert outcome.code == 1

    configure(project, '[[dataset]]\npath = "data/splade"\nrequired = "../x"\n')
    outcome = run("validate", "data")
    assert (outcome.code, "ragdata.toml:3: dataset.required is '../x'" in outcome.err) == (2, True)
