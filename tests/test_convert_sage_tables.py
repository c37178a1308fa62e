"""SAGE and the canonical tables: records as questions, runs and answers, and the other way; documents."""

from __future__ import annotations

import gzip
import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import ragdatakit
from ragdatakit.converters.sage import generations as sage_generations
from ragdatakit.converters.sage import rows as sage_rows
from ragdatakit.files.containers import json_text
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.schemas.canonical import Answer, Asset, Chunk, Document, Qrel, Question, Run
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.conversion_tools import read_tables, rows, tables_of, write_tables
from tests.sage_cases import FULL, OTHER, QUERY, SHORT
from tests.sage_records import JSON, TEXTS, WORDS, documented_records
from tests.upstream_data import UPSTREAM_DATA

FIXTURES = Path(__file__).parent.parent / "fixtures" / "sage" / "valid"
TWO_WIKI = UPSTREAM_DATA / "2wiki-hipporag"
RANDOM = settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
NUMBERS = count()


def written(folder: Path, tables: CanonicalTables, profile: str = "") -> Path:
    """The folder to which tables were written as SAGE, without errors for the profile."""
    target = folder / f"sage{next(NUMBERS)}"
    target.mkdir()
    write_tables(tables, "sage", target, profile)
    report = ragdatakit.validate(target, format="sage", profile=profile or "unified", severity="error")
    assert [f.message for f in report.findings] == []
    return target


def records_in(folder: Path, name: str = "records.jsonl") -> list[dict[str, Any]]:
    """The records of a file."""
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def losses_of(tables: CanonicalTables, *kinds: str) -> dict[tuple[str, str | None, str], int]:
    """What was lost: table, column and reason to the count."""
    return {(loss.table, loss.column, loss.reason): loss.count for loss in tables.losses if loss.kind in kinds}


def test_a_documented_record_as_rows() -> None:
    found = rows(read_tables(FIXTURES / "documented", "sage"))

    assert found["questions"][0] == Question("t1", QUERY, "spring tide")
    assert found["questions"][1] == Question(None, QUERY)
    assert found["runs"][:4] == [
        Run("t1", "retrieval", 1, "c7", FULL, 0.91, 0.02),
        Run("t1", "retrieval", 2, "c8", OTHER, 0.55, 0.02),
        Run("t1", "reranking", 1, None, FULL, 0.98, 0.01),
        Run(
            *("t1", "refining", 1, None, SHORT, None, 0.3),
            '{"original_length":9,"refined_length":6,"compression_ratio":0.667}',
        ),
    ]
    assert found["answers"][0] == Answer("t1", "Spring tide", f"Context: {SHORT} {QUERY}", 0.4)


def test_other_keys_are_metadata(tmp_path: Path) -> None:
    record = {
        "query": "q",
        "question": {"id": 7, "source": "almanac", "page": 1.50},
        "context": "c",
        "page": None,
        "generated": "g",
        "answer_cost": 0.10,
    }
    (tmp_path / "records.jsonl").write_text(json.dumps(record).replace("1.5", "1.50"))
    found = rows(read_tables(tmp_path, "sage"))

    metadata = '{"source":"almanac","page":1.50,"context":"c","record_page":null}'
    assert found["questions"] == [Question("7", "q", metadata=metadata)]
    assert found["answers"] == [Answer("7", "g", metadata='{"cost":0.1}')]


def test_ids_that_are_missing_or_there_before(tmp_path: Path) -> None:
    lines = [{"query": "q", "question": {"id": "t"}, "generated": "a"}] * 2 + [{"query": "q", "generated": "c"}]
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    tables = read_tables(tmp_path, "sage")

    assert [a.question_id for a in tables.peek("answers")] == ["t", "t#2", "record-3"]
    assert [q.question_id for q in tables.peek("questions")] == ["t", "t#2", "record-3"]
    assert losses_of(tables, "renumbered", "derived") == {
        ("questions", "question_id", "another record had this question.id before"): 1,
        ("questions", "question_id", "records without question.id are called by their place"): 1,
    }


