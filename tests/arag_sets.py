"""Small A-RAG datasets for tests, and what the checks say of their records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.schemas.arag.format import ARAG
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.arag.checks import ARagChecks
from ragdatakit.validators.python_keys import PythonBatch
from ragdatakit.validators.records import RecordChecker

NAMES = {
    "chunks": "chunks.json",
    "questions": "questions.json",
    "predictions": "predictions.jsonl",
    "index": "index/sentence_index.pkl",
}
LAMP = "The lighthouse of Skarn was lit in 1871. It burned whale oil."
BELL = "A fog bell was hung below the lamp in 1884."
ASKED = {"id": "s1", "question": "When was the lamp lit?", "answer": "1871"}


def dataset(root: Path, *kinds: str) -> Dataset:
    files = [DataFile(root / NAMES[k], NAMES[k], NAMES[k], k) for k in kinds]
    return Dataset(root, str(root), ARAG, "corpus", files)


def examine(checks: ARagChecks, file: DataFile, values: list[Any]) -> list[Problem]:
    """What the declaration and the checks say of each value, in order."""
    checker = RecordChecker(ARAG.file(file.kind).records, lambda value: checks.record(file, value))
    return [problem for value in values for problem in checker.examine(json.dumps(value).encode())[1]]


def hits(checks: ARagChecks, kind: str, values: list[Any], first_row: int = 0) -> dict[str, list[int]]:
    """The rows that break rules about consecutive records, by rule."""
    batch = PythonBatch({}, first_row)
    return {h.rule: list(h.rows) for h in checks.batch(kind, None, values, batch, None) if len(h.rows)}


def problems(kind: str, values: list[Any], folder: str = "skarn") -> list[Problem]:
    """What is said of the records of one file."""
    found = dataset(Path(folder), kind)
    return examine(ARagChecks(found, ()), found.files[0], values)


def rules(kind: str, values: list[Any], folder: str = "skarn") -> list[str]:
    """The names of the rules that the records of one file break, each by itself."""
    return [p.rule for p in problems(kind, values, folder)]


def serious(names: list[str]) -> list[str]:
    """Without what is only worth knowing."""
    return [n for n in names if ARAG.rule(n).severity != "info"]
