"""Every GFM-RAG rule shows an example that breaks it and one that does not, and both are true."""

from __future__ import annotations

from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.gfm_rag.format import GFM_RAG
from tests.test_gfm_rag_examples import DOCUMENTS, EDGES, MINIMAL, NODES, QUESTIONS, RELATIONS

RAW = "raw/test.json"
LEGACY = {
    "raw/dataset_corpus.json": '{"Harbour log": "The tug Osprey towed the barge Lena."}',
    "processed/stage1/kg.txt": "osprey,towed,lena",
    "processed/stage1/document2entities.json": '{"Harbour log": ["osprey", "lena"]}',
    "processed/stage1/test.json": (
        '[{"id": "h1", "question": "Which boat did the Osprey tow?", "supporting_facts": ["Harbour log"], '
        '"question_entities": ["osprey"], "supporting_entities": ["lena"]}]'
    ),
}
PREDICTIONS = "predictions_harbour.json"
OF_A_BUILT_GRAPH = {"repeated-built-title", "unusable-documents", "unusable-document"}
# Examples in words, of several files or of their times: each is a case of the other tests of GFM-RAG.
IN_WORDS = {
    "missing-documents-file",
    "missing-graph-file",
    "no-header",
    "nul-in-cell",
    "mixed-name-kinds",
    "name-read-as-missing",
    "few-nodes-of-type",
    "title-is-entity",
    "empty-split",
    "question-in-train-and-test",
    "large-masks",
    "unusable-raw-questions",
    "unknown-supporting-document",
    "legacy-layout",
    "missing-legacy-file",
    "stale-cache",
    "cache-exists",
    "partial-cache",
    "cache-without-questions",
    "predictions-file",
    "disconnected-graph",
    "unreachable-targets",
    "partly-unreachable-targets",
}
SHOWN = [rule for rule in GFM_RAG.rules if rule.name not in IN_WORDS]


def file_of(rule: Rule) -> str:
    """The file that the example of a rule is: most tell it by their first line."""
    if rule.code.startswith("GF71"):
        return PREDICTIONS
    first = rule.good.split("\n", 1)[0]
    headers = {"name,type": NODES, "name,attributes": RELATIONS, "source,": EDGES}
    for header, name in headers.items():
        if first.startswith(header):
            return name
    if rule.code.startswith("GF6"):
        return next(name for name, text in LEGACY.items() if looks_alike(rule, text))
    return DOCUMENTS if first.startswith("{") else RAW if rule.code.startswith("GF5") else QUESTIONS


def looks_alike(rule: Rule, text: str) -> bool:
    return rule.good[:16] == text[:16] and (rule.good[16] == "[") == (text[16] == "[")


def dataset_of(rule: Rule) -> dict[str, str]:
    """The files around the example: whole, or without stage1 where it is still to be built."""
    if rule.code.startswith("GF6"):
        return dict(LEGACY)
    if rule.code.startswith("GF71"):
        return {}
    if rule.code.startswith("GF5") and rule.name not in OF_A_BUILT_GRAPH:
        return {DOCUMENTS: MINIMAL[DOCUMENTS]}
    return dict(MINIMAL)


def broken_rules(folder: Path, rule: Rule, content: str) -> set[str]:
    for name, text in {**dataset_of(rule), file_of(rule): content}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    named = folder / PREDICTIONS  # recognised only when it is named
    found = ragdatakit.validate(named, format="gfm-rag") if named.exists() else ragdatakit.validate(folder)
    return {f.rule for f in found.findings}


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.name)
def test_the_bad_example_breaks_the_rule(rule: Rule, tmp_path: Path) -> None:
    assert rule.name in broken_rules(tmp_path, rule, rule.bad)


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.name)
def test_the_good_example_does_not(rule: Rule, tmp_path: Path) -> None:
    assert rule.name not in broken_rules(tmp_path, rule, rule.good)


def test_every_rule_says_where_it_comes_from() -> None:
    assert [r.name for r in GFM_RAG.rules if not r.source] == []


def test_texts_are_one_line_without_a_full_stop() -> None:
    texts = {
        r.code: (r.message, r.hint, *([r.upstream] if isinstance(r.upstream, str) else r.upstream.values()))
        for r in GFM_RAG.rules
    }

    assert [
        code for code, each in texts.items() if any("\n" in t or t.endswith(".") or len(t) > 150 for t in each)
    ] == []


def test_an_example_in_words_is_a_case_elsewhere() -> None:
    others = "".join(
        path.read_text("utf-8")
        for path in Path(__file__).parent.glob("*gfm_rag*.py")
        if path.name != Path(__file__).name
    )

    assert {name for name in IN_WORDS if f'"{name}"' not in others} == set()
