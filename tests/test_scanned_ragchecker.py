"""Results of RAGChecker as columns: a report says the same of them as of rows, in one reading of their file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit.api.report import report
from ragdatakit.converters.ragchecker import reading, scanned_rows
from ragdatakit.database import dataset_database
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.containers.arrays import WrappedSource
from ragdatakit.files.reading.canonical_tables import CanonicalTables, RowsAtHand
from ragdatakit.files.reading.tables_together import SharedRows
from ragdatakit.schemas.canonical import Run
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.summaries import Summary
from tests.block_mutations import tries
from tests.conversion_tools import read_tables
from tests.scanner_tools import needs_scanner
from tests.value_mutations import damaged_value

pytestmark = needs_scanner
LABELS = ("Entailment", "Neutral", "Contradiction")


def row(number: int, rng: Random, own_ids: bool) -> dict[str, Any]:
    """A whole row; its ids are unique in all rows, or in this one only."""
    passages = [
        {
            "doc_id": f"{place:03}" if own_ids else f"d{number + place}",
            "text": f"Kettle Reef {number + place} é \U0001f600",
        }
        for place in range(rng.randrange(4))
    ]
    claims = [["Joss Alder", "mapped", "the reef"], "It was in 1931."][: rng.randrange(3)]

    def labels(count: int) -> list[str]:
        return rng.choices(LABELS, k=count)

    return {
        "query_id": f"q{number}",
        "query": f"Who mapped reef {number}?",
        "gt_answer": "Joss Alder mapped it.",
        "response": "Joss Alder did.",
        "retrieved_context": passages,
        "response_claims": claims,
        "gt_answer_claims": claims,
        "answer2response": labels(len(claims)),
        "response2answer": labels(len(claims)),
        "retrieved2response": [labels(len(passages)) for _ in claims],
        "retrieved2answer": [labels(len(passages)) for _ in claims],
        "metrics": {"precision": 0.50},
    }


def written(folder: Path, rows: list[Any], indent: int | None = 2) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "checking_outputs.json").write_text(json.dumps({"results": rows}, indent=indent))
    return folder


def reported(folder: Path) -> Summary:
    (found,) = report(folder)
    found.seconds = 0
    return found


def by_columns(patch: pytest.MonkeyPatch, block_bytes: int = 1 << 21) -> None:
    patch.setattr(reading, "_WORTH", 0)
    patch.setattr(scanned_rows, "_BLOCK", block_bytes)


@pytest.mark.parametrize("own_ids", [False, True])
@pytest.mark.parametrize("indent", [None, 2])
def test_whole_rows_are_read_once(
    own_ids: bool, indent: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row(number * (5 if number % 3 else 1), Random(number), own_ids) for number in range(30)]
    folder = written(tmp_path / "set", rows, indent)
    by_rows = reported(folder)
    by_columns(monkeypatch, 6000)
    opened: list[int] = []
    begin = WrappedSource.begin
    monkeypatch.setattr(WrappedSource, "begin", lambda self: opened.append(1) or begin(self))
    monkeypatch.setattr(reading.RagCheckerReading, "rows", None)
    assert reported(folder) == by_rows
    assert len(opened) == 1
    assert by_rows.claims is not None
    assert {table.name: table.rows for table in by_rows.tables}["questions"] == 30


def test_odd_rows_are_read_by_the_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes: list[dict[str, Any]] = [
        {"query_id": 7},
        {"query_id": None, "query": None},
        {"gt_answer": ["a", 1, "b"]},
        {"response": {"a": 1}},
        {"retrieved_context": None},
        {"retrieved_context": [{"doc_id": "x", "text": "t", "score": 0.5, "title": "T", "page": 1}, "bare", None]},
        {"retrieved_context": [{"text": "no id"}, {"doc_id": "y", "chunk_id": 3, "text": "t"}, {"doc_id": "z"}]},
        {"retrieved_context": [{"doc_id": "q1/000", "text": None}]},
        {"retrieved2answer": [["entailment"]], "metrics": None},
        {"retrieved2answer": None, "response_claims": "text"},
        {"more": [1.50, {"a": None}], "n\u00e9": 1},
        {"response": "\ud800 half"},
    ]
    rows = [row(place, Random(place), own_ids=False) | change for place, change in enumerate([*changes, *[{}] * 40])]
    rows += [{name: value for name, value in row(99, Random(1), False).items() if name != left} for left in rows[0]]
    Random(5).shuffle(rows)
    data = json.dumps({"results": [*rows, 3, []], "metrics": {}}, indent=1).replace("1.5,", "NaN,")
    (tmp_path / "checking_outputs.json").write_text(data.replace("}\n ]", "},{broken}\n ]"))
    with gzip.open(tmp_path / "checking_inputs.json.gz", "wt") as file:
        file.write(data)
    by_rows = reported(tmp_path)
    by_columns(monkeypatch)
    finished: list[bool] = []
    batches = scanned_rows.RowColumns.batches

    def watched(self: scanned_rows.RowColumns) -> Any:
        yield from batches(self)
        finished.append(self.by_row)

    monkeypatch.setattr(scanned_rows.RowColumns, "batches", watched)
    assert reported(tmp_path) == by_rows
    assert finished
    assert len(by_rows.losses) > 2


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_reported_alike(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    for number in range(tries(12) // 4):
        own_ids = rng.random() < 0.5
        rows = [row(place, rng, own_ids) for place in range(rng.randrange(12))]
        for place in rng.sample(range(len(rows)), min(len(rows), rng.randrange(3))):
            rows[place] = damaged_value(rows[place], rng, rng.choice((1, 2)))
        folder = written(tmp_path / f"{seed}-{number}", rows, rng.choice((None, 1)))
        if rng.random() < 0.3:
            file = folder / "checking_outputs.json"
            data = file.read_bytes()
            cut = rng.randrange(len(data))
            file.write_bytes(data[:cut] + rng.choice((b"", b'"', b",", b"}", b"\xff")) + data[cut + 1 :])
        plain = reported(folder)
        with pytest.MonkeyPatch.context() as patch:
            by_columns(patch, rng.choice((200, 2000, 1 << 21)))
            assert reported(folder) == plain, folder


def read(folder: Path, together: bool) -> Any:
    """The rows of all tables, and what was lost."""
    tables = read_tables(folder, "ragchecker")
    found: dict[str, list[Any]] = {table: [] for table in tables.sources}
    source = tables.sources["questions"]
    try:
        if together:
            assert isinstance(source, SharedRows)
            for rows in source.group.together(found):
                for table, some in rows.items():
                    found[table] += some
        else:
            for table, some in found.items():
                some += tables.sources[table]()
    except RagdataError as error:
        return str(error)
    return found, sorted(map(repr, (loss.as_dict() for loss in tables.losses)))


@pytest.mark.parametrize("seed", range(4))
def test_tables_that_are_read_together_are_those_that_are_read_one_by_one(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(seed)
    monkeypatch.setattr(reading, "_AT_ONCE", 3000)
    for number in range(tries(12) // 4):
        own_ids = rng.random() < 0.5
        rows = [row(place, rng, own_ids) for place in range(rng.randrange(1, 12))]
        for place in rng.sample(range(len(rows)), min(len(rows), rng.randrange(3))):
            rows[place] = damaged_value(rows[place], rng, 1)
        odd = row(99, rng, own_ids) | {"query_id": 99}  # what is said of it is said once
        folder = written(tmp_path / f"{seed}-{number}", [odd, *rows])
        monkeypatch.setattr(reading, "_WORTH", 1 << 20)
        one_by_one = read(folder, together=False)
        monkeypatch.setattr(reading, "_WORTH", rng.choice((0, 1 << 20)))
        assert read(folder, together=True) == one_by_one, folder
        assert read(folder, together=False) == one_by_one, folder


def test_ids_are_of_their_row_where_inputs_beside_results_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path / "set", [row(number * 5, Random(1), own_ids=False) for number in range(3)])
    other = {"doc_id": "d0", "text": "another text"}
    hits = [{"query_id": "more", "query": "Who?", "gt_answer": "Joss", "hits": [other]}]
    (folder / "some_queries.json").write_text(json.dumps({"input_data": hits}))
    by_rows = read(folder, together=False)
    assert "q0/d0" in {document.doc_id for document in by_rows[0]["documents"]}
    by_columns(monkeypatch)
    assert read(folder, together=False) == by_rows


def test_ids_that_turn_out_to_be_of_their_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns are given up where parts before have other ids already."""
    rows = [row(number * 5, Random(number), own_ids=False) for number in range(20)]
    rows[-2]["retrieved_context"] = rows[-3]["retrieved_context"] = [{"doc_id": "d", "text": "one"}]
    rows[-2] = json.loads(json.dumps(rows[-2]))
    rows[-2]["retrieved_context"][0]["text"] = "another"
    folder = written(tmp_path / "set", rows)
    by_rows = reported(folder)
    by_columns(monkeypatch, 3000)
    assert reported(folder) == by_rows
    assert next(ids for ids in by_rows.ids if ids.table == "documents").examples[0].startswith("q")


