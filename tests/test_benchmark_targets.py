"""The targets of the engine's own benchmark: each is about cases that are measured."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.schemas import all_formats

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


def test_each_target_is_about_cases_that_are_measured(module: Any) -> None:
    cases = module("engine_cases").engine_cases(1)
    sample, figures = module("measure").Sample, module("figures")
    measured = [figures.Measured(case, [sample(2.0, 3.0, 50.0, case.exit_code, "", "")]) for case in cases]

    assert [
        t.text for t in module("engine_targets").engine_targets(figures.Figures(measured)) if t.reached is None
    ] == []


def test_quality_is_measured_of_every_format_beside_its_validation(module: Any) -> None:
    by_name = {case.name: case for case in module("engine_cases").engine_cases(1)}
    checked = [case for case in by_name.values() if "--quality" in case.words]

    formats = {case.words[case.words.index("--from") + 1] for case in checked}
    assert formats == {one.name for one in all_formats()} - {"text", "table"}
    for case in checked:
        assert by_name[case.against].words == tuple(word for word in case.words if word != "--quality")
        assert by_name[case.against].set == case.set
