"""A clean BEIR folder of two splits, and what its own checks add to the declaration."""

from __future__ import annotations

from typing import Any

from ragdatakit.schemas.beir.format import BEIR
from tests.faults.drafts import Draft, DraftFile, cell, line_of

SIZE = 80


def drafts() -> tuple[Draft, ...]:
    """A corpus, queries, and judgements for each half of them."""
    corpus = [
        {
            "_id": f"d{i}",
            "title": f"Harbour {i}",
            "text": f"Harbour {i} has a pier of its own.",
            "metadata": {"page": i},
        }
        for i in range(SIZE)
    ]
    queries = [{"_id": f"q{i}", "text": f"what is known of harbour {i}", "metadata": {"page": i}} for i in range(SIZE)]
    halves = {"train": range(SIZE // 2), "test": range(SIZE // 2, SIZE)}
    return (
        Draft(
            "beir",
            BEIR,
            (
                DraftFile("queries.jsonl", BEIR.file("queries"), tuple(map(cell, queries))),
                DraftFile("corpus.jsonl", BEIR.file("corpus"), tuple(map(cell, corpus))),
                *(
                    DraftFile(
                        f"qrels/{name}.tsv", BEIR.file("qrels"), tuple(line_of(_judgement(i), "\t") for i in half)
                    )
                    for name, half in halves.items()
                ),
            ),
            derive=_derive,
            own_rules=_own_rules,
        ),
    )


def _judgement(i: int) -> dict[str, Any]:
    return {"query-id": f"q{i}", "corpus-id": f"d{i}", "score": 1 + i % 3}


def _derive(path: str, kind: str, value: Any) -> dict[str, Any]:
    if kind != "qrels" or not isinstance(value, dict):
        return {}
    query, score = value["query-id"], value["score"]
    relevant = query if not isinstance(score, str) and score > 0 else None
    return {"@judged": (path, query, value["corpus-id"]), "@relevant": relevant, "@split": path}


def _own_rules(kind: str, name: str, variant: str) -> tuple[str, ...]:
    if name == "text" and variant in ("empty", "blank"):
        return ("blank-text",)
    if name == "_id" and variant in ("empty", "blank"):
        return ("unsafe-id",)
    return ()
