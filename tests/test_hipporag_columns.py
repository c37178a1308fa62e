"""Passages of HippoRAG that come from the scanner's columns: the rows, losses and judgements that the reader gives."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.api.report import report
from ragdatakit.converters import sql_tables
from ragdatakit.converters.hipporag import scanned_passages, scanned_questions
from ragdatakit.converters.hipporag.reading import OF_QUESTIONS, HippoRagReading, reading_of
from ragdatakit.converters.hipporag.sql_tables import hipporag_passages, hipporag_questions
from ragdatakit.database import dataset_database
from ragdatakit.database.dataset_database import DatasetDatabase
from ragdatakit.files.detection.find import detect
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library
from ragdatakit.schemas.conversions import Losses
from tests.conversion_tools import read_tables, rows

pytestmark = pytest.mark.skipif(library() is None, reason="columns come from the compiled library only")

PASSAGES = [{"title": f"title {n}", "text": f"text {n} of it \U0001f600", "idx": n} for n in range(40)]
ODD: dict[str, list[Any]] = {
    "plain": [],
    "other fields": [{"title": "a", "text": "b", "idx": 77, "more": {"x": 1}}, {"text": "c", "title": "d", "idx": 78}],
    "no text": [{"title": "a", "idx": 77}, {"title": "a", "text": None, "idx": 79}, {"text": "no title", "idx": 80}],
    "texts as idx": [{"title": "a", "text": "b", "idx": "x7"}, {"title": "a", "text": "c", "idx": "-0"}],
    "one idx twice": [{"title": "a", "text": "b", "idx": 3}],
    "one idx as a text": [{"title": "a", "text": "b", "idx": "3"}],
    "no idx": [{"title": "a", "text": "b"}],
    "another idx": [{"title": "a", "text": "b", "idx": 1.5}, {"title": "a", "text": "b", "idx": True}],
    "large idx": [{"title": "a", "text": "b", "idx": 10**25}],
    "below 0": [{"title": "a", "text": "b", "idx": -4}],
    "alike": [{"title": "title 3", "text": "text 3 of it \U0001f600", "idx": 81}],
    "line feed in a title": [
        {"title": "title 8\ntext", "text": "8", "idx": 81},
        {"title": "u", "text": "v", "idx": 82},
    ],
    "half a character": [{"title": "a", "text": "b\ud800", "idx": 81}],
    "no objects": [5, ["a"], None, {"title": "a", "text": "b", "idx": 82}],
    "minus nothing": ['{"title": "a", "text": "b", "idx": -0}'],
    "a name twice": ['{"title": "a", "text": "b", "text": "c", "idx": 84}'],
    "no text and no idx": [{"title": "a", "text": None}],
    "no text and an idx twice": [{"title": "a", "idx": 7}],
}


def made(folder: Path, odd: list[Any], *, numbered: bool = True) -> Path:
    folder.mkdir()
    passages = [p if numbered else {k: v for k, v in p.items() if k != "idx"} for p in PASSAGES]
    given = [one if isinstance(one, str) else json.dumps(one) for one in [*passages[:20], *odd, *passages[20:]]]
    (folder / "made_corpus.json").write_text("[\n" + ",\n".join(given) + "\n]\n")
    asked = []
    for n in range(1, 30):
        paragraphs = [{**PASSAGES[n + m], "is_supporting": m == 0} for m in range(3)]
        paragraphs.append({"title": "title 8", "text": "text\n8", "is_supporting": n % 2 == 0})
        paragraphs.append({"title": "u\nv", "text": f"{n % 3}" if n % 3 else "", "is_supporting": True})
        asked.append({"id": f"q{n}", "question": f"Which {n}?", "answer": ["x"], "paragraphs": paragraphs})
    (folder / "made.json").write_text(json.dumps(asked))
    return folder


def rows_of(folder: Path) -> Any:
    tables = read_tables(folder, "hipporag")
    return rows(tables), [loss.as_dict() for loss in tables.losses]


EACH_CASE = pytest.mark.parametrize(
    ("case", "numbered"), [*((case, True) for case in ODD), *((case, False) for case in ("plain", "no text", "alike"))]
)


@EACH_CASE
def test_blocks_of_texts_give_the_passages_that_the_reader_gives(
    case: str, numbered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "set", ODD[case], numbered=numbered)
    tables, losses = read_tables(folder, "hipporag"), Losses()
    (dataset,) = detect(folder, "hipporag").datasets
    monkeypatch.setattr(scanned_passages, "_WORTH", 0)

    found = [row for block in hipporag_passages(dataset, RecordReader(losses), 2) for row in block]

    given = [(row.doc_id, row.text, row.title or "") for row in tables.peek("documents")]
    assert [(row.doc_id, row.text, row.title or "") for row in found] == given
    assert [loss.as_dict() for loss in losses] == [loss.as_dict() for loss in tables.losses]


@EACH_CASE
def test_columns_give_what_the_reader_gives(
    case: str, numbered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "set", ODD[case], numbered=numbered)
    (by_rows,), tables = report(folder), rows_of(folder)
    monkeypatch.setattr(sql_tables.sql_tables, "__defaults__", (0,))
    monkeypatch.setattr(scanned_passages, "_WORTH", 0)
    (by_columns,) = report(folder)
    by_rows.seconds = by_columns.seconds = 0
    assert by_columns == by_rows
    assert rows_of(folder) == tables


def asked(number: int, **fields: Any) -> dict[str, Any]:
    paragraphs = [{**PASSAGES[number + m], "is_supporting": m % 2 == 0} for m in range(4)]
    return {"id": f"q{number}", "question": f"Which {number}?", "answer": ["x"], "paragraphs": paragraphs, **fields}


def paragraph(number: int, **fields: Any) -> dict[str, Any]:
    return {**PASSAGES[number], "is_supporting": True, **fields}


QUESTIONS: dict[str, list[Any]] = {
    "plain": [],
    "answers": [asked(n, answer=answer) for n, answer in enumerate([["a", "b"], [], [""], ["", "a"], "a", None, 3])],
    "further fields": [asked(1, type="bridge"), asked(2, level={"a": 1}), asked(3, metadata=None)],
    "another order": [dict(reversed(asked(1).items()))],
    "no id": [{**asked(1), "id": None}, {"question": "What?", "answer": ["x"]}, asked(2, id=4), asked(2, id="")],
    "no text": [asked(1, question=None), asked(2, question="")],
    "no corpus": [asked(1, paragraphs=[paragraph(1, title="elsewhere"), paragraph(2), paragraph(3)])],
    "another place": [asked(1, paragraphs=[paragraph(2), paragraph(2), paragraph(2, is_supporting=False)])],
    "other marks": [asked(1, paragraphs=[paragraph(n, is_supporting=mark) for n, mark in enumerate((0, "no", None))])],
    "no marks": [asked(1, paragraphs=[PASSAGES[4], PASSAGES[5]])],
    "other texts": [asked(1, paragraphs=[paragraph(1, paragraph_text="b"), {"title": "title 3"}, 5]), asked(2)],
    "none": [asked(1, paragraphs=[]), asked(2, paragraphs=None), asked(3, paragraphs={})],
    "another shape": [{"question": "?", "supporting_facts": [["a", 0]], "context": [["a", ["b"]]], "answer": "a"}],
    "half a character": [asked(1, id="\ud800"), asked(2, question="\udc00?")],
    "no objects": [5, None, [asked(1)]],
    "a name twice": ['{"id": "a", "id": "b", "question": "x", "answer": ["b"], "paragraphs": []}'],
    "no number of 64 bits": [asked(1, paragraphs=[paragraph(3, idx=10**20)])],
}
SHAPES: dict[str, dict[str, Any]] = {
    "musique": {"id": "2hop__1_2", "answer": "a", "answer_aliases": ["b"], "answerable": True},
    "numbers": {"id": 3},
    "kinds": {"type": "comparison", "level": "hard"},
    "contexts": {"contexts": [paragraph(4)]},
    "numbers as texts": {"id": "12"},
}


def with_questions(folder: Path, questions: list[Any]) -> Path:
    made(folder, [])
    given = ", ".join(q if isinstance(q, str) else json.dumps(q) for q in questions)
    (folder / "made.json").write_text(f"[{given}]")
    return folder


def both_ways(folder: Path, monkeypatch: pytest.MonkeyPatch, **given: Any) -> tuple[Any, Any]:
    """What is reported by columns, and by rows."""
    (by_rows,) = report(folder, **given)
    with monkeypatch.context() as patched:
        patched.setattr(sql_tables.sql_tables, "__defaults__", (0,))
        patched.setattr(scanned_passages, "_WORTH", 0)
        (by_columns,) = report(folder, **given)
    by_rows.seconds = by_columns.seconds = 0
    return by_columns, by_rows


def test_questions_by_columns_are_those_of_the_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = [asked(n) for n in range(30)]
    for place, odd in enumerate(QUESTIONS.values()):
        questions[2 * place + 1 : 2 * place + 1] = odd
    folder = with_questions(tmp_path / "set", questions)
    by_columns, by_rows = both_ways(folder, monkeypatch, examples=100)
    assert by_columns == by_rows
    assert by_rows.losses


@pytest.mark.parametrize("shape", SHAPES)
def test_questions_of_all_shapes_are_those_of_the_reader(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_shape = [asked(n, **SHAPES[shape]) for n in range(20)]
    folder = with_questions(tmp_path / "set", [*of_shape, asked(7), of_shape[0] | {"answer": ""}])
    by_columns, by_rows = both_ways(folder, monkeypatch)
    assert by_columns == by_rows


def by_columns_for_quality(patched: pytest.MonkeyPatch) -> None:
    """Small sets are read by columns, too, where their quality is checked."""
    for function in (sql_tables.blocks_of, sql_tables.columns_of_questions):
        patched.setattr(function, "__defaults__", (0,))
    patched.setattr(scanned_passages, "_WORTH", 0)


def found_in(folder: Path, jobs: int) -> list[Any]:
    quality = {"near-words": 3, "least-words": 100, "near-similarity": 0.3}
    result = validate(folder, quality=quality, max_per_rule=0, jobs=jobs)
    return [one for one in result.findings if one.code.startswith("QU")]


@pytest.mark.parametrize("most", [3, 1 << 14])
@pytest.mark.parametrize("seed", range(12))
def test_quality_finds_the_same_by_columns(
    seed: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    shape = rng.choice([{}, *SHAPES.values()])
    odd = [one for several in QUESTIONS.values() for one in several]
    odd = [one for one in odd if seed % 3 or "\\ud" not in json.dumps(one) or rng.random() < 0.1]
    questions = [rng.choice([asked(n, **shape), rng.choice(odd)]) for n in [*range(30)] * 2]
    questions[9:9] = [asked(3, **shape | {"question": "Which 4?"}), asked(6, **shape | {"question": "Wh\u0007ich?"})]
    folder = with_questions(tmp_path / "set", [asked(0, **shape), asked(4, **shape), *questions])
    tables = read_tables(folder)
    by_rows, found = {table: list(tables.peek(table)) for table in OF_QUESTIONS}, found_in(folder, 1)
    monkeypatch.setattr(scanned_questions, "_MOST_TRIPLETS", most)
    by_columns_for_quality(monkeypatch)

    assert found_in(folder, 1 + seed % 2) == found != []
    (dataset,) = detect(folder).datasets
    for table, source in hipporag_questions(dataset, RecordReader(Losses())).items():
        rows = [row._replace(aliases=tuple(row.aliases)) if table == "questions" else row for row in source()]
        assert [[*row[:5]] for row in rows] == [[*row[:5]] for row in by_rows[table]]


def test_questions_are_read_by_columns_for_quality(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [{"title": f"t{n}", "text": f"of {n}", "idx": 1000 + n} for n in range(600)]
    paragraphs = [{**one, "is_supporting": n % 2 == 0} for n, one in enumerate(many)]
    folder = with_questions(tmp_path / "set", [asked(0), asked(1, paragraphs=paragraphs), asked(2)])
    (folder / "made_corpus.json").write_text(json.dumps([*PASSAGES, *many]))
    by_columns_for_quality(monkeypatch)
    monkeypatch.setattr(HippoRagReading, "together", lambda *_: pytest.fail("the reader was asked"))
    (dataset,) = detect(folder).datasets

    triplets = list(hipporag_questions(dataset, RecordReader(Losses()))["triplets"].columns())

    assert sum(len(columns[0]) for columns in triplets) == 300 * 300 + 8
    assert max(len(columns[0]) for columns in triplets) <= 1 << 14
    assert found_in(folder, 1)


def test_a_report_on_usual_questions_needs_no_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = with_questions(tmp_path / "set", [asked(n) for n in range(30)])
    monkeypatch.setattr(sql_tables.sql_tables, "__defaults__", (0,))
    monkeypatch.setattr(DatasetDatabase, "_connect", lambda _: pytest.fail("there is a database"))
    (found,) = report(folder)
    assert [table.rows for table in found.tables] == [40, 30, 60, 120]
    shown = [json.loads(one.row["metadata"]) for one in found.examples if one.table == "questions"]
    assert shown[0]["paragraphs"][0] == {**PASSAGES[0], "is_supporting": True}


def test_questions_that_are_many_for_the_memory_go_to_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = with_questions(tmp_path / "set", [asked(n % 30, id=f"q{n}") for n in range(300)])
    monkeypatch.setattr(dataset_database, "_MOST_HELD", 1 << 13)
    by_columns, by_rows = both_ways(folder, monkeypatch)
    assert by_columns == by_rows


def test_each_data_set_of_a_folder_is_read_by_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = with_questions(tmp_path / "set", [asked(n) for n in range(30)])
    (folder / "other_corpus.json").write_text(json.dumps(PASSAGES[:20]))
    (folder / "other.json").write_text(json.dumps([asked(n) for n in range(20)]))
    by_rows = report(folder)
    monkeypatch.setattr(sql_tables.sql_tables, "__defaults__", (0,))
    monkeypatch.setattr(scanned_passages, "_WORTH", 0)
    monkeypatch.setattr(HippoRagReading, "together", lambda *_: pytest.fail("the reader was asked"))
    by_columns = report(folder)
    assert [each.name for each in by_columns] == ["made", "other"]
    for one, other in zip(by_columns, by_rows, strict=True):
        one.seconds = other.seconds = 0
        assert one == other


@pytest.mark.parametrize("lines", [True, False])
def test_a_corpus_that_is_no_array_is_read_as_the_reader_reads_it(
    lines: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "set", [])
    text = "\n".join(map(json.dumps, PASSAGES)) if lines else json.dumps({"docs": PASSAGES})
    (folder / "made_corpus.json").write_text(text)
    (by_rows,), tables = report(folder, source_format="hipporag"), rows_of(folder)
    monkeypatch.setattr(sql_tables.sql_tables, "__defaults__", (0,))
    monkeypatch.setattr(scanned_passages, "_WORTH", 0)
    (by_columns,) = report(folder, source_format="hipporag")
    by_rows.seconds = by_columns.seconds = 0
    assert by_columns == by_rows
    assert rows_of(folder) == tables


def test_very_many_passages_that_the_scanner_leaves_are_called_after_their_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "set", [], numbered=False)
    passages = [{"title": "t", "text": f"{n}", "url": "u"} for n in range(9000)]
    (folder / "made_corpus.json").write_text(json.dumps(passages))
    monkeypatch.setattr(sql_tables.sql_tables, "__defaults__", (0,))

    (found,) = report(folder)

    (ids, *_) = found.ids
    assert (ids.distinct, ids.minimum, ids.maximum) == (9000, 0, 8999)


def test_triplets_of_a_question_with_many_passages_are_never_all_in_memory(tmp_path: Path) -> None:
    many = [{"title": f"t{n}", "text": f"of {n}", "is_supporting": n % 2 == 0} for n in range(600)]
    folder = with_questions(tmp_path / "set", [asked(0), asked(1, paragraphs=many), asked(2)])
    (folder / "made_corpus.json").write_text(json.dumps([*PASSAGES, *many]))
    (dataset,) = detect(folder).datasets
    reading = reading_of(dataset, RecordReader(Losses()), None, "auto")

    some = list(reading.together(OF_QUESTIONS))

    assert max(len(rows) for each in some for rows in each.values()) < 300 * 300
    found = {table: [row for each in some for row in each[table]] for table in OF_QUESTIONS}
    assert [len(found[table]) for table in OF_QUESTIONS] == [3, 304, 300 * 300 + 8]
    assert found == {table: list(reading.rows(table)) for table in OF_QUESTIONS}


def test_one_reading_gives_checks_of_quality_all_tables_of_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = with_questions(tmp_path / "set", [asked(n) for n in range(30)])
    apart = {table: list(read_tables(folder).peek(table)) for table in OF_QUESTIONS}
    read = list[int]()
    records = HippoRagReading._records

    def counted(self: HippoRagReading) -> Any:
        read.append(1)
        return records(self)

    monkeypatch.setattr(HippoRagReading, "_records", counted)
    tables = read_tables(folder)
    tables.keep(*OF_QUESTIONS)
    found = {table: [list(tables.peek(table)) for _ in range(2)] for table in OF_QUESTIONS}

    assert len(read) == 1
    for table, (first, again) in found.items():
        assert [[*map(str, row)] for row in first] == [[*map(str, row)] for row in apart[table]]
        assert len(again) == len(first)
