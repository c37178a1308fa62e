"""What a release is made with: workflows, the container, the citation, man pages."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from ragdatakit.version import __version__
from tests.workflow_lint import zizmor

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def test_the_citation_has_the_version_of_the_package() -> None:
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == __version__


def test_the_changelog_has_the_version_of_the_package() -> None:
    assert f"\n## {__version__} " in (ROOT / "CHANGELOG.md").read_text()


def test_the_scanner_has_the_version_of_the_package() -> None:
    assert tomllib.loads((ROOT / "scanner/Cargo.toml").read_text())["package"]["version"] == __version__


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda p: p.name)
def test_workflows_run_files_that_are_there_by_actions_that_are_pinned(workflow: Path) -> None:
    text = workflow.read_text()

    assert re.findall(r"uses: (?!\S+@[0-9a-f]{40} # v\d)(.*)", text) == []
    assert [name for name in re.findall(r"(?<![\w/])\.ci/[\w-]+", text) if not (ROOT / name).is_file()] == []


def test_only_the_job_that_publishes_may_sign_and_write() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
    allowed = {name for name, job in jobs.items() if set(job["permissions"].values()) - {"read"}}

    assert allowed == {"publish"}
    assert jobs["publish"]["needs"] == "try"


def test_the_workflows_are_without_findings_of_zizmor() -> None:
    done = zizmor(ROOT / ".github")

    assert done.returncode == 0, done.stdout + done.stderr


def test_issue_forms_have_what_github_asks_for() -> None:
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"):
        form = yaml.safe_load(path.read_text())
        if path.name != "config.yml":
            assert {"name", "description", "body"} <= set(form)
            assert len({part["id"] for part in form["body"]}) == len(form["body"])


def test_a_path_without_cargo(tmp_path: Path) -> None:
    for name, command in (("a", "cargo"), ("b", "other")):
        (tmp_path / name).mkdir()
        (tmp_path / name / command).write_text("#!/bin/sh\n")
        (tmp_path / name / command).chmod(0o755)
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    path = f"{tmp_path}/a:{tmp_path}/b"
    done = subprocess.run(
        [bash, ROOT / ".ci/without-cargo"], env={"PATH": path}, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == f"{tmp_path}/b"