def test_a_time_of_a_stage_that_found_nothing_is_reported(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_text('{"query":"q","retrieval_results":[],"retrieval_time":0.1}\n')
    tables = read_tables(tmp_path, "sage")

    assert not list(tables.peek("runs")) and not list(tables.peek("runs"))
    assert losses_of(tables, "lost") == {("runs", "seconds", "the retrieval found nothing to which it could belong"): 1}


def test_benchmark_files_are_joined_by_id() -> None:
    found = rows(read_tables(FIXTURES / "benchmark", "sage"))

    assert [(q.question_id, q.answer) for q in found["questions"]] == [("t1", "spring tide"), ("t2", "spring tide")]
    assert found["runs"][0] == Run("t1", "retrieval", 1, None, FULL, 0.91, None, '{"title":"Tides"}')
    assert [a.text for a in found["answers"]] == ["Spring tide", "Spring tide"]


def test_benchmark_results_alone(tmp_path: Path) -> None:
    results = [
        {"id": 1, "question": "q", "prediction": "p", "ground_truth": "g", "retrieved_docs": ["d"], "error": "late"},
        {"id": 2, "prediction": "p"},
    ]
    (tmp_path / "results.json").write_text(json.dumps({"metadata": {"pipeline_name": "naive"}, "results": results}))
    tables = read_tables(tmp_path, "sage")
    (record,) = records_in(written(tmp_path, tables))

    assert record == {
        "query": "q",
        "question": {"id": 1},
        "references": ["g"],
        "generated": "p",
        "retrieval_docs": ["d"],
        "retrieval_results": [{"text": "d"}],
        "benchmark_error": "late",
        "benchmark_pipeline_name": "naive",
    }
    assert losses_of(tables, "dropped") == {("records", None, "a benchmark result without a question"): 1}


def benchmark_file(folder: Path, about_run: Any, results: list[Any], **more: Any) -> CanonicalTables:
    """The tables of a file of benchmark results, gone through twice."""
    folder.mkdir()
    (folder / "results.json").write_text(json.dumps({"metadata": about_run, "results": results, **more}))
    tables = read_tables(folder, "sage")
    for table in ("questions", "traces"):
        list(tables.peek(table))
    return tables


def test_what_a_benchmark_says_of_its_run_goes_with_each_result(tmp_path: Path) -> None:
    about_run = {
        "pipeline_name": "naive",
        "timestamp": "2025-10-27T00:00:00",
        "total_samples": 2,
        "completed_batches": 1,
        "elapsed_time_seconds": 3.50,
        "config": {},
    }
    results = [{"id": n, "question": f"q{n}", "prediction": "p", "timestamp": n} for n in range(2)]
    tables = benchmark_file(tmp_path / "source", about_run, results)
    found = records_in(written(tmp_path, tables))

    about_run["timestamp_2"] = about_run.pop("timestamp")
    kept = {f"benchmark_{name}": value for name, value in about_run.items() if name != "config"}
    assert [{k: v for k, v in r.items() if k.startswith("benchmark_")} for r in found] == [
        {"benchmark_timestamp": n, **kept} for n in range(2)
    ]
    assert not tables.losses.any_lost


def test_what_no_record_of_a_question_can_hold_of_a_run_is_reported_once(tmp_path: Path) -> None:
    result = {"id": 1, "question": "q", "prediction": "p"}
    why = "it is about the run as a whole, and has no place in records of single questions"
    full = benchmark_file(tmp_path / "full", {"total_samples": 2, "config": {"k": 5}}, [result, "p"], notes="dry")
    empty = benchmark_file(tmp_path / "empty", {"total_samples": 0, "config": None}, [])
    misshapen = benchmark_file(tmp_path / "misshapen", "naive", [result])
    name = "benchmark-results"

    assert losses_of(full, "lost") == {(name, "metadata.config", why): 1, (name, "notes", why): 1}
    assert losses_of(full, "dropped") == {(name, "results", "result 2 is not an object"): 1}
    assert losses_of(empty, "lost") == {(name, "metadata.total_samples", why): 1}
    assert losses_of(misshapen, "lost") == {(name, "metadata", why): 1}


def test_a_question_with_its_result_keeps_what_both_say_differently(tmp_path: Path) -> None:
    question = {"id": 1, "question": "q", "answers": ["a"], "ctxs": [{"text": "t"}]}
    result = {"id": 1, "prediction": "p", "ground_truth": "g", "retrieved_docs": ["u"], "retrieved": 1}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question) + "\n")
    (tmp_path / "results.json").write_text(json.dumps({"metadata": {"ground_truth": "own"}, "results": [result]}))
    (record,) = records_in(written(tmp_path, read_tables(tmp_path, "sage")))

    assert {k: v for k, v in record.items() if k.startswith("benchmark_")} == {
        "benchmark_retrieved": 1,
        "benchmark_ground_truth": "own",
        "benchmark_ground_truth_2": "g",
        "benchmark_retrieved_2": ["u"],
    }


