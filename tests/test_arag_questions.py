"""A-RAG questions, one by one, against tables of what the runner and the evaluation do."""

from __future__ import annotations

from typing import Any

import pytest

from ragdatakit.files.texts.compared_answers import without_articles
from ragdatakit.validators.arag.questions import evidence_shape, id_key
from tests.arag_sets import ASKED, problems, rules, serious


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"question": ""}, ["question-without-text"]),
        ({"question": " \t"}, ["question-without-text"]),
        ({"question": None}, ["question-without-text"]),
        ({"question": 7}, ["question-without-text"]),
        ({"question": ...}, ["question-without-text"]),
        ({"id": ...}, ["question-without-id"]),
        ({"id": ""}, ["question-without-id"]),
        ({"id": 0}, ["question-without-id"]),
        ({"id": None}, ["question-without-id"]),
        ({"id": 0, "qid": ""}, ["question-without-id"]),
        ({"id": 0, "qid": "a"}, []),
        ({"id": "a", "qid": ""}, []),
        ({"id": 7}, []),
        ({"id": []}, ["unhashable-question-id"]),
        ({"id": ["a"]}, ["unhashable-question-id"]),
        ({"id": "a", "qid": {"n": 1}}, ["unhashable-question-id"]),
        ({"id": "a", "qid": {}}, []),
        ({"id": "a", "qid": "b"}, ["conflicting-question-ids"]),
        ({"id": "a", "qid": "a"}, []),
        ({"answer": ...}, ["question-without-answer"]),
        ({"answer": ""}, ["question-without-answer"]),
        ({"answer": "", "gold_answer": "1871"}, ["question-without-answer"]),
        ({"answer": ..., "gold_answer": "1871"}, []),
        ({"answer": ..., "gold_answer": ""}, ["question-without-answer"]),
        ({"answer": ..., "gold_answer": None}, ["null-answer"]),
        ({"answer": None, "gold_answer": "1871"}, ["null-answer"]),
        ({"answer": ["a", "b"]}, ["answer-not-text"]),
        ({"answer": []}, ["answer-not-text"]),
        ({"answer": {"text": "a"}}, ["answer-not-text"]),
        ({"answer": 0}, ["number-answer"]),
        ({"answer": 1871.0}, ["number-answer"]),
        ({"answer": False}, ["number-answer"]),
        ({"answer": "The"}, ["vacuous-answer"]),
        ({"answer": "?"}, ["vacuous-answer"]),
        ({"answer": "  "}, ["vacuous-answer"]),
        ({"answer": "A!"}, ["vacuous-answer"]),
        ({"answer": "theatre"}, []),
    ],
)
def test_a_question_breaks_the_rules_of_the_page(change: dict[str, Any], expected: list[str]) -> None:
    question = {k: v for k, v in {**ASKED, **change}.items() if v is not ...}

    assert serious(rules("questions", [question])) == expected


@pytest.mark.parametrize("value", ["When?", 7, None, [], True])
def test_a_question_is_an_object(value: Any) -> None:
    assert rules("questions", [value]) == ["question-not-object"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The Anglo-Saxon  Chronicle", "anglosaxon chronicle"),
        ("God's Gift", "gods gift"),
        ("a fog bell", "fog bell"),
        ("An, the; a!", ""),
        ("Łódź", "łódź"),
    ],
)
def test_answers_are_compared_like_this(answer: str, expected: str) -> None:
    assert without_articles(answer) == expected


def test_marks_inside_an_answer_are_shown_as_compared() -> None:
    found = problems("questions", [{**ASKED, "answer": "Anglo-Saxon"}])

    assert [(p.rule, p.facts["compared"]) for p in found] == [("punctuation-in-answer", '"anglosaxon"')]


@pytest.mark.parametrize(
    ("evidence", "shape"),
    [
        ("", "blank"),
        ("the lamp was lit", "text"),
        (["one", "two"], "strings"),
        ([["lamp", "lit in", "1871"]], "triples"),
        ([["Skarn", ["A rock.", "A lamp."]]], "contexts"),
        ([["lamp", 7]], None),
        ([["lamp"], "oil"], None),
        (7, None),
        (None, None),
        ({}, None),
    ],
)
def test_evidence_has_five_shapes(evidence: Any, shape: str | None) -> None:
    assert evidence_shape(evidence) == shape


@pytest.mark.parametrize(
    ("source", "folder", "evidence", "expected"),
    [
        ("skarn", "skarn", [["a", "b", "c"]], []),
        ("skarn", "skarn", 7, ["unusual-evidence"]),
        ("musique", "skarn", "", []),
        ("musique", "skarn", [["a", "b", "c"]], ["unusual-evidence"]),
        ("musique", "skarn", [], ["unusual-evidence"]),
        ("Novel-44557", "skarn", ["It was so."], []),
        (None, "hotpotqa", ["It was so."], ["unusual-evidence"]),
        ("hotpotqa", "hotpotqa", [["Skarn", ["A rock."]]], []),
        ("2wikimultihopqa", "skarn", [["a", "b", "c"]], []),
        ("2wikimultihopqa", "skarn", [["a", "b"]], ["uneven-evidence"]),
        ("2wikimultihopqa", "skarn", [], []),
    ],
)
def test_evidence_is_compared_with_its_subset(source: Any, folder: str, evidence: Any, expected: list[str]) -> None:
    assert rules("questions", [{**ASKED, "source": source, "evidence": evidence}], folder) == expected


def test_evidence_relations_of_2wiki_are_a_copy() -> None:
    question = {**ASKED, "source": "2wikimultihopqa", "evidence": [["a", "b", "c"]]}

    assert rules("questions", [{**question, "evidence_relations": [["a", "b", "c"]]}]) == []
    assert rules("questions", [{**question, "evidence_relations": None}]) == ["uneven-evidence"]


def test_question_types_are_those_of_the_subset() -> None:
    question = {**ASKED, "source": "hotpotqa"}

    assert rules("questions", [{**question, "question_type": "bridge"}]) == []
    assert rules("questions", [{**question, "question_type": "Bridge"}]) == ["unknown-question-type"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"qid": "a", "id": "b"}, "a"),
        ({"qid": "", "id": "b"}, "b"),
        ({"id": 1}, "1 (number)"),
        ({"id": 1.0}, "1 (number)"),
        ({"id": True}, "1 (number)"),
        ({"id": 1.5}, "1.5 (number)"),
        ({"id": 0}, None),
        ({"id": 0.0}, None),
        ({"id": ["a"]}, None),
        ({}, None),
        ("a", None),
    ],
)
def test_the_id_is_the_one_of_the_runner(value: Any, expected: str | None) -> None:
    assert id_key(value) == expected
