"""Contextual Retrieval to canonical tables and back: documents with their chunks, contexts, questions with gold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragdatakit.converters import Converter, Option
from ragdatakit.converters.contextual_retrieval.reading import read
from ragdatakit.converters.contextual_retrieval.writing import CHUNK, DOCUMENT, QREL, QUESTION, write
from ragdatakit.files.contextual_retrieval.contexts import CONTEXT_LENGTH
from ragdatakit.schemas.findings import Finding

_REPAIRED = frozenset(("packed-file",))
"""Faults that reading does not mind."""


def _repairs(finding: Finding, values: Mapping[str, Any]) -> bool:
    return finding.rule in _REPAIRED


CONVERTER = Converter(
    name="contextual-retrieval",
    read=read,
    write=write,
    repairs=_repairs,
    gives={
        "documents": DOCUMENT,
        "chunks": CHUNK,
        "questions": QUESTION,
        "qrels": ("question_id", "target_id", "target_kind", "split"),
    },
    holds={"documents": DOCUMENT, "chunks": CHUNK, "questions": QUESTION, "qrels": QREL},
    options=(
        Option(
            "contexts",
            "write",
            "the contexts of chunks: given, those that the source has; extractive, where there is none, made of the "
            "beginning of the document, without a language model",
            "given",
            ("given", "extractive"),
        ),
        Option(
            "context-length", "write", "how many characters of the document an extractive context has", CONTEXT_LENGTH
        ),
    ),
)
