"""A project with an old stock of data, from its first day with ragdata on: baseline, hook, CI, repair."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command_line import FIXTURES, Outcome, run
from tests.output_readers import github_commands, gitlab_entries, json_of, junit_cases, sarif_results

FORMATS = (
    "light-splade beir trec arag datamind gfm-rag hipporag sage ragchecker raptor contextual-retrieval lightrag".split()
)
LEGACY = 1_000
REPORTS = {"sarif": "r.sarif", "gitlab": "r.gitlab.json", "junit": "r.xml", "github": "r.github", "json": "r.json"}


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def add(file: Path, text: str) -> None:
    file.write_text(file.read_text("utf-8") + text, encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository of twelve datasets with a thousand findings that are older than ragdata there."""
    for name in FORMATS:
        sets = [one for one in sorted((FIXTURES / name / "valid").iterdir()) if one.is_dir()]
        shutil.copytree(sets[0], tmp_path / "data" / name)
    splade = next((tmp_path / "data/light-splade").rglob("triplets.ndjson"))
    lines = [{"qid": 9_000 + n, "pos_doc_id": 1, "neg_doc_id": 2} for n in range(LEGACY // 2)]
    add(splade, "".join(f"{json.dumps(line)}\n" for line in lines))
    qrels = next((tmp_path / "data/beir").rglob("*.tsv"))
    add(qrels, "".join(f"old-{n}\tgone-{n}\t1\n" for n in range(LEGACY // 2)))
    (tmp_path / "package.json").write_text('{"name": "app"}\n')
    (tmp_path / "notes.jsonl").write_text("not even JSON\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "as it was")
    return tmp_path


def in_ci(project: Path, *words: str) -> Outcome:
    """What a job runs: all reports in one pass, the baseline read-only."""
    reports = [word for form, file in REPORTS.items() for word in ("--report", f"{form}={file}")]
    return run("validate", "data", *reports, *words, cwd=project, env={"CI": "true"})


@pytest.mark.broad
def test_old_findings_stay_quiet_and_new_ones_fail(project: Path) -> None:
    first = run("validate", "data", "--json", cwd=project).json
    assert len({one["format"] for one in first["datasets"]}) == 12 and first["counts"]["error"] >= LEGACY
    written = run("validate", "data", "--write-baseline", cwd=project)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "baseline")
    assert written.code == 0 and in_ci(project).code == 0
    assert sarif_results((project / "r.sarif").read_text("utf-8")) == []
    assert json_of((project / "r.json").read_text("utf-8"))["baselined"]["error"] == first["counts"]["error"]
    assert len((project / "ragdata-baseline.jsonl").read_text("utf-8").splitlines()) < 60

    # A commit that breaks the form of a line: the hook stops it, and repairs it.
    documents = min((project / "data/light-splade").rglob("doc_master.ndjson"))
    add(documents, '{"doc_id": 99999, "text": "a buoy",}\n')
    hook = ["--whole-datasets", "--skip-unrecognised", "--", "package.json", "notes.jsonl", str(documents)]
    stopped = run("validate", *hook, cwd=project)
    repaired = run("validate", "--fix", *hook, cwd=project)
    assert stopped.code == 1 and "SP111" in stopped.out and "Found 1 error, 1 warning (" in stopped.out
    assert repaired.code == 0 and documents.read_text("utf-8").endswith('"a buoy"}\n'), repaired.out
    git(project, "commit", "-qam", "a document")

    # A commit that nobody can repair: every report has it, and nothing else.
    corpus = next((project / "data/beir").rglob("corpus.jsonl"))
    add(corpus, '{"_id": "new", "title": "", "text": 7}\n')
    git(project, "commit", "-qam", "worse")
    done = in_ci(project)
    since = run("validate", "data", "--no-baseline", "--since", "HEAD~1", cwd=project)
    found = json_of((project / "r.json").read_text("utf-8"))["findings"]
    codes = {one["code"] for one in found}
    assert done.code == since.code == 1 and {one["path"] for one in found} == {str(corpus.relative_to(project))}
    for results in (
        [one["ruleId"] for one in sarif_results((project / "r.sarif").read_text("utf-8"))],
        [one["check_name"] for one in gitlab_entries((project / "r.gitlab.json").read_text("utf-8"))],
        [name.split()[0] for _, name in junit_cases((project / "r.xml").read_text("utf-8")) if name != "valid"],
    ):
        assert set(results) == codes
    annotated, _ = github_commands((project / "r.github").read_text("utf-8"))
    assert sum(name == "error" for name, _, _ in annotated) == sum(one["severity"] == "error" for one in found) > 0
    assert f"{sum(first['counts'].values()):,} not new since HEAD~1" in since.out
