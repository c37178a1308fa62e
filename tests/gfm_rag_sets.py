"""Small GFM-RAG files for tests, a graph that needs no tables, and what the checks say of records."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragdatakit.arrays.small_graphs import PlainGraph
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.schemas import get_format
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import FormatChecks
from ragdatakit.validators.gfm_rag.questions import QuestionChecks
from ragdatakit.validators.python_keys import PythonBatch
from ragdatakit.validators.records import RecordChecker
from ragdatakit.validators.set_plan import plan_sets
from ragdatakit.validators.sets import SetChecks

PATHS = {
    "documents": "raw/documents.json",
    "built-documents": "raw/documents.json",
    "raw-questions": "raw/test.json",
    "questions": "processed/stage1/test.json",
    "legacy-documents": "raw/dataset_corpus.json",
    "legacy-triples": "processed/stage1/kg.txt",
    "legacy-entities": "processed/stage1/document2entities.json",
    "legacy-questions": "processed/stage1/test.json",
    "predictions": "predictions_harbour.json",
}


class SmallTables:
    """The nodes of the minimal dataset, linked by as many edges as are given (from node number to node number)."""

    def __init__(self, usable: bool = True, edges: Sequence[tuple[int, int]] = ((1, 2), (1, 0)), size: int = 3) -> None:
        self.usable = usable
        self.nodes = {"Harbour log": (0, "document"), "osprey": (1, "entity"), "lena": (2, "entity")}
        self.types = {"document": size - 2, "entity": 2}
        self._edges = edges

    def expect(self, names: list[str]) -> None:
        assert len(names) == len(set(names))

    def node(self, name: str) -> tuple[int, str] | None:
        """Number and type of a node."""
        return self.nodes.get(name)

    def graph(self) -> PlainGraph:
        """Its graph."""
        return PlainGraph(3, [s for s, _ in self._edges], [t for _, t in self._edges])


def dataset(root: Path, *kinds: str) -> Dataset:
    """A dataset with one file per kind, in that order; files of a kind that is there twice are train and test."""
    files = []
    for i, kind in enumerate(kinds):
        name = PATHS[kind].replace("test", "train") if kind in kinds[i + 1 :] else PATHS[kind]
        files.append(DataFile(root / name, name, name, kind))
    return Dataset(root, str(root), get_format("gfm-rag"), "dataset", files)


def question_checks(tables: SmallTables | None = None, files: int = 1) -> QuestionChecks:
    """Checks of as many files of questions."""
    return QuestionChecks(
        dataset(Path("harbour"), *["questions"] * files), ("reasoner", "gfm-rag"), tables or SmallTables()
    )


def changed(record: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """A record with other fields; ``...`` takes a field away."""
    return {k: v for k, v in {**record, **change}.items() if v is not ...}


def examine(checks: FormatChecks, file: DataFile, values: list[Any]) -> list[Problem]:
    """What the declaration and the checks say of each record, in order."""
    checker = RecordChecker(get_format("gfm-rag").file(file.kind).records, lambda value: checks.record(file, value))
    return [problem for value in values for problem in checker.examine(json.dumps(value).encode())[1]]


def read(checks: QuestionChecks, values: list[Any], file: int = 0, first_row: int = 0) -> dict[str, list[int]]:
    """Hand one file of questions to the checks; the rows that break rules about consecutive records, by rule."""
    report = checks.dataset.files[file]
    checks.start_file(report)
    batch = PythonBatch({}, first_row)
    found = {
        h.rule: list(h.rows)
        for h in checks.batch(
            "questions",
            None,
            values,
            batch,
            SetChecks(plan_sets(get_format("gfm-rag"), None, set(), bool, False), None, set()),
        )
        if len(h.rows)
    }
    report.records = len(values)
    list(checks.finish_file(report, len(values)))
    return found


def finished(checks: FormatChecks) -> list[tuple[str, Problem]]:
    """What is reported at the end: names of files and problems."""
    return [(file.name, problem) for file, problem in checks.finish()]


def write(root: Path, files: dict[str, Any]) -> Path:
    """Write files: texts as they are, anything else as JSON."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
    return root
