"""GraphRAG to canonical tables."""

from __future__ import annotations

from ragdatakit.converters import Converter
from ragdatakit.converters.graphrag.reading import read

CONVERTER = Converter(
    name="graphrag",
    read=read,
    gives={
        "documents": ("doc_id", "text", "title", "metadata"),
        "chunks": ("chunk_id", "text", "doc_id", "ordinal", "metadata"),
        "nodes": ("name", "type", "attributes"),
        "relations": ("name",),
        "edges": ("source", "relation", "target", "attributes", "provenance"),
        "communities": ("community_id", "level", "title", "parent", "members", "attributes"),
        "summaries": ("summary_id", "level", "text", "children", "metadata"),
    },
)
