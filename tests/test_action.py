"""The GitHub Action, its script run as a runner would, and the workflows of the docs, by the linter of such files."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import jsonschema
import pytest
import yaml

from ragdatakit.reports.findings.step_summary import MOST_BYTES
from tests.command_line import DEMO, GOOD, ROOT, run
from tests.output_readers import schema_of_others
from tests.test_ci_commands import HOSTILE, commands
from tests.workflow_lint import zizmor

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
BASH = shutil.which("bash")
PAGES = (ROOT / "README.md", ROOT / "docs/ci.md")


class _WithPlainOn(yaml.SafeLoader):
    """YAML 1.2, as the services read it: `on` is a word."""


_WithPlainOn.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if first not in "oO" or not tag.endswith("bool")]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
needs_bash = pytest.mark.skipif(BASH is None or sys.platform == "win32", reason="bash is not installed")


@dataclass(frozen=True, slots=True)
class Step:
    """What a step left."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """The folders of a runner, where ragdata is installed: the one that runs the tests."""
    program = tmp_path / "temp/ragdata-venv/bin/ragdata"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ragdatakit "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    program.with_name("python").symlink_to(sys.executable)
    shutil.copytree(GOOD, tmp_path / "work/good")
    shutil.copytree(DEMO, tmp_path / "work/broken set")
    warned = shutil.copytree(GOOD, tmp_path / "work/warned") / "train/triplets.ndjson"
    warned.write_text(warned.read_text("utf-8").splitlines()[0] + "\n", encoding="utf-8")  # no triplet of query 2
    return tmp_path


def step(runner: Path, name: str = "Validate", **inputs: str) -> Step:
    """Run a step with these inputs, the others as they are declared."""
    declared = {key: value.get("default", "") for key, value in ACTION["inputs"].items()}
    given = {**declared, **{key.replace("_", "-"): value for key, value in inputs.items()}}
    wanted = re.compile(r"\$\{\{ inputs\.([a-z-]+) \}\}")
    environment = {key: wanted.sub(lambda m: given[m[1]], text) for key, text in STEPS[name]["env"].items()}
    files = {key: runner / key.lower() for key in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.write_text("", encoding="utf-8")
    places = {"RUNNER_TEMP": runner / "temp", "GITHUB_ACTION_PATH": ROOT, "PYTHONPATH": ROOT, **files}
    script = runner / "script.sh"
    script.write_text(STEPS[name]["run"], encoding="utf-8")
    assert BASH is not None
    done = subprocess.run(
        [BASH, "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=runner / "work" / wanted.sub(lambda m: given[m[1]], STEPS[name].get("working-directory", ".")),
        env={**os.environ, **environment, **{key: str(place) for key, place in places.items()}},
        capture_output=True,
        timeout=60,
        check=False,
    )
    written = [line.partition("=") for line in files["GITHUB_OUTPUT"].read_text("utf-8").splitlines()]
    summary = files["GITHUB_STEP_SUMMARY"].read_text("utf-8")
    return Step(done.returncode, (done.stdout + done.stderr).decode(), {k: v for k, _, v in written}, summary)


@needs_bash
def test_a_dataset_with_errors(runner: Path) -> None:
    done = step(runner, path="good\nbroken set\n")

    assert done.code == 1 and "SP201 error query 55" in done.log
    assert {k: v for k, v in done.outputs.items() if k != "report"} == {
        "outcome": "errors",
        "errors": "8",
        "warnings": "1",
    }
    assert Path(done.outputs["report"]).read_text("utf-8").startswith("{")
    assert done.summary.startswith(
        "## ❌ ragdata: Found 8 errors, 1 warning: light-splade (triplet), 14 files, 47 records in "
    )
    assert "`broken set/train/triplets.ndjson:7:9` query 55 is not in the query master" in done.summary


@needs_bash
@pytest.mark.broad(3)
@pytest.mark.parametrize(
    ("inputs", "code", "outcome"),
    [
        ({"path": "good"}, 0, "valid"),
        ({"path": "good", "fail_on": "warning"}, 0, "valid"),
        ({"path": "warned"}, 0, "warnings"),
        ({"path": "warned", "fail_on": "warning"}, 1, "warnings"),
        ({"path": "broken set", "fail_on": "never"}, 0, "errors"),
        ({"path": "broken set", "args": "--exit-zero"}, 0, "errors"),
        ({"path": "broken set", "args": "--select SP302\n--quiet", "fail_on": "warning"}, 1, "errors"),
        ({"path": "missing", "fail_on": "never"}, 2, "failed"),
        ({"path": "good\nmissing", "fail_on": "never"}, 2, "failed"),
        ({"path": "good", "args": "--no-such-option"}, 2, "failed"),
        ({"path": ".", "working_directory": "good"}, 0, "valid"),
        ({"path": "good", "fail_on": "errors"}, 2, ""),
    ],
)
def test_what_fails(runner: Path, inputs: dict[str, str], code: int, outcome: str) -> None:
    done = step(runner, **inputs)

    assert (done.code, done.outputs.get("outcome", "")) == (code, outcome)
    assert bool(done.summary) == bool(done.outputs.get("errors"))


@needs_bash
def test_reports_are_written_before_the_step_fails(runner: Path) -> None:
    done = step(runner, path="broken set", reports="ndjson=out.ndjson\njson=out.json\n", summary="false")

    assert (done.code, done.summary) == (1, "")
    assert (runner / "work/out.ndjson").read_text("utf-8").count('"finding"') == 9
    assert (runner / "work/out.json").read_bytes() == Path(done.outputs["report"]).read_bytes()


@needs_bash
def test_inputs_are_words_and_no_commands(runner: Path) -> None:
    bad = "good'; touch hacked; echo '$(touch hacked) `touch hacked` ${{ x }} *"

    done = step(runner, path=f"{bad}\n--output-file=hacked\n", args="--quiet *")

    assert done.code == 2 and done.outputs["outcome"] == "failed"
    assert sorted(p.name for p in (runner / "work").iterdir()) == ["broken set", "good", "warned"]


@needs_bash
def test_findings_for_code_scanning_are_there_though_the_step_fails(runner: Path) -> None:
    done = step(runner, path="broken set", sarif="true")

    assert done.code == 1
    (of_run,) = json.loads(Path(done.outputs["sarif"]).read_text("utf-8"))["runs"]
    assert len(of_run["results"]) == 9
    assert "sarif" not in step(runner, path="broken set\nmissing", sarif="true").outputs
    assert "sarif" not in step(runner, path="good").outputs
    upload = STEPS["Upload to code scanning"]
    assert upload["if"] == "always() && steps.validate.outputs.sarif != ''"


@needs_bash
def test_extras_and_packages_are_installed(runner: Path) -> None:
    """By a Python that says what it is asked for."""
    python = runner / "temp/bin/python3"
    python.parent.mkdir()
    got = runner / "told"
    python.write_text(
        f'#!/bin/sh\ncase "$*" in *venv*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "$0" "$3/bin/ragdata";;\n'
        f'*pip*) for word; do echo "$word"; done > "{got}";; esac\n'
    )
    python.chmod(0o755)
    shutil.rmtree(runner / "temp/ragdata-venv")
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"

    with mock.patch.dict(os.environ, PATH=path):
        done = step(
            runner, "Install ragdata", version="0.1.0", extras="quality, rules", packages="acme-checks==1.2\n-r x\n"
        )

    assert done.code == 0
    assert got.read_text().split("\n")[-5:-1] == ["--", "ragdatakit[quality,rules]==0.1.0", "acme-checks==1.2", "-r x"]


@pytest.mark.parametrize("what", ["action", "workflows", "gitlab"])
def test_the_schemas_of_the_services_take_them(what: str) -> None:
    name = {"action": "github-actions", "workflows": "github-workflows", "gitlab": "gitlab-ci"}[what]
    schema = json.loads(schema_of_others(f"{name}.json").read_bytes())
    checker = jsonschema.validators.validator_for(schema)(schema)
    template = (ROOT / "templates/ragdata.yml").read_text("utf-8")
    shown = re.findall(r"(?ms)^```yaml\n(.*?)^```", (ROOT / "docs/ci.md").read_text("utf-8"))
    texts = {
        "action": [(ROOT / "action.yml").read_text("utf-8")],
        "workflows": workflows(),
        "gitlab": [template.partition("\n---\n")[2], *(t for t in shown if "image:" in t or "- component:" in t)],
    }[what]

    assert texts
    for text in texts:
        loaded = yaml.load(text, _WithPlainOn)  # noqa: S506 - it is a safe loader
        assert [error.message for error in checker.iter_errors(loaded)] == []


@needs_bash
def test_it_is_installed_once_a_job(runner: Path) -> None:
    (runner / "temp/ragdata-venv/installed").write_text("ragdatakit==0.1.0\n", encoding="utf-8")

    done = step(runner, "Install ragdata", version="0.1.0")

    assert (done.code, done.log) == (0, "")


def test_every_input_is_used_and_every_output_made() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    for name in ACTION["inputs"]:
        assert f"inputs.{name} }}}}" in text
    for name, output in ACTION["outputs"].items():
        assert output["value"] == f"${{{{ steps.validate.outputs.{name} }}}}" and f'echo "{name}=' in text


def test_the_summary_shows_data_and_obeys_none(tmp_path: Path) -> None:
    odd = f"<img src=x> [a](http://e.org) @someone #1 | `x` **b** $a$ </pre></details> {HOSTILE}"
    folder = tmp_path / "a|b`c <i> @d\n## e"
    folder.mkdir()
    lines = [{"_id": 3, "title": odd, "text": odd}, {"_id": odd, "text": None}, {"_id": "1", "text": "t", odd: 1}]
    import orjson

    (folder / "corpus.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    file = tmp_path / "summary.md"

    outcome = run("validate", folder, "--report", f"github-summary={file}")

    text = file.read_text("utf-8")
    assert outcome.code == 1 and commands(text) == []
    from markdown_it import MarkdownIt

    page = MarkdownIt("commonmark").enable("table").render(text)
    assert not re.search(r"<(img|i)\b|href=|<em>|<h1>", page) and "@someone" not in re.sub(
        r"(?s)<pre>.*?</pre>|<code>.*?</code>", "", page
    )
    assert page.count("<h2>") == 1 and page.count("<details") == page.count("</details>") > 0
    assert page.count("<table>") == 2 and page.count("<pre>") == page.count("</pre>") > 0


def test_the_summary_has_room_for_less_than_github_drops(tmp_path: Path) -> None:
    from ragdatakit.reports.findings.step_summary import step_summary
    from ragdatakit.schemas.findings import Excerpt, Finding
    from ragdatakit.schemas.results import Report

    codes = [f"XX{n}" for n in range(1000)]
    report = Report(by_rule=dict.fromkeys(codes, 7))
    report.counts["error"] = 7000
    message, line = "é" * 5000, Excerpt("<" * 5000, 2000, 100)
    found = [
        Finding(code=c, rule="r", severity="error", message=message, path="p", line=1, excerpt=line) for c in codes
    ]

    lines = list(step_summary(report, [one for one in found for _ in range(7)]))

    size = sum(len(line.encode()) + 1 for line in lines)
    assert MOST_BYTES * 0.9 < size <= MOST_BYTES < 1024 << 10
    assert lines[-1].startswith("… and more") and "\n".join(lines).count("<details") == "\n".join(lines).count(
        "</details>"
    )


def workflows() -> list[str]:
    """The workflows in the docs, each made whole where only its steps are shown."""
    found = []
    for page in PAGES:
        for text in re.findall(r"(?ms)^```yaml\n(.*?)^```", page.read_text("utf-8")):
            loaded = yaml.safe_load(text)
            if "jobs" in loaded:
                found.append(text)
            elif "steps" in loaded:
                job = {"runs-on": "ubuntu-latest", "permissions": {"contents": "read"}, "timeout-minutes": 5, **loaded}
                found.append(yaml.safe_dump({"name": "n", "on": "push", "permissions": {}, "jobs": {"data": job}}))
    return found


def test_the_workflows_of_the_docs_name_inputs_and_outputs_that_there_are() -> None:
    texts = workflows()
    assert len(texts) >= 2
    for text in texts:
        for job in yaml.safe_load(text)["jobs"].values():
            ours = [one for one in job["steps"] if one.get("uses", "").startswith("OWNER/ragdata@")]
            assert ours and all(set(one.get("with", {})) <= set(ACTION["inputs"]) for one in ours)
        assert set(re.findall(r"steps\.ragdata\.outputs\.([a-z-]+)", text)) <= set(ACTION["outputs"])


def test_the_action_and_the_workflows_are_without_findings_of_zizmor(tmp_path: Path) -> None:
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    for number, text in enumerate(workflows()):
        (folder / f"{number}.yml").write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "action.yml", tmp_path / "action.yml")
    # Versions are tags, as a reader has to choose one; who pins digests knows how.
    (tmp_path / ".github/zizmor.yml").write_text(
        "rules: {unpinned-uses: {config: {policies: {'*': ref-pin}}}}\n", encoding="utf-8"
    )

    done = zizmor(tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.count("completed") == len(workflows()) + 1


def test_actions_that_the_action_uses_are_named_by_their_commits() -> None:
    used = [one["uses"] for one in ACTION["runs"]["steps"] if "uses" in one]

    assert used and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", each) for each in used)


@needs_bash
def test_only_what_is_new_since_a_revision_fails(runner: Path) -> None:
    work = runner / "work"
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "1"]):
        subprocess.run(["git", *words], cwd=work, check=True)
    old = step(runner, path="broken set", since="HEAD")
    lists = work / "broken set/train/positive_lists.ndjson"
    lists.write_text(lists.read_text("utf-8").replace("31]", "31, 99]"), encoding="utf-8")
    new = step(runner, path="broken set", since="HEAD", args="--output-format github")

    assert (old.code, old.outputs["outcome"]) == (0, "valid") and "(9 not new since HEAD)" in old.log
    assert (new.code, new.outputs["errors"]) == (1, "1")
    assert new.log.count("::error file=broken set/train/positive_lists.ndjson,line=4") == 1
