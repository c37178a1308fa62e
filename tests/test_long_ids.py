"""Ids that are long and that many rows have, as one of megabytes on a record of SAGE with hundreds of results."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from ragdatakit.api.report import report
from ragdatakit.database import columns, row_batches, tables_of_rows
from ragdatakit.database.arrow_streams import ColumnStream, incoming
from ragdatakit.database.columns import Kind, RepeatedTexts, in_parts, most_written, packed, packed_same, values_in
from ragdatakit.database.id_tables import integers_in
from ragdatakit.scanner.library import library
from ragdatakit.schemas.canonical import Run
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import MachineError
from tests.command_line import run
from tests.test_arrow_streams import VALUES

LONG = "é" * 100_000
RESULTS = 300


@pytest.fixture
def long_id(tmp_path: Path) -> Path:
    records = [
        {
            "query": f"who keeps harbour {number}",
            "question": {"id": LONG if number == 2 else f"q{number}", "references": ["the mayor"]},
            "references": ["the mayor"],
            "retrieval_results": [{"text": f"text {each}", "score": 1 - each / 1000} for each in range(RESULTS)],
        }
        for number in range(9)
    ]
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    (tmp_path / "records.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path


@pytest.mark.skipif(library() is None, reason="rows are held with the compiled library only")
def test_a_report_does_not_write_them_out(long_id: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_out(column: RepeatedTexts, name: str) -> object:
        assert column.size < RESULTS * len(LONG)
        return made(column, name)

    made = RepeatedTexts.__getattr__
    monkeypatch.setattr(RepeatedTexts, "__getattr__", write_out)

    (summary,) = report(long_id, memory_limit=16 << 20)

    assert {table.name: table.rows for table in summary.tables}["runs"] == 9 * RESULTS
    assert not summary.losses


@pytest.mark.parametrize("blank", [" " * len(LONG), " ", ""])
@pytest.mark.parametrize("long", [False, True])
def test_those_of_blanks_are_counted_as_empty(
    long: bool, blank: str, long_id: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_out(column: RepeatedTexts, name: str) -> object:
        assert column.size < RESULTS * len(LONG) or library() is None
        return made(column, name)

    made = RepeatedTexts.__getattr__
    monkeypatch.setattr(RepeatedTexts, "__getattr__", write_out)
    records = long_id / "records.jsonl"
    text = records.read_text("utf-8").replace('"q3"', json.dumps(blank))
    records.write_text(text if long else text.replace(LONG, "q2"), "utf-8")

    (summary,) = report(long_id)

    runs = next(table for table in summary.tables if table.name == "runs")
    assert (runs.columns[0].empty, runs.columns[0].distinct) == (RESULTS, 9)


def test_where_memory_does_not_suffice_their_place_is_reported(long_id: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_of_rows, "library", lambda: None)
    monkeypatch.setattr(tables_of_rows, "_LARGE", 1 << 20)

    done = run("report", str(long_id), "--memory-limit", "16MiB")

    assert done.code == 2
    assert re.search(
        r'records\.jsonl:3: runs\.question_id "é{49}…" has 100,000 characters in 300 rows, 60\.0 MB in all', done.err
    )


@pytest.mark.parametrize(
    "ids", [[LONG] * 40 + ["b"] * 3, ["7"] * 3 + [LONG] * 40, [LONG] * 43, [LONG] * 42 + [""], [" "] * 3 + [LONG] * 40]
)
def test_rows_with_them_are_few_batches_that_hold_them_once(ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_batches, "_MOST_TEXT", 1 << 16)
    texts = [letter * 20_000 for letter in "abcdefgh"] + ["c"] * 35
    rows = [
        Run(own, "retrieval", n, None, text, None, None, None)
        for n, (own, text) in enumerate(zip(ids, texts, strict=True))
    ]

    batches = [*row_batches.row_batches("runs", iter(rows), Losses())]

    assert [batch[0].length for batch in batches] == [3, 3, 37]
    assert all(isinstance(batch[0], RepeatedTexts) for batch in batches)
    assert [value for batch in batches for value in values_in(batch[0])] == ids
    assert [value for batch in batches for value in values_in(batch[4])] == texts


@pytest.mark.parametrize("ids", [[LONG] * 9 + [None], [LONG + "\ud800"] * 9, [5] * 9])
def test_others_are_columns_as_ever(ids: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_batches, "_MOST_TEXT", 1 << 16)
    rows = [Run(own, "retrieval", 1, None, None, None, None, None) for own in ids]  # type: ignore[arg-type]
    losses = Losses()

    batches = [*row_batches.row_batches("runs", iter(rows), losses)]

    found = [value for batch in batches for value in values_in(batch[0])]
    assert found == [own.replace("\ud800", "\ufffd") if isinstance(own, str) else None for own in ids]
    assert not any(isinstance(batch[0], RepeatedTexts) for batch in batches)


def test_the_database_gets_them_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_MOST_WRITTEN", 50)
    repeated = RepeatedTexts(packed(Kind.TEXT, ["b" * 9, "é", "c" * 80]), np.array([4, 0, 1, 7, 3, 2]))
    numbers, own = packed(Kind.INTEGER, [*range(16), None]), packed(Kind.TEXT, values_in(repeated))
    schema = {"id": Kind.TEXT, "number": Kind.INTEGER, "same": Kind.TEXT}

    parts = [*in_parts([repeated, numbers, own])]

    assert [part[0].length for part in parts] == [4, 1, 5, 5, 1, 1]
    with duckdb.connect() as connection, incoming(connection, "given", schema, [[repeated, numbers, own]]):
        rows = connection.execute("select id, number, same from given").fetchall()
    assert rows == [*zip(values_in(own), values_in(numbers), values_in(own), strict=True)]


def test_the_database_does_not_get_what_it_could_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_MOST_WRITTEN", 50)
    repeated = RepeatedTexts(packed(Kind.TEXT, ["b" * (1 << 20), "c"]), np.array([30, 5000]))
    assert most_written([repeated, repeated], 2048) == 2 * ((30 << 20) + 2018)
    assert most_written([repeated], 5000) == (30 << 20) + 4970
    assert most_written([repeated], 9000) == (30 << 20) + 5000
    with duckdb.connect() as connection, incoming(connection, "given", {"id": Kind.TEXT}, [[repeated]]):
        assert connection.execute("select sum(length(id)) from given").fetchall() == [((30 << 20) + 5000,)]
    with (
        duckdb.connect(config={"memory_limit": "30MiB"}) as connection,
        pytest.raises(MachineError, match="not enough memory"),
        incoming(connection, "given", {"id": Kind.TEXT}, [[repeated]]),
    ):
        connection.execute("create table kept as from given")


def test_they_may_come_while_the_database_is_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_MOST_WRITTEN", 50)
    repeated = RepeatedTexts(packed(Kind.TEXT, ["b" * (1 << 20)]), np.array([30]))
    batches = [[packed(Kind.TEXT, ["a" * (1 << 19)])]] * 3 + [[repeated]]
    with duckdb.connect() as connection, incoming(connection, "given", {"id": Kind.TEXT}, batches):
        assert connection.execute("select count(*) from given").fetchall() == [(33,)]
    with (
        duckdb.connect(config={"memory_limit": "20MiB"}) as connection,
        pytest.raises(MachineError, match="not enough memory"),
        incoming(connection, "given", {"id": Kind.TEXT}, batches),
    ):
        connection.execute("create table kept as from given")


@pytest.mark.parametrize(("values", "kind", "arrow"), VALUES, ids=lambda v: ascii(v)[:30])
def test_some_rows_of_a_column_are_its_own(values: list[object], kind: Kind, arrow: pa.DataType) -> None:
    for make in (lambda: packed(kind, values), lambda: packed_same(kind, None, len(values))):
        column = make()
        of_all = values_of(column) if column.length else []
        for first in range(len(values)):
            for last in range(first, len(values) + 1):
                assert values_of(column.rows(first, last)) == of_all[first:last]


def values_of(column: columns.PackedColumn) -> list[object]:
    stream = ColumnStream({"it": column.kind}, [[column]])
    table = pa.RecordBatchReader.from_stream(stream).read_all()
    table.validate(full=True)
    found: list[object] = table.column("it").to_pylist()
    return found


def test_integers_are_found_beside_empty_texts() -> None:
    names = RepeatedTexts(packed(Kind.TEXT, ["12", "", "5"]), np.array([300, 2, 500]))

    found = integers_in([names], 802)

    assert found is not None
    assert (found.odd, found.empty) == ({300: "", 301: ""}, 2)


def test_integers_are_found_without_writing_them_out() -> None:
    digits = "7" * 50
    names = RepeatedTexts(packed(Kind.TEXT, ["12", digits, "5"]), np.array([300, 2, 500]))

    found = integers_in([names, packed(Kind.TEXT, ["9"])], 803)

    assert found is not None
    assert found.odd == {300: digits, 301: digits}
    assert found.numbers[:300].tolist() == [12] * 300
    assert found.numbers[302:].tolist() == [5] * 500 + [9]
    many = RepeatedTexts(packed(Kind.TEXT, ["12", digits]), np.array([300, 20]))
    assert integers_in([many], 320) is None
