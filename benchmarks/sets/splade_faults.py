"""The faults that light-splade's loader dies of or swallows, one breaker each, for `sets.faults`."""

from __future__ import annotations

from typing import Any

from sets.faults import Breaker, Fault, as_line, changed, cut_short, without
from sets.splade import FIRST_DOC_ID, FIRST_QID, SpladePlan

UNKNOWN_ID = 987_654_321


def splade_faults(plan: SpladePlan) -> dict[str, list[Fault]]:
    """Kinds of fault per file of the set that follows ``plan``."""
    return {
        "train/triplets.ndjson": _triplets(plan),
        "train/doc_master.ndjson": _masters("doc_id"),
        "train/positive_lists.ndjson": _positive_lists(plan),
        "train/query_master.ndjson": _masters("qid"),
    }


def _masters(key: str) -> list[Fault]:
    def repeated(record: dict[str, Any], number: int) -> str:
        return as_line({**record, "text": f"another text under a used id, number {number}"})

    def other(value: Any) -> Breaker:
        return lambda record, number: as_line({key: value, "text": f"a text beside the others, number {number}"})

    return [
        Fault("text-null", changed(text=None)),
        Fault("text-number", changed(text=12)),
        Fault("text-missing", without("text")),
        Fault("extra-key", changed(lang="en")),
        Fault("duplicate-key", lambda record, number: as_line(record).replace("{", '{"text": "x", ', 1)),
        Fault("duplicate-id", repeated, inserted=True),
        Fault("id-text", other("12"), inserted=True),
        Fault("id-decimal", other(12.5), inserted=True),
        Fault("id-boolean", other(True), inserted=True),
        Fault("not-object", lambda record, number: as_line(["a", number]), inserted=True),
        Fault("bad-json", cut_short, inserted=True),
        Fault("blank-line", lambda record, number: "\n", inserted=True),
    ]


def _positive_lists(plan: SpladePlan) -> list[Fault]:
    spare = [d + FIRST_DOC_ID for d in plan.spare_documents(1000)]

    def longer(item: Any) -> Breaker:
        return lambda record, number: as_line({**record, "positive_doc_ids": [*record["positive_doc_ids"], item]})

    def repeated(record: dict[str, Any], number: int) -> str:
        return as_line(record)

    def unknown_query(record: dict[str, Any], number: int) -> str:
        return as_line({"qid": UNKNOWN_ID + number, "positive_doc_ids": [spare[number % len(spare)]]})

    return [
        Fault("dangling-positive", longer(UNKNOWN_ID)),
        Fault("item-text", longer("10")),
        Fault("duplicate-qid", repeated, inserted=True),
        Fault("dangling-qid", unknown_query, inserted=True),
        Fault("extra-key", changed(lang="en")),
        Fault("bad-json", cut_short, inserted=True),
    ]


def _triplets(plan: SpladePlan) -> list[Fault]:
    spare = [d + FIRST_DOC_ID for d in plan.spare_documents(1000)]

    def not_listed(record: dict[str, Any], number: int) -> str:
        return as_line({**record, "pos_doc_id": spare[number % len(spare)]})

    def is_positive(record: dict[str, Any], number: int) -> str:
        own = plan.positives_of(record["qid"] - FIRST_QID)
        return as_line({**record, "neg_doc_id": own[0] + FIRST_DOC_ID})

    return [
        Fault("dangling-qid", changed(qid=UNKNOWN_ID)),
        Fault("dangling-positive", changed(pos_doc_id=UNKNOWN_ID)),
        Fault("dangling-negative", changed(neg_doc_id=UNKNOWN_ID)),
        Fault("positive-not-listed", not_listed),
        Fault("negative-is-positive", is_positive),
        Fault("id-text", lambda record, number: as_line({**record, "neg_doc_id": str(record["neg_doc_id"])})),
        Fault("id-decimal", changed(pos_doc_id=12.5)),
        Fault("id-boolean", changed(qid=True)),
        Fault("id-null", changed(neg_doc_id=None)),
        Fault("id-too-large", changed(pos_doc_id=2**63)),
        Fault("key-missing", without("pos_doc_id")),
        Fault("extra-key", changed(weight=1)),
        Fault("duplicate-key", lambda record, number: as_line(record).replace("{", '{"qid": 1, ', 1)),
        Fault("not-object", lambda record, number: as_line(number)),
        Fault("bad-json", cut_short),
        Fault("blank-line", lambda record, number: "\n", inserted=True),
    ]
