"""Sound changes, for `sets.faults`: another text, another triple, in a record that stays as it should be."""

from __future__ import annotations

from typing import Any

from sets.faults import Fault, as_line
from sets.splade import FIRST_DOC_ID, SpladePlan


def splade_changes(plan: SpladePlan) -> dict[str, list[Fault]]:
    """Kinds of change per file of the set that follows ``plan``."""
    spare = [d + FIRST_DOC_ID for d in plan.spare_documents(1000)]

    def other_negative(record: dict[str, Any], number: int) -> str:
        return as_line({**record, "neg_doc_id": spare[number % len(spare)]})

    def reversed_list(record: dict[str, Any], number: int) -> str:
        return as_line({**record, "positive_doc_ids": record["positive_doc_ids"][::-1]})

    return {
        "train/triplets.ndjson": [Fault("negative", other_negative)],
        "train/doc_master.ndjson": [_text()],
        "train/positive_lists.ndjson": [Fault("reversed", reversed_list)],
        "train/query_master.ndjson": [_text()],
    }


def datamind_changes() -> dict[str, list[Fault]]:
    """Kinds of change for chunks and for triples."""

    def other_subject(record: dict[str, Any], number: int) -> str:
        return as_line({**record, "subject": f"{record['subject']} {number}"})

    return {"chunks/*.jsonl": [_text()], "triplets/*.jsonl": [Fault("subject", other_subject)]}


def _text() -> Fault:
    return Fault("text", lambda record, number: as_line({**record, "text": f"{record['text']} changed {number}"}))