def test_profiling_dumps_are_joined_by_query(tmp_path: Path) -> None:
    (first, second) = records_in(written(tmp_path, read_tables(FIXTURES / "dumps", "sage")))

    assert first["retrieval_docs"] == [FULL] and second["retrieval_docs"] == [FULL]
    assert (first["refining_docs"], first["generated"], first["prompt"]) == ([SHORT], "Spring tide", QUERY)
    assert first["generator_model_name"] == "small" and first["promptor_prompt"][0]["role"] == "system"
    assert second["retrieval_results"] == [{"text": FULL, "score": 7.5, "document_index": 0}]
    assert second["retriever_retrieved_count"] == 1


def test_a_promptor_s_words_are_kept_where_the_generator_was_sent_others(tmp_path: Path) -> None:
    (tmp_path / "promptor_data_1.json").write_text(
        json.dumps([{"timestamp": 1, "query": q, "external_corpus": "c", "prompt": f"for {q}"} for q in "qr"])
    )
    (tmp_path / "generator_data_1.json").write_text(
        json.dumps([{"timestamp": 1, "query": q, "prompt": "for q", "response": "a", "model_name": "m"} for q in "qr"])
    )
    found = records_in(written(tmp_path, read_tables(tmp_path, "sage")))

    assert [(r["prompt"], r.get("promptor_prompt")) for r in found] == [("for q", None), ("for q", "for r")]


@pytest.mark.parametrize(("retrieved", "given"), [("t", None), ("u", ["t"]), ("", None)])
def test_documents_that_a_refiner_was_given_are_kept_where_others_were_found(
    retrieved: str, given: Any, tmp_path: Path
) -> None:
    refined = {"timestamp": 1, "query": "q", "input_docs": ["t"], "refined_docs": ["s"], "budget": 9}
    (tmp_path / "refiner_data_1.json").write_text(json.dumps([refined]))
    if retrieved:
        logged = {"timestamp": 1, "query": "q", "retrieval_results": [{"text": retrieved}]}
        (tmp_path / "retriever_data_1.json").write_text(json.dumps([logged]))
    (found,) = records_in(written(tmp_path, read_tables(tmp_path, "sage")))

    assert (found["retrieval_docs"], found["refining_docs"]) == ([retrieved or "t"], ["s"])
    assert found.get("refiner_input_docs") == given


def test_repeated_queries_in_dumps_make_records_of_their_own(tmp_path: Path) -> None:
    entries = [{"timestamp": n, "query": "q", "response": f"a{n}", "model_name": "m"} for n in range(2)]
    retrieved = [{"timestamp": n, "query": "q", "retrieval_results": [{"text": f"t{n}"}]} for n in range(2)]
    (tmp_path / "generator_data_1.json").write_text(json.dumps([*entries, {"response": "lost", "timestamp": 1}]))
    (tmp_path / "retriever_data_1.json").write_text(json.dumps(retrieved))
    tables = read_tables(tmp_path, "sage")
    found = records_in(written(tmp_path, tables))

    assert [(r["generated"], r["retrieval_docs"]) for r in found] == [("a0", ["t0"]), ("a1", ["t1"])]
    assert losses_of(tables, "dropped") == {("records", None, "an entry without a query"): 1}


