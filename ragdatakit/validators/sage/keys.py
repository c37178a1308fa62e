"""The keys of a SAGE record: which of its generations they belong to, which are unknown, which replace others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ragdatakit.files.containers.strict_json import escape
from ragdatakit.files.texts.near_names import one_edit_apart
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.sage.older import OLDER, TIMES
from ragdatakit.schemas.sage.records import RECORD

DOCUMENTED = frozenset(f.name for f in RECORD.fields)
_BATCHES = ("context", "external_corpus", "sources", "all_classes", "length", "sample_id")
_REFINER = (
    *("compressed_context", "original_tokens", "compressed_tokens", "compression_rate", "query_type"),
    "granularity_used",
)
KNOWN = DOCUMENTED.union(TIMES.values(), OLDER, _BATCHES, _REFINER)
_PREFIXED = re.compile(r"[^\W_]*[_.:/\-]+\w")
_MEANT = sorted(DOCUMENTED.union(TIMES.values()))


def key_problems(record: dict[str, Any]) -> Iterator[Problem]:
    """Unknown keys: misspelt ones each, those without a prefix all at once."""
    if record.keys() <= KNOWN:
        return
    bare = []
    for key, value in record.items():
        if key in KNOWN:
            continue
        meant = next((known for known in _MEANT if one_edit_apart(key, known)), "")
        if meant:
            facts = {"key": key, "meant": meant}
            yield Problem("misspelt-key", f"/{escape(key)}", value, facts)
        elif not _PREFIXED.match(key):
            bare.append(key)
    if bare:
        yield Problem("unprefixed-key", f"/{escape(bare[0])}", record[bare[0]], {"keys": ", ".join(bare)})


def generation(record: dict[str, Any]) -> str:
    """``documented``, ``operators`` or ``older``, by the strongest signal; ``""`` where the keys fit more than one."""
    keys = record.keys()
    refined = record.get("refining_results")
    if not _ONLY_DOCUMENTED.isdisjoint(keys):
        return "documented"
    if "compressed_context" in keys or (isinstance(refined, list) and refined and isinstance(refined[0], str)):
        return "operators"
    if not _ONLY_OLDER.isdisjoint(keys):
        return "older"
    if not keys.isdisjoint(TIMES.values()):
        return "operators"
    return "older" if "results" in keys and "retrieval_results" not in keys else ""


_ONLY_DOCUMENTED = frozenset(
    ("retrieval_docs", "reranking_docs", "refining_docs", "reranking_results", "prompt", "reranking_time", *TIMES)
)
_ONLY_OLDER = frozenset(OLDER[1:])
