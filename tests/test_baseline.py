"""Baselines: what is accepted stays quiet wherever its line is, what is new is reported, the file merges."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.schemas.baselines import BASELINE_NAME
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.rules.shared import NOT_CHECKED
from ragdatakit.validators.collector import Collector
from tests.command_line import DEMO, FIXTURES, GOOD, Outcome, run

POSITIVES = "train/positive_lists.ndjson"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with ``.git`` and a dataset that has nine findings."""
    (tmp_path / ".git").mkdir()
    shutil.copytree(DEMO, tmp_path / "data")
    return tmp_path


def validate(project: Path, *words: str | Path, path: str = "data", env: dict[str, str] | None = None) -> Outcome:
    return run("validate", path, *words, cwd=project, env=env)


def entries(project: Path) -> list[dict[str, Any]]:
    head, *lines = (project / BASELINE_NAME).read_text("utf-8").splitlines()
    assert json.loads(head) == {"ragdata_baseline": 1}
    return [json.loads(line) for line in lines]


def rewrite(project: Path, *found: dict[str, Any]) -> None:
    lines = [{"ragdata_baseline": 1}, *found]
    (project / BASELINE_NAME).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def edit(file: Path, change: Callable[[list[str]], list[str]]) -> None:
    file.write_text("".join(change(file.read_text("utf-8").splitlines(keepends=True))), encoding="utf-8")


