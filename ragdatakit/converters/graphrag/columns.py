"""The columns of an index of GraphRAG that are read, those that follow from others, and what is metadata of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

READ = {
    "documents": (
        *("id", "title", "text", "raw_content", "human_readable_id"),
        *("creation_date", "metadata", "raw_data"),
    ),
    "text-units": ("id", "text", "document_id", "document_ids", "n_tokens", "human_readable_id"),
    "entities": (
        *("id", "human_readable_id", "title", "name", "type", "description"),
        *("text_unit_ids", "frequency", "degree", "x", "y"),
    ),
    "relationships": (
        *("source", "target", "description", "id", "human_readable_id", "weight", "combined_degree", "rank"),
        "text_unit_ids",
    ),
    "communities": (
        *("id", "community", "level", "title", "parent", "entity_ids", "relationship_ids", "text_unit_ids"),
        *("children", "period", "size"),
    ),
    "reports": (
        *("id", "community", "level", "title", "summary", "full_content", "rank", "rank_explanation"),
        *("rating_explanation", "findings", "full_content_json", "period", "size"),
    ),
    "covariates": (
        *("id", "human_readable_id", "covariate_type", "type", "subject_id", "object_id"),
        *("description", "status", "start_date", "end_date", "source_text", "text_unit_id"),
    ),
}
"""By table: the columns that are read."""
SAID_ELSEWHERE = {
    "documents": {"text_unit_ids"},
    "text-units": {"entity_ids", "relationship_ids", "covariate_ids"},
    "relationships": {"source_degree", "target_degree"},
    "communities": {"human_readable_id"},
    "reports": {"human_readable_id", "parent", "children"},
    "covariates": {"document_ids", "n_tokens"},
}
"""By table: the columns that follow from others."""
REST = {
    "documents": ("human_readable_id", "creation_date", "metadata", "raw_data"),
    "text-units": ("n_tokens", "human_readable_id"),
    "entities": ("description", "id", "human_readable_id", "frequency", "degree"),
    "relationships": ("description", "id", "human_readable_id", "weight", "combined_degree", "rank"),
    "communities": ("id", "children", "period", "size"),
    "reports": tuple(name for name in READ["reports"] if name not in ("id", "full_content")),
}
"""By table: the columns that are metadata or attributes of a row."""

TEXTS = {"documents": ("text", "raw_content"), "text-units": ("text",), "reports": ("full_content", "summary")}
"""By table: the columns whose first value is the text of a row."""


def row_of(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """The columns that have a value."""
    return {name: v for name, v in zip(names, values, strict=True) if v is not None and v != ""}


def rest_of(kind: str, row: dict[str, Any], members: Callable[[Any], Sequence[str]]) -> dict[str, Any]:
    """What is metadata, or attributes, of a row of a table; ``members`` gives those of a list."""
    rest = {name: row[name] for name in REST[kind] if name in row}
    if kind == "text-units":
        documents = members(row.get("document_ids"))
        return rest | ({"document_ids": list(documents)} if len(documents) > 1 else {})
    if kind == "entities":
        rest |= {axis: row[axis] for axis in ("x", "y") if row.get(axis)}
    if kind in ("entities", "relationships", "communities"):
        units = members(row.get("text_unit_ids"))
        rest |= {"passages": list(units)} if len(units) > (kind == "relationships") else {}
    if kind == "communities" and (related := members(row.get("relationship_ids"))):
        rest["relationships"] = list(related)
    return rest
