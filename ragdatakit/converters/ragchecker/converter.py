"""The converter of RAGChecker: what its inputs and outputs hold, and its benchmark's queries, corpus and chunks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragdatakit.converters import Converter, Option, written_by
from ragdatakit.converters.ragchecker.reading import read
from ragdatakit.schemas.findings import Finding

_REPAIRED = frozenset(("legacy-groups", "unusable-groups", "no-results"))


def _repairs(finding: Finding, _: Mapping[str, Any]) -> bool:
    """Whether a finding is of the groups, which are computed anew, or of the name of the list, which is known."""
    return finding.rule in _REPAIRED


_QUESTIONS = ("question_id", "text", "answer", "aliases", "metadata")
_RUNS = ("question_id", "stage", "rank", "target_id", "text", "score", "metadata")
_ANSWERS = ("question_id", "text", "metadata")

CONVERTER = Converter(
    name="ragchecker",
    read=read,
    write=written_by("ragdatakit.converters.ragchecker.writing"),
    gives={
        "documents": ("doc_id", "text", "title", "metadata"),
        "chunks": ("chunk_id", "text", "doc_id", "ordinal", "metadata"),
        "questions": _QUESTIONS,
        "qrels": ("question_id", "target_id", "target_kind"),
        "runs": _RUNS,
        "answers": _ANSWERS,
    },
    holds={
        "documents": ("doc_id", "text", "title", "metadata"),
        "chunks": ("chunk_id", "text", "doc_id", "ordinal", "metadata"),
        "questions": ("question_id", "text", "answer", "metadata"),
        "runs": _RUNS,
        "answers": _ANSWERS,
    },
    options=(
        Option("file", "read", "which file of results is read, where there are several (checking_outputs.json)"),
        Option(
            "ids",
            "read",
            "what a doc_id is unique in: all rows, or its own; auto: its own where one id has several texts",
            "auto",
            ("auto", "all", "row"),
        ),
        Option(
            "answers",
            "write",
            "a file of what the system answered, where the source does not say it: JSON objects "
            "with query_id (or qid, id) and response (or answer, generated, pred_answer)",
        ),
        Option(
            "gold",
            "write",
            "a file of right answers, where the source has none: JSON objects with query_id (or "
            "qid, id) and gt_answer (or answer, gold_answer, reference)",
        ),
        Option("run", "write", "a TREC run, where the source does not say what was retrieved"),
        Option(
            "stage",
            "write",
            "which stage or run is written, where there are several; else the last one of "
            "retrieval, reranking and refining, or the first",
        ),
        Option("corpus", "write", "write the passages next to the results, as the baselines read them", True),
        Option("top", "write", "how many passages of each question are written; 0: all", 0),
    ),
    repairs=_repairs,
)