def beir(folder: Path, missing: int) -> Path:
    """Judgements of so many documents that are not there."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d", "title": "", "text": "tide times"}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "when is high tide"}\n')
    rows = "".join(f"q\tmissing-{n}\t1\n" for n in range(missing))
    (folder / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\nq\td\t1\n{rows}")
    return folder


def test_what_is_accepted_counts_nowhere(project: Path) -> None:
    written = validate(project, "--write-baseline")
    after = validate(project)

    assert (written.code, written.err) == (0, f"ragdata: {BASELINE_NAME}: written, 9 entries\n")
    assert (after.code, after.err) == (0, "")
    assert after.out.splitlines()[-1].startswith("Valid (9 baselined): 7 files, 34 records in ")
    assert validate(project, "--no-baseline").code == 1
    found = entries(project)
    assert [(one["path"], one["rule"]) for one in found] == sorted((one["path"], one["rule"]) for one in found)
    assert {
        "path": f"data/{POSITIVES}",
        "rule": "SP204",
        "key": "qid=4",
        "at": "/positive_doc_ids/*",
        "value": 31,
    } in found


def test_writing_it_again_changes_no_byte(project: Path) -> None:
    validate(project, "--write-baseline")
    before = (project / BASELINE_NAME).read_bytes()

    validate(project, "--write-baseline")
    validate(project, "--update-baseline")
    run("validate", ".", "--write-baseline", cwd=project / "data")

    assert (project / BASELINE_NAME).read_bytes() == before
    assert sorted(p.name for p in project.iterdir()) == [".git", "data", BASELINE_NAME]


def test_moved_sorted_and_added_lines_change_nothing(project: Path) -> None:
    validate(project, "--write-baseline")
    for name in ("train/doc_master.ndjson", "train/triplets.ndjson", POSITIVES):
        edit(project / "data" / name, lambda lines: sorted(lines, reverse=True))
    edit(
        project / "data/train/query_master.ndjson", lambda lines: [*lines, '{"qid": 70, "text": "where is the buoy"}\n']
    )

    assert "(9 baselined)" in validate(project, "--ignore", "SP205,SP208").out


def test_a_changed_record_is_new(project: Path) -> None:
    validate(project, "--write-baseline")
    edit(project / "data" / POSITIVES, lambda lines: [line.replace("31", "32") for line in lines])

    done = validate(project)

    assert done.code == 1 and "SP204 error document 32" in done.out and "Found 1 error (8 baselined)" in done.out
    assert "1 entry is no longer needed: SP204 data/train/positive_lists.ndjson qid=4\n" in done.err


def test_equal_findings_are_reported_apart_by_their_number(project: Path) -> None:
    file = project / "data/train/triplets.ndjson"
    odd = next(line for line in file.read_text("utf-8").splitlines() if line.endswith(",}"))
    validate(project, "--write-baseline")
    edit(file, lambda lines: [*lines, f"{odd}\n"])

    assert "Found 1 error (9 baselined)" in validate(project).out
    validate(project, "--write-baseline")
    assert [one.get("nth") for one in entries(project) if one["rule"] == "SP111"] == [None, 2]
    assert validate(project).code == 0


def test_many_of_one_rule_in_a_file_are_a_number(project: Path) -> None:
    beir(project / "data", 60)
    shutil.rmtree(project / "data/train")
    shutil.rmtree(project / "data/validation")
    validate(project, "--write-baseline")
    assert entries(project) == [{"path": "data/qrels/test.tsv", "rule": "BE203", "count": 60}]

    assert "Valid (60 baselined)" in validate(project).out
    beir(project / "data", 61)
    more = validate(project)
    beir(project / "data", 40)
    fewer = validate(project)
    updated = validate(project, "--update-baseline")

    assert more.code == 1 and "Found 61 errors: " in more.out and "and 41 more of BE203" in more.out
    assert (
        f"ragdata: {BASELINE_NAME}: BE203 data/qrels/test.tsv: 61 findings, 60 accepted; all are reported" in more.err
    )
    assert fewer.code == 0 and "BE203 data/qrels/test.tsv: 40 of 60 accepted findings are left\n" in fewer.err
    assert (updated.code, entries(project)[0]["count"]) == (0, 40)


def test_the_limit_of_what_is_printed_hides_nothing(project: Path) -> None:
    """Findings beyond --max-per-rule are looked up, too."""
    shutil.rmtree(project / "data")
    beir(project / "data", 45)
    validate(project, "--write-baseline", "--max-per-rule", "3")
    assert len(entries(project)) == 45
    edit(project / "data/qrels/test.tsv", lambda lines: [*lines[:20], "q\tnew-one\t1\n", *lines[20:]])

    done = validate(project, "--max-per-rule", "1")

    assert 'document "new-one"' in done.out and "Found 1 error (45 baselined)" in done.out and "… and" not in done.out


def test_of_what_is_accepted_by_number_few_are_worded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is worded, the numbers are the same."""
    beir(tmp_path / "data", missing=300)
    made: list[str] = []
    make = Collector._make

    def counted(self: Collector, *words: Any) -> None:
        made.append(words[1].rule)
        make(self, *words)

    monkeypatch.setattr(Collector, "_make", counted)
    assert validate(tmp_path, "--write-baseline").code == 0
    assert [(entry["rule"], entry["count"]) for entry in entries(tmp_path)] == [("BE203", 300)]
    assert len(made) == 51
    made.clear()
    accepted = validate(tmp_path, "--output-format", "json", "--max-per-rule", "5")
    assert accepted.code == 0 and accepted.json["baselined"] == {"error": 300, "warning": 0, "info": 0}
    assert len(made) == 5
    rewrite(tmp_path, {**entries(tmp_path)[0], "count": 299})
    too_many = validate(tmp_path, "--output-format", "json", "--max-per-rule", "5")
    assert too_many.json["counts"]["error"] == 300 and len(too_many.json["findings"]) == 5
    rewrite(tmp_path, {**entries(tmp_path)[0], "count": 400})
    assert validate(tmp_path, "--update-baseline").code == 0
    assert entries(tmp_path)[0]["count"] == 300


def test_rules_that_are_reported_once_a_file_are_a_number(project: Path) -> None:
    shutil.rmtree(project / "data")
    beir(project / "data", 0)
    rows = ['{"_id": "e", "text": "x"}\n', '{"_id": "f", "text": "y"}\n']
    edit(project / "data/corpus.jsonl", lambda lines: [*lines, *rows])
    validate(project, "--write-baseline")
    assert [(one["rule"], one["count"]) for one in entries(project)] == [("BE118", 2)]

    assert "1 baselined" in validate(project).out
    edit(project / "data/corpus.jsonl", lambda lines: [*lines, '{"_id": "g", "text": "z"}\n'])

    assert "BE118" in validate(project).out


