"""Clean RAGChecker files of forty records, and what their own checks add to the declaration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ragdatakit.schemas.ragchecker.format import RAGCHECKER
from tests.faults.drafts import Draft, DraftFile, cell

SIZE = 40
FILES = {
    "corpus": "corpus.jsonl",
    "chunks": "chunks.jsonl",
    "queries": "reefs_queries.json",
    "results": "checking_outputs.json",
}


def drafts() -> tuple[Draft, ...]:
    """One file a dataset, given by its name."""
    made: dict[str, Callable[[int], dict[str, Any]]] = {
        "corpus": _document,
        "chunks": _chunk,
        "queries": _query,
        "results": _result,
    }
    return tuple(
        Draft(
            f"ragchecker {kind}",
            RAGCHECKER,
            (DraftFile(path, RAGCHECKER.file(kind), tuple(cell(made[kind](i)) for i in range(SIZE))),),
            derive=_derive,
            own_rules=_own_rules,
            notes={"entry": path, "format": "ragchecker", "results @query_id": "query_id"},
        )
        for kind, path in FILES.items()
    )


def _document(i: int) -> dict[str, Any]:
    return {"doc_id": f"d{i}", "title": f"Reef {i}", "text": f"Reef number {i} lies north of the harbour."}


def _chunk(i: int) -> dict[str, Any]:
    document = _document(i // 2)
    return {**document, "chunk_id": i % 2, "text": f"{document['title']}. Part {i} of it."}


def _query(i: int) -> dict[str, Any]:
    query = f"Where does reef number {i} lie?"
    return {"query_id": f"q{i}", "query": query, "gt_answer": f"Reef number {i} lies north of the harbour."}


def _result(i: int) -> dict[str, Any]:
    claim = [f"reef number {i}", "lies north of", "the harbour"]
    return {
        **_query(i),
        "response": "It lies north of the harbour, and is wide.",
        "retrieved_context": [{"doc_id": f"d{i}", "text": f"Reef number {i} lies north of the harbour."}],
        "response_claims": [claim, "It is wide."],
        "gt_answer_claims": [claim],
        "answer2response": ["Entailment", "Neutral"],
        "response2answer": ["Entailment"],
        "retrieved2response": [["Entailment"], ["Neutral"]],
        "retrieved2answer": [["Entailment"]],
        "metrics": {"precision": 0.5, "recall": 1.0},
    }


def _derive(path: str, kind: str, value: Any) -> dict[str, Any]:
    found = value.get("query_id") if isinstance(value, dict) else None
    usable = isinstance(found, str | int) and not isinstance(found, bool)
    return {"@file": path, "@query_id": str(found) if usable else None}


def _own_rules(kind: str, name: str, variant: str) -> tuple[str, ...]:
    return tuple(OWN.get((kind, name, variant), "").split())


_FIELDS = ("answer2response", "response2answer", "retrieved2response", "retrieved2answer")
_ABSENT = ("missing", "null")
_HUGE = ("2^53 + 1", "2^63", "2^70", "-2^63 - 1")
OWN: dict[tuple[str, str, str], str] = {
    **{("results", f, v): "empty-answer" for f in ("gt_answer", "response") for v in ("empty", "blank")},
    **{("results", "retrieved_context", v): "passages-left-out" for v in _ABSENT},
    ("results", "retrieved_context", "empty"): "no-passages",
    **{("results", f, v): "labels-without-claims" for f in ("response_claims", "gt_answer_claims") for v in _ABSENT},
    **{("results", f, "empty"): "misshapen-labels" for f in ("response_claims", "gt_answer_claims")},
    **{("results", f, v): "incomplete-labels" for f in _FIELDS for v in _ABSENT},
    **{("results", f, "empty"): "misshapen-labels" for f in _FIELDS},
    **{
        ("results", f, "one item for a list"): "misshapen-labels"
        for f in ("response_claims", "gt_answer_claims", *_FIELDS[2:])
    },
}
