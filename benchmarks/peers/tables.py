"""The benchmark sets as typed tables, for the peers that want a schema."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LARGEST_LINE = 250_000_000

TABLES: dict[str, dict[str, dict[str, str]]] = {
    "splade": {
        "train/query_master.ndjson": {"qid": "BIGINT", "text": "VARCHAR"},
        "train/doc_master.ndjson": {"doc_id": "BIGINT", "text": "VARCHAR"},
        "train/positive_lists.ndjson": {"qid": "BIGINT", "positive_doc_ids": "BIGINT[]"},
        "train/triplets.ndjson": {"qid": "BIGINT", "pos_doc_id": "BIGINT", "neg_doc_id": "BIGINT"},
    },
    "documents": {"doc_master.ndjson": {"doc_id": "BIGINT", "text": "VARCHAR"}},
    "datamind": {
        "chunks/*.jsonl": {"id": "VARCHAR", "text": "VARCHAR", "source": "VARCHAR", "metadata": "JSON"},
        "triplets/*.jsonl": {
            "subject": "VARCHAR", "relation": "VARCHAR", "object": "VARCHAR",
            "subject_type": "VARCHAR", "object_type": "VARCHAR", "confidence": "DOUBLE",
        },
    },
    # All cells as text.
    "gfm-rag": {
        "processed/stage1/nodes.csv": {"name": "VARCHAR", "type": "VARCHAR", "attributes": "VARCHAR"},
        "processed/stage1/relations.csv": {"name": "VARCHAR", "attributes": "VARCHAR"},
        "processed/stage1/edges.csv": {
            "source": "VARCHAR", "relation": "VARCHAR", "target": "VARCHAR", "attributes": "VARCHAR",
        },
    },
}  # fmt: skip

JSON_TYPES: dict[str, dict[str, Any]] = {
    "BIGINT": {"type": "integer"},
    "DOUBLE": {"type": "number"},
    "VARCHAR": {"type": "string", "minLength": 1},
    "JSON": {"type": "object"},
    "BIGINT[]": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
}

KEYS = {
    "train/query_master.ndjson": "qid",
    "train/doc_master.ndjson": "doc_id",
    "train/positive_lists.ndjson": "qid",
    "processed/stage1/nodes.csv": "name",
    "processed/stage1/relations.csv": "name",
}

# The same without references, to see what those cost a peer.
TABLES["splade-rows"] = TABLES["splade"]
# The same, but DuckDB finds out the types of the columns by itself.
TABLES["gfm-rag-typed"] = TABLES["gfm-rag"]

# What others refer to: stem of the file to its key.
MASTERS = {"query_master": "qid", "doc_master": "doc_id", "nodes": "name", "relations": "name"}

# Which column is a key of which master; the lists inside positive lists are beyond the peers.
REFERENCES = {
    "splade": {
        "train/positive_lists.ndjson": {"qid": "query_master"},
        "train/triplets.ndjson": {"qid": "query_master", "pos_doc_id": "doc_master", "neg_doc_id": "doc_master"},
    },
    "gfm-rag": {"processed/stage1/edges.csv": {"source": "nodes", "relation": "relations", "target": "nodes"}},
}


def references(kind: str, pattern: str) -> dict[str, str]:
    """Column to master for the files of this pattern."""
    return REFERENCES.get(kind, {}).get(pattern, {})


def json_schema(columns: dict[str, str]) -> dict[str, Any]:
    """The JSON Schema of one record with exactly these columns."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {name: JSON_TYPES[kind] for name, kind in columns.items()},
        "required": list(columns),
        "additionalProperties": False,
    }


OTHERS = ("arag", "beir", "beir-lines", "graphrag", "sage", "sage-json", "sage-orjson", "all-orjson")


def time_and_print(work: Callable[[Path, str], int]) -> None:
    """Run ``work(root, kind)``, which returns the number of records; print its seconds without start and imports."""
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("kind", choices=[*TABLES, *OTHERS])
    words = parser.parse_args()
    start = time.perf_counter()
    records = work(words.root, words.kind)
    print(json.dumps({"seconds": time.perf_counter() - start, "records": records}))
