"""GraphRAG's tables that cannot be read: what is no file, what is cut off, and footers at which pandas stops."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.files.containers import parquet_tables
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.graphrag.frame_metadata import metadata_damage
from ragdatakit.files.graphrag.tables import StoredTable
from ragdatakit.files.paths.boundary import ANYWHERE
from ragdatakit.validators.graphrag import sql_tables
from tests.broad import examples
from tests.command_line import FIXTURES, run

PARQUET = FIXTURES / "graphrag" / "valid" / "parquet"
CSV = FIXTURES / "graphrag" / "valid" / "csv"


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _empty(path: Path) -> None:
    path.touch()


def _text(path: Path) -> None:
    path.write_text("id,title\n")


def _cut(path: Path) -> None:
    path.write_bytes((PARQUET / "entities.parquet").read_bytes()[:-20])


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_folder, "it is a folder, not a file"),
        (_pipe, "it is not a regular file"),
        (_empty, "it is empty"),
        (_text, "it does not begin as Parquet does"),
        (_cut, "it is cut off, or not written whole"),
    ],
)
def test_what_is_no_table_is_said(tmp_path: Path, damage: Callable[[Path], None], reason: str) -> None:
    index = shutil.copytree(PARQUET, tmp_path / "index")
    (index / "entities.parquet").unlink()
    damage(index / "entities.parquet")

    checked = run("validate", index, "--json")
    converted = run("convert", "--from", "graphrag", "--to", "hipporag", index, tmp_path / "out")
    shown = run("report", index)
    words = " ".join(shown.out.split())

    (finding,) = (f for f in checked.json["findings"] if f["code"] == "GR022")
    assert finding["message"].startswith(f"it cannot be read: {reason}")
    assert (checked.code, converted.code, shown.code) == (1, 1, 0)
    unread = f"it could not be read: entities.parquet: no Parquet file that can be read: {reason}"
    assert f"! chunks, nodes, relations, communities: {unread}" in words
    assert "documents 2" in words


def test_a_pipe_in_place_of_cells_is_no_table(tmp_path: Path) -> None:
    index = shutil.copytree(PARQUET.parent / "csv", tmp_path / "index")
    (index / "entities.csv").unlink()
    _pipe(index / "entities.csv")

    (finding,) = run("validate", index, "--json").json["findings"]

    assert finding["code"] == "GR022"
    assert finding["message"].startswith("it cannot be read: it is not a regular file")


def _frame() -> bytes:
    """A table as GraphRAG writes it."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rows = {"id": ["e1", "e2"], "title": ["A", "B"], "degree": [1, 2], "text_unit_ids": [["t1"], ["t1", "t2"]]}
    held = io.BytesIO()
    pandas.DataFrame(rows).to_parquet(held, index=False)
    return held.getvalue()


def _is_read(data: bytes) -> bool | None:
    """Whether pandas reads a table; None where it fails for another reason than what is noted of the frame."""
    import pandas as pd

    try:
        pd.read_parquet(io.BytesIO(data))
    except (KeyError, json.JSONDecodeError, UnicodeDecodeError):
        return False
    except Exception:  # noqa: BLE001 - whatever else pyarrow raises
        return None
    return True


def test_footers_are_judged_as_pandas_does(tmp_path: Path) -> None:
    data, chance, path = _frame(), random.Random(7), tmp_path / "entities.parquet"
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    seen: Counter[tuple[bool | None, bool]] = Counter()
    for _ in range(examples(600)):
        damaged = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 3))):
            damaged[chance.randrange(footer, len(data) - 8)] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        reason, is_read = metadata_damage(path, ANYWHERE), _is_read(bytes(damaged))

        assert not (reason and is_read), reason
        seen[is_read, bool(reason)] += 1
    assert seen[True, False]
    assert seen[False, True] > 3 * seen[False, False]  # a name in it that is none of the columns', say


