"""Answers are compared as the frameworks compare them; gold is found by id, by text, or in the prediction itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.retrieval.gold_and_metrics.answer_metrics import METRICS, answer_values, score_answers
from ragdatakit.schemas.canonical import Answer, Question
from tests.command_line import FIXTURES
from tests.conversion_tools import read_tables, tables_of

pytest.importorskip("numpy")


@pytest.mark.parametrize(
    ("reply", "golds", "expected"),
    [
        ("The lighthouse!", ["lighthouse"], dict.fromkeys(METRICS, 1.0) | {"f1_datamind": 2 / 3}),
        ("It was lit in 1871", ["1871"], dict(zip(METRICS, (0, 1 / 3, 1, 1, 1 / 3), strict=True))),
        ("1894", ["8"], dict(zip(METRICS, (0, 0, 1, 1, 0), strict=True))),
        ("Anglo Saxon", ["Anglo-Saxon"], dict(zip(METRICS, (0, 0, 0, 1, 1), strict=True))),
        ("no idea", ["a bell", "no idea"], dict(zip(METRICS, (1, 1, 0, 0, 0), strict=True))),
        ("bell bell", ["bell"], dict(zip(METRICS, (0, 2 / 3, 1, 1, 2 / 3), strict=True))),
        ("?", ["bell"], dict.fromkeys(METRICS, 0.0)),
        ("snake_case", ["snake case"], dict(zip(METRICS, (0, 0, 0, 0, 0), strict=True))),
        ("港の灯台です", ["灯台"], dict(zip(METRICS, (0, 0, 1, 1, 0), strict=True))),
    ],
    ids=["article", "sentence", "inside-a-number", "hyphen", "alias", "twice", "no-words", "underscore", "japanese"],
)
def test_values(reply: str, golds: list[str], expected: dict[str, float]) -> None:
    assert answer_values(reply, golds) == pytest.approx(expected)


@given(st.text(max_size=40), st.lists(st.text(min_size=1, max_size=10), min_size=1, max_size=3))
def test_values_are_shares(reply: str, golds: list[str]) -> None:
    values = answer_values(reply, golds)

    assert all(0 <= value <= 1 for value in values.values())
    assert values["f1"] >= values["exact_match"]
    assert answer_values(golds[0], golds) == dict.fromkeys(METRICS, 1.0)


QUESTIONS = [
    Question("1", "When was it lit?", "1871"),
    Question("2", "Who kept it?", "Ada Brandt", ("A. Brandt",)),
    Question("3", "What hung below?", "?"),
    Question(None, "Where is it?", "Skarn"),
]


def scored(*answers: Answer, questions: list[Question] = QUESTIONS) -> dict[str, tuple[int, int, int]]:
    found = score_answers(tables_of(answers=answers), tables_of(questions=questions))
    return {s.name: (s.answered, s.unanswered, s.without_gold) for s in found}


def test_gold_is_found_by_id_and_text() -> None:
    def found(**fields: str) -> str:
        return json.dumps(fields)

    answers = [
        Answer("1", "In 1871"),
        Answer("0", "A. Brandt", metadata=found(question="who  kept it?")),
        Answer("1", "Skarn", metadata=found(question="Where is it?")),
        Answer("9", "a bell", metadata=found(question="What rings?", gold_answer="bell")),
    ]

    (scores,) = score_answers(tables_of(answers=answers), tables_of(questions=QUESTIONS))

    assert (scores.answered, scores.unanswered, scores.without_gold) == (4, 0, 0)
    assert scores.scores["exact_match"].mean == pytest.approx(3 / 4)
    assert scores.scores["contain_arag"].mean == pytest.approx(3 / 4)
    assert scores.worst == (("1", "1871", "In 1871"),)


def test_what_is_left_out_is_counted() -> None:
    assert scored(
        Answer("1", None), Answer("1", " \n"), Answer("3", "?"), Answer("8", "bell"), Answer("1", "1871")
    ) == {"notes": (1, 2, 2)}


def test_questions_that_the_answers_do_not_know_are_counted() -> None:
    """A system that answers one question of a thousand is not perfect."""
    answers = [
        Answer("1", "1871", metadata='{"run":"a"}'),
        Answer("1", "", metadata='{"run":"b"}'),
        Answer("x", "Ada", metadata='{"run":"b","question":"who kept IT?"}'),
    ]

    found = score_answers(tables_of(answers=answers), tables_of(questions=QUESTIONS))

    assert {s.name: s.missing for s in found} == {"a": 1, "b": 0}


def test_no_gold_at_all_gives_no_scores() -> None:
    (scores,) = score_answers(tables_of(answers=[Answer("1", "x")]))

    assert scores.scores == {}
    assert scores.without_gold == 1


def test_runs_are_reported_apart() -> None:
    answers = [Answer("1", "1871", metadata='{"run":"a"}'), Answer("1", "1872", metadata='{"run":"b"}')]

    found = score_answers(tables_of(answers=answers), tables_of(questions=QUESTIONS), "x:")

    assert {s.name: s.scores["exact_match"].mean for s in found} == {"x:a": 1.0, "x:b": 0.0}


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("arag/valid/results-alone", {"exact_match": 2 / 3, "contain_arag": 1.0}),
        ("datamind/valid/results", {"contain_datamind": 1.0, "f1_datamind": 2 / 3}),
    ],
    ids=["arag", "datamind"],
)
def test_predictions_of_frameworks(folder: str, expected: dict[str, float]) -> None:
    (scores,) = score_answers(read_tables(FIXTURES / Path(folder)))

    assert {name: scores.scores[name].mean for name in expected} == pytest.approx(expected)


def test_metadata_that_is_no_object_is_passed_over() -> None:
    assert scored(Answer("1", "1871", metadata="[1]"), Answer("2", "x", metadata="{broken")) == {"notes": (2, 0, 0)}
