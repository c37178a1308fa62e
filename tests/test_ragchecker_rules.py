"""Every RAGChecker rule shows an example that breaks it and one that does not, and both are true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.ragchecker.format import RAGCHECKER
from ragdatakit.schemas.ragchecker.records import ROW

IN_WORDS = {
    *("passage-not-in-corpus", "passage-unlike-chunk", "query-not-in-queries", "query-unlike-queries"),
    "group-metric-differs",
}
"""Their examples speak of several files, or leave much out; fixtures break them."""
SHOWN = [rule for rule in RAGCHECKER.rules if rule.name not in IN_WORDS]
COMPLETE = {name: value for name, value in ROW.examples[1].items() if name != "metrics"}
NAMES = {"RC201": "x_queries.json", "RC202": "x_queries.json", "RC203": "x_queries.json", "RC204": "x_queries.json"}
NAMES |= {"RC205": "corpus.jsonl", "RC206": "corpus.jsonl", "RC207": "corpus.jsonl", "RC208": "chunks.jsonl"}
INPUT = {"no-passages", "empty-passage", "passage-without-id", "doc-id-of-two-texts", "unusable-passages"}


def broken_rules(folder: Path, rule: Rule, content: str) -> set[str]:
    """The rules that an example breaks: a file, or members of a row that is else in order."""
    if not content.startswith(("{", "[")):
        row = COMPLETE if rule.name not in INPUT else ROW.examples[0]
        content = json.dumps({"results": [{**row, **json.loads(f"{{{content}}}")}]})
    path = folder / NAMES.get(rule.code, "checking_inputs.json")
    path.write_text(content, encoding="utf-8")
    return {f.rule for f in ragdatakit.validate(path, format="ragchecker").findings}


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.name)
def test_the_bad_example_breaks_the_rule(rule: Rule, tmp_path: Path) -> None:
    assert broken_rules(tmp_path, rule, rule.bad) >= {rule.name}


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.name)
def test_the_good_example_does_not(rule: Rule, tmp_path: Path) -> None:
    assert rule.name not in broken_rules(tmp_path, rule, rule.good)
