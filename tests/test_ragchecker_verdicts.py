"""RAGChecker's own verdicts on 620 damaged files, and ours: what stops it is an error, what it computes we compute.

A tenth of the files is tried, others for each commit (`tests/broad.py`); `make test-all` tries all.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import convert, validate
from ragdatakit.schemas.ragchecker.metrics import GROUPS, METRICS, group_means, kept_metrics
from tests.broad import chosen
from tests.command_line import FIXTURES
from tests.ragchecker_oracle import VERDICTS, cases, verdict
from tests.upstream_data import UPSTREAM_DATA, needs

SILENT = {
    "unknown-label": "not entailed",
    "misshapen-labels": "other means, where lists are stretched",
    "labels-not-list": "letter by letter",
    "claims-not-list": "not read where labels are there",
    "unusable-passages": "an empty text or object is an empty list, and passages are not read where labels are there",
    "no-results": "means that are NaN",
    "results-not-list": "an empty text or object is an empty list: means that are NaN",
    "metric-not-number": "NaN among metrics",
    "repeated-query-id": "ids are not compared",
    "passages-not-given": "found out when the model is called",
    "passage-without-text": "found out when the model is called",
    "row-not-object": "a row null, found out when the model is called",
    "unusable-groups": "found out when the means are written, behind the call of the model; numbers in quotes are cast",
    "legacy-groups": "found out when the means are written, behind the call of the model",
}
"""Errors that do not stop the tool, or not before it would call a model, and what it makes of them."""
KNOWN = json.loads(VERDICTS.read_text(encoding="utf-8"))


def errors_of(path: Path, text: str) -> set[str]:
    path.write_text(text, encoding="utf-8")
    findings = validate(path, format="ragchecker", severity="error", max_per_rule=1).findings
    return {f.rule for f in findings}


def means_of(text: str) -> list[float]:
    """What we take for the means of a file without errors."""
    values: dict[str, list[float]] = {name: [] for name in METRICS}
    for row in json.loads(text)["results"]:
        for name, value in kept_metrics(_with_numbers(row)).items():
            values[name].append(value)
    groups = group_means(values)
    return [groups[group][name] for group, names in GROUPS.items() for name in names]


def _with_numbers(row: dict[str, Any]) -> dict[str, Any]:
    """Metrics that the tool makes numbers are numbers."""
    return {**row, "metrics": {k: float(v) for k, v in row.get("metrics", {}).items()}}


def is_stop(given: Any) -> bool:
    return bool(given) and given[0] in ("load", "evaluate")


def disagreement(message: Any, errors: set[str], text: str) -> str:
    """Why a verdict is not ours; empty where it is."""
    if is_stop(message):
        return "" if errors else f"stops with {message}, and no error is found"
    if loud := errors - SILENT.keys():
        return f"takes it, and {loud} are found"
    if message == ["model"] or errors:
        return ""
    return "" if means_of(text) == message else f"means are {message}, and {means_of(text)} here"


def test_every_verdict_is_ours(tmp_path: Path) -> None:
    tried: Counter[str] = Counter()
    differing = []
    for number, ((mutation, before, after), found) in enumerate(zip(cases(), KNOWN, strict=True)):
        assert not is_stop(found[0])
        if not chosen(f"ragchecker {number}"):
            continue
        for text, one in zip((before, after), found, strict=True):
            why = disagreement(one, errors_of(tmp_path / "checking_inputs.json", text), text)
            tried["agreed" if not why else "disagreed"] += 1
            if why:
                differing.append(f"{number} {mutation}: {why}")

    assert differing == [], "\n".join(differing)
    assert len(KNOWN) == 620
    assert tried["agreed"] >= 2


def test_silent_errors_are_those_that_change_something(tmp_path: Path) -> None:
    """Of each rule that does not stop the tool there is a case in which the means are others than they were."""
    changed: Counter[str] = Counter()
    for (_, _, after), (before, found) in zip(cases(), KNOWN, strict=True):
        if is_stop(found) or found == ["model"] or before == ["model"]:
            continue
        if found != before or any(map(math.isnan, found)):
            changed.update(errors_of(tmp_path / "checking_inputs.json", after))

    assert changed.keys() >= {"unknown-label", "misshapen-labels", "labels-not-list", "no-results", "metric-not-number"}


needs_the_tool = pytest.mark.skipif(find_spec("ragchecker") is None, reason="the package ragchecker is not installed")


@needs_the_tool
def test_the_verdicts_are_those_of_the_installed_tool() -> None:
    for (_, before, after), found in list(zip(cases(), KNOWN, strict=True))[::7]:
        assert [is_stop(verdict(text)) for text in (before, after)] == [is_stop(one) for one in found]


@needs_the_tool
@pytest.mark.parametrize("name", ["outputs", "half-checked", "benchmark"])
def test_what_is_written_is_loaded_by_the_tool(name: str, tmp_path: Path) -> None:
    convert(FIXTURES / "ragchecker/valid" / name, tmp_path / "sage", to="sage")
    convert(tmp_path / "sage", tmp_path / "back", to="ragchecker")

    (path,) = (tmp_path / "back").glob("checking_*.json")
    assert verdict(path.read_text()) == ["model"] or name == "outputs"
    if name == "outputs":
        assert verdict(path.read_text()) == means_of(path.read_text())


@needs_the_tool
@needs("ragchecker")
def test_the_published_output_as_it_is_written_again(tmp_path: Path) -> None:
    """The tool stops at the published file; what is converted from it it evaluates, with the published means."""
    source = UPSTREAM_DATA / "ragchecker"
    convert(source, tmp_path / "new", to="ragchecker")

    assert verdict((source / "checking_outputs.json").read_text()) == ["evaluate", "KeyError"]
    again = json.loads((tmp_path / "new/checking_outputs.json").read_text())
    means = [again["metrics"][group][name] for group, names in GROUPS.items() for name in names]
    for row in again["results"]:
        del row["metrics"]
    assert verdict(json.dumps(again)) == means == [76.4, 62.5, 68.3, 61.4, 87.5, 87.5, 19.1, 0.0, 4.5, 27.3, 68.2]
