"""`ragdata convert --from table --engine`: tables cut anywhere become what they become whole, to the byte."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit.api.in_parts import converting
from ragdatakit.converters.plain.cut_tables import cut_table
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading.csv_tables import CsvForm
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.table_rows import TableFile
from ragdatakit.schemas.conversions import Losses
from tests.command_line import run

Rows = Sequence[dict[str, str]]


def outcome(source: Path, target: Path, *words: str) -> Any:
    found = run("convert", source, target, "--from", "table", "--to", "beir", "--output-format", "json", *words)
    files = {path.relative_to(target).as_posix(): path.read_bytes() for path in target.rglob("*") if path.is_file()}
    return found.code, found.out.replace(str(target), "") or found.err, files


def as_csv(rows: Rows, delimiter: str = ",", end: str = "\n") -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator=end)
    writer.writerow(rows[0])
    for number, row in enumerate(rows):
        writer.writerow([*row.values(), *(["more"] if number % 31 == 30 else [])])
        if number % 37 == 36:
            cells = delimiter.join(['a 5" b'] * len(row))
            file.write(f"\n{cells}\n")
    return file.getvalue().encode()


def as_lines(rows: Rows) -> bytes:
    lines = [json.dumps(row) for row in rows]
    lines[40:40] = ["", "[]", '{"id": ', json.dumps({"text": "without the others"})]
    return "\n".join(lines).encode()


def write(folder: Path, name: str, rows: Rows) -> None:
    path = folder / name
    folder.mkdir(exist_ok=True)
    if name.endswith(".parquet"):
        parquet = pytest.importorskip("pyarrow.parquet")
        table = pytest.importorskip("pyarrow").Table.from_pylist(rows)
        parquet.write_table(table, path, row_group_size=30)
        return
    form = {".csv": as_csv, ".jsonl": as_lines, ".json": lambda given: json.dumps(given).encode()}
    data = next(make for end, make in form.items() if end in name)(rows)
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


_TEXTS = ("plain", "with, a comma", 'a "quoted" word', "over\ntwo lines", "and\r\ntwo more", "é", "", '"')


def documents(first: int, *columns: str) -> Rows:
    random = Random(first)
    rows = []
    for number in range(first, first + 120):
        given = f"{number}" if number % 3 else f"row-{number}" if number % 2 else ""
        row = {"id": given, "title": f"title {number}", "text": " ".join(random.choices(_TEXTS, k=3))}
        rows.append({name: row[name] for name in columns})
    return rows


def questions(asked: int) -> Rows:
    random = Random(asked)
    rows = []
    for _ in range(150):
        number, document = random.randrange(asked), random.randrange(60)
        text = f"text of {document}" if document % 7 else random.choice(_TEXTS)
        rows.append(
            {"question_id": f"q{number}", "question": f"what of {number}", "doc_id": f"d{document}", "text": text}
        )
    return rows


_SETS: dict[str, dict[str, Rows]] = {
    "csv": {"corpus.csv": documents(0, "id", "title", "text")},
    "numbers": {"a.jsonl": documents(0, "title", "text"), "b.csv": documents(500, "title", "text")},
    "mixed": {
        "a.csv": documents(5, "id", "text"),
        "b.parquet": documents(700, "id", "text"),
        "c.csv.gz": documents(9, "id", "text"),
    },
    "again": {"train.csv": questions(40), "pairs.jsonl": questions(30)},
    "array": {"all.json": documents(0, "id", "text"), "more.jsonl": documents(300, "id", "text")},
}
_WORDS = {"numbers": ("--option", "row-ids=0"), "again": ("--dry-run",)}


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Parts of so many bytes, in this process."""
    monkeypatch.setattr("ragdatakit.engines.local_engine.has_room", lambda: False)
    return lambda size: monkeypatch.setattr(converting, "PART_BYTES", size)


@pytest.mark.parametrize("name", _SETS)
def test_tables(name: str, tmp_path: Path, small_parts: Callable[[int], None]) -> None:
    for file, rows in _SETS[name].items():
        write(tmp_path / "set", file, rows)
    for number, words in enumerate(((), _WORDS.get(name, ("--map", "text=text")))):
        expected = outcome(tmp_path / "set", tmp_path / f"one{number}", *words)
        small_parts((300, 1100)[number])

        found = outcome(tmp_path / "set", tmp_path / f"two{number}", "--engine", "local", *words)

        assert expected[0] == 0, expected[1]
        assert found == expected


def test_processes_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "set", "corpus.csv", documents(0, "id", "title", "text"))
    expected = outcome(tmp_path / "set", tmp_path / "one")
    monkeypatch.setattr(converting, "PART_BYTES", 900)

    assert outcome(tmp_path / "set", tmp_path / "two", "--engine", "local", "--jobs", "2") == expected


@pytest.mark.parametrize("rest", [b'7,"open\n8,x\n', b"7,\xff\n"], ids=["quote", "encoding"])
def test_a_line_that_cannot_be_read(rest: bytes, tmp_path: Path, small_parts: Callable[[int], None]) -> None:
    rows = [{"id": str(number), "text": "over\ntwo lines"} for number in range(50)]
    (tmp_path / "corpus.csv").write_bytes(as_csv(rows) + rest)
    expected = outcome(tmp_path / "corpus.csv", tmp_path / "one")
    small_parts(200)

    assert expected[0] == 2
    assert "line 10" in expected[1]
    assert outcome(tmp_path / "corpus.csv", tmp_path / "two", "--engine", "local") == expected


@pytest.mark.parametrize(
    ("data", "options", "parts"),
    [
        (b"id,text\n" + b'1,"a\nb"\n' * 40, {}, 7),
        (b"id,text\n" + b'1,"a\nb"\n' * 40, {"quoting": False}, 7),
        (b"id;text\n" + b'1;a "b\n' * 40, {"delimiter": ";"}, 6),
        (b"id,text\r" + b"1,b\r" * 80, {}, 1),
        (b"id,text\n" + b'1,"b' * 80, {}, 2),
        ("id,text\n".encode("utf-16") + "1,b\n".encode("utf-16-le") * 80, {"encoding": "utf-16"}, 1),
        (b"id\xa7text\n" + b"1\xa7b\n" * 80, {"encoding": "latin-1", "delimiter": "\xa7"}, 1),
    ],
    ids=["quoted", "no-quoting", "marks-within", "old-line-ends", "open-quote", "two-byte-characters", "separator"],
)
def test_where_csv_is_cut(data: bytes, options: dict[str, Any], parts: int, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    whole = TableFile(DataFile(path, str(path), path.name, "table"), RecordReader(Losses()), CsvForm(**options))
    form, shape = whole.known_form()
    found = cut_table(TableFile(whole.file, RecordReader(Losses()), form, shape), 50)

    assert len(found) == parts
    assert all(part is not None and data[part.start - 1 : part.start] == b"\n" for part in found[1:])
