"""Files with the name of a data file that hold something else: `--fix` leaves them as they are and says why."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import zipfile
from pathlib import Path

import pytest

from tests.command_line import run

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


_HELD = {
    "Parquet": (_parquet, "it holds Parquet, not text"),
    "zip": (_zip, "it holds a zip archive, not text"),
    **{
        f"pickle {protocol}": (lambda n=protocol: pickle.dumps([_LINES, 1.5], n), "it holds a pickle, not text")
        for protocol in range(2, 6)
    },
    "gzip in gzip": (lambda: gzip.compress(gzip.compress(_LINES) + b"\n\n"), "it holds gzip data within gzip data"),
    "UTF-16": (lambda: _LINES.decode().encode("utf-16") + b"\n\n", "it is UTF-16, not UTF-8"),
    "UTF-32": (lambda: _LINES.decode().encode("utf-32") + b"\n\n", "it is UTF-32, not UTF-8"),
    "NUL": (lambda: _LINES + b'\0{"_id": "d3", "text": ""}\n\n', "it is not text: there are NUL bytes in it"),
    "NUL, packed": (lambda: gzip.compress(_LINES + b"\0\n\n", mtime=0), "it is not text: there are NUL bytes in it"),
    "other bytes": (lambda: _LINES * 2 + b"\xfd7zXZ\n\n", "not all of it is UTF-8, so that it may not be text"),
}


@pytest.mark.parametrize("name", _HELD)
def test_what_is_not_text_stays_as_it_is(tmp_path: Path, name: str) -> None:
    make, reason = _HELD[name]
    corpus, queries = tmp_path / "corpus.jsonl", tmp_path / "queries.jsonl"
    corpus.write_bytes(held := make())
    queries.write_bytes(b'{"_id": "q1", "text": "pears"}\n\n')

    outcome = run("validate", tmp_path, "--from", "beir", "--fix", "--unsafe-fixes", "--max-per-rule", "1")

    assert outcome.code == 1
    assert corpus.read_bytes() == held
    assert queries.read_bytes() == b'{"_id": "q1", "text": "pears"}\n'
    assert outcome.err.count(f"corpus.jsonl was left as it is: {reason}") == 1


def test_fixes_of_it_are_not_promised(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_bytes(_LINES + b"\0\n")
    (tmp_path / "queries.jsonl").write_bytes(b'{"_id": "q1", "text": "pears"}\n')

    findings = json.loads(run("validate", tmp_path, "--from", "beir", "--output-format", "json").out)["findings"]

    reasons = {each["fix"]["withheld"] for each in findings if each["code"] == "BE112"}
    assert reasons == {"it is not text: there are NUL bytes in it"}
    assert "fixable with" not in run("validate", tmp_path, "--from", "beir").out


def test_a_text_may_begin_as_parquet_does(tmp_path: Path) -> None:
    run_file = tmp_path / "run.trec"
    run_file.write_text("PAR1 Q0 d1 1 2.5 bm25\n\nq2 Q0 d1 1 2.5 bm25\n")

    assert run("validate", run_file, "--from", "trec", "--fix").code == 0
    assert run_file.read_text() == "PAR1 Q0 d1 1 2.5 bm25\nq2 Q0 d1 1 2.5 bm25\n"
