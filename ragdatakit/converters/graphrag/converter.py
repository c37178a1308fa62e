"""GraphRAG to canonical tables and back."""

from __future__ import annotations

from ragdatakit.converters import Converter, Option, written_by
from ragdatakit.converters.graphrag.reading import read
from ragdatakit.schemas.graphrag.tables import RELEASES

_DOCUMENT = ("doc_id", "text", "title", "metadata")
_CHUNK = ("chunk_id", "text", "doc_id", "ordinal", "metadata")
_NODE = ("name", "type", "attributes")
_EDGE = ("source", "relation", "target", "attributes", "provenance")
_COMMUNITY = ("community_id", "level", "title", "parent", "members", "attributes")
_SUMMARY = ("summary_id", "level", "text", "children", "metadata")

CONVERTER = Converter(
    name="graphrag",
    read=read,
    write=written_by("ragdatakit.converters.graphrag.writing"),
    gives={
        "documents": _DOCUMENT,
        "chunks": _CHUNK,
        "nodes": _NODE,
        "relations": ("name",),
        "edges": _EDGE,
        "communities": _COMMUNITY,
        "summaries": _SUMMARY,
    },
    holds={
        "documents": _DOCUMENT,
        "chunks": _CHUNK,
        "nodes": _NODE,
        "relations": ("name",),
        "edges": (*_EDGE, "confidence"),
        "communities": _COMMUNITY,
        "summaries": _SUMMARY,
    },
    described=True,
    unread=dict.fromkeys(("embeddings", "stores"), "vectors, which can be made again, are not read"),
    cuts={"by": "tokens", "size": 1200, "overlap": 100},
    needs_graph=True,
    options=(Option("release", "write", "the release of GraphRAG that is to read the tables", "3", tuple(RELEASES)),),
)