def test_what_pandas_does_not_come_upon_is_no_damage(tmp_path: Path) -> None:
    data, path = _frame(), tmp_path / "entities.parquet"
    begin = data.rindex(b"ARROW:schema\x18")
    listed = data.rindex(b"\x19\x2c\x18", 0, data.rindex(b"pandas\x18", 0, begin))
    damaged = bytearray(data)
    damaged[begin + 20] = 0xFF
    path.write_bytes(damaged)
    found = metadata_damage(path, ANYWHERE), _is_read(bytes(damaged))
    damaged[listed] = 0x10  # the list of notes is no list any more
    path.write_bytes(damaged)

    assert found == (
        "what its footer notes of Arrow's columns (ARROW:schema) is no base64; pandas.read_parquet stops",
        None,
    )
    assert (metadata_damage(path, ANYWHERE), _is_read(bytes(damaged))) == ("", True)


def test_a_damaged_footer_is_an_error(tmp_path: Path) -> None:
    from base64 import b64decode, b64encode

    index = shutil.copytree(PARQUET, tmp_path / "index")
    data = _frame()
    begin = data.rindex(b"ARROW:schema\x18") + 15
    encoded = data[begin : data.index(b"\x00", begin)]
    noted = b64decode(encoded).replace(b'{"index_columns', b'["index_columns')
    (index / "entities.parquet").write_bytes(data.replace(encoded, b64encode(noted)))

    found = {f["code"]: f["message"] for f in run("validate", index, "--json").json["findings"]}

    assert "pandas.read_parquet stops with JSONDecodeError" in found["GR022"]


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"8","d1"', '"8","","d1"', 2, "the first row has 9 cells, the header 8 columns; the first cells of all rows"),
        ("['r2']\"", '[\'r2\']",""', 3, "the row has 9 cells, the header 8 columns; every query that"),
        ("Mara", "Mar\xe9", 2, "byte 0xe9 is not UTF-8; every query that"),
        ('"[]"', '"[]', 3, "a quote is not closed; queries stop, or rows"),
        (",\"['k2']\"\n", "", 4, "the file ends within a row and seems to be cut, in cell 7 of 8; the cells that"),
        ("k2']\"\n", "k2", 4, "a quote is not closed; every query that"),
    ],
)
def test_what_pandas_does_not_read_of_a_table_in_csv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, line: int, message: str, held: bool
) -> None:
    if not held:
        monkeypatch.setattr(sql_tables, "_TINY", 0)
    index = shutil.copytree(CSV, tmp_path / "index")
    assert not run("validate", index, "--json").json["findings"]
    table = index / "text_units.csv"
    table.write_bytes(table.read_bytes().replace(old.encode(), new.encode("latin-1"), 1))

    findings = run("validate", index, "--json").json["findings"]

    assert [(f["code"], f["line"]) for f in findings] == [("GR022", line)]
    verdict = "it cannot be read" if "every query" in message else "it is not read as it was written"
    assert findings[0]["message"].startswith(f"{verdict}: {message}")
    assert _is_read_as_text(table) == ("every query" not in message and "a quote" not in message)
    assert ("seems to be cut" in f"{findings[0]['message']} {findings[0]['hint']}") == (line == 4)


def test_a_last_row_that_ends_early_with_a_line_end_is_not_cut(tmp_path: Path) -> None:
    index = shutil.copytree(CSV, tmp_path / "index")
    table = index / "text_units.csv"
    table.write_text(table.read_text().replace(",\"['k2']\"\n", "\n"))

    assert [f["code"] for f in run("validate", index, "--json").json["findings"]] == ["GR113"]


