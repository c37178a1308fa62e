"""The times of one SAGE record, under their documented names and under those of today's operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.sage.older import TIMES
from ragdatakit.validators.sage.stages import is_finite

HOUR = 3600
STAGE_OF_TIME = {
    "retrieval_time": "retrieval",
    "retrieve_time": "retrieval",
    "reranking_time": "reranking",
    "refining_time": "refining",
    "refine_time": "refining",
    "generation_time": "generation",
    "generate_time": "generation",
}
_LEFT_BY = {
    "retrieval": ("retrieval_results", "retrieval_docs", "results", "retrieved_docs", "retrieved_documents", "context"),
    "reranking": ("reranking_results", "reranking_docs", "results"),
    "refining": ("refining_results", "refining_docs", "results", "refined_docs", "compressed_context"),
    "generation": ("generated", "pred"),
}


def is_seconds(value: Any) -> bool:
    """Whether a value is a time: a finite number from 0."""
    return is_finite(value) and value >= 0


def time_problems(record: dict[str, Any], for_operators: bool) -> Iterator[Problem]:
    """Times that are no seconds, under a name that one side does not read, or of a stage that is not there;
    ``for_operators``: today's operators are to read them, too."""
    times = [key for key in STAGE_OF_TIME if key in record]
    for key in times:
        value = record[key]
        if type(value) is float and 0 <= value <= HOUR:
            pass  # as most are
        elif not is_seconds(value):
            if key in TIMES.values():  # the documented ones are declared
                yield Problem("time-not-seconds", f"/{key}", value)
        elif value > HOUR:
            yield Problem("time-over-an-hour", f"/{key}", value)
        stage = STAGE_OF_TIME[key]
        if record.keys().isdisjoint(_LEFT_BY[stage]):
            yield Problem("time-without-stage", f"/{key}", value, {"stage": stage})
    if times:
        for documented, operators in TIMES.items():
            if operators in record:
                yield from _two_names(record, documented, operators)
            elif for_operators and documented in record:
                yield Problem("missing-operators-time", f"/{documented}", record[documented], {"meant": operators})


def _two_names(record: dict[str, Any], documented: str, operators: str) -> Iterator[Problem]:
    if documented not in record:
        yield Problem("operators-time-key", f"/{operators}", record[operators], {"meant": documented})
    elif is_seconds(record[operators]) and is_seconds(record[documented]):
        same = record[operators] == record[documented]
        facts = {"meant": documented, "other": record[documented]}
        yield Problem("redundant-older-key" if same else "conflicting-times", f"/{operators}", record[operators], facts)
