"""LightRAG to canonical tables and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragdatakit.converters import Converter, Option, written_by
from ragdatakit.converters.lightrag.reading import read
from ragdatakit.schemas.findings import Finding

_DOCUMENT = ("doc_id", "text", "title", "metadata")
_CHUNK = ("chunk_id", "text", "doc_id", "ordinal", "metadata")
_EDGE = ("source", "relation", "target", "attributes", "provenance")
_REPAIRED = {"packed-store", "missing-vectors"}
"""Errors that reading repairs: it unpacks what LightRAG would not, and reads no vectors."""


def _repairs(finding: Finding, values: Mapping[str, Any]) -> bool:
    return finding.rule in _REPAIRED


CONVERTER = Converter(
    name="lightrag",
    read=read,
    write=written_by("ragdatakit.converters.lightrag.writing"),
    gives={
        "documents": _DOCUMENT,
        "chunks": _CHUNK,
        "nodes": ("name", "type", "attributes"),
        "relations": ("name",),
        "edges": _EDGE,
        "summaries": ("summary_id", "level", "text", "children", "metadata"),
        "communities": ("community_id", "level", "title", "parent", "members"),
    },
    holds={
        "documents": _DOCUMENT,
        "chunks": _CHUNK,
        "nodes": ("name", "type", "attributes"),
        "relations": ("name",),
        "edges": (*_EDGE, "confidence"),
    },
    vectors=True,
    options=(
        Option(
            "form",
            "write",
            "payload: what ainsert_custom_kg takes; directory: a working directory with vectors, of hashed words or "
            "by --embedder",
            "payload",
            ("payload", "directory"),
        ),
        Option("dimension", "write", "how many numbers a vector of hashed words has", 64),
    ),
    described=True,
    needs_graph=True,
    unread=dict.fromkeys(
        ("chunk-vectors", "entity-vectors", "relation-vectors"), "vectors, which can be made again, are not read"
    ),
    cuts={"by": "tokens", "size": 1200, "overlap": 100},
    repairs=_repairs,
)
