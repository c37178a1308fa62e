"""Writers tell what they change in tables that say the same twice, or more than their format has room for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.converters import Options, get_converter
from ragdatakit.files.detection.plain_sources import text_dataset
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.texts.front_matter import split_front_matter
from ragdatakit.schemas.canonical import Answer, Document, Edge, Node, Qrel, Question, Run, StartNode, Triplet
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError
from tests.conversion_tools import read_tables, rows, tables_of, write_tables

DOCUMENTS = [Document("d1", "The ferry leaves at nine.", "Ferries"), Document("d2", "The lamp was lit.", "Lamps")]
QUESTION = Question("q1", "When?", "nine")


def converted(folder: Path, to: str, source: str = "beir", **given: Iterable[Any]) -> CanonicalTables:
    """Tables, written; the output has no errors."""
    tables = tables_of(format_name=source, **given)
    write_tables(tables, to, folder)
    assert [f.message for f in ragdatakit.validate(folder, format=to, severity="error").findings] == []
    return tables


def losses_of(tables: CanonicalTables, table: str) -> dict[tuple[str, str | None, str], int]:
    """Kind, column and reason of what was lost of a table, to the count."""
    return {(x.kind, x.column, x.reason): x.count for x in tables.losses if x.table == table}


# SAGE


@pytest.mark.parametrize("target", ["d1", None, "5", ""])
@pytest.mark.parametrize(
    "metadata",
    [
        '{"id":"zz"}',
        '{"id":"zz","by":"ann"}',
        '{"id":"d1"}',
        '{"id":5}',
        '{"id":null}',
        '{"id":[1],"ragdata_metadata":{"id":2}}',
        '{"ragdata_metadata":{"id":2,"a":{}}}',
        '{"metadata":{"id":"zz"},"text":"other","score":3}',
        '{"by":"ann"}',
        None,
    ],
)
def test_what_was_found_stays_it(target: str | None, metadata: str | None, tmp_path: Path) -> None:
    run = Run("q1", "retrieval", 1, target, "The ferry leaves at nine.", 0.5, 0.25, metadata)

    tables = converted(tmp_path, "sage", questions=[QUESTION], runs=[run])

    assert losses_of(tables, "runs") == {}
    assert rows(read_tables(tmp_path, "sage"))["runs"] == [run]


def test_ranks_and_times_that_records_do_not_tell(tmp_path: Path) -> None:
    found = [
        Run("q1", "retrieval", 2, "d1", "a", 0.5, 0.25),
        Run("q1", "retrieval", 5, "d2", "b", 0.4, 0.75),
        Run("q1", "retrieval", 6, "d3", "c", 0.3),
    ]

    tables = converted(tmp_path, "sage", questions=[QUESTION], runs=found)

    assert [(r.rank, r.seconds) for r in rows(read_tables(tmp_path, "sage"))["runs"]] == [
        (1, 0.25),
        (2, 0.25),
        (3, 0.25),
    ]
    assert losses_of(tables, "runs") == {
        ("coerced", "rank", "results are ranked from 1 on, in the same order"): 3,
        ("coerced", "seconds", "a stage has one time for all its results, that of the first"): 1,
        ("derived", "seconds", "a stage has one time for all its results"): 1,
    }


# GFM-RAG


def test_judgements_that_gfm_rag_has_no_place_for(tmp_path: Path) -> None:
    tables = converted(
        tmp_path,
        "gfm-rag",
        documents=DOCUMENTS,
        questions=[QUESTION._replace(split="train"), QUESTION._replace(question_id="q2")],
        qrels=[
            Qrel("q1", "d1", 1, "document", "test", "place"),
            Qrel("q1", "d1", 2, "document", "train"),
            Qrel("q1", "gone"),
            Qrel("q2", "d2", 1, "document", "train"),
            Qrel("q2", "d1", 2, "document", "test"),
        ],
    )

    assert losses_of(tables, "qrels") == {
        ("dropped", None, "a judgement of the same target comes before"): 1,
        ("dropped", None, "there is no passage of this id"): 1,
        ("coerced", "grade", "there are no grades"): 1,
        ("coerced", "split", "judgements are in the file of their question"): 2,
        ("lost", "node_type", "it judges a passage, not a node"): 1,
    }
    (first,), (second, third) = (
        [r for r in rows(read_tables(tmp_path, "gfm-rag"))["qrels"] if r.question_id == q] for q in ("q1", "q2")
    )
    assert [first, second, third] == [Qrel(q, d, split="train") for q, d in (("q1", "d1"), ("q2", "d2"), ("q2", "d1"))]


def test_nodes_that_are_named_twice(tmp_path: Path) -> None:
    nodes = [Node("ferry", "ship"), Node("Skagen", "place")]
    target = Qrel("q1", "Skagen", 1, "node", "train", "place")

    tables = converted(
        tmp_path,
        "gfm-rag",
        documents=DOCUMENTS,
        nodes=nodes,
        edges=[Edge("ferry", "leaves", "Skagen", provenance="d1")],
        questions=[QUESTION._replace(split="train")],
        qrels=[target, target],
        start_nodes=[StartNode("q1", "ferry", "ship"), StartNode("q1", "ferry")],
    )

    assert losses_of(tables, "qrels") == {("dropped", None, "a judgement of the same target comes before"): 1}
    assert losses_of(tables, "start_nodes") == {("dropped", None, "the same start node comes before"): 1}


def test_gfm_rags_own_questions_may_name_what_is_not_there(tmp_path: Path) -> None:
    tables = converted(
        tmp_path, "gfm-rag", "gfm-rag", documents=DOCUMENTS, questions=[QUESTION], qrels=[Qrel("q1", "gone")]
    )

    assert losses_of(tables, "qrels") == {}
    assert json.loads((tmp_path / "raw" / "test.json").read_text())[0]["supporting_documents"] == ["gone"]


# HippoRAG


def test_judgements_and_triplets_that_stand_twice(tmp_path: Path) -> None:
    more = [QUESTION._replace(question_id=name) for name in ("q2", "q3", "q4")]
    both = [Qrel("q3", "d1", 0), Qrel("q3", "d1")]

    tables = converted(
        tmp_path,
        "hipporag",
        documents=DOCUMENTS,
        questions=[QUESTION, *more],
        qrels=[Qrel("q1", "d1"), Qrel("q1", "d1", 2), *both],
        triplets=[Triplet("q2", "d1", "d2"), Triplet("q2", "d1", "d2"), Triplet("q4", "d1", "d1")],
    )

    assert losses_of(tables, "qrels") == {
        ("dropped", None, "a judgement of the same passage comes before"): 1,
        ("coerced", "grade", "a grade below 1 is a paragraph that does not support the answer"): 1,
        ("lost", "grade", "judged relevant and not: it is a paragraph that supports the answer"): 1,
    }
    assert losses_of(tables, "triplets") == {
        ("dropped", None, "the same triplet comes before"): 1,
        ("dropped", None, "its negative passage is the positive one of a triplet of the question"): 1,
    }
    assert rows(read_tables(tmp_path, "hipporag"))["triplets"] == [Triplet("q2", "0", "1")]


# A-RAG


def test_answers_of_no_question(tmp_path: Path) -> None:
    tables = converted(
        tmp_path, "arag", documents=DOCUMENTS, questions=[QUESTION], answers=[Answer("", "ten"), Answer("q1", "nine")]
    )

    assert losses_of(tables, "answers") == {
        ("dropped", None, "a prediction without the id of its question is skipped"): 1
    }
    assert [a.question_id for a in rows(read_tables(tmp_path, "arag"))["answers"]] == ["q1"]


def test_nothing_but_answers_of_no_question(tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match="neither chunks, documents, questions nor answers"):
        write_tables(tables_of(answers=[Answer("", "ten")]), "arag", tmp_path)


def test_a_prediction_keeps_its_question_and_its_run(tmp_path: Path) -> None:
    tables = converted(
        tmp_path,
        "arag",
        documents=DOCUMENTS,
        questions=[QUESTION],
        answers=[Answer("q1", "nine", metadata='{"qid":3,"run":"first/try"}')],
    )

    assert losses_of(tables, "answers") == {("lost", "metadata", "a prediction's qid is the id of its question"): 1}
    (answer,) = rows(read_tables(tmp_path, "arag"))["answers"]
    assert answer.question_id == "q1"
    assert json.loads(answer.metadata)["run"] == "first/try"


def test_several_runs_keep_their_names(tmp_path: Path) -> None:
    given = {"a": '{"run":"first"}', "b": '{"run":"first/try"}', "c": '{"run":5}', "d": None}
    answers = [Answer("q1", text, metadata=metadata) for text, metadata in given.items()]

    tables = converted(tmp_path, "arag", documents=DOCUMENTS, questions=[QUESTION], answers=answers)

    found = {a.text: json.loads(a.metadata).get("run") for a in rows(read_tables(tmp_path, "arag"))["answers"]}
    assert losses_of(tables, "answers") == {}
    assert found == {"a": "first", "b": "first/try", "c": 5, "d": None}


# front matter


def test_front_matter_tells_names_that_stand_twice(tmp_path: Path) -> None:
    text = "---\nby: ann\nby: bob\nplace: {x: 1, x: 2}\nlist: [{y: 1, y: 2}]\n---\nTie.\n"
    (tmp_path / "1.md").write_text(text)
    dataset, losses = text_dataset(tmp_path), Losses()
    converter = get_converter("text")
    assert converter.read is not None
    read = converter.read(dataset, RecordReader(losses), Options(values=converter.values({}, "read")))
    tables = CanonicalTables("notes", "text", read, losses)

    (document,) = tables.peek("documents")

    assert document.metadata == '{"by":"bob","place":{"x":2},"list":[{"y":2}]}'
    reason = "a later field of the front matter has the same name"
    assert [(x.kind, x.column, x.reason, x.count) for x in tables.losses] == [("lost", "metadata", reason, 3)]


def test_names_are_reported_only_where_there_is_front_matter() -> None:
    repeated: list[str] = []

    assert split_front_matter("---\na: 1\na: 2\n[\n---\n", repeated) is None
    assert repeated == []