def test_one_record_is_accepted_of_a_rule_that_is_reported_once_a_file(project: Path) -> None:
    shutil.rmtree(project / "data")
    shutil.copytree(FIXTURES / "demo-search", project / "data")
    corpus = project / "data/corpus.jsonl"
    record = json.loads(corpus.read_text("utf-8").splitlines()[0])
    copied = [json.dumps({**record, "_id": f"copy-{n}"}) + "\n" for n in range(5)]
    validate(project, "--write-baseline")
    accepted = [one for one in entries(project) if one["rule"] == "BE208"]
    assert accepted == [{"path": "data/corpus.jsonl", "rule": "BE208"}]
    same = validate(project, "--fail-on", "warning")
    assert (same.code, same.err) == (0, "")

    edit(corpus, lambda lines: [*lines, *copied])
    more = validate(project, "--fail-on", "warning")
    updated = validate(project, "--update-baseline", "--fail-on", "warning")

    assert more.code == updated.code == 1 and "BE208" in more.out and "(in 6 records of this file)" in more.out
    note = f"ragdata: {BASELINE_NAME}: BE208 data/corpus.jsonl: 6 findings, 1 accepted; all are reported"
    assert note in more.err and "no longer needed" not in more.err
    assert [one for one in entries(project) if one["rule"] == "BE208"] == accepted
    rewrite(project, *({**one, "reason": one["rule"]} for one in entries(project)))
    validate(project, "--write-baseline")
    numbered = {**accepted[0], "count": 6, "reason": "BE208"}
    assert [one for one in entries(project) if one["rule"] == "BE208"] == [numbered]
    assert validate(project, "--fail-on", "warning").code == 0
    edit(corpus, lambda lines: lines[:-5])
    validate(project, "--write-baseline")
    assert [one for one in entries(project) if one["rule"] == "BE208"] == [{**accepted[0], "reason": "BE208"}]


def test_a_day_and_a_reason_stay(project: Path) -> None:
    validate(project, "--write-baseline")
    today = datetime.now(UTC).date()
    days = {"SP204": today - timedelta(days=1), "SP302": today, "SP121": today + timedelta(days=30)}
    found = entries(project)
    for one in found:
        if one["rule"] in days:
            one |= {"until": days[one["rule"]].isoformat(), "reason": f"ticket {one['rule']}", "owner": "us"}
    rewrite(project, *found)

    done = validate(project)
    updated = validate(project, "--update-baseline")

    assert "Found 1 error (8 baselined)" in done.out and "SP204" in done.out
    assert (
        f"1 entry ended, so that the findings count again: SP204 data/{POSITIVES} qid=4 on {days['SP204']}" in done.err
    )
    assert f"1 entry ends soon: SP302 data/train/doc_master.ndjson doc_id=12 on {today}" in done.err
    assert updated.code == 1 and sorted(map(str, entries(project))) == sorted(map(str, found))
    validate(project, "--write-baseline")
    kept = {one["rule"]: one for one in entries(project)}
    assert "until" not in kept["SP204"] and kept["SP204"]["reason"] == "ticket SP204"
    assert kept["SP302"]["until"] == today.isoformat() and kept["SP302"]["owner"] == "us"


@pytest.mark.parametrize("option", ["--write-baseline", "--update-baseline"])
def test_it_is_not_written_in_ci(project: Path, option: str) -> None:
    validate(project, "--write-baseline")
    before = (project / BASELINE_NAME).read_bytes()
    edit(project / "data" / POSITIVES, lambda lines: [line for line in lines if line.strip()])

    done = validate(project, option, env={"CI": "true"})

    assert done.code == 2 and "a baseline is not written in CI (the variable CI is set)" in done.err
    assert (project / BASELINE_NAME).read_bytes() == before
    assert validate(project, env={"CI": "true"}).code == 0
    assert validate(project, option, env={"CI": "false"}).code == 0


def test_what_is_no_longer_needed_fails_where_that_is_asked_for(project: Path) -> None:
    validate(project, "--write-baseline")
    assert validate(project, "--strict-baseline").code == 0
    edit(project / "data" / POSITIVES, lambda lines: [line for line in lines if line.strip()])

    done = validate(project, "--strict-baseline")

    assert done.code == 1 and "The baseline is out of date (8 baselined)" in done.out
    assert validate(project, "--strict-baseline", "--update-baseline").code == 0
    assert validate(project, "--strict-baseline").code == 0