def test_documents_come_back_with_their_mapping(tmp_path: Path) -> None:
    tables = read_tables(FIXTURES / "corpus", "sage")
    target = written(tmp_path, tables)
    given = records_in(FIXTURES / "corpus", "documents.jsonl")

    assert list(tables.peek("documents")) == [
        Document("c0", "Tide number 0 follows the moon.", "Tide 0"),
        Document("c1", "Tide number 1 follows the moon.", "Tide 1", '{"doc_size":31}'),
        Document("2", "Tide number 2 follows the moon."),
    ]
    assert records_in(target, "documents.jsonl") == [*given[:2], {**given[2], "id": "2"}]
    assert (target / "mapping.json").read_bytes() == (FIXTURES / "corpus" / "mapping.json").read_bytes()
    assert not tables.losses.any_lost


@RANDOM
@given(
    st.lists(
        st.fixed_dictionaries(
            {"contents": WORDS},
            optional={
                "id": st.one_of(WORDS, st.integers()),
                "title": st.one_of(WORDS, st.none()),
                "page": JSON,
                "text": WORDS,
            },
        ),
        min_size=1,
    )
)
def test_random_documents_come_back(tmp_path: Path, documents: list[dict[str, Any]]) -> None:
    source = tmp_path / f"source{next(NUMBERS)}"
    source.mkdir()
    (source / "documents.jsonl").write_text(
        "".join(json.dumps(d) + "\n" for d in [{"contents": "a", "id": "0"}, *documents])
    )
    tables = read_tables(source, "sage")
    found = records_in(written(tmp_path, tables), "documents.jsonl")
    ids = [d.doc_id for d in tables.peek("documents")]

    assert len(set(ids)) == len(ids)
    for given_one, one in zip(documents, found[1:], strict=True):
        assert one | {"id": given_one.get("id")} == given_one | {"id": given_one.get("id")}
        assert "id" not in given_one or one["id"] == given_one["id"]


def test_passages_of_other_formats(tmp_path: Path) -> None:
    documents = [
        Document("a", "Tides rise.", None, '{"page":1.0,"nested":{"a":[1]}}'),
        Document("b", "Tides fall.", "Ebb", '{"id":"x","text":"y"}'),
    ]
    tables = tables_of(documents=documents)
    target = written(tmp_path, tables)

    assert (target / "documents.jsonl").read_text().splitlines() == [
        '{"id":"a","contents":"Tides rise.","page":1.0,"nested":{"a":[1]}}',
        '{"id":"b","title":"Ebb","contents":"Tides fall.","ragdata_metadata":{"id":"x","text":"y"}}',
    ]
    assert list(read_tables(target, "sage").peek("documents")) == documents
    assert not tables.losses.any_lost


def test_chunks_are_documents(tmp_path: Path) -> None:
    tables = tables_of(
        documents=[Document("d", "whole", "Tides")], chunks=[Chunk("d1", "part", "d", 0, modality="text")]
    )

    assert records_in(written(tmp_path, tables), "documents.jsonl") == [
        {"id": "d1", "title": "Tides", "contents": "part"}
    ]
    assert {(t, c) for t, c, _ in losses_of(tables, "lost", "dropped")} >= {
        ("chunks", "doc_id"),
        ("chunks", "modality"),
    }


