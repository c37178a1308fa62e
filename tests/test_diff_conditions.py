"""`ragdata diff` as a gate: it fails where a condition on records or numbers is met."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ragdatakit import diff
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import FIXTURES, run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        lines = [json.dumps({"_id": f"d{n}", "title": "", "text": f"Text {n}"}) for n in range(20)]
        (tmp_path / name / "corpus.jsonl").write_text(
            "".join(f"{line}\n" for line in lines[: 20 if name == "old" else 18])
        )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("documents.removed > 5%", "10 %"),
        ("documents.removed > 10 %", ""),
        ("documents.removed >= 10%", "10 %"),
        ("removed > 1", "2"),
        ("documents.removed > 2", ""),
        ("added > 0", ""),
        ("questions.removed > 0", ""),
        ("documents.rows < -5%", "-10 %"),
        ("documents.rows < -10%", ""),
        ("documents.rows <= -2", "-2"),
        ("documents.rows > 0", ""),
    ],
)
def test_conditions(condition: str, found: str, project: Path) -> None:
    result = diff("old", "new", fail_on=condition)
    outcome = run("diff", "old", "new", "--quiet", "--fail-on", condition)

    assert result.different
    assert [met.found for met in result.met] == ([found] if found else [])
    assert (outcome.code == 1) == result.fails == bool(found)
    first = f"fails: {condition}: it is {found}" if found else "passes: the condition is not met"
    assert outcome.out.splitlines()[0] == first


def test_conditions_of_the_settings(project: Path) -> None:
    (project / "ragdata.toml").write_text("[diff]\nfail-on = ['documents.removed > 5', 'documents.rows < -20%']\n")

    passed = run("diff", "old", "new", "--output-format", "json")

    assert (passed.code, passed.json["met"]) == (0, [])
    assert passed.json["conditions"] == ["documents.removed > 5", "documents.rows < -20%"]
    assert run("diff", "old", "new", "--isolated").code == 1
    failed = run("diff", "old", "new", "--output-format", "json", "--fail-on", "removed > 0")
    assert (failed.code, failed.json["met"]) == (1, [{"condition": "removed > 0", "dataset": "new", "found": "2"}])
    assert diff("old", "new").fails
    assert not diff("old", "new", config=True).fails
    assert run("diff", "old", "new", "--fail-on", "removed > 0", "--exit-zero").code == 0


def test_of_several_datasets_each_is_looked_at(project: Path) -> None:
    for name in ("old", "new"):
        (project / name / "a").mkdir()
        shutil.move(project / name / "corpus.jsonl", project / name / "a" / "corpus.jsonl")
        shutil.copytree(FIXTURES / "beir" / "valid" / "folder", project / name / "b")

    result = diff("old", "new", fail_on=["documents.removed > 5%"])

    assert [(met.dataset, met.found) for met in result.met] == [("new/a", "10 %")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("documents.removed", "'documents.removed' is not a condition; expected"),
        ("removd > 5", "'removd > 5' is not a condition; expected"),
        ("document.removed > 5", "unknown table 'document', did you mean documents?"),
        ("document.rows < -5%", "unknown metric 'document.rows', did you mean documents.rows"),
        ("documents.row < -5%", "unknown metric 'documents.row', did you mean documents.rows"),
        ("documents.removed = 5", "is not a condition"),
        ("removed > " + "9" * 400 + "%x", "is not a condition"),
    ],
)
def test_what_is_no_condition(text: str, message: str, project: Path) -> None:
    with pytest.raises(RagdataError) as raised:
        diff("old", "new", fail_on=[text])
    assert message in str(raised.value)
    outcome = run("diff", "old", "new", "--fail-on", text)
    assert (outcome.code, message in outcome.err) == (2, True)
    (project / "ragdata.toml").write_text(f"[diff]\nfail-on = ['removed > 1',\n'{text}']\n")
    assert "ragdata.toml:3: " in run("diff", "old", "new").err
