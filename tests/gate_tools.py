"""What tests of gates share: a dataset in canonical rows and as files, and whether the library is there."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.database.dataset_database import DatasetDatabase
from ragdatakit.reports.gates.derived_columns import FOUND
from ragdatakit.reports.gates.first_suite import first_suite
from ragdatakit.reports.gates.frames import GateFrames
from ragdatakit.reports.gates.running import GateLibrary, run_suite
from ragdatakit.reports.gates.suites import parse_suite
from ragdatakit.schemas.canonical import Document, Edge, PairScore, Qrel, Question
from ragdatakit.schemas.gates import Check
from tests.conversion_tools import tables_of

needs_library = pytest.mark.skipif(
    find_spec("great_expectations") is None, reason="Great Expectations is not installed (pip install .[gates])"
)
Rows = dict[str, list[Any]]


def asked(number: int) -> str:
    """The text of a question, of which it can be told that it is English."""
    return f"what is the answer to {number:03}?"


def good_rows() -> Rows:
    """Rows with all that a first suite is about. Documents from 40 on are named nowhere."""
    return {
        "documents": [
            Document(f"d{i}", f"{i:03} {'word ' * (20 + i % 30)}".strip(), f"title {i}" if i % 2 else None)
            for i in range(60)
        ],
        "questions": [Question(f"q{i}", asked(i), split=("train", "test")[i % 2]) for i in range(60)],
        "qrels": [Qrel(f"q{i}", f"d{i % 40}", i % 3) for i in range(60)],
        "edges": [Edge(f"n{i}", f"r{i % 25}", f"n{i + 1}") for i in range(100)],
        "pair_scores": [PairScore(f"q{i % 60}", f"d{i % 40}", i / 10) for i in range(100)],
    }


def database_of(rows: Rows) -> DatasetDatabase:
    return DatasetDatabase(tables_of(**rows))


def suite_of(rows: Rows, tolerance: float = 0.1) -> dict[str, Any]:
    with database_of(rows) as database:
        return first_suite(GateFrames(database), list(database.tables), "notes", tolerance)


@cache
def library() -> GateLibrary:
    """The library with one context for all tests: to make one takes longer than to check a small table."""
    return GateLibrary()


def checks_of(rows: Rows, suite: dict[str, Any], sample_rows: int = 0) -> list[Check]:
    with database_of(rows) as database:
        return run_suite(library(), parse_suite(suite, "suite.json"), GateFrames(database, sample_rows))


def touched_by(suite: dict[str, Any], table: str) -> dict[str, Any]:
    """The part of a suite that a change of this table can touch: what is about it, and all references to others."""
    expectations = [
        e
        for e in suite["expectations"]
        if e["meta"]["ragdata_table"] == table or e["kwargs"].get("column", "").endswith(FOUND)
    ]
    return {**suite, "expectations": expectations}


def write_files(folder: Path, documents: int = 30, text: str = "word") -> Path:
    """A BEIR dataset."""
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": f"d{i}", "title": f"title {i}", "text": f"{i:03} {text * (1 + i % 7)}"} for i in range(documents)]
    queries = [{"_id": f"q{i}", "text": f"question {i:03}?"} for i in range(10)]
    for name, records in (("corpus", corpus), ("queries", queries)):
        lines = "".join(f"{json.dumps(record)}\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    rows = "".join(f"q{i}\td{i}\t1\n" for i in range(10))
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}", encoding="utf-8")
    return folder


def write_suite(path: Path, *expectations: dict[str, Any], table: str = "documents", **more: Any) -> Path:
    content = {"name": "own", "expectations": list(expectations), "meta": {"ragdata_table": table}, **more}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def expect(kind: str, **kwargs: Any) -> dict[str, Any]:
    return {"type": f"expect_{kind}", "kwargs": kwargs}