@st.composite
def questions(draw: st.DrawFn) -> list[Question]:
    """Questions as other formats give them, with extras in an order of their own."""
    found = []
    for question_id in draw(st.lists(WORDS, max_size=4, unique=True)):
        metadata = draw(
            st.dictionaries(st.sampled_from(["source", "id", "question", "answer", "hops", "split", "難"]), JSON)
        )
        answer = draw(st.one_of(st.none(), TEXTS))
        aliases = tuple(draw(st.lists(TEXTS, max_size=2))) if answer else ()
        split = draw(st.sampled_from([None, "train"]))
        columns = ["question_id", "text", *(["answer"] if answer else []), *(["split"] if split else [])]
        order = tuple(draw(st.permutations([*columns, *metadata]))) if draw(st.booleans()) else ()
        text = json.dumps(metadata, ensure_ascii=False, separators=(",", ":")) if metadata else None
        found.append(Question(question_id, draw(TEXTS), answer, aliases, split, text, order))
    return found


def untyped(question: Question) -> tuple[Any, ...]:
    """A question, its metadata as members in any order."""
    return (*question[:5], json.loads(question.metadata or "{}"), question.field_order)


@RANDOM
@given(questions())
def test_questions_come_back_with_everything(tmp_path: Path, given_ones: list[Question]) -> None:
    tables = tables_of(questions=[*given_ones, Question("the last one", "Which tide?")], format_name="arag")
    back = read_tables(written(tmp_path, tables), "sage")

    assert [untyped(q) for q in back.peek("questions")][:-1] == [untyped(q) for q in given_ones]
    assert not tables.losses.any_lost


@RANDOM
@given(st.data())
def test_random_tables_are_written_without_errors(tmp_path: Path, data: st.DataObject) -> None:
    ids = data.draw(st.lists(WORDS, min_size=1, max_size=3, unique=True))
    numbers = st.one_of(st.none(), st.floats(), st.integers(-3, 3))
    text = st.one_of(st.sampled_from(["", " ", "a", "b", "c"]), st.none())
    stages = st.sampled_from(["retrieval", "reranking", "refining", "bm25", "dense"])
    known = st.sampled_from([*ids, "nobody"])
    metadata = st.one_of(st.none(), st.sampled_from(['{"text":1,"score":"x","id":null}', '{"original_length":"9"}']))
    runs = st.builds(
        Run, known, stages, st.integers(1, 3), st.sampled_from([None, "d1", "d2"]), text, numbers, numbers, metadata
    )
    answers = st.builds(Answer, known, text, text, numbers, metadata)
    asked = [Question(i, data.draw(st.sampled_from(["q", "", " "])), data.draw(text), ("", "a")) for i in ids]
    tables = tables_of(
        questions=[Question(None, "q"), *asked],
        runs=data.draw(st.lists(runs, max_size=6)),
        answers=data.draw(st.lists(answers, max_size=3)),
        documents=[Document("d1", "one"), Document("d2", "")],
        format_name="trec",
    )

    for profile in ("", "operators"):
        written(tmp_path, CanonicalTables("notes", "trec", tables.sources, tables.losses), profile)


