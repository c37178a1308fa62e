"""Which folders are taken for A-RAG's, where the names of files say little and other formats use them, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.files.detection.find import detect
from ragdatakit.schemas.errors import RagdataError

ANSWERED = {"id": "1", "question": "When was it lit?", "answer": "1871"}
PASSAGE = {"idx": 0, "title": "Skarn", "paragraph_text": "It was lit in 1871.", "is_supporting": True}


def found(path: Path) -> list[tuple[str, str, list[str]]]:
    """(format, layout, names of the files) of each dataset; none where nothing is recognised."""
    try:
        return [(d.format.name, d.layout, [f.name for f in d.files]) for d in detect(path).datasets]
    except RagdataError:
        return []


def put(folder: Path, name: str, value: Any) -> None:
    (folder / name).write_text(json.dumps(value, indent=2), encoding="utf-8")


@pytest.mark.parametrize(
    "record",
    [
        ANSWERED,
        {"question": "When?", "answer": None},
        {"qid": 1, "source": "skarn", "question": "When?", "answer": "1871", "evidence": [["a", "b", "c"]]},
    ],
)
def test_questions_alone_are_a_dataset(record: dict[str, Any], tmp_path: Path) -> None:
    put(tmp_path, "questions.json", [record])

    assert found(tmp_path) == [("arag", "questions", ["questions.json"])]


def test_questions_with_their_chunks_or_a_run_are_one_dataset(tmp_path: Path) -> None:
    put(tmp_path, "questions.json", [ANSWERED])
    put(tmp_path, "chunks.json", ["0:It was lit in 1871."])

    assert found(tmp_path) == [("arag", "corpus", ["chunks.json", "questions.json"])]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({**ANSWERED, "paragraphs": [PASSAGE], "answerable": True}, "hipporag"),
        ({**ANSWERED, "supporting_facts": [["Skarn", 0]], "context": [["Skarn", ["It was lit."]]]}, "hipporag"),
        ({**ANSWERED, "supporting_documents": ["Skarn"]}, "gfm-rag"),
        ({**ANSWERED, "start_nodes": {"entity": ["skarn"]}, "target_nodes": {"document": ["Skarn"]}}, "gfm-rag"),
        ({"question": "When?", "answers": ["1871"], "ctxs": [{"text": "Lit."}], "answer": "1871"}, "sage"),
        ({"query": "When?", "answer": "1871"}, "sage"),
        ({**ANSWERED, "pred_answer": "1871", "gold_answer": "1871"}, ""),
        ({"text": "Lit.", "label": 1}, ""),
        ("0:It was lit.", ""),
    ],
)
def test_questions_of_others_stay_theirs(record: Any, expected: str, tmp_path: Path) -> None:
    put(tmp_path, "questions.json", [record])

    formats = {name for name, *_ in found(tmp_path)}

    assert "arag" not in formats
    assert not expected or formats <= {expected}


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"question": "When?", "answer": "1871"}\n', "[1", "\0"])
def test_what_is_no_array_of_questions_is_none(content: str, tmp_path: Path) -> None:
    (tmp_path / "questions.json").write_text(content, encoding="utf-8")

    assert "arag" not in {name for name, *_ in found(tmp_path)}


def test_hipporags_questions_beside_their_corpus_stay_theirs(tmp_path: Path) -> None:
    put(tmp_path, "questions_corpus.json", [{"title": "Skarn", "text": "It was lit in 1871."}])
    put(tmp_path, "questions.json", [{**ANSWERED, "paragraphs": [PASSAGE], "answerable": True}])

    assert found(tmp_path) == [("hipporag", "datasets", ["questions_corpus.json", "questions.json"])]
