"""HippoRAG to canonical tables and back: corpora, questions with their passages, OpenIE results.

Embedding tables and pickled graphs are never opened: they can be built again, and a pickle can run code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragdatakit.converters import Converter, Option, written_by
from ragdatakit.converters.hipporag.reading import read
from ragdatakit.schemas.findings import Finding

_DOCUMENT = ("doc_id", "text", "title", "metadata")
_QUESTION = ("question_id", "text", "answer", "aliases", "metadata")
_QREL = ("question_id", "target_id", "target_kind")  # every grade is 1
_TRIPLET = ("question_id", "positive_id", "negative_id")
_EDGE = ("source", "relation", "target", "provenance")


def _repairs(finding: Finding, _: Mapping[str, Any]) -> bool:
    """Whether reading does what HippoRAG does about a fault of single results, which are one record with all others."""
    return finding.rule == "repeated-results"


CONVERTER = Converter(
    name="hipporag",
    read=read,
    write=written_by("ragdatakit.converters.hipporag.writing"),
    repairs=_repairs,
    gives={
        "documents": _DOCUMENT,
        "questions": _QUESTION,
        "qrels": _QREL,
        "triplets": _TRIPLET,
        "nodes": ("name", "attributes"),
        "relations": ("name",),
        "edges": _EDGE,
    },
    holds={
        "documents": _DOCUMENT,
        "chunks": ("chunk_id", "text", "metadata"),
        "questions": _QUESTION,
        "qrels": _QREL,
        "triplets": _TRIPLET,
        "nodes": ("name", "attributes"),
        "relations": ("name",),
        "edges": _EDGE,
    },
    options=(
        Option(
            "dataset", "read", "which data set is meant, where a folder holds several (sample of sample_corpus.json)"
        ),
        Option(
            "joiner",
            "read",
            "what separates the sentences of HotpotQA and 2Wiki contexts; auto: nothing where the name begins "
            "with hotpotqa, else a blank",
            "auto",
            ("auto", "empty", "space"),
        ),
        Option("llm", "write", "the language model in the name of the OpenIE file", "unknown"),
    ),
)
