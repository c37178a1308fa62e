"""Every A-RAG rule shows an example that breaks it and one that does not, and both are true."""

from __future__ import annotations

from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.schemas.arag.format import ARAG
from ragdatakit.schemas.declarations import Rule

FILES = {"AR1": "chunks.json", "AR2": "questions.json", "AR3": "predictions.jsonl"}
SEVERAL_FILES = {
    "missing-chunks",
    "published-duplicate-question-id",
    "unknown-chunk-read",
    "unknown-question",
    "prediction-of-other-question",
    "stale-index",
    "published-file",
    "unlike-published-file",
    "answers-in-chunks",
}
"""Their examples show several files, a file's date or a published file; fixtures and tests of their own break them."""
SHOWN = [rule for rule in ARAG.rules if rule.name not in SEVERAL_FILES]


def broken_rules(folder: Path, rule: Rule, content: str) -> set[str]:
    for name, text in ARAG.example.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / FILES[rule.code[:3]]).write_text(content, encoding="utf-8")
    return {f.rule for f in ragdatakit.validate(folder).findings}


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.name)
def test_the_bad_example_breaks_the_rule(rule: Rule, tmp_path: Path) -> None:
    assert rule.name in broken_rules(tmp_path, rule, rule.bad)


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.name)
def test_the_good_example_does_not(rule: Rule, tmp_path: Path) -> None:
    assert rule.name not in broken_rules(tmp_path, rule, rule.good)
