"""A JSON Schema of the unified SAGE record: names and types, as far as such a schema can tell them."""

from __future__ import annotations

from typing import Any

TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
SECONDS: dict[str, Any] = {"type": "number", "minimum": 0}
LENGTH: dict[str, Any] = {"type": "integer", "minimum": 0}


def _results(**fields: dict[str, Any]) -> dict[str, Any]:
    properties = {"text": {"type": "string", "minLength": 1}, **fields}
    return {"type": "array", "items": {"type": "object", "properties": properties, "required": ["text"]}}


SCORED = _results(score={"type": "number"}, metadata={"type": "object"})

SAGE_RECORD: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "query": {"type": "string", "pattern": r"\S"},
        "question": {"type": "object"},
        "references": {"type": "array", "items": {"type": "string", "minLength": 1}},
        "retrieval_results": SCORED,
        "retrieval_docs": TEXTS,
        "retrieval_time": SECONDS,
        "reranking_results": SCORED,
        "reranking_docs": TEXTS,
        "reranking_time": SECONDS,
        "refining_results": _results(
            original_length=LENGTH, refined_length=LENGTH, compression_ratio={"type": "number", "minimum": 0}
        ),
        "refining_docs": TEXTS,
        "refining_time": SECONDS,
        "prompt": {"type": "string"},
        "generated": {"type": "string"},
        "generation_time": SECONDS,
    },
    "required": ["query"],
}
