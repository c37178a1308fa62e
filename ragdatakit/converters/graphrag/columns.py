"""The columns of an index of GraphRAG that are read, and those that follow from others."""

from __future__ import annotations

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
