"""Every dataset in fixtures/, through the library and through the command line; and that no rule goes without one.

A broken case is a folder with the dataset in ``data/`` and ``expected.json`` beside it: ``findings`` are all errors and
warnings, ``infos`` what must be among the rest, ``target`` the path to validate (``data``), ``args`` further words of
the command line, ``modified`` the times of files that a clone cannot keep. A valid case is the dataset itself.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.schemas import all_formats, all_rules
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.rules import evaluation as evaluation_rules
from ragdatakit.schemas.rules import quality as quality_rules
from ragdatakit.schemas.rules import tables as table_rules
from ragdatakit.validators import dataset_run
from tests.broad import chosen
from tests.command_line import FIXTURES, GOOD, run
from tests.finding_places import assert_places

# What no file kept in git can show, and the test that does.
SHOWN_BY_OTHER_TESTS = {
    "unreadable-file": "test_hostile_files.py",  # git keeps no FIFOs, and of permissions only the executable bit
    "decompression-bomb": "test_hostile_files.py",  # the smallest one unpacks to a gigabyte
    "line-too-long": "test_hostile_content.py",  # a line of megabytes
    "missing-required-file": "test_configured_validation.py",  # settings require it
    "rule-crashed": "test_hostile_content.py",  # no data is known to crash a check
    "partial-index": "test_hostile_content.py",  # more than 2,048 chunks
    "unchecked-sql": "test_datamind_sql.py",  # statements that run for seconds
    "published-file": "test_arag_real.py",  # the published files themselves
    "published-duplicate-question-id": "test_arag_checks.py",  # the published files themselves
    "mixed-name-kinds": "test_gfm_rag_chunks.py",  # more than 131,072 rows
    "large-masks": "test_gfm_rag_questions.py",  # gigabytes of nodes times questions
    "unchecked-table": "test_graphrag_checks.py",  # a list of millions of ids
    "unchecked-tree": "test_raptor_pickles.py",  # more values than are kept of a file
    **{rule.name: "test_evaluation_checks.py" for rule in evaluation_rules.RULES},  # found by searching
    **{rule.name: "test_quality_rules.py" for rule in quality_rules.RULES},  # fixtures/quality, with --quality
    **{rule.name: "test_named_tables.py" for rule in table_rules.RULES},  # tables that settings name
    **dict.fromkeys(("unreadable-row", "cells-without-column", "repeated-table-column"), "test_damaged_tables.py"),
}

Key = tuple[str, int | None, str, str]


@dataclass(frozen=True, slots=True)
class Case:
    """One fixture."""

    folder: Path
    target: str
    args: tuple[str, ...] = ()
    findings: tuple[dict[str, Any], ...] = ()
    infos: tuple[dict[str, Any], ...] = ()
    modified: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.folder.relative_to(FIXTURES).as_posix()

    def stand(self, scratch: Path) -> Path:
        """Where to validate it: in place, or a copy where the times of files matter."""
        if not self.modified:
            return self.folder
        copy = scratch / "case"
        shutil.copytree(self.folder, copy, symlinks=True)
        for name, each in self.modified.items():
            seconds = datetime.fromisoformat(each).timestamp()
            os.utime(copy / name, (seconds, seconds))
        return copy


def broken_cases() -> list[Case]:
    cases = []
    for path in sorted(FIXTURES.glob("*/broken/*")):
        output = json.loads((path / "expected.json").read_text(encoding="utf-8"))
        assert output.keys() <= {"target", "args", "findings", "infos", "modified"}, path
        cases.append(
            Case(
                path,
                output.get("target", "data"),
                tuple(output["args"]),
                tuple(output["findings"]),
                tuple(output.get("infos", ())),
                output.get("modified", {}),
            )
        )
    return cases


def valid_cases() -> list[Case]:
    """A folder with a data config in ``config/`` is validated by way of it."""
    cases = []
    for path in sorted(FIXTURES.glob("*/valid/*")):
        configs = sorted(path.glob("config/**/*.yaml"))
        cases.append(Case(path, configs[0].relative_to(path).as_posix() if configs else "."))
    return cases


BROKEN, VALID = broken_cases(), valid_cases()
broken = pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.id)
valid = pytest.mark.parametrize("case", VALID, ids=lambda c: c.id)


def wanted(entries: Iterable[dict[str, Any]]) -> Counter[Key]:
    return Counter((e["path"], e["line"], e["code"], e["rule"]) for e in entries)


def found(findings: Iterable[dict[str, Any]], folder: Path, severities: tuple[str, ...]) -> Counter[Key]:
    return Counter(
        (Path(f["path"]).relative_to(folder).as_posix(), f["line"], f["code"], f["rule"])
        for f in findings
        if f["severity"] in severities
    )


def profiles(args: tuple[str, ...]) -> list[str]:
    assert args[::2] == ("--profile",) * (len(args) // 2), "the walker knows --profile only"
    return list(args[1::2])


def as_reported_at_once(findings: Iterable[Finding]) -> list[Finding]:
    """Without what is settled once all are known: the fingerprints of repeats, and which fixes are withheld."""
    return [replace(f, fingerprint="", fixable=False, fix=None) for f in findings]


@broken
def test_broken(case: Case, tmp_path: Path) -> None:
    """Through the library, and read as a big dataset; a tenth also through the command line."""
    folder = case.stand(tmp_path)
    kept: list[Finding] = []

    report = validate(folder / case.target, profile=profiles(case.args), max_per_rule=0, on_finding=kept.append)

    findings = [f.as_dict() for f in report.findings]
    assert found(findings, folder, ("error", "warning")) == wanted(case.findings)
    assert wanted(case.infos) <= found(findings, folder, ("info",))
    assert Counter(map(str, as_reported_at_once(kept))) == Counter(map(str, as_reported_at_once(report.findings)))
    assert sum(report.counts.values()) == len(findings)
    assert_places(report.findings)
    same_as_a_big_dataset(case, folder, report)
    if chosen(f"{case.id} through the command line", every=10):
        same_through_the_command_line(case, folder, report, tmp_path)


def same_through_the_command_line(case: Case, folder: Path, report: Report, scratch: Path) -> None:
    words: list[str | Path] = ["validate", folder / case.target, *case.args, "--max-per-rule", "0"]

    outcome = run(*words, "--severity", "info", "--report", f"json={scratch / 'report.json'}")

    assert (outcome.code, outcome.err) == (int(report.counts["error"] > 0), "")
    assert json.loads((scratch / "report.json").read_bytes()) == json.loads(json.dumps(report.as_dict()))
    assert all(f"{entry['code']} " in outcome.out for entry in case.findings)


BIG = {"columns of small blocks": (150, 1), "columns": (1 << 20, 2)}
"""The bytes of a block, and how many at a time; all but the first are tried on one in ten."""
BY_DATABASE = ("graphrag/",)
"""Cases that DuckDB checks, small or big, with other settings: reading them as big is tried on one in ten, too."""


def same_as_a_big_dataset(case: Case, folder: Path, plain: Report) -> None:
    """Small datasets are read in plain Python, big ones in columns: the findings must be the same to the letter."""
    for number, (way, (block, jobs)) in enumerate(BIG.items()):
        every = 10 if number or case.id.startswith(BY_DATABASE) else 1
        if not chosen(f"{case.id} {way}", every):
            continue
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dataset_run, "SMALL_DATASET", -1)
            patch.setattr("ragdatakit.validators.graphrag.sql_tables._SMALL", -1)
            patch.setattr("ragdatakit.validators.graphrag.row_faults.LARGE", -1)
            patch.setattr(dataset_run, "BLOCK_BYTES", block)
            patch.setattr(dataset_run, "TEXT_BLOCK_BYTES", block)
            big = validate(folder / case.target, profile=profiles(case.args), max_per_rule=0, jobs=jobs)

        assert list(map(str, big.findings)) == list(map(str, plain.findings)), way
        assert big.as_dict() == plain.as_dict(), way


@valid
def test_valid_through_the_library(case: Case) -> None:
    """And read as a big dataset."""
    report = validate(case.folder / case.target, max_per_rule=0)

    assert report.datasets
    assert [f.message for f in report.findings if f.severity == "error"] == []
    assert report.ok
    same_as_a_big_dataset(case, case.folder, report)


@valid
def test_valid_through_the_command_line(case: Case) -> None:
    outcome = run("validate", case.folder / case.target)

    assert (outcome.code, outcome.err) == (0, "")
    assert "\nValid" in f"\n{outcome.out}"


@pytest.mark.parametrize("case", [c for c in VALID if c.id.startswith("light-splade/")], ids=lambda c: c.id)
def test_valid_light_splade_without_warning(case: Case) -> None:
    report = validate(case.folder / case.target, severity="warning")

    assert report.findings == []


def shown_rules() -> set[tuple[str, str]]:
    return {(entry["code"], entry["rule"]) for case in BROKEN for entry in (*case.findings, *case.infos)}


def test_every_rule_has_a_broken_fixture() -> None:
    shown = shown_rules()
    by_others = {(r.code, r.name) for r, _ in all_rules() if r.name in SHOWN_BY_OTHER_TESTS}

    assert {(r.code, r.name) for r, _ in all_rules()} - shown == by_others, "a fixture, or a place on the list"
    for name, test in SHOWN_BY_OTHER_TESTS.items():
        assert f'"{name}"' in (Path(__file__).parent / test).read_text(encoding="utf-8")


def test_fixtures_name_rules_that_exist() -> None:
    assert shown_rules() <= {(rule.code, rule.name) for rule, _ in all_rules()}


NAMED_BY_RULE = [case for case in BROKEN if case.id.startswith(("light-splade/", "shared/"))]


def test_folder_of_a_case_is_named_by_its_rule() -> None:
    for case in NAMED_BY_RULE:
        rules = {entry["rule"] for entry in (*case.findings, *case.infos)}
        assert rules & {case.folder.name, re.sub(r"-\d$", "", case.folder.name)}, case.id


@pytest.mark.parametrize("name", [f.name for f in all_formats()])
def test_format_has_valid_and_broken_fixtures(name: str) -> None:
    assert any(case.id.startswith(f"{name}/") for case in VALID)
    assert any(case.id.startswith(f"{name}/") for case in BROKEN)


def test_several_paths_in_one_run() -> None:
    outcome = run("validate", GOOD, FIXTURES / "demo-broken", "--output-format", "json")

    assert len({dataset["path"] for dataset in outcome.json["datasets"]}) == 2
    assert outcome.code == 1
