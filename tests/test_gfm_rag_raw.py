"""Raw documents and questions of GFM-RAG, and files of predictions, against what upstream does with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.schemas import get_format
from ragdatakit.validators.gfm_rag.predictions import PredictionChecks
from ragdatakit.validators.gfm_rag.raw import RawChecks, ascii_percent, is_its_own_entity, phrase
from tests.gfm_rag_behaviour import SERIOUS, Kind
from tests.gfm_rag_sets import changed, dataset, examine, write

LOG = "The tug Osprey towed the barge Lena into Port Hale."
RAW = {
    "id": "h1",
    "question": "Which boat did the Osprey tow?",
    "answer": "Lena",
    "supporting_documents": ["Harbour log"],
}


def raw_rules(value: Any) -> list[str]:
    """The rules that one raw question breaks."""
    found = dataset(Path("harbour"), "raw-questions")
    return [p.rule for p in examine(RawChecks(found, ()), found.files[0], [value])]


def reported(root: Path, **options: Any) -> dict[str, set[str]]:
    """Rules by severity of a dataset on disk."""
    found: dict[str, set[str]] = {}
    for finding in validate(root, **options).findings:
        found.setdefault(finding.severity, set()).add(finding.rule)
    return found


# Raw questions: what is changed, what the constructors do with it, our rules.
QUESTIONS: list[tuple[Any, Kind, list[str]]] = [
    ({}, "fine", []),
    ({"id": 7}, "fine", []),
    ({"answer_aliases": ["the Lena"]}, "fine", []),
    ({"id": "FB-1", "original_question": "?", "question_type": "x", "evidence": [], "other": 5}, "fine", []),
    ({"supporting_documents": ...}, "fine", []),
    ({"id": ...}, "raises", ["missing-raw-field"]),
    ({"question": ...}, "raises", ["missing-raw-field"]),
    ({"question": None}, "raises", ["raw-question-not-text"]),
    ({"question": 5}, "raises", ["raw-question-not-text"]),
    ({"answer": ...}, "raises", ["missing-raw-answer"]),
    ({"answer": None}, "raises", ["answer-not-text"]),
    ({"answer": 1901}, "raises", ["answer-not-text"]),
    ({"answer_aliases": None}, "raises", ["aliases-not-list"]),
    ({"supporting_documents": None}, "raises", ["supporting-documents-not-list"]),
    ({"supporting_documents": "Harbour log"}, "misreads", ["supporting-documents-not-list"]),
    ({"supporting_documents": []}, "raises", ["empty-supporting-documents"]),
    ({"start_nodes": {"entity": ["osprey"]}}, "risky", ["raw-nodes-overwritten"]),
    ({"start_nodes": {}, "target_nodes": {}}, "risky", ["raw-nodes-overwritten"]),
    ({"supporting_documents": ..., "supporting_facts": ["Harbour log"]}, "risky", ["supporting-facts-ignored"]),
    ({"supporting_facts": ["Harbour log"]}, "fine", []),
    ({"question": "タグボートは何を曳航しましたか"}, "risky", ["raw-text-not-ascii"]),
]


@pytest.mark.parametrize(("change", "does", "expected"), QUESTIONS)
def test_raw_questions(change: dict[str, Any], does: Kind, expected: list[str]) -> None:
    assert raw_rules(changed(RAW, change)) == expected
    severities = {get_format("gfm-rag").rule(name).severity for name in expected}
    assert ("error" in severities) == (does in SERIOUS)
    assert ("warning" in severities) == (does == "risky")


# raw/documents.json where stage1 has to be built: content, what the constructors do, our rules.
DOCUMENTS: list[tuple[Any, Kind, set[str]]] = [
    ({"Harbour log": LOG}, "fine", set()),
    ({"Harbour log": ""}, "fine", set()),
    ({"Harbour log": None}, "raises", {"document-not-text"}),
    ({"Harbour log": {"text": LOG}}, "raises", {"document-not-text"}),
    ({"Harbour log": [LOG]}, "raises", {"document-not-text"}),
    ([{"title": "Harbour log", "text": LOG}], "raises", {"documents-not-object"}),
    ({}, "raises", {"no-documents"}),
    ('{"Harbour log": "a", "Dock', "raises", {"documents-not-json"}),
    ("", "raises", {"documents-not-json"}),
    ('{"Harbour log": "a", "Harbour log": "b"}', "drops", {"repeated-title"}),
    ("\ufeff{}", "raises", {"byte-order-mark", "no-documents"}),
    ({"港の日誌": "タグボートのオスプレイ号は、はしけのレナ号を港へ曳航した。"}, "risky", {"raw-text-not-ascii"}),
    ({"osprey": LOG}, "risky", {"title-is-entity"}),
]


@pytest.mark.parametrize(("content", "does", "expected"), DOCUMENTS)
def test_documents_from_which_the_graph_is_to_be_built(
    tmp_path: Path, content: Any, does: Kind, expected: set[str]
) -> None:
    found = reported(write(tmp_path, {"raw/documents.json": content}), format="gfm-rag")

    assert found.get("error", set()) | found.get("warning", set()) == expected
    assert ("error" in found) == (does in SERIOUS)


def test_titles_of_supporting_documents_are_looked_up_in_the_documents(tmp_path: Path) -> None:
    raw = [RAW, changed(RAW, {"id": "h2", "supporting_documents": ["Dock log"]})]
    write(tmp_path, {"raw/documents.json": {"Harbour log": LOG}, "raw/test.json": raw})

    (finding,) = validate(tmp_path, severity="warning").findings

    assert (finding.rule, finding.value, finding.record) == ("unknown-supporting-document", "Dock log", 1)


def test_ids_of_raw_questions_are_unique_over_both_files(tmp_path: Path) -> None:
    write(tmp_path, {"raw/documents.json": {"Harbour log": LOG}, "raw/test.json": [RAW], "raw/train.json": [RAW]})

    (finding,) = validate(tmp_path, severity="error").findings

    assert (finding.rule, Path(finding.path).name) == ("duplicate-question-id", "train.json")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("plain", None),
        ("é", None),
        ("Côte d'Ivoire", 91),
        ("東京タワー", 0),
        ("東京 Tokyo", 71),
        ("…—…—", 0),
    ],
)
def test_share_of_ascii_letters(text: str, expected: int | None) -> None:
    assert ascii_percent(text) == expected


def test_phrases_as_the_constructor_writes_them() -> None:
    assert phrase("Côte d'Ivoire ") == "c te d ivoire"
    assert phrase("東京") == ""


@pytest.mark.parametrize(
    ("title", "expected"), [("osprey", True), ("port hale", True), ("Osprey", False), ("boat", False), ("", False)]
)
def test_titles_written_as_entities(title: str, expected: bool) -> None:
    assert is_its_own_entity(title, LOG) is expected


PREDICTIONS: list[tuple[Any, list[str]]] = [
    ({"document": [["Harbour log", 0.9]], "entity": []}, []),
    ({"document": [["Harbour log"]]}, []),
    ({}, []),
    (None, ["malformed-predictions"]),
    ([["Harbour log", 0.9]], ["malformed-predictions"]),
    ({"document": {"Harbour log": 0.9}}, ["malformed-predictions"]),
    ({"document": ["Harbour log"]}, ["malformed-predictions"]),
    ({"document": [[]]}, ["malformed-predictions"]),
    ({"document": [[None, 0.9]], "entity": 5}, ["malformed-predictions"]),
]


@pytest.mark.parametrize(("predictions", "expected"), PREDICTIONS)
def test_predictions(predictions: Any, expected: list[str]) -> None:
    found = dataset(Path("harbour"), "predictions")
    sample = {**RAW, "predictions": predictions}

    assert [p.rule for p in examine(PredictionChecks(found, ()), found.files[0], [sample])] == expected


def test_a_file_of_predictions_is_no_dataset(tmp_path: Path) -> None:
    sample = {**RAW, "predictions": {"document": [["Harbour log", 0.9]]}}
    path = write(tmp_path, {"predictions_harbour.json": [sample]}) / "predictions_harbour.json"

    assert [reported(p) for p in (path, tmp_path)] == [{"info": {"predictions-file"}}] * 2