def _is_read_as_text(table: Path) -> bool:
    try:
        pd.read_csv(table)
    except (pd.errors.ParserError, UnicodeDecodeError):
        return False
    return True


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize(
    ("make", "code", "message"),
    [
        (lambda data: data.decode().encode("utf-16"), "RD118", "UTF-16"),
        (gzip.compress, "RD104", "holds gzip data, but the name says plain text"),
        (lambda data: gzip.compress(data)[:-20], "RD104", "holds gzip data, but the name says plain text"),
        (lambda _: b"", "GR022", "it cannot be read: there is nothing in it"),
        (lambda _: b"\n \n", "GR022", "it cannot be read: there is nothing in it"),
    ],
)
def test_a_table_in_csv_that_is_no_text_is_called_so(
    make: Callable[[bytes], bytes], code: str, message: str, held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not held:
        monkeypatch.setattr(sql_tables, "_TINY", 0)
    index = shutil.copytree(CSV, tmp_path / "index")
    table = index / "text_units.csv"
    table.write_bytes(make(table.read_bytes()))

    findings = run("validate", index, "--json").json["findings"]

    assert [f["code"] for f in findings] == [code]
    assert message in findings[0]["message"]


def test_of_two_columns_of_one_name_the_first_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "entities.csv"
    path.write_text("id,title,id\ne1,Alder,e2\n")
    table = StoredTable(DataFile(path, path.name, path.name, "entities"))

    assert table.places(table.columns) == {"id": 0, "title": 1}
    assert list(table.rows("id", "title", "type")) == [("e1", "Alder", None)]
    assert pd.read_csv(path)["id"].tolist() == ["e1"]


@given(st.lists(st.sampled_from([*'ab,,,"\n\n 1', '""', '"a,b"', '"a\nb"', "\r\n", "é", "\0", "\udcff"]), max_size=30))
@settings(max_examples=examples(300), deadline=None)
def test_a_table_in_csv_without_a_fault_is_what_pandas_reads(pieces: list[str]) -> None:
    data = f"a,b\n{''.join(pieces)}".encode("utf-8", "surrogateescape")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "entities.csv"
        path.write_bytes(data)
        table = StoredTable(DataFile(path, path.name, path.name, "entities"))
        rows = [[*cells, *[""] * (2 - len(cells))] for _, cells in table.cells()]
    try:
        frame = pd.read_csv(io.StringIO(data.decode(), newline=""), dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, UnicodeDecodeError):
        assert table.fault is not None or table.file_faults
        return

    is_shifted = not isinstance(frame.index, pd.RangeIndex)
    is_faulty = bool(table.fault or table.file_faults)
    assert is_faulty or not is_shifted
    assert is_faulty or rows == frame.fillna("").to_numpy().tolist()


def test_a_list_that_takes_too_much_memory_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> object:
        raise duckdb.OutOfMemoryException("failed to allocate data")

    monkeypatch.setattr(parquet_tables.ParquetTable, "chunks", fails)

    stopped = run("convert", "--from", "graphrag", "--to", "beir", PARQUET, "x", "--dry-run")

    assert stopped.code == 2
    assert "a part of it takes more than the 192 MB that may be held at once" in stopped.err


def test_local_search_needs_no_text_units_of_entities(tmp_path: Path) -> None:
    index = shutil.copytree(CSV, tmp_path / "index")
    table = index / "entities.csv"
    table.write_text(table.read_text().replace('"text_unit_ids"', '"units"', 1))

    (message,) = (f["message"] for f in run("validate", index, "--json").json["findings"] if f["code"] == "GR004")

    assert message == "column text_unit_ids is missing; global search stops with TypeError, local search works"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("id,title\n".encode("utf-16"), "it is not text, it is UTF-16"),
        (b"", "there is nothing in it"),
        (b"\xef\xbb\xbf", "there is nothing in it"),
        (b"version https://git-lfs.github.com/spec/v1\nsize 4\n", "it is a Git LFS pointer, not the data"),
    ],
    ids=["UTF-16", "no bytes", "a mark alone", "a pointer"],
)
def test_a_table_in_csv_that_is_no_text_is_not_taken_for_one_without_rows(
    content: bytes, reason: str, tmp_path: Path
) -> None:
    shutil.copytree(CSV, tmp_path / "csv")
    (tmp_path / "csv/entities.csv").write_bytes(content)

    losses = json.loads(run("report", tmp_path / "csv", "--json").out)["datasets"][0]["losses"]
    converted = run("convert", tmp_path / "csv", tmp_path / "out", "--to", "gfm-rag", "--keep-going")

    assert [f"entities.csv: {reason}" in loss for loss in losses] == [True, True]
    assert converted.code == 2
    assert f"entities.csv: {reason}" in converted.err
