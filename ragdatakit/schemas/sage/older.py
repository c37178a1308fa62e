"""The names of older SAGE records, and what became of them; the names that today's operators use instead.

Validators report them, the converter renames them: both read this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STAGES = ("retrieval", "reranking", "refining")
TIMES = {"retrieval_time": "retrieve_time", "refining_time": "refine_time", "generation_time": "generate_time"}
"""Documented names of times, and those that today's operators use (a reranker's time they do not know)."""
OLDER = ("results", "retrieved_docs", "retrieved_documents", "refined_docs", "refine_metrics", "pred", "golds")
LISTS = {"retrieved_docs": "retrieval", "retrieved_documents": "retrieval", "refined_docs": "refining"}
"""Older lists of texts, and the stages they are of."""
TEXT_KEYS = ("content", "contents", "page_content")
"""Where older results have their text."""


def stage_of_results(record: Mapping[str, Any]) -> str:
    """Which stage the older key ``results`` is of: its company shows.

    A refined list next to it decides by being the same; without one, a refiner's time makes it refined. Results with a
    ``relevance_score``, and some of the retrieved texts in another order, are reranked. All others are retrieved.
    """
    value = record.get("results")
    elements = value if isinstance(value, list) else []
    texts = _texts(elements)
    refined = _first(record, ("refining_docs", "refining_results", "refined_docs"))
    if refined is not None:
        if texts and texts == _texts(refined):
            return "refining"
    elif "refine_time" in record or "refine_metrics" in record:
        return "refining"
    if any(isinstance(e, dict) and "relevance_score" in e for e in elements):
        return "reranking"
    retrieved = _first(record, ("retrieval_docs", "retrieval_results", "retrieved_docs", "retrieved_documents"))
    found = _texts(retrieved or [])
    return "reranking" if texts and texts != found and set(texts) <= set(found) else "retrieval"


def _first(record: Mapping[str, Any], keys: tuple[str, ...]) -> list[Any] | None:
    return next((record[key] for key in keys if isinstance(record.get(key), list)), None)


def _texts(elements: list[Any]) -> list[str]:
    found = []
    for element in elements:
        text = element
        if isinstance(element, dict):
            text = next((element[key] for key in ("text", *TEXT_KEYS) if key in element), None)
        if isinstance(text, str):
            found.append(text)
    return found
