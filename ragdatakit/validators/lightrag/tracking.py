"""The stores by which LightRAG deletes and repairs: names by document, chunks by name. They follow the graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragdatakit.files.lightrag.names import SEPARATOR, pair_of
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.lightrag.known import Known, Told

LISTS = {
    "document-entities": ("entities", "entity_names"),
    "document-relations": ("relations", "relation_pairs"),
    "entity-chunks": ("chunks", "chunk_ids"),
    "relation-chunks": ("chunks", "chunk_ids"),
}
"""By kind, the field of the record, and the list in it."""


def tracking_problems(kind: str, value: dict[str, Any], known: Known) -> Iterator[Problem]:
    """The faults of one record."""
    field, name = LISTS[kind]
    record = value[field]
    items = record.get(name)
    pointer = f"/{field}/{name}"
    if not isinstance(items, list):
        facts = {"expected": f"{name}, a list"}
        yield Problem("unusable-tracking-record", pointer if name in record else f"/{field}", items, facts)
        return
    count = record.get("count", len(items))
    if count != len(items):
        yield Problem("wrong-count", f"/{field}/count", count, {"found": len(items)})
    key = next(iter(value.values()))
    if kind.startswith("document"):
        yield from _key_problems(key, known.documents, "is not in full_docs", "/doc_id")
        for i, item in enumerate(items):
            yield from _name_problems(item, f"{pointer}/{i}", known)
    else:
        yield from _chunk_problems(kind, key, items, pointer, known)


def _key_problems(key: Any, among: Any, reason: str, pointer: str) -> Iterator[Problem]:
    if among is not None and key not in among:
        yield Problem("tracking-differs", pointer, key, {"reason": reason})


def _name_problems(item: Any, pointer: str, known: Known) -> Iterator[Problem]:
    if isinstance(item, str):
        yield from _key_problems(item, known.nodes, "is not in the graph", pointer)
    elif isinstance(item, list) and len(item) == 2 and all(isinstance(part, str) for part in item):
        yield from _key_problems(pair_of(*item), known.edges, "is not in the graph", pointer)
    else:
        facts = {"expected": "a name, or a pair of names"}
        yield Problem("unusable-tracking-record", pointer, item, facts)


def _chunk_problems(kind: str, key: str, chunks: list[Any], pointer: str, known: Known) -> Iterator[Problem]:
    told: Told | None = None
    if kind == "entity-chunks":
        yield from _key_problems(key, known.nodes, "is not in the graph", "/entity_name")
        told = (known.nodes or {}).get(key)
    elif key.count(SEPARATOR) == 1:
        pair = pair_of(*key.split(SEPARATOR))
        yield from _key_problems(pair, known.edges, "is not in the graph", "/pair")
        told = (known.edges or {}).get(pair)
    for i, chunk in enumerate(chunks):
        reason = "is not in text_chunks"
        if not isinstance(chunk, str):
            facts = {"expected": "the id of a chunk"}
            yield Problem("unusable-tracking-record", f"{pointer}/{i}", chunk, facts)
        elif known.chunks is not None and chunk not in known.chunks:
            yield Problem("tracking-differs", f"{pointer}/{i}", chunk, {"reason": reason})
    if told is not None:
        listed = {chunk for chunk in chunks if isinstance(chunk, str)}
        for chunk in told.sources:
            if chunk not in listed:
                yield Problem("tracking-differs", pointer, key, {"reason": f"lacks {chunk}, which the graph names"})
