"""Our severity follows from what upstream does, on every row of the specification's tables.

What upstream does is declared with each case, and proved by the answers of its own loaders, which are recorded
(`tests/gfm_rag_oracle.py` says how they are got).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.schemas.findings import Finding
from ragdatakit.validators import dataset_run
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.gfm_rag import questions as question_checks
from ragdatakit.validators.run import validate_paths
from tests.command_line import FIXTURES
from tests.gfm_rag_behaviour import BASES, FINE, Case
from tests.gfm_rag_cases import CASES
from tests.gfm_rag_oracle import PROFILES, RECORDS, Oracle, oracles, requests, run, upstream_python

RECORDED: dict[str, Any] = json.loads(RECORDS.read_text(encoding="utf-8"))


def test_every_case_is_recorded_and_has_a_name_of_its_own() -> None:
    assert [c.id for c in CASES] == list(RECORDED)


@pytest.mark.broad
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_upstream_did_what_the_case_says(case: Case) -> None:
    answers = RECORDED[case.id]

    wrong = [why for label in requests(case) for why in _unlike(case, label, answers[label])]

    assert not wrong, wrong


def _unlike(case: Case, label: str, answer: dict[str, Any]) -> list[str]:
    """Where a recorded answer is not what is said of it."""
    does = case.does(label)
    error = answer.get("error", "")
    if does.kind == "raises":
        return [] if does.error and error.startswith(does.error) else [f"{label}: not {does.error}, but {answer}"]
    wrong = [f"{label}: raises {error}"] if error else []
    # The entity loader keeps the edges between entities only; their number is the other loader's where both are meant.
    shared = label == "gfm-rag" and case.gfm_rag is None
    for name, value in does.shows.items():
        if not (shared and name == "edges") and not _shows(answer, name, value):
            wrong.append(f"{label}: {name} is {answer.get(name)!r}")
    lost = answer.get("skipped_edges", 0) + answer.get("skipped_samples", 0)
    if bool(lost) != (does.kind == "drops" or "skipped_edges" in does.shows):
        wrong.append(f"{label}: {does.kind}, {lost} skipped")
    if does.kind in ("drops", "misreads") and not does.shows:
        wrong.append(f"{label}: nothing is shown: {answer}")
    return wrong


def _shows(answer: dict[str, Any], name: str, value: Any) -> bool:
    if name == "text":
        return any(value in text for text in answer.get("texts", ()))
    return bool(answer.get(name, type(value)()) == value)


def _found(case: Case, root: Path, *profiles: str) -> list[Finding]:
    if not root.exists():
        case.write(root)
    return validate_paths([root], profiles=profiles, selection=Selection(max_per_rule=5)).findings


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The rules that are reported of each dataset that the cases change."""
    known = {}
    for base in BASES:
        root = tmp_path_factory.mktemp(base.replace(" ", "-")) / "data"
        known[base] = {f.rule for f in _found(Case("", {}, FINE, "", base=base), root)}
    return known


@pytest.mark.broad
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_exactly_the_expected_rules_are_reported(case: Case, unchanged: dict[str, set[str]], tmp_path: Path) -> None:
    """Where no profile is named, what the entity loader alone minds is a warning."""
    found = [f for f in _found(case, tmp_path / "data") if f.rule not in unchanged[case.base]]
    levels = {f.severity for f in found}

    assert {f.rule for f in found} - {"unchecked-references"} == case.expected()
    assert ("error" in levels) == case.reasoner.serious, found
    assert not case.does("gfm-rag").serious or levels & {"error", "warning"}, found


@pytest.mark.broad
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_our_severity_follows_from_what_upstream_does(
    case: Case, profile: str, unchanged: dict[str, set[str]], tmp_path: Path
) -> None:
    found = [f for f in _found(case, tmp_path / "data", profile) if f.rule not in unchanged[case.base]]
    levels = {f.severity for f in found}
    does = case.does(profile)

    assert ("error" in levels) == does.serious, found
    assert does.kind != "risky" or "warning" in levels, found


def test_large_masks_are_reported_by_both_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a small graph, for which little counts as large; a large one is among the cases."""
    monkeypatch.setattr(question_checks, "LARGE_MASKS", 0)
    found = {}
    for engine, small in {"plain": 1 << 40, "columns": -1}.items():
        monkeypatch.setattr(dataset_run, "SMALL_DATASET", small)
        report = validate_paths([FIXTURES / "gfm-rag" / "valid" / "both-loaders"])
        found[engine] = [f.as_dict() for f in report.findings]

    assert "large-masks" in {f["rule"] for f in found["plain"]}
    assert found["plain"] == found["columns"]


@pytest.mark.broad
@pytest.mark.skipif(not upstream_python(), reason="GFM_RAG_PYTHON names no interpreter (see tests/gfm_rag_oracle.py)")
@pytest.mark.parametrize("case", CASES[::8], ids=lambda case: case.id)
def test_upstream_still_answers_what_is_recorded(case: Case, upstream: dict[bool, Oracle], tmp_path: Path) -> None:
    assert run(case, upstream, tmp_path) == RECORDED[case.id]


@pytest.fixture(scope="module")
def upstream() -> Iterator[dict[bool, Oracle]]:
    """Upstream's loaders, running."""
    with oracles() as running:
        yield running
