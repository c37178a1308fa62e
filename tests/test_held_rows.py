"""Rows that are held outside of the database: what is known of their columns is what SQL says of them."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pytest

from ragdatakit.api.report import report
from ragdatakit.converters import kept_columns, sql_tables
from ragdatakit.converters.sage import reading as sage_reading
from ragdatakit.converters.sage import scanned_records
from ragdatakit.database import dataset_database, text_facts
from ragdatakit.database.apart_rows import ColumnFacts
from ragdatakit.database.columns import (
    Kind,
    PackedColumn,
    RepeatedTexts,
    packed,
    packed_same,
    packed_texts,
    size_of_column,
    value_at,
    values_in,
)
from ragdatakit.database.conditions import Condition
from ragdatakit.database.dataset_database import DatasetDatabase
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.id_tables import integers_in
from ragdatakit.database.row_batches import schema_of
from ragdatakit.database.text_facts import TextFacts, known_of
from ragdatakit.database.text_places import KnownTexts
from ragdatakit.reports import summaries
from ragdatakit.reports.summary import texts
from ragdatakit.scanner.library import library
from ragdatakit.schemas.canonical import TABLES, Run
from ragdatakit.schemas.summaries import Summary
from tests.conversion_tools import tables_of

pytestmark = pytest.mark.skipif(library() is None, reason="rows are held with the compiled library only")

CHUNKS = (
    ("1", "a", "d", 0, None, "text", None, None, None),
    ("2", "b", "d", 1, None, " ", None, None, '{"x": 1}'),
    ("007", "c", "e", None, None, "text", None, None, "{}"),
    ("30", "d", None, 1, None, None, None, None, None),
    ("4", "e", "d", 4, None, "", None, None, None),
)


def held(table: str, *batches: Sequence[PackedColumn]) -> HeldRows:
    rows = HeldRows(table)
    rows.most = 1 << 20
    assert rows.take(iter(batches)) is None
    return rows


def columns_of(table: str, rows: Sequence[tuple[object, ...]]) -> list[PackedColumn]:
    kinds = HeldRows(table)._schema.values()
    return [packed(kind, values) for kind, values in zip(kinds, zip(*rows, strict=True), strict=True)]


def test_repeated_texts_are_as_if_each_row_had_its_own() -> None:
    values = packed(Kind.TEXT, ["b", "cd", "é"])
    repeated = RepeatedTexts(values, np.array([2, 0, 1, 3, 0, 0]))
    own = packed(Kind.TEXT, ["b", "b", "é", "b", "b", "b"])
    assert repeated.size == size_of_column(own)
    assert [value_at(repeated, row) for row in range(6)] == values_in(own)
    numbers = packed(Kind.INTEGER, [*range(6)])
    nothing = [packed_same(kind, None, 6) for kind in schema_of("runs").values()]
    by_runs, by_rows = HeldRows("runs"), HeldRows("runs")
    for rows, column in ((by_runs, repeated), (by_rows, own)):
        rows.add([column, column, numbers, *nothing[3:]])
        rows.add([column, own, *nothing[2:]])
    for name in ("question_id", "stage"):
        facts = by_rows.column(name)
        assert facts is not None
        assert by_runs.column(name) == facts
        assert facts.counts == {"b": 10, "é": 2}
        condition = Condition(name, "=", "é")
        assert np.array_equal(by_runs.chosen(condition), by_rows.chosen(condition))
        assert np.array_equal(by_runs.sizes(name), by_rows.sizes(name))
        assert np.array_equal(by_runs.rows_per_value(name), by_rows.rows_per_value(name))
    codes, there, counts = by_runs.codes("question_id") or ((), (), None)
    assert counts is not None
    own_codes, own_there, alone = by_rows.codes("question_id") or ((), (), ())
    assert alone is None
    assert np.array_equal(np.repeat(codes, counts), own_codes)
    assert np.array_equal(np.repeat(there, counts), own_there)
    assert [*by_runs.rows_at_hand()] == [*by_rows.rows_at_hand()]
    assert values_in(repeated) == values_in(own)


@pytest.mark.parametrize("missing", [6, 40])
def test_texts_that_are_missing_side_by_side_are_counted_as_such(missing: int) -> None:
    some = ["b", None, "", "b", "c", None]
    rows = HeldRows("runs")
    for names in ([None] * missing, some, ["b"] * 3):
        columns = [packed(Kind.TEXT, names), packed_same(Kind.TEXT, names[0], len(names))]
        rows.add(columns + [packed_same(kind, None, len(names)) for kind in [*schema_of("runs").values()][2:]])
    assert rows.column("question_id") == ColumnFacts(missing + 2, 1, 3, {"b": 5, "": 1, "c": 1})
    assert rows.column("stage") == ColumnFacts(missing, 0, 1, {"b": 9})
    assert rows.column("target_id") == ColumnFacts(missing + 9, 0, 0, {})
    chosen = rows.chosen(Condition("question_id", "=", "b"))
    assert chosen is not None
    assert np.flatnonzero(chosen).tolist() == [missing, *(missing + place for place in (3, 6, 7, 8))]
    sizes = [*([-1] * missing), 1, -1, 0, 1, 1, -1, 1, 1, 1]
    assert rows.sizes("question_id").tolist() == sizes


def test_repeated_texts_that_are_integers_are_known_as_such() -> None:
    repeated = RepeatedTexts(packed(Kind.TEXT, ["7", "12"]), np.array([1, 2]))
    others = [packed_same(kind, None, 3) for kind in schema_of("runs").values()][1:]
    rows = held("runs", [repeated, *others])
    ids = rows.ids("question_id")
    assert ids is not None
    assert ids.numbers.tolist() == [7, 12, 12]
    assert rows.codes("question_id") is None


def test_columns_are_counted_as_sql_counts_them() -> None:
    rows = held("chunks", columns_of("chunks", CHUNKS[:2]), columns_of("chunks", CHUNKS[2:]))
    with duckdb.connect() as connection:
        rows.give(connection)
        for name in ("chunk_id", "doc_id", "ordinal", "context", "modality"):
            query = f"select count(*) - count({name}), count(distinct {name}) from main.chunks"
            facts = rows.column(name)
            assert facts is not None
            assert (facts.missing, facts.distinct) == connection.execute(query).fetchall()[0]
    modality, metadata = rows.column("modality"), rows.column("metadata")
    assert modality is not None
    assert metadata is not None
    assert (modality.empty, modality.counts) == (2, {"text": 2, " ": 1, "": 1})
    assert (metadata.missing, metadata.empty) == (3, 1)
    per_document = rows.rows_per_value("doc_id")
    assert per_document is not None
    assert sorted(per_document.tolist()) == [1, 3]
    assert [tuple(row.values()) for row in rows.rows_at(range(5)).values()] == list(CHUNKS)
    assert (rows.column("text"), rows.column("per_document"), rows.ids("doc_id")) == (None, None, None)


def test_a_missing_text_that_has_bytes_is_not_counted() -> None:
    some = columns_of("documents", [("a", "x", None, None, ()), ("b", "y", None, None, ())])
    some[2] = packed_texts(b"  t", np.array([0, 2, 3]), np.array([0]))
    facts = held("documents", some).column("title")
    assert facts is not None
    assert (facts.missing, facts.empty, facts.distinct, facts.counts) == (1, 0, 1, {"t": 1})


def test_ids_are_numbers_where_nearly_all_are_integers() -> None:
    given = [str(number) for number in range(100, 600)]
    given[3], given[7], given[9] = "007", str(1 << 62), "-5"
    kinds = HeldRows("documents")._schema.values()
    rows = [(text, "t", None, None, ()) for text in given]
    batch = [packed(kind, values) for kind, values in zip(kinds, zip(*rows, strict=True), strict=True)]
    found = held("documents", batch).ids("doc_id")
    assert found is not None
    numbers, odd = found
    assert odd == {3: "007", 7: str(1 << 62)}
    assert [odd.get(row, str(number)) for row, number in enumerate(numbers.tolist())] == given
    assert (found.facts.missing, found.facts.distinct) == (0, 500)
    many_odd = [packed(Kind.TEXT, [f"d{text}" for text in given]), *batch[1:]]
    assert held("documents", many_odd).ids("doc_id") is None


@pytest.mark.parametrize("odd", ["D", "-", "1x", ""])
def test_ids_are_texts_where_more_than_one_in_a_hundred_is_no_integer(odd: str) -> None:
    found = []
    for number in (10, 11):
        ids = [odd if row % 90 == 5 and row < 90 * number else str(row) for row in range(1000)]
        batches = [ids[:300], ids[300:]]
        found.append(integers_in([packed(Kind.TEXT, batch) for batch in batches], 1000))

    assert [len(one.odd) if one is not None else None for one in found] == [10, None]


def test_numbers_are_counted_as_sql_counts_them() -> None:
    given = (0.5, -0.0, 0.0, None, 1, float("nan"), float("nan"), float("inf"))
    runs = [("q", "retrieval", place, None, None, score, None, None) for place, score in enumerate(given)]
    rows = held("runs", columns_of("runs", runs[:3]), columns_of("runs", runs[3:]))
    with duckdb.connect() as connection:
        rows.give(connection)
        counted = connection.execute("select count(*) - count(score), count(distinct score) from main.runs").fetchall()
    facts = rows.column("score")
    assert facts is not None
    assert [(facts.missing, facts.distinct)] == counted
    assert str([row["score"] for row in rows.rows_at(range(8)).values()]) == str([*map(_as_float, given)])


def _as_float(value: float | None) -> float | None:
    return None if value is None else float(value)


def test_lists_have_their_items() -> None:
    question = ("q", "t", None, ("a", "b"), "train", None, ())
    rows = held("questions", columns_of("questions", [question, (*question[:3], (), None, None, ())]))
    aliases = rows.column("aliases")
    assert aliases is not None
    assert aliases.missing == 1
    assert (rows.sizes("aliases").tolist(), rows.sizes("split").tolist()) == ([2, 0], [5, -1])
    assert [row["aliases"] for row in rows.rows_at([0, 1]).values()] == [["a", "b"], []]
    assert tuple(rows.rows_at([0])[0]) == TABLES["questions"].columns


@pytest.mark.parametrize("splits", [("train",), ("train", "validation")])
def test_masters_of_one_split_and_of_two_are_reported_as_by_rows(
    splits: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for split in splits:
        folder = tmp_path / split
        folder.mkdir()
        documents = [{"doc_id": number, "text": f"text {number} \U0001f600"} for number in range(1, 40)]
        queries = [{"qid": number, "text": "what is it" * number} for number in range(1, 9)]
        positives = [{"qid": number, "positive_doc_ids": [number, number + 1, number]} for number in range(1, 9)]
        triplets = [{"qid": n, "pos_doc_id": n, "neg_doc_id": n + 9} for n in range(1, 9)]
        for name, records in (
            ("doc_master", documents),
            ("query_master", queries),
            ("positive_lists", positives),
            ("triplets", triplets),
        ):
            lines = [json.dumps(record) for record in records]
            lines[3:3] = ["", "{broken", lines[2]]
            (folder / f"{name}.ndjson").write_text("\n".join(lines) + "\n")
    (by_rows,) = report(tmp_path)
    monkeypatch.setattr(sql_tables.sql_tables, "__defaults__", (0,))
    (by_columns,) = report(tmp_path)
    by_rows.seconds = by_columns.seconds = 0
    assert by_columns == by_rows


def test_what_cannot_be_read_is_a_loss_of_a_large_dataset_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree("fixtures/light-splade/valid/triplet", tmp_path / "set")
    place = next((tmp_path / "set").rglob("triplets.ndjson*"))
    place.unlink()
    place.mkdir()
    (by_rows,) = report(tmp_path / "set")
    monkeypatch.setattr(sql_tables.sql_tables, "__defaults__", (0,))
    (by_columns,) = report(tmp_path / "set")
    by_rows.seconds = by_columns.seconds = 0
    assert by_columns == by_rows
    assert any("it is a folder, not a file" in loss for loss in by_rows.losses)


def beir_folder(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    documents = [{"_id": f"d{n}", "title": "", "text": f"text {n} \U0001f600", "metadata": {}} for n in range(1, 40)]
    queries = [{"_id": f"q{n}", "text": f"What is it? {n}", "metadata": {}} for n in range(1, 20)]
    for name, records in (("corpus", documents), ("queries", queries)):
        lines = [json.dumps(record) for record in records]
        lines[3:3] = ["", "{broken", json.dumps({"_id": None, "text": "no id", "more": 1})]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    odd = ["", "q1\td9", 'q2\t"d3"\t1', "q3\td4\tx", "q4\td5\t1\tmore", "q5\td6\t9"]
    for split, first, more in (("train", 1, odd), ("test", 10, ["q99\td3\t1"])):
        lines = [f"q{n}\td{n % 5 + m}\t{m % 2}" for n in range(first, first + 9) for m in range(1, 4)]
        lines[5:5] = more
        (folder / "qrels" / f"{split}.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(lines) + "\n")
    return folder


def test_a_beir_folder_is_reported_without_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = beir_folder(tmp_path / "set")
    (by_rows,) = report(folder)
    monkeypatch.setattr(sql_tables.sql_tables, "__defaults__", (0,))
    monkeypatch.setattr(dataset_database, "_in_memory", None)
    (by_columns,) = report(folder)
    by_rows.seconds = by_columns.seconds = 0
    assert by_columns == by_rows
    assert {"leakage.positives", "coverage.questions"} <= {note.name for note in by_rows.notes}


@pytest.mark.parametrize(("query", "is_asked"), [("what is  IT? 12", True), ("Whát is it? 12", True), ("", False)])
def test_questions_that_may_leak_are_asked_of_the_database(
    query: str, is_asked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = beir_folder(tmp_path / "set")
    with (folder / "queries.jsonl").open("a") as file:
        file.write(json.dumps({"_id": "q0", "text": query, "metadata": {}}) + "\n")
    with (folder / "qrels" / "train.tsv").open("a") as file:
        file.write("q0\td1\t1\n")
    (by_rows,) = report(folder)
    monkeypatch.setattr(sql_tables.sql_tables, "__defaults__", (0,))
    begun, begin = [], dataset_database._in_memory
    monkeypatch.setattr(dataset_database, "_in_memory", lambda *given: begun.append(given) or begin(*given))
    (by_columns,) = report(folder)
    by_rows.seconds = by_columns.seconds = 0
    assert by_columns == by_rows
    assert bool(begun) is is_asked


def test_a_datamind_profile_is_reported_without_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = [{"id": f"c{n}", "text": f"text {n}", "source": "a.md", "metadata": {"page": n}} for n in range(20)]
    triples = [
        {"subject": f"E{n % 7}", "relation": "has", "object": f"E{n}", "object_type": "T", "confidence": one}
        for n, one in enumerate([0.5, -0.0, 0.0, None, 1, 0.25, 0.5] * 3)
    ]
    for folder, records in (("chunks", chunks), ("triplets", triples)):
        (tmp_path / "p" / folder).mkdir(parents=True)
        lines = [json.dumps(record) for record in records]
        lines[3:3] = ["", "{broken", json.dumps(records[2] | {"more": 1})]
        (tmp_path / "p" / folder / "one.jsonl").write_text("\n".join(lines) + "\n")
    (by_rows,) = report(tmp_path / "p")
    monkeypatch.setattr(sql_tables.sql_tables, "__defaults__", (0,))
    monkeypatch.setattr(dataset_database, "_in_memory", None)
    (by_columns,) = report(tmp_path / "p")
    by_rows.seconds = by_columns.seconds = 0
    assert by_columns == by_rows
    assert by_rows.graph is not None


def test_runs_that_are_in_no_order_are_reported_as_by_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(5)
    rows = [
        Run(
            f"q{dice.randrange(5)}",
            dice.choice(("retrieval", "reranking", "refining")),
            dice.randrange(1, 4),
            None,
            dice.choice(("", "some text", None)),
            dice.choice((0.5, -0.0, float("nan"), None)),
            dice.choice((0.25, 1.0, 2.0, None)),
        )
        for _ in range(400)
    ]

    def made() -> Summary:
        with DatasetDatabase(tables_of("notes", "sage", runs=rows)) as database:
            return summaries.summarize(database, alone=True)

    held_rows = made()
    monkeypatch.setattr(dataset_database, "_MOST_HELD", 0)
    assert made() == held_rows
    assert {"runs.compression", "runs.seconds"} <= {one.name for one in held_rows.distributions}


def sage_set(file: Path, id_form: str = "q{}") -> Path:
    """Records of which some have no id, no times, no results, or results without text or score."""
    lines = []
    for number in range(1, 30):
        scores = [0.5, -0.0, 0.0, number]
        texts = [f"result {rank} of {number % 5} \U0001f600" for rank in range(number % 4)]
        results = [
            {"text": text, **({"score": one} if number % 3 else {})} for text, one in zip(texts, scores, strict=False)
        ]
        record = {
            "query": f"What is it? {number}",
            "question": {"id": id_form.format(number)} if number % 11 else {},
            "references": ["a", "b", "c"][: number % 4],
            "retrieval_results": results,
            "retrieval_time": 0.25 * number,
            "refining_results": [{"text": text[: number % 9]} for text in texts[:2]],
            "prompt": "p" * (number % 6),
            "generated": f"answer {number}",
            "generation_time": number % 2,
        }
        lines.append(json.dumps({name: value for name, value in record.items() if number % 7 or name != "prompt"}))
    lines[3:3] = ["", "{broken", "[]", json.dumps({"query": "q", "results": [{"content": "x"}, "bare"]}), lines[2]]
    file.write_text("\n".join(lines) + "\n")
    return file.parent


@pytest.mark.parametrize(("id_form", "is_begun"), [("q{}", False), ("{}", True), ("{}-a", False)])
def test_tables_of_the_same_records_are_reported_without_a_database(
    id_form: str, is_begun: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sage_set(tmp_path / "records.jsonl", id_form)
    begun, begin = [], dataset_database._in_memory
    monkeypatch.setattr(dataset_database, "_in_memory", lambda *given: begun.append(given) or begin(*given))
    (held_rows,) = report(folder)
    assert bool(begun) is is_begun
    monkeypatch.setattr(dataset_database, "_MOST_HELD", 0)
    (by_database,) = report(folder)
    held_rows.seconds = by_database.seconds = 0
    assert held_rows == by_database
    assert {"runs.compression", "runs.seconds"} <= {one.name for one in held_rows.distributions}


def test_records_are_reported_by_columns_as_by_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = {"text": 'a "quoted" \U0001f600', "score": 0.5, "metadata": {"id": "c1"}}
    whole = {
        "query": "What is it?",
        "question": {"id": "q", "references": ["a", "b"]},
        "references": ["a", "b"],
        "retrieval_results": [result, {"text": " "}, {"text": "c", "page": 3, "more": [1, {"a": None}]}],
        "retrieval_docs": ["x"],
        "retrieval_time": 1,
        "refining_results": [{"text": "c", "original_length": 9, "compression_ratio": 0.5}],
        "prompt": "p",
        "generated": "a",
        "generation_time": 0.25,
    }
    others: list[dict[str, object]] = [
        {"question": {"id": 7}},
        {"question": {"id": "q8", "split": "train"}},
        {"question": {"id": "q9", "references": ["b"]}},
        {"question": {"id": "q"}, "references": [1]},
        {"references": None, "retrieval_time": -1},
        {"retrieval_results": [], "custom_one": 1},
        {"retrieval_results": [{"text": "x", "id": "c2"}, {"content": "y"}, "bare"]},
        {"retrieval_results": [{"text": "x", "metadata": {"id": "c3", "page": 1}, "score": 1 << 60}]},
        {"retrieval_results": [{"text": "x", "score": -0.0}, {"text": "\ud800"}]},
        {"refining_time": 3, "generation_time": 1e400},
        {"prompt": None},
    ]
    lines = []
    for place, other in enumerate([*others, *[{}] * 9]):
        lines += [json.dumps(whole | {"question": {"id": f"q{place}"}}, ensure_ascii=place % 2 > 0)]
        lines += [json.dumps({**whole, **other}), ""]
        for name in ("prompt", "generation_time", "references", "refining_results"):
            lines.append(json.dumps({key: value for key, value in whole.items() if key != name}))
    turned = {"refining_results": whole["refining_results"], **whole, "question": {"id": "turned"}}
    lines += [json.dumps(turned), json.dumps({**whole, "reranking_results": [result]}).replace("}]", "} ]")]
    lines[7:7] = ["{broken", "[]", '["q", ["d"]]', "3"]
    (tmp_path / "records.jsonl").write_text("\ufeff" + "\r\n".join(lines), "utf-8")
    with gzip.open(tmp_path / "more.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines[:20]))
    (by_rows,) = report(tmp_path)
    monkeypatch.setattr(sage_reading, "_WORTH", 0)
    monkeypatch.setattr(sage_reading._Tables, "together", None)
    (by_columns,) = report(tmp_path)
    by_rows.seconds = by_columns.seconds = 0
    assert by_columns == by_rows


def test_records_that_differ_in_turns_are_not_read_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = {"text": "a", "score": 0.5, "metadata": {"id": "c"}}
    lines = []
    for number in range(400):
        more = {"title": "t"} if number % 2 else {}
        results = [result | {"metadata": {"id": "c", **more}}]
        lines += [json.dumps({"query": "q", "question": {"id": f"q{number}"}, "retrieval_results": results})]
    (tmp_path / "records.jsonl").write_text("\n".join(lines))
    (by_rows,) = report(tmp_path)
    monkeypatch.setattr(sage_reading, "_WORTH", 0)
    batches: list[str] = []
    made = scanned_records.row_batches
    monkeypatch.setattr(
        scanned_records, "row_batches", lambda table, *given: batches.append(table) or made(table, *given)
    )
    (by_columns,) = report(tmp_path)
    by_rows.seconds = by_columns.seconds = 0
    assert by_columns == by_rows
    assert sorted(batches) == ["answers", "questions", "runs", "traces"]


def test_lines_that_differ_in_turns_are_read_as_the_reader_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [{"_id": f"d{number}", "text": f"text {number}"} for number in range(1500)]
    lines = [json.dumps(one | {"number": 1} if place % 2 else one) for place, one in enumerate(texts)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    (tmp_path / "queries.jsonl").write_text("\n".join(lines))
    judged = [f"d{number}\td{number}\t{10**30 if number % 2 else 1}" for number in range(1500)]
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *judged]))
    (by_rows,) = report(tmp_path)
    monkeypatch.setattr(sql_tables.sql_tables, "__defaults__", (0,))
    cuts: list[int] = []
    cut = kept_columns.KeptColumns._slice
    monkeypatch.setattr(kept_columns.KeptColumns, "_slice", lambda *given: cuts.append(given[-1]) or cut(*given))
    (by_columns,) = report(tmp_path)
    by_rows.seconds = by_columns.seconds = 0
    assert by_columns == by_rows  # grades that are too large are counted once
    assert len(cuts) < 1100


def test_members_that_were_counted_are_not_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = schema_of("chunks")
    texts = [['{"a":1}', None, '{"a":2,"b":3}'], ['{"b":1}', "{}"], ['{"c":[{"a":1}]}']]
    counted = [{"a": 2, "b": 1}, None, {"c": 1}]

    def rows(order: Sequence[int], most_small: int) -> HeldRows:
        monkeypatch.setattr("ragdatakit.database.held_rows._SMALL", most_small)
        batches = []
        for place in order:
            columns = {name: packed_same(kind, None, len(texts[place])) for name, kind in schema.items()}
            columns["metadata"] = replace(packed(Kind.TEXT, texts[place]), members=counted[place])
            batches.append([*columns.values()])
        return held("chunks", *batches)

    for order, most_small in (((0, 1, 2), 0), ((0, 1, 2), 10), ((2, 0), 10)):
        given = [text for place in order for text in texts[place]]
        facts = rows(order, most_small).column("metadata")
        assert facts is not None
        assert facts.objects is not None
        assert (facts.missing, facts.empty) == (given.count(None), given.count("{}"))
        assert facts.objects.counts() == Counter(name for text in given if text for name in json.loads(text))
    monkeypatch.setattr("ragdatakit.scanner.member_names.MemberNames.add", None)
    assert rows((2, 0), 10).column("metadata") is not None


def test_texts_that_may_be_integers_have_no_codes() -> None:
    def codes_of(*parts: PackedColumn) -> object:
        fields = (
            [packed_same(kind, None, part.length) for kind in [*schema_of("chunks").values()][1:]] for part in parts
        )
        rows = held("chunks", *([part, *others] for part, others in zip(parts, fields, strict=True)))
        return rows.codes("chunk_id")

    texts, missing = packed(Kind.TEXT, ["a", "7a", "", "-1 ", "x"]), packed_same(Kind.TEXT, None, 3)
    assert codes_of(missing, missing) is not None
    mixed = packed(Kind.TEXT, ["a", None, "b", "12", "c"])
    assert codes_of(texts, missing, texts) is not None
    assert codes_of(texts, missing, mixed) is None
    assert codes_of(mixed, texts) is None
    assert codes_of(replace(texts, known=known_of(texts))) is not None
    assert codes_of(texts, replace(mixed, known=known_of(mixed))) is None
    joined = KnownTexts.together([known_of(texts), known_of(mixed)])
    assert (joined.integers, joined.empty) == (1, 1)


@pytest.mark.parametrize("most_texts", [1 << 15, 8])
@pytest.mark.parametrize("longest_last", [False, True])
def test_tokens_are_counted_while_records_are_read(
    longest_last: bool, most_texts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_facts, "_MOST_TEXTS", most_texts)
    monkeypatch.setattr(texts, "measure", partial(texts.measure, most_bytes=3000))
    monkeypatch.setattr(summaries, "measure", texts.measure)
    monkeypatch.setattr(texts, "_MOST_BYTES", 3000)
    monkeypatch.setattr(scanned_records, "TEXT_BLOCK_BYTES", 4000)
    lines = []
    for number in range(90):
        size = 20 if longest_last and number > 70 else 3  # then the first guesses how many are wanted are wrong
        results = [{"text": f"word{number} é " * size * (place + 1)} for place in range(2)]
        lines += [json.dumps({"query": "q", "question": {"id": f"q{number}"}, "retrieval_results": results})]
    (tmp_path / "records.jsonl").write_text("\n".join(lines))
    (by_rows,) = report(tmp_path)
    monkeypatch.setattr(sage_reading, "_WORTH", 0)
    counted: list[int] = []
    count = TextFacts._count
    monkeypatch.setattr(TextFacts, "_count", lambda *given: counted.append(1) or count(*given))
    (by_columns,) = report(tmp_path)
    by_rows.seconds = by_columns.seconds = 0
    assert by_columns == by_rows
    assert len(counted) > 4
    assert any(note.name == "sampled.runs.text.tokens" for note in by_rows.notes)
