"""Which columns of the canonical tables name records of others."""

from __future__ import annotations

from collections.abc import Iterator

IDS = {
    "documents": "doc_id",
    "chunks": "chunk_id",
    "nodes": "name",
    "questions": "question_id",
    "communities": "community_id",
    "summaries": "summary_id",
}
"""The column that names a record."""

LABELS = {
    "documents": "coalesce(nullif(title, ''), text)",
    "chunks": "text",
    "nodes": "coalesce(type, '')",
    "questions": "text",
    "communities": "coalesce(title, '')",
    "summaries": "text",
}
"""What is shown beside the id, in SQL."""

_QUESTION = ("questions",)
_PASSAGE = ("documents", "chunks")
_NAMES: dict[tuple[str, str], tuple[str, ...]] = {
    ("chunks", "doc_id"): ("documents",),
    ("edges", "source"): ("nodes",),
    ("edges", "target"): ("nodes",),
    ("qrels", "question_id"): _QUESTION,
    ("qrels", "target_id"): (*_PASSAGE, "nodes"),
    ("start_nodes", "question_id"): _QUESTION,
    ("start_nodes", "node"): ("nodes",),
    ("triplets", "question_id"): _QUESTION,
    ("triplets", "positive_id"): _PASSAGE,
    ("triplets", "negative_id"): _PASSAGE,
    ("pair_scores", "question_id"): _QUESTION,
    ("pair_scores", "doc_id"): _PASSAGE,
    ("communities", "parent"): ("communities",),
    ("communities", "members"): ("nodes",),
    ("summaries", "children"): ("chunks", "documents", "summaries"),
    ("runs", "question_id"): _QUESTION,
    ("runs", "target_id"): _PASSAGE,
    ("answers", "question_id"): _QUESTION,
    ("traces", "question_id"): _QUESTION,
}
LISTS = {("communities", "members"), ("summaries", "children")}
"""Columns that hold lists of ids."""


def named_by(table: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The columns of a table that name records, with the tables that these are looked for in."""
    yield from ((column, targets) for (owner, column), targets in _NAMES.items() if owner == table)


def naming(table: str) -> Iterator[tuple[str, str]]:
    """The tables whose records name those of this one, and by which column."""
    yield from (owner for owner, targets in _NAMES.items() if table in targets)


def only_of_kind(table: str, column: str, target: str) -> str:
    """The condition, in SQL, that a reference is to a record of ``target``; ids of several tables may be equal."""
    if (table, column) != ("qrels", "target_id"):
        return "true"
    return f"target_kind = '{target.removesuffix('s')}'"
