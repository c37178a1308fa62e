"""SAGE: records of a pipeline (any generation), documents, benchmark files and profiling dumps.

All generations are read; the documented one is written, or with the profile ``operators`` what today's operators read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragdatakit.converters import Converter, Option, written_by
from ragdatakit.converters.sage.reading import read_sage
from ragdatakit.schemas.findings import Finding

_MENDED = frozenset(
    (
        *("older-key", "operators-time-key", "refined-as-text", "result-is-text", "record-is-array"),
        *("question-not-object", "documents-as-array"),
    )
)
_COLUMNS = {
    "questions": ("question_id", "text", "answer", "aliases", "split", "metadata"),
    "runs": ("question_id", "stage", "rank", "target_id", "text", "score", "seconds", "metadata"),
    "answers": ("question_id", "text", "prompt", "seconds", "metadata"),
    "traces": ("question_id", "record", "before"),
    "documents": ("doc_id", "text", "title", "metadata"),
    "assets": ("path", "content", "kind"),
}


def _repairs(finding: Finding, _: Mapping[str, Any]) -> bool:
    """Whether a finding is only of another generation, whose names and types are made into the documented ones."""
    if finding.rule == "result-without-text":
        return "page_content" in str(finding.value)
    return finding.rule in _MENDED


CONVERTER = Converter(
    name="sage",
    read=read_sage,
    write=written_by("ragdatakit.converters.sage.writing", "write_sage"),
    gives=_COLUMNS,
    holds={**_COLUMNS, "chunks": ("chunk_id", "text", "metadata")},
    options=(
        Option(
            "results-stage",
            "read",
            "the stage that the older key results is of",
            "auto",
            ("auto", "retrieval", "reranking", "refining"),
        ),
        Option("pair", "read", "what the second string of a saved pair is", None, ("docs", "generated")),
        Option("keep-original", "read", "keep a record that has to be renamed as it was, under input", False),
        Option(
            "complete-stages", "read", "make docs of results, and results of docs, of documented records too", False
        ),
        Option(
            "move-reranked", "write", "profile operators: put reranked results in the place of retrieved ones", False
        ),
    ),
    profiles=("unified", "operators"),
    repairs=_repairs,
)
