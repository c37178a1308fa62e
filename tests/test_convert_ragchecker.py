"""RAGChecker converted: what its rows become, and what of other formats becomes its input."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import convert, validate
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.canonical import Answer, Chunk, Document, Qrel, Question, Run
from ragdatakit.schemas.declarations import File
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import FIXTURES
from tests.conversion_tools import read_tables, rows, tables_of, write_tables
from tests.test_ragchecker_checks import INPUT, OUTPUT
from tests.upstream_data import needs, published

VALID = FIXTURES / "ragchecker" / "valid"
E, N = "Entailment", "Neutral"


def results(folder: Path) -> list[dict[str, Any]]:
    """The rows of the one file of results in a folder."""
    (path,) = folder.glob("checking_*.json")
    listed: list[dict[str, Any]] = json.loads(path.read_text())["results"]
    return listed


def given(tmp_path: Path, *found: dict[str, Any]) -> Path:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "checking_outputs.json").write_text(json.dumps({"results": found}))
    return tmp_path / "given"


def test_a_row_as_tables() -> None:
    tables = rows(read_tables(VALID / "outputs"))

    first = tables["questions"][0]
    assert first[:3] == ("q1", "Who mapped the reef?", "Joss Alder mapped it in 1931.")
    assert tables["documents"][0] == Document("d2", "Joss Alder mapped Kettle Reef in 1931.")
    assert tables["runs"][1][:5] == ("q1", "retrieval", 2, "d5", "Kettle Reef lies north of Port Hale.")
    assert tables["qrels"] == [Qrel("q1", "d2"), Qrel("q2", "d5")]
    assert tables["answers"][0].text == "Joss Alder did."
    assert json.loads(tables["answers"][0].metadata)["answer2response"] == [E]


@pytest.mark.parametrize("most", [0, 400, 1 << 20])
def test_rows_that_are_held_are_those_that_are_read_again(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rows(read_tables(VALID / "outputs"))
    read, wrapped = [], RecordReader.wrapped

    def counted(self: RecordReader, file: DataFile, kind: File) -> Iterator[dict[str, Any]]:
        read.append(file.name)
        self.most_held = most
        return wrapped(self, file, kind)

    monkeypatch.setattr(RecordReader, "wrapped", counted)
    assert rows(read_tables(VALID / "outputs")) == whole
    assert (len(read) == 1) is (most == 1 << 20)


def test_ids_that_are_unique_in_their_row_only_get_its_id(tmp_path: Path) -> None:
    other = {**INPUT, "query_id": "q2", "retrieved_context": [{"doc_id": "d2", "text": "Another text."}, {"text": "x"}]}
    folder = given(tmp_path, INPUT, other)

    tables = rows(read_tables(folder))
    as_one = rows(read_tables(folder, ids="all"))
    convert(folder, tmp_path / "back", to="ragchecker")

    assert [d.doc_id for d in tables["documents"]] == ["q1/d2", "q2/d2", "q2/001"]
    assert [d.doc_id for d in as_one["documents"]] == ["d2", "q2/001"]
    assert [[p["doc_id"] for p in r["retrieved_context"]] for r in results(tmp_path / "back")] == [
        ["d2"],
        ["d2", "001"],
    ]


def test_a_benchmark_has_chunks_and_queries() -> None:
    tables = rows(read_tables(VALID / "benchmark"))

    assert [c.chunk_id for c in tables["chunks"]] == ["d2-0", "d2-1", "d5-0"]
    assert tables["chunks"][1] == Chunk("d2-1", "Kettle Reef. He was a surveyor.", "d2", 1)
    assert [(r.target_id, r.score) for r in tables["runs"]] == [("d2-0", 8.5), ("d2-1", 3.25), ("d5-0", 6.0)]
    assert len(tables["questions"]) == 2


def test_queries_with_hits_are_runs_without_answers(tmp_path: Path) -> None:
    hit = {"doc_id": "d2", "chunk_id": 0, "score": 2.5, "text": "x", "title": ""}
    query = {"query_id": "q1", "query": "?", "gt_answer": "A.", "hits": [hit]}
    (tmp_path / "bm25.json").write_text(json.dumps({"input_data": [query]}))

    tables = rows(read_tables(tmp_path))

    assert tables["runs"] == [Run("q1", "retrieval", 1, "d2-0", "x", 2.5, None, '{"title":""}')]
    assert "answers" not in tables


def test_the_output_is_read_rather_than_the_input(tmp_path: Path) -> None:
    folder = given(tmp_path, OUTPUT)
    (folder / "checking_inputs.json").write_text(json.dumps({"results": [INPUT]}))

    both = [len(rows(read_tables(folder, **way)).get("qrels", ())) for way in ({}, {"file": "checking_inputs.json"})]

    assert both == [1, 0]
    with pytest.raises(RagdataError, match=r"has no results x\.json; it has"):
        read_tables(folder, file="x.json")


def test_a_baselines_file_is_mended(tmp_path: Path) -> None:
    (tmp_path / "bm25_gpt.json").write_text(json.dumps({"input_data": [INPUT]}))

    convert(tmp_path, tmp_path / "new", to="ragchecker")

    assert results(tmp_path / "new") == [INPUT]
    assert validate(tmp_path / "new").findings == []


def test_an_output_comes_back_with_the_groups_of_today(tmp_path: Path) -> None:
    source = json.loads((VALID / "outputs/checking_outputs.json").read_text())
    legacy = {**source, "metrics": {k.removesuffix("_metrics"): v for k, v in source["metrics"].items()}}
    (tmp_path / "old.json").write_text(json.dumps(legacy))

    convert(tmp_path, tmp_path / "new", to="ragchecker")

    assert json.loads((tmp_path / "new/checking_outputs.json").read_text()) == source


@pytest.mark.parametrize("top", [0, 1])
def test_labels_are_written_as_far_as_they_fit(top: int, tmp_path: Path) -> None:
    tables = read_tables(VALID / "outputs")

    write_tables(tables, "ragchecker", tmp_path, top=str(top))

    first = results(tmp_path)[0]
    assert ("retrieved2answer" in first, "response_claims" in first) == (not top, True)
    assert len(first["retrieved_context"]) == (top or 2)
    assert not [f for f in validate(tmp_path).findings if f.severity == "error"]


def test_sage_traces_become_inputs(tmp_path: Path) -> None:
    record = {
        "query": "Who mapped the reef?",
        "question": {"id": "s1"},
        "references": ["Joss Alder.", "J. Alder"],
        "retrieval_results": [{"text": "He did.", "score": 0.5, "metadata": {"id": "d2"}}, {"text": "So it is said."}],
        "retrieval_docs": ["He did.", "So it is said."],
        "generated": "Joss Alder did.",
    }
    (tmp_path / "records.jsonl").write_text(json.dumps(record) + "\n")

    done = convert(tmp_path, tmp_path / "new", to="ragchecker", source_format="sage")

    assert results(tmp_path / "new") == [
        {
            "query_id": "s1",
            "query": "Who mapped the reef?",
            "gt_answer": "Joss Alder.",
            "response": "Joss Alder did.",
            "retrieved_context": [
                {"doc_id": "d2", "text": "He did.", "score": 0.5},
                {"doc_id": "001", "text": "So it is said."},
            ],
        }
    ]
    assert [(loss.table, loss.column) for loss in done.conversions[0].losses] == [("questions", "aliases")]


QUESTIONS = [Question("1", "Who mapped the reef?"), Question("2", "Where is it?")]
DOCUMENTS = [Document("a", "Joss Alder did.", "Reef"), Document("b", "Up north."), Document("c", "Fog.")]
RUNS = [Run("1", "bm25", 1, "a", score=2.0), Run("1", "bm25", 2, "c", score=1.0), Run("2", "bm25", 1, "b", score=9.0)]


def apart(tmp_path: Path) -> dict[str, str]:
    """Options that name files of answers and of right answers."""
    lines = [{"qid": 1, "answer": "He did."}, {"_id": "2", "generated": "North."}]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "gold.json").write_text(json.dumps({"1": "Joss Alder.", "2": "Up north."}))
    return {"answers": str(tmp_path / "answers.jsonl"), "gold": str(tmp_path / "gold.json")}


def test_trec_runs_and_answers_become_an_input(tmp_path: Path) -> None:
    trec = tables_of(format_name="trec", questions=QUESTIONS, documents=DOCUMENTS, runs=RUNS)

    write_tables(trec, "ragchecker", tmp_path / "new", top="1", **apart(tmp_path))

    assert [(r["gt_answer"], r["response"], r["retrieved_context"]) for r in results(tmp_path / "new")] == [
        ("Joss Alder.", "He did.", [{"doc_id": "a", "text": "Joss Alder did.", "title": "Reef", "score": 2.0}]),
        ("Up north.", "North.", [{"doc_id": "b", "text": "Up north.", "score": 9.0}]),
    ]
    assert validate(tmp_path / "new").findings == []
    assert (tmp_path / "new/corpus.jsonl").read_text().count("\n") == 3


def test_beir_and_predictions_become_an_input(tmp_path: Path) -> None:
    beir = tables_of(format_name="beir", questions=QUESTIONS, documents=DOCUMENTS)
    (tmp_path / "run.txt").write_text("1 Q0 c 1 3.5 bm25\n\n1 Q0 a 2 2.5 bm25\n9 Q0 a 1 1 bm25\n")

    write_tables(beir, "ragchecker", tmp_path / "new", run=str(tmp_path / "run.txt"), corpus="false", **apart(tmp_path))

    assert [[p["doc_id"] for p in r["retrieved_context"]] for r in results(tmp_path / "new")] == [["c", "a"], []]
    assert not (tmp_path / "new/corpus.jsonl").exists()


def test_what_of_a_run_is_not_written_is_accounted_for(tmp_path: Path) -> None:
    """Without a corpus, nothing of a run has a text: all passages were left out, and nothing was said of it."""
    beir = tables_of(format_name="beir", questions=QUESTIONS, documents=DOCUMENTS[:1])
    (tmp_path / "run.txt").write_text("1 Q0 c 1 3.5 bm25\n1 Q0 a 2 2.5 bm25\n2 Q0 b 1 2 bm25\n9 Q0 a 1 1 bm25\n")

    write_tables(beir, "ragchecker", tmp_path / "new", run=str(tmp_path / "run.txt"), **apart(tmp_path))

    dropped = {loss.reason: loss.count for loss in beir.losses if (loss.kind, loss.table) == ("dropped", "runs")}
    assert dropped == {"its text is not known": 2, "its question is not there": 1}


@needs("cranfield")
def test_a_real_collection_with_a_run_and_answers_becomes_an_input(tmp_path: Path) -> None:
    source = published("cranfield")
    judged = [line.split() for line in (source / "cranqrel.trec.txt").read_text().splitlines()]
    run = [f"{topic} Q0 {document} {n} {1 / n} mine" for n, (topic, _, document, _) in enumerate(judged, 1)]
    (tmp_path / "run.txt").write_text("\n".join(run))
    answers = [{"qid": topic, "response": f"It is {topic}.", "gt_answer": "Lift."} for topic in {j[0] for j in judged}]
    (tmp_path / "answers.jsonl").write_text("\n".join(json.dumps(answer) for answer in answers if answer["qid"] != "7"))
    files = {name: str(tmp_path / file) for name, file in
             (("run", "run.txt"), ("answers", "answers.jsonl"), ("gold", "answers.jsonl"))}  # fmt: skip

    convert(source, tmp_path / "new", to="ragchecker", options={**files, "topics": "position", "top": 3})

    rows = {r["query_id"]: r for r in json.loads((tmp_path / "new" / "checking_inputs.json").read_text())["results"]}
    assert len(rows) == 224 and "7" not in rows
    assert [p["doc_id"] for p in rows["1"]["retrieved_context"]] == [j[2] for j in judged if j[0] == "1"][:3]
    assert all(
        p["text"] for row in rows.values() for p in row["retrieved_context"] if p["doc_id"] not in ("471", "995")
    )
    assert rows["2"]["response"] == "It is 2." and validate(tmp_path / "new").ok


@pytest.mark.parametrize(
    ("tables", "options", "message"),
    [
        ({}, {}, "needs questions"),
        ({"questions": QUESTIONS}, {}, "--option answers=FILE"),
        ({"questions": QUESTIONS, "answers": [Answer("1", "x")]}, {}, "--option gold=FILE"),
        (
            {"questions": [QUESTIONS[0]._replace(answer="x")], "answers": [Answer("2", "x")]},
            {},
            "no question has both an answer of the system and a right one",
        ),
        (
            {"questions": [QUESTIONS[0]._replace(answer="x")], "answers": [Answer("1", "x")], "runs": RUNS},
            {"stage": "dense"},
            "--option stage=dense: the source has bm25",
        ),
        ({"questions": QUESTIONS}, {"answers": "nowhere.json"}, "there is no such file"),
    ],
)
def test_what_is_missing_is_said(
    tables: dict[str, list[Any]], options: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(RagdataError, match=message):
        write_tables(tables_of(**tables), "ragchecker", tmp_path, **options)


def test_questions_that_cannot_be_judged_are_dropped(tmp_path: Path) -> None:
    questions = [Question("1", "?", "A."), Question("2", "?", "B."), Question("3", "?")]
    tables = tables_of(questions=questions, answers=[Answer("1", "a"), Answer("3", "c"), Answer("9", "z")], runs=RUNS)

    write_tables(tables, "ragchecker", tmp_path)

    assert [r["query_id"] for r in results(tmp_path)] == ["1"]
    dropped = {(e.table, e.reason) for e in tables.losses if e.kind == "dropped"}
    assert dropped >= {
        ("questions", "the system did not answer it"),
        ("questions", "it has no right answer"),
        ("answers", "its question is not there"),
        ("answers", "it has no right answer"),
        ("runs", "its text is not known"),
        ("runs", "the system did not answer it"),
    }


def test_what_is_made_is_counted_by_passage(tmp_path: Path) -> None:
    passages = [{"doc_id": f"d{n}", "text": f"Text {n}."} for n in range(3)]
    row = {**OUTPUT, "retrieved_context": passages, "gt_answer_claims": ["a"]}
    row["retrieved2answer"] = [[E, N, E]]
    tables = read_tables(given(tmp_path, row, {**row, "query_id": "q2"}))

    found = rows(tables)

    made = {loss.table: loss.count for loss in tables.losses if loss.kind == "derived" and loss.column is None}
    assert made == {"documents": 3, "qrels": 4}
    assert (len(found["documents"]), len(found["qrels"])) == (3, 4)
