"""What tests of searching share: a small dataset, a cache of their own, a part of an index that counts its builds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.retrieval.index_parts import Progress, Ranking
from ragdatakit.retrieval.passages import Passages
from ragdatakit.schemas.retrieved import Query

DOCUMENTS = {
    "ferry": ("The ferry", "The ferry leaves the harbour at nine and crosses the strait."),
    "bridge": ("The bridge", "The bridge over the strait was opened in 1932."),
    "tunnel": ("", "A tunnel is planned below the harbour."),
}
BLANK = {"blank": ("", "")}
QUESTIONS = {"q1": "when does the ferry leave", "q2": "who planned the tunnel", "q3": "is there an airport"}
QRELS = {"q1": {"ferry": 1}, "q2": {"tunnel": 1, "gone": 1, "blank": 1}}


def write_beir(
    folder: Path,
    documents: Mapping[str, tuple[str, str]] = DOCUMENTS,
    questions: Mapping[str, str] = QUESTIONS,
    qrels: Mapping[str, Mapping[str, int]] = QRELS,
) -> Path:
    """A dataset of the format beir."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{"_id": name, "title": title, "text": text} for name, (title, text) in documents.items()]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    if questions:
        asked = [{"_id": name, "text": text} for name, text in questions.items()]
        (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked), encoding="utf-8")
    if qrels:
        (folder / "qrels").mkdir(exist_ok=True)
        lines = [f"{q}\t{d}\t{grade}" for q, found in qrels.items() for d, grade in found.items()]
        text = "\n".join(("query-id\tcorpus-id\tscore", *lines, ""))
        (folder / "qrels" / "test.tsv").write_text(text, encoding="utf-8")
    return folder


class CountedPart:
    """A part that finds the passages with a word in common with the question, by how many."""

    def __init__(self, kind: str = "lexical", version: int = 1) -> None:
        self.kind = kind
        self.version = version
        self.builds = 0

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"version": self.version}

    def build(
        self, folder: Path, passages: Passages, tables: Callable[[], CanonicalTables], progress: Progress | None
    ) -> Mapping[str, Any]:
        self.builds += 1
        texts = [passage.searched.lower().split() for passage in passages]
        (folder / "words.json").write_text(json.dumps(texts))
        return {"words": sum(map(len, texts))}

    def open(self, folder: Path, passages: Passages) -> CountedRanker:
        return CountedRanker(json.loads((folder / "words.json").read_text()))


class CountedRanker:
    def __init__(self, texts: list[list[str]]) -> None:
        self._texts = texts

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        return [self._rank(set(query.text.lower().split()), k) for query in queries]

    def _rank(self, words: set[str], k: int) -> Ranking:
        counts = [(len(words & set(text)), -ordinal) for ordinal, text in enumerate(self._texts)]
        best = sorted((pair for pair in counts if pair[0]), reverse=True)[:k]
        return ranking([-ordinal for _, ordinal in best], [count for count, _ in best])


def ranking(ordinals: Sequence[int], scores: Sequence[float] | None = None) -> Ranking:
    """A ranking of these ordinals; without scores those that fall by one."""
    given = scores if scores is not None else range(len(ordinals), 0, -1)
    return Ranking(np.array(ordinals, np.int64), np.array(given, np.float64))