@RANDOM
@given(st.lists(documented_records(), min_size=1, max_size=3))
@example([{"query": "tide", "question": {"id": "t1", "split": "dev", "answer": ""}}])
def test_records_in_parts_say_the_same_as_whole(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    source = tmp_path / f"source{next(NUMBERS)}"
    source.mkdir()
    (source / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    tables = read_tables(source, "sage")
    parts = {t: s for t, s in tables.sources.items() if t != "traces"}
    back = read_tables(written(tmp_path, CanonicalTables("notes", "sage", parts, tables.losses)), "sage")

    for table in ("questions", "runs", "answers"):
        assert [row._replace(metadata=json.loads(row.metadata or "{}")) for row in back.peek(table)] == [
            row._replace(metadata=json.loads(row.metadata or "{}")) for row in tables.peek(table)
        ]


def test_a_run_gets_its_texts_from_the_passages(tmp_path: Path) -> None:
    tables = tables_of(
        questions=[Question("1", "q", "a"), Question("2", "r")],
        runs=[
            Run("2", "bm25", 1, "b", score=2.5),
            Run("1", "bm25", 2, "a", score=1.0),
            Run("1", "bm25", 1, "b", score=2.0),
            Run("1", "bm25", 3, "gone"),
            Run("9", "bm25", 1, "a"),
            Run("1", "dense", 1, "a"),
        ],
        documents=[Document("a", "Tides rise."), Document("b", "Tides fall.", "Ebb")],
        qrels=[Qrel("1", "a")],
    )
    first, second = records_in(written(tmp_path, tables))

    assert first["retrieval_results"] == [
        {"text": "Tides fall.", "score": 2.0, "metadata": {"id": "b", "title": "Ebb"}},
        {"text": "Tides rise.", "score": 1.0, "metadata": {"id": "a"}},
    ]
    assert second["retrieval_docs"] == ["Tides fall."]
    assert losses_of(tables, "dropped") == {
        ("runs", None, "its text is not known"): 1,
        ("runs", None, "its question is not there"): 1,
        ("runs", None, "a record has room for one retrieval, one reranking and one refining"): 1,
        ("qrels", None, "the target has no place for them"): 1,
    }
    assert losses_of(tables, "coerced") == {("runs", "stage", "another name of a stage became retrieval"): 3}


def test_reranking_has_only_texts_of_an_earlier_stage(tmp_path: Path) -> None:
    runs = [Run("1", "retrieval", 1, text="a"), Run("1", "reranking", 1, text="z"), Run("1", "reranking", 2, text="a")]
    tables = tables_of(questions=[Question("1", "q")], runs=runs)
    (record,) = records_in(written(tmp_path, tables))

    assert record["reranking_docs"] == ["a"]
    assert sum(losses_of(tables, "dropped").values()) == 1


def test_predictions_without_questions(tmp_path: Path) -> None:
    metadata = '{"question":"Which tide?","gold_answer":"spring tide","total_cost":0.10,"loops":3}'
    tables = tables_of(answers=[Answer("1", "neap", metadata=metadata)], format_name="arag")
    target = written(tmp_path, tables)

    assert records_in(target) == [
        {
            "query": "Which tide?",
            "question": {"id": "1"},
            "references": ["spring tide"],
            "generated": "neap",
            "answer_question": "Which tide?",
            "answer_gold_answer": "spring tide",
            "answer_total_cost": 0.1,
            "answer_loops": 3,
        }
    ]
    assert list(read_tables(target, "sage").peek("answers")) == [Answer("1", "neap", metadata=metadata)]


def test_nothing_to_write_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match="SAGE needs questions"):
        write_tables(tables_of(qrels=[Qrel("1", "a")], questions=[Question("1", " ")]), "sage", tmp_path)


def test_a_mapping_does_not_outlive_documents_that_were_split(tmp_path: Path) -> None:
    sources = {"chunks": lambda: iter([Chunk("a", "a text")]), "assets": lambda: iter([Asset("mapping.json", b"[0]")])}
    tables = CanonicalTables("notes", "sage", sources, tables_of().losses)
    written(tmp_path, tables)

    assert losses_of(tables, "dropped") == {("assets", None, "it counts documents, and these were split"): 1}


@pytest.mark.parametrize("profile", ["", "operators"])
def test_real_questions_of_arag_come_back_byte_for_byte(tmp_path: Path, profile: str) -> None:
    if not TWO_WIKI.is_dir():
        pytest.skip(f"{TWO_WIKI} is not there")
    source, back = tmp_path / "arag", tmp_path / "back"
    for folder in (source, back):
        folder.mkdir()
    for name in ("questions.json", "chunks.json"):
        (source / name).write_bytes(gzip.decompress((TWO_WIKI / f"{name}.gz").read_bytes()))
    tables = read_tables(source, "arag")
    write_tables(read_tables(written(tmp_path, tables, profile), "sage"), "arag", back)

    assert not tables.losses.any_lost
    for name in ("questions.json", "chunks.json"):
        assert (back / name).read_bytes() == (source / name).read_bytes()


def test_datamind_questions_come_back(tmp_path: Path) -> None:
    pytest.importorskip("ragdatakit.converters.datamind.converter")
    source, back = tmp_path / "bench", tmp_path / "back"
    source.mkdir()
    back.mkdir()
    lines = [
        {"question_id": "t1", "question": QUERY, "reference_answer": "spring tide", "level": 1.50},
        {"question": QUERY, "question_id": "t2", "reference_answer": "neap tide", "tags": ["moon"]},
    ]
    path = source / "data" / "bench" / "tides.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    target = written(tmp_path, read_tables(source, "datamind"))
    write_tables(read_tables(target, "sage"), "datamind", back)

    assert [r["references"] for r in records_in(target)] == [["spring tide"], ["neap tide"]]
    (found,) = back.rglob("*.jsonl")
    assert [json.loads(line) for line in found.read_text().splitlines()] == lines


def test_tables_read_together_are_those_read_alone(tmp_path: Path) -> None:
    odd = {"query": "q", "retrieval_results": ["bare", {"contents": "older", "": 1, "id": 3}], "retrieval_time": 2}
    lines = [odd, {"query": "r", "question": {"id": 7}, "retrieval_results": [], "retrieval_time": 1}]
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    for folder in (tmp_path, *FIXTURES.iterdir(), *FIXTURES.parent.glob("broken/sg2*")):
        with ragdatakit.open_database(folder) as together, ragdatakit.open_database(folder) as alone:
            together.connection()
            for table in alone.tables:
                assert together.relation(table).fetchall() == alone.relation(table).fetchall(), table
            assert [loss.as_dict() for loss in together.losses] == [loss.as_dict() for loss in alone.losses]


KEYS = st.sampled_from(["id", "title", "metadata", "ragdata_metadata"])
RESULTS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "text": st.one_of(TEXTS, st.integers(), st.none()),
            "score": st.sampled_from([0, 1, -2.5, 1e300, 10**30, None, True, "high", 7]),
            "similarity_score": st.sampled_from([0.5, None]),
            "id": st.one_of(WORDS, st.integers(), st.none()),
            "metadata": st.one_of(st.dictionaries(KEYS, JSON), JSON),
            "original_length": JSON,
        },
    ),
    max_size=3,
)