def test_only_what_was_checked_can_be_stale(project: Path) -> None:
    shutil.copytree(DEMO, project / "more")
    validate(project, "--write-baseline", path=".")
    before = entries(project)
    assert len(before) == 18
    for name in ("data", "more"):
        edit(project / name / POSITIVES, lambda lines: lines[:2])

    alone = validate(project, path=f"data/{POSITIVES}")
    ignored = validate(project, "--ignore", "SP204,SP112")
    part = validate(project)
    rewritten = validate(project, "--write-baseline", "--select", "SP204")

    assert "no longer needed" not in alone.err + ignored.err
    assert "2 entries are no longer needed" in part.err and "more/" not in part.err
    assert rewritten.code == 0
    assert [one for one in before if one not in entries(project)] == [
        one for one in before if one["path"].startswith("data/") and one["rule"] == "SP204"
    ]


def test_entries_of_a_deleted_file_are_stale(project: Path) -> None:
    validate(project, "--write-baseline")
    (project / "data/validation/query_master.ndjson").unlink()
    rewrite(project, *entries(project), {"path": "other/gone.ndjson", "rule": "SP204"})

    done = validate(project)

    assert "1 entry is no longer needed: SP311 data/validation/query_master.ndjson" in done.err


def test_what_could_not_be_read_makes_nothing_stale(project: Path) -> None:
    validate(project, "--write-baseline")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"
    (project / "data/train/doc_master.ndjson").write_text(pointer, encoding="utf-8")

    done = validate(project)
    written = validate(project, "--write-baseline")

    assert "RD103" in done.out and "no longer" not in done.err
    assert written.code == 1 and len(entries(project)) == 9
    rewrite(project, *entries(project), {"path": "data/train/doc_master.ndjson", "rule": "RD103"})
    again = validate(project)
    assert again.code == 1 and "1 entry has no effect, as what could not be checked is not accepted: RD103" in again.err


