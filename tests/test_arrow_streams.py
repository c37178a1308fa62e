"""Columns that are made and given away without pyarrow: what DuckDB and pyarrow read of them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from ragdatakit.database import arrow_streams
from ragdatakit.database.arrow_streams import ColumnStream, incoming, passed
from ragdatakit.database.columns import Kind, PackedColumn, packed, packed_numbers, packed_same, put_together

VALUES: list[tuple[list[Any], Kind, pa.DataType]] = [
    (["a", None, "é漢", ""], Kind.TEXT, pa.string()),
    (["plain", "\0"], Kind.TEXT, pa.string()),
    ([1, None, -5, 2**62], Kind.INTEGER, pa.int64()),
    ([0, 2**64 - 1], Kind.CODE, pa.uint64()),
    ([1.5, None, 2], Kind.NUMBER, pa.float64()),
    ([("a", "b"), (), None, ["c", None]], Kind.TEXTS, pa.list_(pa.string())),
    ([[1], [], [2, 3]], Kind.INTEGERS, pa.list_(pa.int64())),
    ([b"x", None, b""], Kind.BYTES, pa.large_binary()),
    ([None] * 3, Kind.TEXTS, pa.list_(pa.string())),
    ([], Kind.TEXT, pa.string()),
    ([()], Kind.TEXTS, pa.list_(pa.string())),
]
REFUSED: list[tuple[Any, Kind]] = [
    (2**70, Kind.INTEGER),
    (2**53 + 1, Kind.NUMBER),
    (2**1100, Kind.NUMBER),
    ("a\ud800", Kind.TEXT),
    (("a\ud800",), Kind.TEXTS),
    (5, Kind.TEXT),
    (True, Kind.INTEGER),
    (True, Kind.NUMBER),
    ("1", Kind.NUMBER),
    (1.5, Kind.INTEGER),
]


@pytest.mark.parametrize(("values", "kind", "arrow"), VALUES, ids=lambda v: ascii(v)[:30])
def test_pyarrow_reads_what_it_would_make_itself(values: list[Any], kind: Kind, arrow: pa.DataType) -> None:
    stream = ColumnStream({"it": kind}, [[packed(kind, values)]])

    found = pa.RecordBatchReader.from_stream(stream).read_all()

    found.validate(full=True)
    assert found.column("it").combine_chunks().equals(pa.array(values, arrow))


@pytest.mark.parametrize(("values", "kind", "arrow"), VALUES, ids=lambda v: ascii(v)[:30])
def test_batches_are_put_together(values: list[Any], kind: Kind, arrow: pa.DataType) -> None:
    given = [packed(kind, values), packed(kind, values[1:]), packed_same(kind, None, 3), packed_same(kind, None, 9)]
    stream = ColumnStream({"it": kind}, put_together([one] for one in given))

    (found,) = pa.RecordBatchReader.from_stream(stream).read_all().column("it").chunks

    found.validate(full=True)
    assert found.equals(pa.array([*values, *values[1:], *[None] * 12], arrow))
    assert len(list(put_together([packed(Kind.CODE, range(9000))] for _ in range(3)))) == 3


@pytest.mark.parametrize(("value", "kind"), REFUSED, ids=lambda v: ascii(v)[:30])
def test_what_a_column_does_not_hold(value: Any, kind: Kind) -> None:
    with pytest.raises((OverflowError, UnicodeEncodeError, TypeError)):
        packed(kind, [value])


def batches(count: int) -> Iterator[list[PackedColumn]]:
    for number in range(count):
        names = [f"harbour {number}", None, "ƀ"]
        yield [
            packed(Kind.TEXT, names),
            packed_numbers(Kind.INTEGER, np.arange(3)),
            packed(Kind.TEXTS, [["a"], None, []]),
        ]


SCHEMA = {"name": Kind.TEXT, "place": Kind.INTEGER, "tags": Kind.TEXTS}


def test_duckdb_reads_them_and_lets_go_of_them() -> None:
    with duckdb.connect() as connection:
        with incoming(connection, "given", SCHEMA, batches(50)):
            connection.execute("create table kept as from given")
        with incoming(connection, "given", SCHEMA, batches(50)):
            assert connection.execute("select tags from given where place = 1 limit 1").fetchall() == [(None,)]
        found = connection.execute("select count(*), count(name), sum(place), min(name) from kept").fetchall()

    gc.collect()
    assert found == [(150, 100, 150, "harbour 0")]
    assert not arrow_streams._HELD


def test_what_stops_the_batches_is_raised() -> None:
    def broken() -> Iterator[list[PackedColumn]]:
        yield from batches(2)
        raise KeyError("quay")

    with (
        duckdb.connect() as connection,
        pytest.raises(KeyError, match="quay"),
        incoming(connection, "given", SCHEMA, broken()),
    ):
        connection.execute("create table kept as from given")


def test_rows_pass_from_one_database_to_another() -> None:
    with duckdb.connect() as one, duckdb.connect() as other:
        one.execute("create table t as select range as n, 'text ' || range as name from range(5000)")
        with passed(other, "given", one.sql("from t where n > 2")):
            found = other.execute("select count(*), max(name) from given").fetchall()

    assert found == [(4997, "text 999")]
