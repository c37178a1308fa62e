"""Files with the name of a data file that hold something else: one finding says what, and `--fix` leaves them."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import tarfile
import zipfile
from pathlib import Path
from random import Random

import pytest

from ragdatakit import validate
from ragdatakit.files.containers.beginnings import why_not_text
from tests.command_line import FIXTURES, run

_LINES = b'{"_id": "d1", "text": "pears"}\n\n{"_id": "d2", "text": "tides"}\n\n'


def _parquet() -> bytes:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    held = io.BytesIO()
    columns = {"_id": [f"d{n}" for n in range(99)], "text": [f"pear {n}\n\ntree" for n in range(99)]}
    pq.write_table(pa.table(columns), held, compression="none")
    return held.getvalue()


def _zip() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("corpus.jsonl", _LINES)
    return held.getvalue()


def _tar() -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        entry = tarfile.TarInfo("corpus.jsonl")
        entry.size = len(_LINES) * 9_999
        archive.addfile(entry, io.BytesIO(_LINES * 9_999))
    return held.getvalue()


_HELD = {
    "Parquet": (_parquet, "it holds Parquet"),
    "zip": (_zip, "it holds a zip archive"),
    "tar": (_tar, "it holds a tar archive"),
    **{
        f"pickle {protocol}": (lambda n=protocol: pickle.dumps([_LINES, 1.5], n), "it holds a pickle")
        for protocol in range(2, 6)
    },
    "gzip in gzip": (lambda: gzip.compress(gzip.compress(_LINES) + b"\n\n"), "it holds gzip data within gzip data"),
    "UTF-16": (lambda: _LINES.decode().encode("utf-16") + b"\n\n", "it is UTF-16"),
    "UTF-32": (lambda: _LINES.decode().encode("utf-32") + b"\n\n", "it is UTF-32"),
    "HTML": (lambda: b"\n<!DOCTYPE html>\n<html>404</html>\n\n", "it is a page of HTML"),
    "zeros": (lambda: bytes(99), "there are NUL bytes in it"),
    "noise": (lambda: Random(4).randbytes(4000) + b"\n\n", "there are NUL bytes in it"),
    "zeros, packed": (lambda: gzip.compress(bytes(1 << 20)), "there are NUL bytes in it"),
}
_DOUBTED = {
    "NUL": (lambda: _LINES + b'\0{"_id": "d3", "text": ""}\n\n', "there are NUL bytes in it, so that it may not be"),
    "NUL, packed": (lambda: gzip.compress(_LINES + b"\0\n\n", mtime=0), "there are NUL bytes in it"),
    "NUL and other bytes": (lambda: _LINES + b"\0\xe9\xff\n\n", "there are NUL bytes in it, so that it may not be"),
    "other bytes": (lambda: _LINES * 2 + b"\xfd7zXZ\n\n", "not all of it is UTF-8, so that it may not be text"),
}


@pytest.mark.parametrize("name", [*_HELD, *_DOUBTED])
def test_what_is_not_text_stays_as_it_is(tmp_path: Path, name: str) -> None:
    make, reason = {**_HELD, **_DOUBTED}[name]
    corpus, queries = tmp_path / "corpus.jsonl", tmp_path / "queries.jsonl"
    corpus.write_bytes(held := make())
    queries.write_bytes(b'{"_id": "q1", "text": "pears"}\n\n')

    outcome = run("validate", tmp_path, "--from", "beir", "--fix", "--unsafe-fixes", "--max-per-rule", "1")

    assert outcome.code == 1
    assert outcome.out.count(f"RD118 error is not data in UTF-8: {reason}") == (name in _HELD)
    assert corpus.read_bytes() == held
    assert queries.read_bytes() == b'{"_id": "q1", "text": "pears"}\n'
    assert outcome.err.count(f"corpus.jsonl was left as it is: {reason}") == (name in _DOUBTED)


@pytest.mark.parametrize("name", _HELD)
def test_it_is_one_finding(tmp_path: Path, name: str) -> None:
    (tmp_path / "corpus.jsonl").write_bytes(_HELD[name][0]())
    (tmp_path / "queries.jsonl").write_bytes(b'{"_id": "q1", "text": "pears"}\n')
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_bytes(b"query-id\tcorpus-id\tscore\nq1\td1\t1\n")

    for engine in ((), ("--engine", "local")):
        document = json.loads(run("validate", tmp_path, "--output-format", "json", *engine).out)

        assert [(each["code"], each["line"]) for each in document["findings"]] == [("RD118", None)]


@pytest.mark.parametrize("text", [b"GIF89a is a form of images.\n", b"%PDF-1.7 begins with these characters.\n"])
def test_texts_may_begin_like_binary_files(text: bytes) -> None:
    assert why_not_text(text) == ""
    assert why_not_text(text + b"\xe2\xe3").startswith("it holds a")


def test_fixes_of_it_are_not_promised(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_bytes(_LINES + b"\0\n")
    (tmp_path / "queries.jsonl").write_bytes(b'{"_id": "q1", "text": "pears"}\n')

    findings = json.loads(run("validate", tmp_path, "--from", "beir", "--output-format", "json").out)["findings"]

    reasons = {each["fix"]["withheld"] for each in findings if each["code"] == "BE112"}
    assert reasons == {"there are NUL bytes in it, so that it may not be text"}
    assert "fixable with" not in run("validate", tmp_path, "--from", "beir").out


def test_a_text_may_begin_as_parquet_does(tmp_path: Path) -> None:
    run_file = tmp_path / "run.trec"
    run_file.write_text("PAR1 Q0 d1 1 2.5 bm25\n\nq2 Q0 d1 1 2.5 bm25\n")

    assert run("validate", run_file, "--from", "trec", "--fix").code == 0
    assert run_file.read_text() == "PAR1 Q0 d1 1 2.5 bm25\nq2 Q0 d1 1 2.5 bm25\n"


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("packed", [False, True])
def test_an_array_is_one_finding_and_becomes_lines(tmp_path: Path, indent: int | None, packed: bool) -> None:
    records = [{"qid": i, "text": f"who mapped reef {i}"} for i in range(3)]
    data = json.dumps(records, indent=indent).encode()
    query_master = tmp_path / f"query_master.ndjson{'.gz' if packed else ''}"
    query_master.write_bytes(gzip.compress(data, mtime=0) if packed else data)

    for engine in ((), ("--engine", "local")):
        document = json.loads(run("validate", query_master, "--output-format", "json", *engine).out)
        assert [(each["code"], each["line"]) for each in document["findings"]] == [("RD119", None)]
    done = run("validate", query_master, "--fix")

    assert done.code == 0, done.out
    written = query_master.read_bytes()
    lines = (gzip.decompress(written) if packed else written).splitlines()
    assert [json.loads(line) for line in lines] == records


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (
            b"<html><body>Log in</body></html>\n",
            "download the file again: a server sent a page, maybe of an error or a",
        ),
        (_LINES.decode().encode("utf-16"), "convert it with `iconv -f utf-16 -t utf-8 FILE > NEW`"),
        (_zip(), "put the text in its place that the name promises: unpack what is packed"),
    ],
)
def test_the_hint_is_that_of_what_it_is(data: bytes, hint: str, tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_bytes(data)
    (tmp_path / "queries.jsonl").write_bytes(b'{"_id": "q1", "text": "pears"}\n')

    (finding,) = validate(tmp_path, format="beir", select="RD118").findings

    assert finding.hint.startswith(hint)


def test_a_pointer_of_git_lfs_is_named_where_no_dataset_is_recognised(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab\nsize 12345\n"
    (tmp_path / "records.jsonl").write_text(pointer, "utf-8")

    assert "it is a Git LFS pointer, not the data; `git lfs pull` fetches that" in run("validate", tmp_path).err


@pytest.mark.parametrize(
    "name", ["lightrag/valid/extraction/chunk-1.extraction.txt", "graphrag/valid/extraction/t1.claims.txt"]
)
def test_the_answer_of_a_model_may_begin_like_a_page(name: str, tmp_path: Path) -> None:
    answer = FIXTURES / name
    (tmp_path / answer.name).write_bytes(b"<html>\n" + answer.read_bytes())

    assert run("validate", tmp_path).code == 0