def test_texts_of_two_tables_are_held_and_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row(number * 5, Random(number + 1), own_ids=False) for number in range(30)]
    folder = written(tmp_path / "set", rows)
    by_columns(monkeypatch)
    held: dict[str, list[bytes]] = {"documents": [], "runs": []}
    counted: list[int] = []
    add, count = dataset_database.HeldRows.add, TextFacts._count

    def held_rows(self: Any, columns: Any) -> bool:
        if self._table in held:
            held[self._table].append(columns[list(self._schema).index("text")].buffers[2])
        return add(self, columns)

    def counting(self: TextFacts, column: Any, known: Any) -> None:
        count(self, column, known)
        counted.append(len(known.counted))

    monkeypatch.setattr(dataset_database.HeldRows, "add", held_rows)
    monkeypatch.setattr(TextFacts, "_count", counting)
    reported(folder)
    assert any(one is other for one in held["documents"] for other in held["runs"])
    assert set(counted) == {1}


def test_rows_are_chosen_by_a_column() -> None:
    runs = [Run(f"q{number % 3}", "retrieval", number) for number in range(9)]
    tables = CanonicalTables("x", "ragchecker", {"runs": lambda: iter(runs)}, Losses())
    assert [run.rank for run in tables.peek_having("runs", "question_id", {"q1"})] == [1, 4, 7]
    asked: list[Any] = []
    tables.sources["runs"] = RowsAtHand(lambda: iter(runs), lambda *given: asked.append(given) or iter(runs[:1]))
    assert [*tables.peek_having("runs", "question_id", {"q1"})] == runs[:1]
    assert asked == [("question_id", {"q1"})]
    assert [*tables.peek("runs")] == runs
