"""Of a file that is not recognised, the first thing that is wrong with it is said."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragdatakit.files.containers.beginnings import is_array
from ragdatakit.files.detection.odd_beginnings import odd_beginning
from ragdatakit.schemas import get_format
from tests.command_line import FIXTURES, obey_permissions, run, spawn

ODD = {
    "a.json": (b'{"a": [1, 2\n', "it is not JSON: expecting ',' delimiter at line 2, column 1"),
    "b.json": (b'[{"a": 1},]', "it is not JSON: "),
    "c.jsonl": ('{"a": 1}\n'.encode("utf-16"), "it is UTF-16; convert it with `iconv -f utf-16 -t utf-8`"),
    "d.csv": (b"h\xe9llo,b\n", "byte 1 is not UTF-8"),
    "e.ndjson": (b"\x89PNG\r\n\x1a\n\0\0", "it holds an image"),
    "f.jsonl.gz": (gzip.compress(b"nothing"), "it is not JSON: expecting value at line 1, column 1"),
}
LONG = json.dumps([{"a": f"{n}" * 40} for n in range(9_000)]).encode()
SOUND = {
    "g.json.gz": gzip.compress(LONG, 0),
    "h.json": LONG,
    "a.json": b'{"a":\n [1, 2]}\n',
    "b.jsonl": b'\xef\xbb\xbf{"a": 1}\n{"b"\n',
    "c.json": b"[" + b'{"a": "\xc3\xa9"},' * 10_000,
    "d.txt": b"\0",
    "e.csv": b"a,b\n1",
    "f.json": b"[" * 60_000,
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_odd_is_said(name: str, tmp_path: Path) -> None:
    data, words = ODD[name]
    (tmp_path / name).write_bytes(data)

    assert odd_beginning(tmp_path / name).startswith(words)
    lone = run("validate", tmp_path / name)
    assert lone.code == 2 and f"{name}: {words}" in lone.err and "name its format with --from" in lone.err
    assert f"{name}: {words}" in run("validate", tmp_path).err


@pytest.mark.parametrize("name", SOUND)
def test_nothing_is_odd_about_others(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(SOUND[name])

    assert odd_beginning(tmp_path / name) == ""


def test_what_is_no_file_is_not_called_no_json(tmp_path: Path) -> None:
    for make in (lambda path: path.symlink_to(path.name), os.mkfifo):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        make(folder / "chunks.json")

        assert "chunks.json: it is not a regular file; " in run("validate", folder).err


@pytest.mark.parametrize("leads_to", ["/etc/passwd", os.devnull])
def test_a_link_that_leads_out_is_only_called_that(leads_to: str, tmp_path: Path) -> None:
    (tmp_path / "chunks.json.gz").symlink_to(leads_to)

    said = run("validate", tmp_path).err

    assert "which is not followed" in said
    assert "JSON:" not in said
    assert "regular" not in said


def test_a_table_of_other_columns_is_of_no_format(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    for place in (tmp_path / "weights.parquet", tmp_path / "corpus/part.parquet"):
        pq.write_table(pa.table({"a": [1, 2]}), place)

    assert "not recognised" in run("validate", tmp_path / "weights.parquet").err
    assert run("validate", tmp_path / "corpus/part.parquet").code == 1  # the folder says what it should be


def test_parquet_of_texts_is_no_light_splade(tmp_path: Path) -> None:
    tables = {
        "texts": pa.table({"doc_id": ["a"], "text": ["pears"]}),
        "more": pa.table({"doc_id": [1], "text": ["pears"], "url": ["u"]}),
        "splade": pa.table({"doc_id": [1], "text": ["pears"]}),
    }
    for name, table in tables.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")

    for name in ("texts", "more"):
        assert "not recognised as a file of light-splade" in run("validate", tmp_path / f"{name}.parquet").err
    assert run("validate", tmp_path / "splade.parquet").code == 0


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        (0, "it is empty"),
        (100, "it is cut off, or not written whole: after 100 bytes there is no footer"),
        (None, "it does not begin as Parquet does"),
    ],
)
def test_damaged_parquet(cut: int | None, words: str, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    place = tmp_path / "corpus/part.parquet"
    pq.write_table(pa.table({"_id": ["d1"], "title": [""], "text": ["pears"]}), place)
    place.write_bytes(b"hello" * 99 if cut is None else place.read_bytes()[:cut])

    alone, below = run("validate", place), run("validate", tmp_path)

    assert f"RD101 error cannot be read: no Parquet file that can be read: {words}" in alone.out
    assert below.code == 2 and f"corpus/part.parquet: {words}; name the format" in below.err


def test_a_folder_with_an_archive_only(tmp_path: Path) -> None:
    (tmp_path / "data.zip").write_bytes(b"PK\3\4")

    assert "data.zip: it is an archive, which is not read: unpack it first" in run("validate", tmp_path).err


_RECORDS = b'{"_id": "d1", "text": "Pears"}'


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"[\n  {\n    " + _RECORDS[1:-1] + b"\n  }\n]\n", True),
        (b"[" + _RECORDS + b", " + _RECORDS + b"]", True),
        (b"[" + _RECORDS + b",\n" + _RECORDS + b"]\n", True),
        (b"[\n" + _RECORDS + b"\n]\n", True),
        (b" [" + _RECORDS * 3, True),  # cut by the end of what was read
        (b"[" + _RECORDS + b"]\n" + _RECORDS + b"\n", False),  # one wrong line
        (b"[" + _RECORDS + b"\n" + _RECORDS + b"\n", False),
        (b'["d1", "Pears"]\n', False),
        (_RECORDS, False),
        (b"[" * 5000 + b"{", False),
        (b"[{" + b"[" * 50000, True),
    ],
)
def test_arrays_of_records(head: bytes, expected: bool) -> None:
    assert is_array(head) == expected


@pytest.mark.skipif(os.geteuid() == 0 and sys.platform != "linux", reason="root may read everything")
@pytest.mark.parametrize("example", ["raptor", "sage", "graphrag"])
def test_a_dataset_without_permission_needs_only_that(example: str, tmp_path: Path) -> None:
    for name, content in get_format(example).example.items():
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(0)

    refused = spawn("validate", tmp_path, first=obey_permissions)

    assert "ermission denied" in refused.out + refused.err and "JSON:" not in refused.err
    assert "index again" not in refused.out
    assert "RD101" in spawn("validate", tmp_path, "--from", example, first=obey_permissions).out


@pytest.mark.parametrize("example", ["raptor", "ragchecker"])
def test_a_packed_file_of_a_format_without_is_told_from_a_table(example: str, tmp_path: Path) -> None:
    (name, content), *_ = get_format(example).example.items()
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(content.encode()))

    for words in (("validate",), ("report",), ("validate", "--from", example)):
        for place in (tmp_path, packed):
            refused = run(*words, place)
            assert refused.code == 2 and "it is packed" in refused.err and "unpack it with gunzip" in refused.err


def test_a_packed_table_is_no_file_of_a_format(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "notes.jsonl.gz", "wt") as file:
        file.write('{"id": "n1", "text": "Pears"}\n')

    assert run("report", tmp_path).code == 0 and "it is packed" not in run("validate", tmp_path).err


def test_packed_files_are_why_a_folder_is_not_recognised(tmp_path: Path) -> None:
    chunks = (FIXTURES / "arag" / "valid" / "published-manner" / "chunks.json").read_bytes()
    (tmp_path / "chunks.json.gz").write_bytes(gzip.compress(chunks))

    refused = run("validate", tmp_path)

    assert refused.code == 2
    assert f"{tmp_path}/chunks.json.gz: it is packed, and arag opens plain files only; unpack it with" in refused.err
