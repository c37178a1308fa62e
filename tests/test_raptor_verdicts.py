"""The verdicts on eight hundred damaged trees are RAPTOR's own: what stops it is an error, what it takes is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ragdatakit import validate
from tests.broad import chosen
from tests.raptor_cases import cases
from tests.raptor_oracle import VERDICTS

VERDICT: dict[str, Any] = json.loads(VERDICTS.read_text(encoding="utf-8").replace('.0"', '"'))
MISREAD = {"index-unlike-key", "child-of-other-layer", "node-not-in-one-layer", "layers-not-whole", "incomplete-tree"}
"""Errors where RAPTOR goes on, and gives something else than the tree says, or only part of it."""


def judged(data: bytes, path: Path) -> tuple[set[str], set[str]]:
    """The rules of the errors, and of the other findings."""
    path.write_bytes(data)
    found = validate(path, format="raptor", max_per_rule=0).findings
    return ({f.rule for f in found if f.severity == "error"}, {f.rule for f in found if f.severity != "error"})


def disagreement(message: dict[str, Any], errors: set[str], others: set[str], sound: dict[str, Any]) -> str:
    """Why our verdict on a tree is not RAPTOR's; empty where it is."""
    stops = any(isinstance(outcome, str) for outcome in message.values())
    changed = message != sound
    if stops and not errors:
        return "RAPTOR stops"
    if not stops and errors - MISREAD:
        return "RAPTOR goes on"
    if not stops and errors and not changed and not errors & MISREAD:
        return "RAPTOR finds the same"
    return "RAPTOR finds something else" if changed and not stops and not (errors or others) else ""


def test_our_verdict_is_that_of_raptor(tmp_path: Path) -> None:
    wrong, number = [], 0
    for name, base, data in cases():
        number += 1
        if not chosen(name, every=4):
            continue
        errors, others = judged(data, tmp_path / "tree.pkl")
        if why := disagreement(VERDICT[name], errors, others, VERDICT[f"{base}: protocol 4"]):
            wrong.append(f"{name}: {why} {VERDICT[name]}, found {sorted(errors)} {sorted(others)}")

    assert wrong == []
    assert number == len(VERDICT) > 500
