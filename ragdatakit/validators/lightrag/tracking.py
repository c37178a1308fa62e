"""The stores by which LightRAG deletes and repairs: names by document, chunks by name. They follow the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import starmap
from typing import Any

from ragdatakit.files.lightrag.names import SEPARATOR, pair_of
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.lightrag.known import Described, Known

LISTS = {
    "document-entities": ("entities", "entity_names"),
    "document-relations": ("relations", "relation_pairs"),
    "entity-chunks": ("chunks", "chunk_ids"),
    "relation-chunks": ("chunks", "chunk_ids"),
}
"""By kind, the field of the record, and the list in it."""
_NO_GRAPH = "is not in the graph"


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
    described: Described | None = None
    judge: Callable[[Any, Known], Problem | None] = _of_chunk
    if kind.startswith("document"):
        judge = _of_name
        yield from _at("/doc_id", _differs(key, known.documents, "is not in full_docs"))
    elif kind == "entity-chunks":
        described = (known.nodes or {}).get(key)
        yield from _at("/entity_name", _differs(key, known.nodes, _NO_GRAPH))
    elif key.count(SEPARATOR) == 1:
        pair = pair_of(*key.split(SEPARATOR))
        described = (known.edges or {}).get(pair)
        yield from _at("/pair", _differs(pair, known.edges, _NO_GRAPH))
    if _are_known(kind, items, described, known):
        return
    unlisted = dict.fromkeys(
        source  # one that is no chunk is reported of the graph
        for source in (described.sources if described is not None else ())
        if known.chunks is None or source in known.chunks
    )
    for i, item in enumerate(items):
        if (problem := judge(item, known)) is not None:
            yield from _at(f"{pointer}/{i}", problem)
        if unlisted and isinstance(item, str):
            unlisted.pop(item, None)
    for chunk in unlisted:
        yield Problem("tracking-differs", pointer, key, {"reason": f"lacks {chunk}, which the graph names"})


def _are_known(kind: str, items: list[Any], described: Described | None, known: Known) -> bool:
    """Whether all items are what they should be, as they mostly are, and no source is missing among them."""
    try:
        if kind == "document-relations":
            edges = known.edges
            return (
                edges is not None and {type(i) for i in items} <= {list} and edges.keys() >= {*starmap(pair_of, items)}
            )
        among = known.nodes if kind == "document-entities" else known.chunks
        found = {*items}
        return (
            among is not None and among.keys() >= found and (described is None or found.issuperset(described.sources))
        )
    except TypeError:  # there are other things in it
        return False


def _at(pointer: str, problem: Problem | None) -> Iterator[Problem]:
    if problem is not None:
        problem.pointer = pointer
        yield problem


def _differs(key: Any, among: Any, reason: str) -> Problem | None:
    return None if among is None or key in among else Problem("tracking-differs", None, key, {"reason": reason})


def _of_name(item: Any, known: Known) -> Problem | None:
    """What is wrong with a name, or a pair of names."""
    if isinstance(item, str):
        return _differs(item, known.nodes, _NO_GRAPH)
    if isinstance(item, list) and len(item) == 2 and all(isinstance(part, str) for part in item):
        return _differs(pair_of(*item), known.edges, _NO_GRAPH)
    return Problem("unusable-tracking-record", None, item, {"expected": "a name, or a pair of names"})


def _of_chunk(item: Any, known: Known) -> Problem | None:
    if isinstance(item, str):
        return _differs(item, known.chunks, "is not in text_chunks")
    return Problem("unusable-tracking-record", None, item, {"expected": "the id of a chunk"})
