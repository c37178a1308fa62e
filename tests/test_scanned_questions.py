"""A-RAG's questions and predictions in big sets: what the scanner takes for clean is clean in plain Python.

``RAGDATA_FUZZ=100000`` tries that many sets instead of the usual number.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit.files.texts.compared_answers import without_articles
from ragdatakit.scanner.blocks import BlockScanner
from ragdatakit.scanner.predicates import Vacuous
from ragdatakit.schemas import get_format
from ragdatakit.schemas.arag.published import subset_of_source
from ragdatakit.schemas.declarations import Field, Record
from ragdatakit.validators.arag.predicates import PREDICTIONS, questions
from ragdatakit.validators.arag.questions import evidence_shape
from tests.block_mutations import tries
from tests.scanner_tools import needs_scanner
from tests.test_scanner_records import found_in
from tests.value_mutations import damaged_line, damaged_value, line_of

pytestmark = needs_scanner
SEEDS = range(4)
ANSWERS = ("1871", "the lamp", "St. Louis", "a", "The", "t.he", "an_other", "x-y", "漢字", "the\u3000", "!", "é.é", "İ")
EVIDENCE: tuple[Any, ...] = (
    *(
        "",
        "the log",
        [],
        ["the log", "a chart"],
        [["Ada", "kept", "the lamp"]],
        [["Skarn", ["It was lit.", "It burned"]]],
    ),
    *([["Ada", "kept"]], [["Skarn", "a", 1]]),
)
FOLDERS = ("skarn", "hotpotqa", "2wikimultihop", "musique", "medical")
SOURCES = ("skarn", "skarn", "hotpotqa", "2Wikimultihopqa", "2wi\u212ai", "musique", "Medical", "novel-7", "")
TYPES = ("", "", "bridge", "comparison", "Fact Retrieval", "inference", "other")


def asked(rng: Random, number: int, source: str, evidence: Any) -> dict[str, Any]:
    """A question, like those around it in most things."""
    odd = rng.random() < 0.05
    value: dict[str, Any] = {rng.choice(("id",) * 9 + ("qid",)): f"s{number}", "source": source}
    value |= {"question": f"When was lamp {number} lit?", "answer": rng.choice(ANSWERS if odd else ANSWERS[:2])}
    subset = subset_of_source(source)
    value["question_type"] = rng.choice(TYPES if odd else subset.question_types if subset else TYPES[:2])
    value["evidence"] = rng.choice(EVIDENCE) if odd else evidence
    if rng.random() < 0.1:
        value["source"] = rng.choice(SOURCES)
    elif rng.random() < 0.1:
        del value["source"]
    return value


def predicted(rng: Random, question: dict[str, Any]) -> dict[str, Any]:
    """A prediction for a question."""
    value = {"qid": question.get("id") or question.get("qid"), "question": question["question"], "loops": 2}
    value |= {"gold_answer": question["answer"], "pred_answer": rng.choice(("1871", "In the year", "Error: x"))}
    value |= {"trajectory": [{"tool": "read", "arguments": {"id": 1}}], "total_cost": 0.5, "chunks_read_ids": ["0"]}
    return {**value, "question": "Who?"} if rng.random() < 0.05 else value


def spoilt(values: list[Any], rng: Random) -> list[bytes]:
    """The values as lines, some of them damaged."""
    lines = [line_of(damaged_value(v, rng, rng.choice((0, 1, 2))) if rng.random() < 0.2 else v, rng) for v in values]
    return [damaged_line(line, rng) if rng.random() < 0.03 else line for line in lines]


def questions_and_predictions(rng: Random, many: int) -> dict[str, bytes]:
    """The files of a corpus without its chunks."""
    source = rng.choice(SOURCES)
    subset = subset_of_source(source) if rng.random() < 0.8 else None
    evidence = rng.choice([e for e in EVIDENCE if subset is None or evidence_shape(e) in subset.evidence])
    values = [asked(rng, rng.randrange(2 * many), source, evidence) for _ in range(many)]
    answered = [predicted(rng, rng.choice(values)) for _ in range(many)] if values else []
    rows = rng.choice((b", ", b",\n")).join(spoilt(values, rng))
    files = {"questions.json": b"[" + rows + b"]"}
    return files | ({"predictions.jsonl": b"\n".join(spoilt(answered, rng))} if rng.random() < 0.8 else {})


@pytest.mark.parametrize("seed", SEEDS)
def test_questions_and_predictions_are_checked_as_in_plain_python(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    for number in range(tries(80) // len(SEEDS)):
        folder = tmp_path / rng.choice(FOLDERS) / str(number)
        folder = folder.parent if rng.random() < 0.8 else folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "predictions.jsonl").unlink(missing_ok=True)
        files = questions_and_predictions(rng, rng.choice((1, 3, 12, 12)))
        for name, data in files.items():
            (folder / name).write_bytes(data)
        plain = found_in(folder, "arag", 1 << 40, 1 << 20, 1)
        size, jobs = rng.choice((1, 40, 150, 600, 1 << 19)), rng.choice((1, 2, 7))
        assert found_in(folder, "arag", -1, size, jobs) == plain, (size, jobs, files)


@pytest.mark.parametrize("changed", [{}, {"source": "zz"}, {"source": "Musique"}, {"source": 7}])
def test_questions_without_a_known_source_are_of_the_subset_of_their_folder(
    changed: dict[str, Any], tmp_path: Path
) -> None:
    first = {"id": "s1", "question": "Where?", "answer": "Skarn", "evidence": [["Skarn", ["It was lit."]]]}
    first |= {"source": "hotpotqa", "question_type": "bridge"}
    other = {name: value for name, value in first.items() if name != "source"} | {"id": "s2"} | changed
    last = [first | {"id": f"s{number}"} for number in (3, 4)]
    (tmp_path / "musique").mkdir()
    (tmp_path / "musique/questions.json").write_text(json.dumps([first, other, *last]))

    found = found_in(tmp_path / "musique", "arag", -1, 1 << 20, 1)

    assert found == found_in(tmp_path / "musique", "arag", 1 << 40, 1 << 20, 1)
    assert {code for code in ("AR214", "AR220") if code in str(found)} == {"AR214", "AR220"}


def test_sound_questions_and_predictions_are_proved() -> None:
    """Else the speed would be gone, and nothing else would show it."""
    rng = Random(1)
    for evidence in EVIDENCE[:6]:
        question = asked(rng, 1, "skarn", evidence) | {"answer": "the lamp", "evidence": evidence}
        answer = predicted(rng, question) | {"pred_answer": "1871"}
        of = {"questions": (question, questions(question, "reefs")), "predictions": (answer, PREDICTIONS)}
        for kind, (value, predicates) in of.items():
            record = get_format("arag").file(kind).record
            block = BlockScanner(record, {"@qid": "@qid"}, predicates or ()).scan(line_of(value, rng))
            assert block is not None and (block.rows, block.notes) == (1, []), value

    question |= {"source": "HotpotQA", "question_type": "bridge", "evidence": [["Skarn", ["It was lit."]]]}
    for folder in ("reefs", "hotpotqa", "musique"):
        block = BlockScanner(
            get_format("arag").file("questions").record, {"@qid": "@qid"}, questions(question, folder) or ()
        ).scan(line_of(question, rng))
        assert block is not None and (block.rows, block.notes) == (1, []), folder


def test_texts_without_a_word_are_noted() -> None:
    record = Record(name="answer", title="", description="", fields=(Field("answer: string"),))
    scanner = BlockScanner(record, {}, [Vacuous("answer")])
    pieces = ("a", "an", "the", "The", "x", "é", ".", "-", "_", " ", "\u3000", "\x1c", "\x85", "漢", "İ", "1", "\u200b")
    rng = Random(3)
    for _ in range(tries(2000)):
        text = "".join(rng.choice(pieces) for _ in range(rng.randrange(6)))
        block = scanner.scan(line_of({"answer": text}, rng))
        assert block is None or block.notes or without_articles(text), text
