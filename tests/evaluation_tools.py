"""What tests of the evaluation share: small datasets on disk, and a searcher that is told what it finds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion
from ragdatakit.retrieval.index_parts import GraphLike, Ranking
from ragdatakit.retrieval.passages import Passage, Passages, write_passages
from ragdatakit.schemas.retrieved import PathStep, Query

REEFS = {
    "d1": "The north reef was mapped in one summer by a crew of nine.",
    "d2": "Lighthouses were lit with oil before the gas works came to the harbour.",
    "d3": "A ferry crosses the sound twice a day, except in storms.",
    "d4": "The keeper of the lighthouse wrote the weather into a log book.",
    "d5": "Salt marshes shelter wading birds in winter.",
    "d6": "The gas works closed when electric lamps were put up along the quay.",
}
QUESTIONS = {
    "q1": "who mapped the north reef",
    "q2": "what were lighthouses lit with before gas",
    "q3": "how often does the ferry cross",
    "q4": "which birds live in salt marshes",
}
QRELS = {"q1": {"d1": 1}, "q2": {"d2": 2, "d6": 1}, "q3": {"d3": 1}}


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def write_beir(
    folder: Path,
    documents: Mapping[str, str] = REEFS,
    questions: Mapping[str, str] = QUESTIONS,
    splits: Mapping[str, Mapping[str, Mapping[str, int]]] | None = None,
    types: Mapping[str, str] | None = None,
) -> Path:
    """A BEIR dataset; ``splits`` has the judgements by split (default: `QRELS` as test)."""
    write_lines(folder / "corpus.jsonl", ({"_id": k, "title": "", "text": v} for k, v in documents.items()))
    kinds = types or {}
    write_lines(
        folder / "queries.jsonl",
        (
            {"_id": k, "text": v, "metadata": {"question_type": kinds[k]} if k in kinds else {}}
            for k, v in questions.items()
        ),
    )
    for split, judged in ({"test": QRELS} if splits is None else splits).items():
        path = folder / "qrels" / f"{split}.tsv"
        path.parent.mkdir(exist_ok=True)
        rows = [f"{q}\t{d}\t{grade}\n" for q, targets in judged.items() for d, grade in targets.items()]
        path.write_text("query-id\tcorpus-id\tscore\n" + "".join(rows), encoding="utf-8")
    return folder


def write_run(path: Path, run: Mapping[str, Sequence[str]], tag: str = "mine") -> Path:
    """A TREC run with falling scores."""
    rows = [f"{q} Q0 {d} {n} {100 - n} {tag}\n" for q, ids in run.items() for n, d in enumerate(ids, 1)]
    path.write_text("".join(rows), encoding="utf-8")
    return path


def passages_of(folder: Path, passages: Iterable[Passage], unit: str = "document") -> Passages:
    folder.mkdir(parents=True, exist_ok=True)
    write_passages(folder, passages)
    return Passages(folder, unit)


class ReportingSearcher:
    """Gives the ordinals that it was reported, by question; ``asked`` notes the depths it was asked for."""

    def __init__(self, found: Mapping[str, Sequence[int]], nodes: Mapping[str, Sequence[str]] | None = None) -> None:
        self._found = found
        self.asked: list[int] = []
        self.graph: GraphLike | None = _ReportingGraph(nodes) if nodes is not None else None

    def rank(self, queries: Sequence[Query], mode: str, k: int) -> list[Ranking]:
        self.asked.append(k)
        found = [list(self._found.get(q.question_id or "", ()))[:k] for q in queries]
        return [Ranking(np.array(o, np.int64), np.arange(len(o), 0, -1, dtype=np.float64)) for o in found]


class _ReportingGraph:
    def __init__(self, nodes: Mapping[str, Sequence[str]]) -> None:
        self._nodes = nodes

    def seeds(self, query: Query) -> tuple[str, ...]:
        return query.start_nodes

    def path(self, query: Query, ordinal: int) -> tuple[PathStep, ...]:
        return ()

    def rank_nodes(self, queries: Sequence[Query], k: int) -> list[list[tuple[str, float]]]:
        return [[(name, 1.0) for name in self._nodes.get(q.question_id or "", ())][:k] for q in queries]


def corpus_of(folder: Path, *passages: Passage, unit: str = "document") -> Passages:
    """Passages that are written into a folder."""
    folder.mkdir(exist_ok=True)
    write_passages(folder, passages)
    return Passages(folder, unit)


def gold_of(*questions: GoldQuestion, unit: str = "document") -> Gold:
    """What is to be found, for these questions."""
    return Gold(unit, None, questions, {None: len(questions)}, {})
