"""Damage in files that `[[table]]` names: each is an error where it is, and no row is lost silently."""

from __future__ import annotations

import gzip
import io
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragdatakit.files.containers import sources
from tests.command_line import run

SETTINGS = '[[table]]\npath = "data.*"\nkind = "documents"\nmap = { doc_id = "id", text = "body" }\n'
ROWS = [{"id": f"d{number}", "body": f"Text number {number}", "lang": "en"} for number in range(1, 12)]
JSON = [json.dumps(row).encode() for row in ROWS]
LINES = b"".join(line + b"\n" for line in JSON)
ARRAY = b"[\n" + b",\n".join(JSON) + b"\n]\n"
TEN = b"".join(b"d%d,%s\n" % (number, bytes(f"{number * 7919:x}", "ascii") * 3) for number in range(2000))


def lines(fifth: bytes) -> bytes:
    """JSON Lines, or with commas an array, of eleven rows with another fifth one."""
    return LINES.replace(JSON[4], fifth)


def array(fifth: bytes) -> bytes:
    return ARRAY.replace(JSON[4], fifth)


def cells(fifth: str, separator: str = ",") -> bytes:
    rows = [separator.join(row.values()) for row in ROWS]
    return "\n".join(["id,body,lang".replace(",", separator), *rows[:4], fifth, *rows[5:], ""]).encode("latin-1")


def parquet() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), file)
    return file.getvalue()


PARQUET = parquet()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "ragdata.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(name: str, data: bytes, *words: str) -> tuple[int, list[tuple[str, int | None]], int | None]:
    """Exit code, codes with lines, and the records of the file."""
    Path(name).write_bytes(data)
    outcome = run("validate", ".", "--output-format", "json", *words)
    ((file,),) = (dataset["files"] for dataset in outcome.json["datasets"])
    return outcome.code, [(f["code"], f["line"]) for f in outcome.json["findings"]], file["records"]


@pytest.mark.parametrize(
    ("fifth", "code"),
    [
        (b"garbage not json", "TB104"),
        (b'{"id": "d5", "bo', "TB104"),
        (b'["d5", "x"]', "TB104"),
        (b"5", "TB104"),
        (b'{"id": "d5", "body": "a\0b"}', "TB104"),
        (b'{"id": "d5", "body": "caf\xe9"}', "RD107"),
    ],
)
def test_a_broken_row_of_json(fifth: bytes, code: str, folder: Path) -> None:
    assert found("data.jsonl", lines(fifth)) == (1, [(code, 5)], 11)
    (folder / "data.jsonl").unlink()
    assert found("data.jsonl.gz", gzip.compress(lines(fifth))) == (1, [(code, 5)], 11)
    (folder / "data.jsonl.gz").unlink()
    if not fifth.startswith(b'{"id": "d5", "bo') or fifth.endswith(b"}"):  # what is cut takes the rest of the array
        assert found("data.json", array(fifth)) == (1, [(code, 6)], 11)