def test_what_cannot_be_accepted_is_reported_when_the_baseline_is_written(project: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"
    (project / "data/train/doc_master.ndjson").write_text(pointer, encoding="utf-8")

    one, number = validate(project, "--write-baseline"), len(entries(project))
    (project / "data/train/query_master.ndjson").write_bytes(b"\xff\xfe\x00\x00" * 9)
    two = validate(project, "--write-baseline")

    why, written = "as what could not be checked may hide others", f"ragdata: {BASELINE_NAME}"
    assert one.code == 1 and one.err == (
        f"{written}: written, {number} entries\n"
        f"{written}: 1 finding cannot be accepted (RD103), {why}; it is reported until that is repaired\n"
    )
    assert f"2 findings cannot be accepted (RD103, RD118), {why}; they are reported until that is repaired" in two.err
    assert "cannot be accepted" not in validate(project).err


def test_outputs_leave_out_what_is_accepted(project: Path) -> None:
    validate(project, "--write-baseline")
    edit(project / "data" / POSITIVES, lambda lines: [line.replace("31", "32") for line in lines])
    forms = (
        "json",
        "ndjson",
        "sarif",
        "gitlab",
        "junit",
        "github",
        "concise",
        "rdjsonl",
        "checkstyle",
        "github-summary",
    )

    for form in forms:
        text = validate(project, "--output-format", form).out
        assert "SP204" in text and "SP302" not in text, form
    plain = validate(project, "--json").json
    shown = validate(project, "--json", "--show-baselined").json
    assert [one["baselined"] for one in plain["findings"]] == [False]
    assert sorted(one["baselined"] for one in shown["findings"]) == [False, *[True] * 8]
    assert shown["counts"] == plain["counts"] == {"error": 1, "warning": 0, "info": 0}
    assert plain["baselined"] == {"error": 7, "warning": 1, "info": 0} and plain["by_rule"] == {"SP204": 1}
    assert sum(one["errors"] for one in plain["datasets"]) == 1
    for form in forms[2:]:
        assert "SP302" not in validate(project, "--output-format", form, "--show-baselined").out, form


def test_numbers_are_shown_marked_too(project: Path) -> None:
    shutil.rmtree(project / "data")
    beir(project / "data", 60)
    validate(project, "--write-baseline")

    shown = validate(project, "--json", "--show-baselined").json

    assert [one["baselined"] for one in shown["findings"]] == [True] * 60 and shown["by_rule"] == {}


def test_python_has_the_same(project: Path) -> None:
    validate(project, "--write-baseline")
    edit(project / "data" / POSITIVES, lambda lines: [line.replace("31", "32") for line in lines])
    data, file = project / "data", project / BASELINE_NAME

    assert ragdatakit.validate(data).counts["error"] == 8
    for baseline in (True, file, str(file)):
        report = ragdatakit.validate(data, baseline=baseline)
        assert (report.counts["error"], report.baselined["error"], len(report.findings), report.ok) == (1, 7, 1, False)
        (use,) = report.baselines
        assert [entry.rule for entry in use.stale] == ["SP204"]
    assert ragdatakit.validate(data, baseline=True, update_baseline=True).baselines[0].written == 8
    with pytest.raises(RagdataError, match="there is no baseline"):
        ragdatakit.validate(data, baseline=project / "none.jsonl")


def test_the_nearest_file_up_to_the_repository_holds(project: Path) -> None:
    inner = project / "data/ragdata-baseline.jsonl"
    validate(project, "--write-baseline", "--baseline", inner)
    assert json.loads(inner.read_text().splitlines()[1])["path"] == "train/doc_master.ndjson"

    assert "(9 baselined)" in validate(project).out
    assert "not recognised" not in validate(project, "-v").out
    inner.rename(project.parent / BASELINE_NAME)
    above = validate(project)
    (project.parent / BASELINE_NAME).unlink()
    assert above.code == 1 and "baselined" not in above.out


def test_the_configuration_names_it(project: Path) -> None:
    (project / "ci").mkdir()
    (project / "ragdata.toml").write_text('baseline = "ci/known.jsonl"\n', encoding="utf-8")
    shutil.copytree(DEMO, project / "more")
    (project / "more/ragdata.toml").write_text("", encoding="utf-8")

    missing = validate(project)
    written = validate(project, "--write-baseline")
    beside = validate(project, "--write-baseline", path="more")
    both = run("validate", "data", "more", cwd=project)
    refused = run("validate", "data", "more", "--write-baseline", cwd=project)

    assert missing.code == 2 and "there is no baseline ci/known.jsonl; give the PATH that" in missing.err
    assert written.code == 0 and written.err == "ragdata: ci/known.jsonl: written, 9 entries\n"
    assert '"path":"../data/train/doc_master.ndjson"' in (project / "ci/known.jsonl").read_text("utf-8")
    assert beside.err == f"ragdata: more/{BASELINE_NAME}: written, 9 entries\n"
    assert both.code == 0 and "(18 baselined)" in both.out and both.err == ""
    assert refused.code == 2 and "several baselines, ci/known.jsonl and more/ragdata-baseline.jsonl" in refused.err


HEAD = '{"ragdata_baseline": 1}\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ": not a baseline: its first line has to be"),
        ('{"path": "a", "rule": "SP204"}\n', ": not a baseline: its first line has to be"),
        ('{"ragdata_baseline": 2}\n', ":1: a baseline of version 2, which this version cannot read"),
        (f"{HEAD}<<<<<<< HEAD\n", ":2: a conflict of a merge; keep the lines of both sides and delete the marks"),
        (f"{HEAD}\n[]\n", ":3: not an entry of a baseline, which is a JSON object"),
        (f"{HEAD}{{\n", ":2: not JSON: "),
        (f'{HEAD}{{"rule": "SP204"}}\n', ":2: an entry needs path"),
        (f'{HEAD}{{"path": "a", "rule": 1}}\n', ":2: rule is 1, expected a text"),
        (f'{HEAD}{{"path": "a", "rule": "SP204", "count": true}}\n', ":2: count is True, expected an integer"),
        (f'{HEAD}{{"path": "a", "rule": "SP204", "until": "soon"}}\n', ":2: until is 'soon', expected a day"),
        (f'{HEAD}{{"path": "a", "rule": "SP204", "value": [1]}}\n', ":2: value is a list or an object"),
    ],
)
def test_a_file_that_is_no_baseline(project: Path, text: str, words: str) -> None:
    (project / BASELINE_NAME).write_text(text, encoding="utf-8")

    done = validate(project)

    assert done.code == 2 and done.out == "" and f"{BASELINE_NAME}{words}" in done.err


def test_options_that_exclude_each_other(project: Path) -> None:
    assert (
        "give --write-baseline or --update-baseline" in validate(project, "--write-baseline", "--update-baseline").err
    )
    assert "give --no-baseline or --baseline" in validate(project, "--no-baseline", "--baseline", "x").err
    assert "there is no baseline x" in validate(project, "--baseline", "x").err
    assert (
        "there is no baseline ragdata-baseline.jsonl; give the PATH that it was written for"
        in validate(project, "--update-baseline").err
    )


