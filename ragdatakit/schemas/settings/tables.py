"""What the columns of a table that a configuration names may mean, by what a row of it is."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MEANINGS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "documents": {"doc_id": "id", "text": "text", "title": "title", "metadata": "metadata"},
        "questions": {
            "question_id": "question_id",
            "text": "question",
            "answer": "answer",
            "aliases": "aliases",
            "split": "split",
            "doc_id": "doc_id",
            "metadata": "metadata",
        },
        "qrels": {"question_id": "question_id", "doc_id": "doc_id", "grade": "grade", "split": "split"},
        "edges": {
            "source": "source",
            "relation": "relation",
            "target": "target",
            "split": "split",
            "metadata": "metadata",
        },
    }
)
"""What a row is, to what it may have, to the word of `--map` for it."""
REQUIRED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "documents": ("doc_id", "text"),
        "questions": ("question_id", "text"),
        "qrels": ("question_id", "doc_id"),
        "edges": ("source", "relation", "target"),
    }
)
"""What each row has to have."""