@pytest.mark.parametrize(
    ("name", "data", "findings", "records"),
    [
        ("data.jsonl", b"garbage\n" * 11, [("TB104", line) for line in range(1, 12)], 11),
        ("data.jsonl", b"", [("TB101", None)] * 2, 0),
        ("data.jsonl", LINES.decode().encode("utf-16"), [("RD118", None)], 0),
        ("data.jsonl", lines(b'\n\nbroken\n\n{"id": "d1", "body": "x"}'), [("TB104", 7), ("TB201", 9)], 12),
        ("data.jsonl", lines(JSON[4][:-1] + b', "v": NaN}'), [("RD201", 5)], 11),
        ("data.jsonl", lines(JSON[4][:-1] + b', "v": "\\ud83d"}'), [("RD205", 5)], 11),
        ("data.jsonl", b"\xef\xbb\xbf" + LINES, [], 11),
        ("data.jsonl.gz", gzip.compress(LINES)[:-8] + bytes(8), [("RD105", None)], 11),
        ("data.jsonl.gz", b"", [("RD105", None)], 0),
        ("data.json", ARRAY[: len(ARRAY) // 2], [("TB104", 7)], 6),
        ("data.json", ARRAY + b"more", [("TB104", 14)], 12),
        ("data.csv", cells("d5,Text, with a comma,en"), [("TB105", 6)], 11),
        ("data.csv", cells("d5"), [("TB102", 6)], 11),
        ("data.csv", cells("d5,Text"), [], 11),
        ("data.csv", cells("d5,caf\xe9,en"), [("RD101", 6)], None),
        ("data.csv", cells('d5,"not closed,en'), [("RD101", 6)], 4),
        ("data.csv", cells('d5,"clo"sed,en'), [("RD101", 6)], 4),
        ("data.csv", cells("\0" * 40), [("TB102", 6)], 11),
        ("data.csv", b"\xef\xbb\xbf" + cells("d5,x,en"), [], 11),
        ("data.csv", b"id,body,body\nd1,x,y\n", [("TB106", None)], 1),
        ("data.csv", b"", [("TB101", None)] * 2, 0),
        ("data.csv.gz", gzip.compress(b"id,body\n" + TEN)[:-8] + bytes(8), [("RD105", None)], 2000),
        ("data.tsv", cells("d5\tText\twith a tab\ten", "\t"), [("TB105", 6)], 11),
        ("data.tsv", cells("d5\tcaf\xe9\ten", "\t"), [("RD101", 6)], None),
        ("data.parquet", PARQUET[: len(PARQUET) // 2], [("RD101", None)], None),
        ("data.parquet", PARQUET[:20] + b"\xff" * 60 + PARQUET[80:], [("RD101", None)], 0),
        ("data.parquet", b"", [("RD101", None)], None),
    ],
)
def test_damage(
    name: str, data: bytes, findings: list[tuple[str, int | None]], records: int | None, folder: Path
) -> None:
    errors = [code for code, _ in findings if code not in ("RD201", "RD205", "TB106")]

    assert found(name, data) == (int(bool(errors)), findings, records)


@pytest.mark.parametrize(
    ("name", "data", "rule"),
    [
        ("data.jsonl", lines(b"garbage"), "unreadable-row"),
        ("data.csv", cells("d5,Text, with a comma,en"), "cells-without-column"),
        ("data.csv", b"id,body,body\nd1,x,y\n", "repeated-table-column"),
    ],
)
def test_each_has_a_rule(name: str, data: bytes, rule: str, folder: Path) -> None:
    (folder / name).write_bytes(data)

    assert [f["rule"] for f in run("validate", ".", "--output-format", "json").json["findings"]] == [rule]


def test_every_way_of_checking_sees_it(folder: Path) -> None:
    (folder / "data.jsonl").write_bytes(lines(b"garbage"))

    for words in (["--quality"], ["--jobs", "2"], ["--jobs", "1"], ["--exit-zero"]):
        outcome = run("validate", ".", *words)
        assert "5 TB104 error cannot be read as a row: JSON is malformed" in outcome.out, words
        assert outcome.code == (words != ["--exit-zero"])
    hook = run("validate", "--whole-datasets", "--skip-unrecognised", "data.jsonl")
    assert (hook.code, "TB104" in hook.out) == (1, True)
    assert "11 records" in hook.out


def test_a_baseline_has_it(folder: Path) -> None:
    (folder / "data.jsonl").write_bytes(lines(b"garbage"))
    assert run("validate", ".", "--write-baseline").code == 0
    assert run("validate", ".", "--baseline", "ragdata-baseline.jsonl").code == 0

    (folder / "data.jsonl").write_bytes(lines(b"garbage") + b"more of it\n")

    outcome = run("validate", ".", "--baseline", "ragdata-baseline.jsonl", "--output-format", "json")
    assert [(f["code"], f["line"]) for f in outcome.json["findings"]] == [("TB104", 12)]
    assert outcome.code == 1


def test_a_gzip_file_that_is_cut(folder: Path) -> None:
    data = gzip.compress(b"".join(b'{"id": "%d", "body": "%x"}\n' % (n, n**9) for n in range(20000)))

    code, findings, records = found("data.jsonl.gz", data[: len(data) // 2])

    assert (code, findings) == (1, [("RD105", None)])
    assert 5000 < (records or 0) < 15000


def test_damage_is_the_same_in_large_gzip_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, choose, whole = tmp_path / "data.jsonl.gz", random.Random(2), gzip.compress(TEN[:9000]) * 2

    def read() -> tuple[bytes, list[sources.FileFault]]:
        source = sources.Source(path, gz=True, block_bytes=512)
        return b"".join(block.data for block in source.blocks()), source.faults

    for _ in range(60):
        data = bytearray(whole)
        data[choose.randrange(10, len(data))] ^= 1 << choose.randrange(8)
        path.write_bytes(data[: choose.choice([len(data), choose.randrange(20, len(data))])])
        monkeypatch.undo()
        plain = read()
        monkeypatch.setattr(sources, "SMALL_FILE", 0)
        assert read() == plain


def test_judgements_of_rows_that_cannot_be_read(folder: Path) -> None:
    section = '[[table]]\npath = "rel.csv"\nkind = "qrels"\nmap = { question_id = "q", doc_id = "d" }\n'
    (folder / "ragdata.toml").write_text(f"{SETTINGS}\n{section}")
    (folder / "data.jsonl").write_bytes(lines(b'{"id": "d5", '))
    (folder / "rel.csv").write_text("q,d\n1,d5\n")

    outcome = run("validate", ".", "--output-format", "json")

    assert [(f["code"], f["path"]) for f in outcome.json["findings"]] == [("TB104", "data.jsonl")]


@pytest.mark.parametrize("name", ["data.jsonl", "data.csv", "data.parquet"])
def test_a_column_that_is_missing(name: str, folder: Path) -> None:
    (folder / "ragdata.toml").write_text(SETTINGS.replace('"body"', '"page_content"'))
    (folder / name).write_bytes({"jsonl": LINES, "csv": cells("d5,x,en")}.get(name[5:], PARQUET))

    outcome = run("validate", ".")

    said = "TB101 error has no column 'page_content', which ragdata.toml:4 names; it has id, body, lang"
    assert said in outcome.out
    assert "first line" not in outcome.out
    assert outcome.code == 1