def test_a_write_that_fails_leaves_the_old_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    validate(project, "--write-baseline")
    before = (project / BASELINE_NAME).read_bytes()
    edit(project / "data" / POSITIVES, lambda lines: lines[:2])

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = validate(project, "--write-baseline")

    assert done.code == 2 and "no space left on the disk" in done.err
    assert (project / BASELINE_NAME).read_bytes() == before
    assert sorted(p.name for p in project.iterdir()) == [".git", "data", BASELINE_NAME]


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with the demo, its baseline and the attribute that merges it."""
    git(tmp_path, "init", "-q", "-b", "main")
    shutil.copytree(DEMO, tmp_path / "data")
    (tmp_path / ".gitattributes").write_text(f"{BASELINE_NAME} merge=union\n")
    validate(tmp_path, "--write-baseline")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    return tmp_path


def on_branch(folder: Path, name: str, change: Callable[[], object]) -> None:
    git(folder, "checkout", "-q", "-b", name, "main")
    change()
    validate(folder, "--write-baseline")
    git(folder, "commit", "-qam", name)


def with_document(folder: Path, number: int) -> None:
    edit(folder / "data" / POSITIVES, lambda lines: [line.replace("31]", f"31, {number}]") for line in lines])


def test_additions_of_two_branches_merge(repository: Path) -> None:
    """Neighbouring lines, in one dataset that only one of the branches changed and in another."""
    shutil.copytree(DEMO, repository / "data2")
    validate(repository, "--write-baseline", path=".")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "two")
    for number in (77, 88):
        folder = repository / ("data" if number == 77 else "data2")
        on_branch(
            repository,
            f"b{number}",
            lambda folder=folder, number=number: edit(  # type: ignore[misc]
                folder / POSITIVES, lambda lines: [line.replace("31]", f"31, {number}]") for line in lines]
            ),
        )
    validate(repository, "--write-baseline", path=".")
    git(repository, "commit", "-qam", "b88")
    git(repository, "merge", "-q", "--no-edit", "b77")

    done = validate(repository, path=".")

    assert (done.code, done.err) == (0, "") and "(20 baselined)" in done.out


def test_additions_at_one_place_and_a_removal_merge(repository: Path) -> None:
    def remove() -> None:
        edit(repository / "data/train/doc_master.ndjson", lambda lines: [line for line in lines if '"t"' not in line])
        edit(repository / "data/train/query_master.ndjson", lambda lines: [line.replace('"3"', "3") for line in lines])

    on_branch(repository, "added", lambda: with_document(repository, 77))
    on_branch(repository, "removed", remove)
    before = len(entries(repository))
    git(repository, "merge", "-q", "--no-edit", "added")

    done = validate(repository, "--update-baseline")

    assert before == 8 and done.code == 0 and "(9 baselined)" in done.out
    assert validate(repository).err == "" and len(entries(repository)) == 9


def test_two_first_baselines_merge(repository: Path) -> None:
    git(repository, "rm", "-q", BASELINE_NAME)
    git(repository, "commit", "-qm", "none")
    for name in ("first", "second"):
        git(repository, "checkout", "-q", "-b", name, "main")
        validate(repository, "--write-baseline")
        if name == "second":
            rewrite(repository, *(one for one in entries(repository) if one["rule"] != "SP111"))
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", name)
    git(repository, "merge", "-q", "--no-edit", "first")

    assert (validate(repository).code, validate(repository).err) == (0, "")


def test_of_two_numbers_and_of_two_days_the_stricter_holds(project: Path) -> None:
    one = {"path": f"data/{POSITIVES}", "rule": "SP204"}
    rewrite(project, {**one, "count": 2}, {**one, "count": 1, "reason": "r", "until": "2999-01-01"})

    report = ragdatakit.validate(project / "data", baseline=True)

    assert report.baselined["error"] == 1 and report.baselines[0].stale == ()
    edit(project / "data" / POSITIVES, lambda lines: [line.replace("31]", "31, 32]") for line in lines])
    assert ragdatakit.validate(project / "data", baseline=True).baselines[0].exceeded[0][1] == 2


def test_only_what_is_new_since_a_revision_counts(repository: Path) -> None:
    git(repository, "rm", "-q", BASELINE_NAME)
    git(repository, "commit", "-qm", "no baseline")
    shutil.copytree(DEMO, repository / "untracked")
    shutil.rmtree(repository / "untracked/train")
    with_document(repository, 99)
    edit(repository / "data/train/triplets.ndjson", sorted)

    done = validate(repository, "--since", "HEAD")
    whole = validate(repository, "--since", "HEAD", "--json", path=".").json

    assert done.code == 1 and "document 99" in done.out and "Found 1 error (9 not new since HEAD): " in done.out
    assert whole["counts"]["error"] >= 1 and whole["older"] == {"error": 8, "warning": 1, "info": 0}
    git(repository, "commit", "-qam", "worse")
    assert validate(repository, "--since", "HEAD").code == 0
    assert validate(repository, "--since", "HEAD~1").code == 1
    lone = validate(repository, "--since", "HEAD~1", path="data/train/query_master.ndjson")
    assert lone.code == 0 and "not new since HEAD~1" in lone.out
    hook = validate(repository, "--since", "HEAD~1", "--whole-datasets", path=f"data/{POSITIVES}")
    assert hook.code == 1 and "Found 1 error (9 not new since HEAD~1)" in hook.out


def test_the_configuration_of_today_holds_for_the_revision_too(repository: Path) -> None:
    settings = '[severity]\nSP204 = "warning"\n\n[[dataset]]\npath = "data"\nignore = ["SP2"]\n'
    (repository / "ragdata.toml").write_text(settings, encoding="utf-8")

    done = validate(repository, "--since", "HEAD", "--no-baseline")
    alone = validate(repository, "--since", "HEAD", "--no-baseline", "--isolated")

    assert done.code == 0 and "(6 not new since HEAD)" in done.out
    assert "(9 not new since HEAD)" in alone.out


def test_a_revision_that_is_not_there(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    shutil.copytree(GOOD, outside / "data")

    assert "there is no revision nothing" in validate(repository, "--since", "nothing").err
    assert "expected a git revision such as HEAD~1" in validate(repository, "--since", "HEAD:data").err
    assert "the data are in no git repository" in validate(outside, "--since", "HEAD").err
    assert validate(outside, "--since", "HEAD").code == 2


def test_what_could_not_be_checked_is_not_older(repository: Path) -> None:
    (repository / "data" / POSITIVES).write_bytes(
        b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    )
    git(repository, "commit", "-qam", "a pointer")

    done = validate(repository, "--since", "HEAD")

    assert done.code == 1 and "RD103" in done.out


def test_what_a_baseline_accepts_is_not_counted_as_older(repository: Path) -> None:
    with_document(repository, 99)
    git(repository, "commit", "-qam", "worse")
    edit(repository / "data" / POSITIVES, lambda lines: [line.replace("99]", "99, 98]") for line in lines])

    done = validate(repository, "--since", "HEAD")

    assert "document 98" in done.out and "Found 1 error (9 baselined, 1 not new since HEAD)" in done.out


def test_counts_of_rules_that_are_reported_once_a_file_are_compared(repository: Path) -> None:
    beir(repository / "beir", 0)
    edit(repository / "beir/corpus.jsonl", lambda lines: [*lines, '{"_id": "e", "text": "x"}\n'])
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "beir")

    assert "1 not new since HEAD" in validate(repository, "--since", "HEAD", path="beir").out
    edit(repository / "beir/corpus.jsonl", lambda lines: [*lines, '{"_id": "f", "text": "y"}\n'])
    assert "BE118" in validate(repository, "--since", "HEAD", path="beir").out


BROKEN = sorted(folder for folder in FIXTURES.glob("*/broken/*") if folder.is_dir())


@pytest.mark.broad(60)
@pytest.mark.parametrize("folder", BROKEN, ids=lambda folder: folder.relative_to(FIXTURES).as_posix())
def test_every_fixture_is_accepted_as_a_whole(folder: Path, tmp_path: Path) -> None:
    """Whatever rule it breaks: all but what could not be checked."""
    (tmp_path / ".git").mkdir()
    shutil.copytree(folder, tmp_path / "data", ignore=shutil.ignore_patterns("expected.json"))
    written = validate(tmp_path, "--write-baseline", "--severity", "info")
    if written.code == 2:
        pytest.skip("the target is a file of it")

    done = validate(tmp_path, "--severity", "info", "--json")

    assert {one["rule"] for one in done.json["findings"]} <= NOT_CHECKED
    assert done.err == ""