@given(
    results=st.one_of(
        RESULTS,
        st.lists(
            st.fixed_dictionaries(
                {"text": TEXTS},
                optional={
                    "score": st.floats(0, 1),
                    "metadata": st.dictionaries(st.sampled_from(["id", "title", "metadata"]), JSON),
                },
            ),
            max_size=3,
        ),
    )
)
@example(results=[{"text": "a", "score": None, "metadata": {"id": "c"}}])
@example(results=[{"text": "a", "score": 1, "metadata": {"id": "c"}}, {"text": "b", "metadata": {"id": "d"}}])
def test_usual_results_are_read_as_all_others(results: list[dict[str, Any]]) -> None:
    record = sage_generations.Fields(retrieval_results=sage_generations.raw_of(results))

    found = list(sage_rows.runs_of(record, "q", print))

    items = json_text.items_of(record["retrieval_results"]) or []
    assert [*map(repr, found)] == [repr(sage_rows._run(r, "q", "retrieval", n, None)) for n, r in enumerate(items, 1)]


def test_objects_keep_fields_whose_names_come_twice_and_values_as_they_stand() -> None:
    raw = json_text.fields_of('{"a": {"b" : [1.0, "c \\u00e9"]}, "d": 1E5}')

    assert json_text.object_text(raw) == '{"a":{"b":[1.0,"c \\u00e9"]},"d":1E5}'
    assert json_text.object_text([*raw.items(), ("d", raw["d"])]) == '{"a":{"b":[1.0,"c \\u00e9"]},"d":1E5,"d":1E5}'
    assert json_text.object_text({}) is None
