"""A-RAG predictions and whole corpora against what the framework does, and what holds for all its rules."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.schemas.arag.format import ARAG
from ragdatakit.schemas.arag.published import SUBSETS, subset_named
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.ages import in_words
from ragdatakit.validators.arag import checks as arag
from ragdatakit.validators.arag.checks import ARagChecks
from ragdatakit.validators.arag.corpus import AnswerSearch
from ragdatakit.validators.python_keys import PythonBatch
from tests.arag_sets import ASKED, LAMP, NAMES, dataset, hits, rules


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"pred_answer": None}, ["empty-prediction"]),
        ({"pred_answer": ""}, ["empty-prediction"]),
        ({"pred_answer": 7}, ["empty-prediction"]),
        ({"pred_answer": ...}, ["empty-prediction"]),
        ({"pred_answer": "Error: timed out"}, ["failed-prediction"]),
        ({"total_cost": None}, ["cost-not-number"]),
        ({"loops": "2"}, ["cost-not-number"]),
        ({"total_retrieved_tokens": []}, ["cost-not-number"]),
        ({"total_cost": 1, "loops": 2}, []),
        ({"status": "answered"}, ["evaluated-predictions"]),
    ],
)
def test_a_prediction_breaks_the_rules_of_the_page(change: dict[str, Any], expected: list[str]) -> None:
    line = {"qid": "s1", "question": "When?", "gold_answer": "1871", "pred_answer": "In 1871", **change}

    assert rules("predictions", [{k: v for k, v in line.items() if v is not ...}]) == expected


def test_predictions_are_compared_with_their_questions() -> None:
    found = dataset(Path("skarn"), "questions", "predictions")
    checks = ARagChecks(found, ())
    hits(checks, "questions", [ASKED])
    line = {"qid": "s1", "question": ASKED["question"], "gold_answer": "1872", "pred_answer": "In 1871"}

    found_in = [one for one in checks.batch("predictions", None, [line], PythonBatch({}, 0), None) if one.rows]

    assert [(one.rule, one.field, one.rows) for one in found_in] == [
        ("prediction-of-other-question", "gold_answer", [0])
    ]


def test_each_run_may_answer_a_question_once() -> None:
    found = dataset(Path("skarn"), "predictions", "predictions")
    checks = ARagChecks(found, ())
    line = {"qid": "s1", "question": "When?", "gold_answer": "1871", "pred_answer": "In 1871"}

    first = hits(checks, "predictions", [line])
    list(checks.finish_file(found.files[0], 1))
    second = hits(checks, "predictions", [line, None, {}, {"id": "s1"}], first_row=1)

    assert (first, second) == ({}, {"repeated-prediction": [4]})


def collected(checks: ARagChecks) -> list[Problem]:
    return [problem for _, problem in checks.finish()]


@pytest.mark.parametrize(("days", "expected"), [(1, ["stale-index"]), (0, []), (-1, [])])
def test_an_old_index_is_reported_by_its_age_alone(tmp_path: Path, days: int, expected: list[str]) -> None:
    (tmp_path / "index").mkdir()
    for kind in ("chunks", "index"):
        (tmp_path / NAMES[kind]).write_text("not a pickle")
    os.utime(tmp_path / NAMES["chunks"], (1_700_000_000, 1_700_000_000 + days * 86400))
    os.utime(tmp_path / NAMES["index"], (1_700_000_000, 1_700_000_000))

    assert [p.rule for p in collected(ARagChecks(dataset(tmp_path, "chunks", "index"), ()))] == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(61, "61 seconds"), (120, "2 minutes"), (7200, "2 hours"), (90000, "25 hours"), (2.2e8, "2,546 days")],
)
def test_spans_of_time(seconds: float, expected: str) -> None:
    assert in_words(seconds) == expected


def test_answers_are_counted_in_the_chunks(tmp_path: Path) -> None:
    (tmp_path / "chunks.json").write_text("[]")
    found = dataset(tmp_path, "chunks", "questions")
    checks = ARagChecks(found, ())
    hits(checks, "chunks", [f"0:{LAMP}"])
    hits(checks, "questions", [{**ASKED, "id": a, "answer": a} for a in ("1871", "the Whale-oil", "1902")])

    (problem,) = collected(checks)

    assert (problem.rule, problem.facts) == ("answers-in-chunks", {"found": 1, "answers": 3, "percent": 33})


def test_a_big_corpus_is_searched_for_some_answers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragdatakit.validators.arag.corpus.SCANNED_CHARACTERS", 1)
    search = AnswerSearch(texts=["nothing"], answers=["absent"] * 120)

    assert search.found() == (0, 40)


def test_published_files_are_known_by_their_fingerprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    novel = subset_named("novel")
    monkeypatch.setattr(arag, "subset_of_file", lambda kind, sha256: novel if sha256 == digest else None)
    content = json.dumps([ASKED, ASKED]).encode()
    digest = hashlib.sha256(content).hexdigest()
    (tmp_path / "questions.json").write_bytes(content)
    found = dataset(tmp_path, "questions")
    checks = ARagChecks(found, ())

    repeated = hits(checks, "questions", [ASKED, ASKED])
    keys = checks.derive("questions", ASKED)
    out = [problem for _, problem in checks.finish_file(found.files[0], 2)]

    assert repeated == {"published-duplicate-question-id": [1]}
    assert (keys["@qid"], keys["@own_qid"]) == ("s1", None)
    assert [p.rule for p in out] == ["published-file"]


def test_a_subset_of_another_size_is_reported_by_its_folder(tmp_path: Path) -> None:
    (tmp_path / "musique").mkdir()
    found = dataset(tmp_path / "musique", "chunks", "questions")
    checks = ARagChecks(found, ())
    out: list[Problem] = []

    for file, records in zip(found.files, (1354, 999), strict=True):
        out += [problem for _, problem in checks.finish_file(file, records)]

    expected = {"subset": "musique", "records": 999, "expected": 1000}
    assert [(p.rule, p.facts) for p in out] == [("unlike-published-file", expected)]


FIELDS = [
    *("id", "text", "qid", "question", "answer", "gold_answer", "source", "evidence", "evidence_relations"),
    *("question_type", "pred_answer", "status", "total_cost", "chunks_read_ids", "x"),
]
TELLING_TEXTS = st.sampled_from(["2wikimultihopqa", "musique", "##a", "Error: b", " ", "0"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELDS), inner | TELLING_TEXTS, max_size=8)
    ),
    max_leaves=20,
)


@given(st.lists(json_values | st.text(alphabet="01 :a.\n#\ud800", max_size=30), max_size=4))
def test_no_value_makes_a_check_fail(values: list[Any]) -> None:
    found = dataset(Path("2wikimultihop"), "chunks", "questions", "predictions")
    checks = ARagChecks(found, ())

    for file in found.files:
        for value in values:
            list(checks.record(file, value))
            for key in checks.derive(file.kind, value, to_show=True).values():
                assert key is None or isinstance(key, str)
        hits(checks, file.kind, values)


def test_deep_values_do_no_harm() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    record = dict.fromkeys(["id", "qid", "question", "answer", "evidence", "evidence_relations", "pred_answer"], deep)
    found = dataset(Path("2wikimultihop"), "chunks", "questions", "predictions")
    checks = ARagChecks(found, ())

    for file in found.files:
        list(checks.record(file, record))
        checks.derive(file.kind, record)
        hits(checks, file.kind, [record, record])


def test_every_message_can_be_filled_and_is_one_line() -> None:
    for rule in ARAG.rules:
        for words in (rule.message, rule.hint, rule.upstream):
            assert isinstance(words, str)
            assert "\n" not in words
            assert not words.endswith(".")


def test_codes_and_names_are_unique() -> None:
    assert len({r.code for r in ARAG.rules}) == len({r.name for r in ARAG.rules}) == len(ARAG.rules)


def test_every_rule_named_in_the_declaration_exists() -> None:
    for file in ARAG.files:
        for record in file.records:
            named = {*record.rules.values(), *(r for f in record.fields for r in f.rules.values())}
            assert all(ARAG.rule(name) for name in named)
    for check in (*ARAG.keys, *ARAG.references):
        assert ARAG.rule(check.rule)


def test_the_published_subsets_are_five() -> None:
    assert len(SUBSETS) == len({s.chunks_sha256 for s in SUBSETS} | {s.questions_sha256 for s in SUBSETS}) / 2 == 5
