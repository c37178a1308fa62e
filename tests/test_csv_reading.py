"""CSV files are cut and their columns typed as pandas does it: compared with pandas itself."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.files.containers import csv_rows
from ragdatakit.files.containers.csv_cells import ColumnScan, chunk_rows, coerced, split_record
from ragdatakit.files.containers.csv_plain import cut_plain
from ragdatakit.files.containers.csv_rows import CsvReader, Cutter, cut_rows, found_rows, locate_rows
from ragdatakit.files.containers.positions import BlockTable
from ragdatakit.files.containers.sources import Source
from ragdatakit.scanner.library import library
from ragdatakit.scanner.sheets import cut_records
from ragdatakit.schemas.cells import MISSING
from tests.broad import examples
from tests.scanner_tools import needs_scanner

NUMBER_LIKE = [
    *"1 01 +7 -0 1.5 18446744073709551615 9223372036854775807 9223372036854775808 -1 -9223372036854775808".split(),
    *"99999999999999999999 true TRUE False inf +inf Infinity nan 1e5 1e .5 5. . x 1_0 0x10 infty 1e400 --1 １".split(),
    *["", " 7 ", "1 2", "\t1", " inf", "true ", "1\f", "1d5"],
]
_KINDS = {"int64": "integer", "uint64": "integer", "float64": "decimal", "bool": "boolean"}


def read(data: bytes, **options: Any) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(data), keep_default_na=False, **options)


@given(cells=st.lists(st.sampled_from(NUMBER_LIKE), min_size=1, max_size=5), cut=st.integers(0, 5))
@settings(max_examples=examples(1500))
def test_a_column_turns_into_what_pandas_makes_of_it(cells: list[str], cut: int) -> None:
    column = read(("name,b\n" + "".join(f"{c},x\n" for c in cells)).encode())["name"]
    scan, later = ColumnScan(), ColumnScan()
    scan.add(cells[:cut])
    later.add(cells[cut:])
    scan.follow(later)
    if str(column.dtype) == "object":  # pandas 3 keeps integers beyond 64 bits as Python's; the loader pins pandas 2
        assert scan.kind == "text"
        return
    assert scan.kind == _KINDS.get(str(column.dtype), "text")
    if scan.kind in ("integer", "boolean"):
        assert [coerced(c, scan.kind) for c in cells] == [str(v).lower() for v in column.tolist()]


@pytest.mark.parametrize(
    ("cells", "kind", "names"),
    [
        (["7", "007", "+7", " 7"], "integer", ["7", "7", "7", "7"]),
        (["-0"], "integer", ["0"]),
        (["1.50", "2"], "decimal", ["1.5", "2.0"]),
        (["1e5"], "decimal", ["100000.0"]),
        (["inf", "-inf"], "decimal", ["Infinity", "-Infinity"]),
        (["True", "false"], "boolean", ["true", "false"]),
        (["9223372036854775807"], "integer", ["9223372036854775807"]),
        (["12345678901234567890123"], "text", ["12345678901234567890123"]),
        (["7", ""], "text", ["7", ""]),
    ],
)
def test_names_that_look_like_numbers(cells: list[str], kind: str, names: list[str]) -> None:
    scan = ColumnScan()
    scan.add(cells)
    assert scan.kind == kind
    assert [coerced(c, scan.kind) for c in cells] == names


@pytest.mark.parametrize(("columns", "rows"), [(2, 262144), (3, 262144), (4, 131072), (7, 131072), (8, 65536)])
def test_types_are_inferred_by_chunks_of_rows(columns: int, rows: int) -> None:
    assert chunk_rows(columns) == rows
    others = ",x" * (columns - 1)
    header = ",".join(f"c{i}" for i in range(columns))
    lines = "".join(f"{i}{others}\n" for i in range(rows)) + f"text{others}\n"
    with pytest.warns(pd.errors.DtypeWarning):
        column = read(f"{header}\n{lines}".encode())["c0"]
    assert {type(v) for v in column[:rows]} == {int}
    assert column[rows] == "text"


def test_the_missing_values_are_those_of_pandas() -> None:
    cells = sorted({*MISSING, "na", "NAN", "Null", "none", "-", "N.A.", "nil"})
    found = pd.read_csv(io.StringIO("a,b\n" + "".join(f"{c},x\n" for c in cells)))["a"]
    assert {c for c, missing in zip(cells, found.isna(), strict=True) if missing} == MISSING


def rows_of(
    path: Path, quick: Cutter | None, block_bytes: int
) -> tuple[list[list[str]], list[tuple[int, int, bytes]], bool]:
    reader = CsvReader(Source(path, False, block_bytes=block_bytes), quick)
    if not reader.open():
        return [], [], True
    cells, places, closed = [], [], True
    for block in reader.blocks():
        rows = block.raw_rows()
        assert len(rows) == block.rows
        for row in rows:
            cells.append([f.text for f in split_record(row.raw.decode())[0]])
            places.append((row.offset, row.line, row.raw))
            closed = closed and row.closed
    return cells, places, closed


QUICK: list[Cutter | None] = [None, cut_plain]
if library() is not None:
    QUICK += [cut_records, lambda data, most, ended, widths: cut_records(data, most, ended, widths, portable=True)]
PIECES = ["a", "b", ",", '"', "\n", '""', " ", "\r\n", "é", ",", ",", "\n", '"x"', '"x,y"', '"l\nm"', "1", "\n\n", "\t"]
quoted = st.text('ab,"\n\r é', max_size=5).map(lambda t: '"' + t.replace('"', '""') + '"')
tables = st.tuples(
    st.sampled_from(["\n", "\r\n"]),
    st.lists(st.tuples(*[st.one_of(quoted, st.sampled_from(["x", "", "yy"]))] * 3), max_size=6),
).map(lambda t: "".join(",".join(row) + t[0] for row in [("h", "i", "j"), *t[1]]))


@given(
    text=st.one_of(tables, st.lists(st.sampled_from(PIECES), max_size=25).map(lambda p: "h,i,j\n" + "".join(p))),
    block_bytes=st.sampled_from([4, 16, 1000]),
    quick=st.sampled_from(QUICK),
)
@settings(max_examples=examples(800))
def test_records_are_cut_as_pandas_cuts_them(
    tmp_path_factory: pytest.TempPathFactory, text: str, block_bytes: int, quick: Cutter | None
) -> None:
    text = text.replace("\r,", "\r\n,")  # pandas loses a comma behind a lone CR
    path = tmp_path_factory.getbasetemp() / "table.csv"
    data = text.encode()
    path.write_bytes(data)
    cells, places, closed = rows_of(path, quick, block_bytes)
    for offset, line, raw in places:
        assert data[offset : offset + len(raw)] == raw
        assert len(re.findall(rb"\r\n|\r|\n", data[:offset])) + 1 == line
    try:
        frame = read(data, dtype=str)
    except (pd.errors.ParserError, pd.errors.EmptyDataError):
        return
    if closed and len(frame.columns) == 3 and str(frame.index.dtype) == "int64":
        assert [(row + [""] * 3)[: max(3, len(row))] for row in cells] == frame.values.tolist()


def test_blocks_are_pieces_of_the_file_that_nobody_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("a,b,c\n" + "".join(f"{'x' * (n % 40)},{n},{{}}\n" for n in range(1000)))
    pieces: list[bytes] = []

    def kept(source: Source) -> Iterator[bytes]:
        for piece in read_pieces(source):
            pieces.append(piece)
            yield piece

    read_pieces = Source.pieces
    monkeypatch.setattr(Source, "pieces", kept)
    reader = CsvReader(Source(path, False, block_bytes=1000), cut_plain)
    assert reader.open()
    blocks = list(reader.blocks())

    assert all(piece.endswith(b"\n") and len(piece) <= 1000 for piece in pieces)
    assert len(blocks) > 10
    assert all(block.data is piece for block, piece in zip(blocks[1:], pieces[2:], strict=True))


def test_a_quote_that_is_not_closed_costs_one_record(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text('name,type,attributes\na,entity,{}\n"b,entity,{}\nc,entity,{}\nd,entity,"{""k"": 1}"\n')
    for quick in QUICK:
        cells, places, closed = rows_of(path, quick, 1000)
        assert not closed
        assert [row[0][:1] for row in cells] == ["a", "b", "c", "d"]
        assert [line for _, line, _ in places] == [2, 3, 4, 5]


def test_rows_are_found_again_by_their_number(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "type", "attributes"])
        writer.writerows([[f"n{i}", "entity", "line\nbreak"] for i in range(500)])
    reader = CsvReader(Source(path, False, block_bytes=300), cut_plain)
    assert reader.open()
    table, expected = BlockTable(), {}
    for block in reader.blocks():
        table.add(block.first_row, block.first_line, block.offset)
        expected.update(dict(enumerate(block.raw_rows(), block.first_row)))
    wanted = [0, 1, 77, 250, 499]
    for quick in QUICK:
        found = dict(locate_rows(Source(path, False, block_bytes=300), table, wanted, reader.widths, quick))
        assert found == {record: expected[record] for record in wanted}


@pytest.mark.parametrize("quick", [cut_plain, pytest.param(cut_records, marks=needs_scanner)])
@pytest.mark.parametrize("together", [1, 9, 40, 1 << 14])
def test_few_rows_are_found_as_all_are_cut(quick: Cutter, together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_rows, "_AT_ONCE", together)
    monkeypatch.setattr(csv_rows, "_BYTES_OF_ONE", 1)
    rng = Random(together)
    for _ in range(100):
        rows = [rng.choice(("a,b\n", '"x, y","z"\n', f'a,"{"b" * rng.randrange(60)}"\n')) for _ in range(60)]
        odd = [rng.choice(PIECES) for _ in range(rng.choice((0, 0, 1, 3)))]
        for piece in odd:
            rows.insert(rng.randrange(60), piece)
        data = "".join(rows).encode()
        every, _, _ = cut_rows(data, 7, 3, True, (2,))
        numbers = sorted(rng.sample(range(65), rng.randrange(9)))

        found = list(found_rows(data, 7, 3, numbers, (2,), quick))

        assert found == [every[number] for number in numbers if number < len(every)], data


def test_a_long_cell_is_no_open_quote(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_bytes(b'name,type,attributes\na,document,"' + b"x" * (5 << 20) + b'"\nb,entity,{}\n')
    for quick in QUICK:
        cells, _, closed = rows_of(path, quick, 1 << 20)
        assert closed
        assert [row[0] for row in cells] == ["a", "b"]
