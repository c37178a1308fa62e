"""RAGChecker's metrics as part of an evaluation: to the last digit, with the claims that failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.retrieval.gold_and_metrics.claim_metrics import score_claims
from ragdatakit.schemas.canonical import Answer, Document, Question, Run
from ragdatakit.schemas.search.claims import FailedClaim
from tests.command_line import FIXTURES, run
from tests.conversion_tools import read_tables, tables_of
from tests.ragchecker_oracle import VERDICTS, cases
from tests.upstream_data import UPSTREAM_DATA, needs

OUTPUTS = FIXTURES / "ragchecker" / "valid" / "outputs"


def claims(**changed: Any) -> str:
    return json.dumps({"gt_answer_claims": [["the reef", "is", "wide"], "It lies north.", "?"], **changed})


def test_the_means_are_those_of_the_tool(tmp_path: Path) -> None:
    """Of sound outputs of which the tool shown its means."""
    known = json.loads(VERDICTS.read_text(encoding="utf-8"))
    compared = 0
    for (_, before, _), (shown, _) in list(zip(cases(), known, strict=True))[:60]:
        (tmp_path / "checking_outputs.json").write_text(before)
        found = score_claims(read_tables(tmp_path))
        if shown == ["model"]:
            assert found == []
        else:
            assert [value for metrics in found[0].groups.values() for value in metrics.values()] == shown
            compared += 1
    assert compared > 30


def test_an_output_is_evaluated(tmp_path: Path) -> None:
    done = ragdatakit.evaluate(OUTPUTS)

    (scores,) = done.claims
    whole = json.loads((OUTPUTS / "checking_outputs.json").read_text())
    assert scores.groups == whole["metrics"]
    assert scores.questions == {row["query_id"]: row["metrics"] for row in whole["results"]}
    assert (scores.rows, scores.misfits, scores.unchecked) == (2, 0, 0)
    assert scores.failed == (
        FailedClaim("q1", "right answer", "the mapping was in 1931", "not said", ("d2",)),
        FailedClaim("q2", "right answer", "It lies north of Port Hale.", "not said", ("d5",)),
        FailedClaim("q2", "response", "It lies south of Port Hale.", "wrong, in no passage"),
        FailedClaim("q2", "response", "It lies near the lamp.", "wrong, in no passage"),
    )
    # what is relevant is told by the labels, too
    assert (done.judged, [r.name for r in done.runs][-1]) == (2, "retrieval")


def test_the_command_shows_them() -> None:
    screen, document = run("eval", OUTPUTS), run("eval", OUTPUTS, "--output-format", "json").json

    assert "RAGChecker's metrics, outputs: 2 rows with labels" in screen.out
    assert "  generator   context_utilization                25.0" in screen.out
    assert "q1: right answer, not said: the mapping was in 1931" in screen.out
    assert document["claims"][0]["groups"]["overall_metrics"]["precision"] == 50.0
    assert "other claim" not in screen.out
    assert "  … 2 other claims that failed; --worst shows more" in run("eval", OUTPUTS, "--worst", "2").out


def test_sage_records_that_were_checked_are_evaluated_too(tmp_path: Path) -> None:
    ragdatakit.convert(OUTPUTS, tmp_path / "sage", to="sage")

    (scores,) = ragdatakit.evaluate(tmp_path / "sage").claims

    assert scores.groups == ragdatakit.evaluate(OUTPUTS).claims[0].groups


def test_claims_without_labels_are_looked_for_by_their_words() -> None:
    tables = tables_of(
        questions=[Question("1", "?", metadata=claims()), Question("2", "?")],
        answers=[Answer("1", "The Reef is wide!"), Answer("2", "x", metadata=claims())],
        documents=[Document("a", "A wide reef.", "North"), Document("b", "It lies north of the reef.")],
        runs=[Run("1", "bm25", 1, "a"), Run("1", "bm25", 2, "b"), Run("2", "bm25", 1, None, "fog")],
    )

    (scores,) = score_claims(tables)

    assert (scores.rows, scores.unchecked, scores.groups) == (0, 2, {})
    assert scores.by_words == {"claim_recall": pytest.approx(1 / 3), "recall": pytest.approx(1 / 6)}


def test_labels_that_do_not_fit_are_left_out() -> None:
    fits = claims(response2answer=["Entailment", "Neutral", "Neutral"])
    tables = tables_of(answers=[Answer("1", "x", metadata=claims(response2answer=[])), Answer("2", "x", metadata=fits)])

    (scores,) = score_claims(tables)

    assert (scores.rows, scores.misfits, scores.counts) == (2, 1, {"recall": 1})
    assert scores.groups == {"overall_metrics": {"recall": 33.3}}


def test_labels_that_take_too_much_memory_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragdatakit.retrieval.gold_and_metrics.claim_metrics._LONGEST_ROW", 100)
    folder = FIXTURES / "ragchecker" / "valid" / "outputs"

    shown = {name: run(name, folder) for name in ("report", "eval")}

    for outcome in shown.values():
        assert outcome.code == 0, outcome.err
        assert "whose claims and labels take more than 16 MB are left out" in outcome.out


def test_claims_of_questions_that_take_too_much_memory_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragdatakit.retrieval.gold_and_metrics.claim_metrics._LONGEST_ROW", 60)
    tables = tables_of(
        questions=[Question("q1", "", metadata=claims()), Question("q2", "")],
        answers=[Answer(q, "", metadata='{"response2answer": ["Entailment"]}') for q in ("q1", "q2")],
    )

    (scores,) = score_claims(tables)

    assert (scores.long, scores.rows, list(scores.questions)) == (1, 1, ["q2"])


def test_other_answers_have_none() -> None:
    assert score_claims(tables_of(answers=[Answer("1", "x", metadata='{"a":"answer2response"}')])) == []


@needs("ragchecker")
def test_the_published_metrics() -> None:
    (scores,) = ragdatakit.evaluate(UPSTREAM_DATA / "ragchecker").claims

    whole = json.loads((UPSTREAM_DATA / "ragchecker" / "checking_outputs.json").read_text())
    assert scores.groups == {f"{group}_metrics": metrics for group, metrics in whole["metrics"].items()}
    assert scores.questions == {row["query_id"]: row["metrics"] for row in whole["results"]}


def test_a_report_shows_metrics_and_failed_claims(tmp_path: Path) -> None:
    text, markdown = run("report", OUTPUTS).out, run("report", OUTPUTS, "--output-format", "markdown").out
    document = run("report", OUTPUTS, "--output-format", "json").json["datasets"][0]
    run("report", OUTPUTS, "--output-format", "html", "--output-file", tmp_path / "page.html")

    assert "  retriever  claim_recall                     100.0 %" in text
    assert "  q2: response, wrong, in no passage: It lies south of Port Hale." in text and "other claim" not in text
    assert "| overall | precision | 50.0 |" in markdown
    assert "It lies south of Port Hale." in markdown
    assert document["claims"]["groups"]["retriever_metrics"] == {"claim_recall": 100.0, "context_precision": 75.0}
    assert {d["name"] for d in document["distributions"]} >= {"answers.ragchecker.precision", "answers.ragchecker.f1"}
    page = (tmp_path / "page.html").read_text()
    assert all(words in page for words in ("RAGChecker", "Claims that failed", "It lies south of Port Hale."))


def test_a_report_of_an_input_has_no_metrics() -> None:
    inputs = FIXTURES / "ragchecker" / "valid" / "inputs"

    assert ragdatakit.report(inputs)[0].claims is None


def test_failed_claims_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the answer that reaches it all claims are kept, of those after it none."""
    monkeypatch.setattr("ragdatakit.retrieval.gold_and_metrics.claim_metrics._MOST_KEPT", 3)
    labels = claims(response2answer=["Neutral", "Neutral", "Neutral"])
    tables = tables_of(answers=[Answer(f"q{number}", "x", metadata=labels) for number in range(4)])

    (scores,) = score_claims(tables)

    assert [failed.question_id for failed in scores.failed] == ["q0"] * 3
