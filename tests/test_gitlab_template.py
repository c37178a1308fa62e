"""The GitLab component: it parses, its inputs are used, and its script runs as a runner would run it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command_line import DEMO, GOOD, ROOT
from tests.output_readers import gitlab_entries, junit_cases

HEAD: dict[str, Any]
JOBS: dict[str, Any]
HEAD, JOBS = yaml.safe_load_all((ROOT / "templates/ragdata.yml").read_text("utf-8"))
INPUTS: dict[str, Any] = HEAD["spec"]["inputs"]
BASH = shutil.which("bash")
_INPUT = re.compile(r"\$\[\[ inputs\.([a-z-]+) \]\]")

needs_bash = pytest.mark.skipif(BASH is None or sys.platform == "win32", reason="bash is not installed")


def job(**inputs: str) -> dict[str, Any]:
    """The job with these inputs, the others as they are declared."""
    given = {name: facts["default"] for name, facts in INPUTS.items()} | inputs
    text = yaml.safe_dump(JOBS)
    assert set(_INPUT.findall(text)) == set(INPUTS)
    ((name, found),) = JOBS.items()
    filled = {key: _INPUT.sub(lambda m: given[m[1]], str(value)) for key, value in found["variables"].items()}
    assert _INPUT.sub(lambda m: given[m[1]], name) == given["job-name"]
    return {**found, "variables": filled}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout, and beside it the programs of the image: ragdata is the one that runs the tests."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, line in (("ragdata", f'exec "{sys.executable}" -m ragdatakit "$@"'), ("pip", 'echo "$@" > "$PIP_LOG"')):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    shutil.copytree(GOOD, tmp_path / "work/good")
    shutil.copytree(DEMO, tmp_path / "work/broken")
    return tmp_path / "work"


def script(checkout: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the script of the job, all lines in one shell as a runner does."""
    wanted = job(**{key.replace("_", "-"): value for key, value in inputs.items()})
    assert BASH is not None
    places = {"PYTHONPATH": str(ROOT), "PIP_LOG": str(checkout.parent / "pip"), "CI_PROJECT_DIR": str(checkout)}
    path = f"{checkout.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [BASH, "-eo", "pipefail", "-c", "\n".join(wanted["script"])],
        cwd=checkout,
        env={**os.environ, "CI": "true", **wanted["variables"], **places, "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@needs_bash
def test_reports_are_there_though_it_fails(checkout: Path) -> None:
    done = script(checkout, version="0.1.0")
    found = JOBS["$[[ inputs.job-name ]]"]["artifacts"]

    assert done.returncode == 1 and "Found 8 errors" in done.stdout, done.stderr
    assert (checkout.parent / "pip").read_text().split()[-1] == "ragdatakit==0.1.0"
    assert found["when"] == "always" and set(found["reports"].values()) == set(found["paths"])
    entries = gitlab_entries((checkout / found["reports"]["codequality"]).read_text("utf-8"))
    assert len(entries) == 9
    assert junit_cases((checkout / found["reports"]["junit"]).read_text("utf-8"))


@needs_bash
@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"path": "good"}, 0),
        ({"path": "broken", "fail_on": "never"}, 0),
        ({"path": "good broken", "args": "--select SP302"}, 1),
        ({"path": "missing", "fail_on": "never"}, 2),
        ({"path": "$(touch hacked) `touch hacked`; touch hacked *", "args": "--quiet"}, 2),
    ],
)
def test_what_fails_the_job(checkout: Path, inputs: dict[str, str], code: int) -> None:
    done = script(checkout, **inputs)

    assert done.returncode == code, done.stderr
    assert not (checkout / "hacked").exists()


def test_the_page_has_every_input() -> None:
    text = (ROOT / "docs/ci.md").read_text("utf-8")
    part = text[text.index("## GitLab") :]

    assert all(f"`{name}`" in part and INPUTS[name]["description"] for name in INPUTS)
