"""Repairs of TREC's files."""

from __future__ import annotations

from collections.abc import Mapping

from ragdatakit.fixes.edits import drop_record, edit_of, record_text, remove_record, safe, unsafe
from ragdatakit.fixes.find import Repair
from ragdatakit.fixes.json_values import to_integer
from ragdatakit.fixes.records import drop_copy, keep_last, lowest_score_goes
from ragdatakit.fixes.whole_bytes import without_lines_of
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.faults import Fault


def _number(fault: Fault) -> Fix | None:
    """The rank that follows the one before; safe where they count from 0, as their order cannot change then."""
    text, expected = record_text(fault), fault.problem.facts.get("expected")
    span = fault.form.span(text, fault.problem.pointer or "") if text is not None else None
    if text is None or span is None or not isinstance(expected, int):
        return None
    counts_from_0 = (fault.problem.facts["before"], fault.problem.facts["given"]) == (expected - 2, expected - 1)
    return (safe if counts_from_0 else unsafe)(edit_of(fault, text, span[0], span[0] + span[1], str(expected)))


def _all_of_query(fault: Fault) -> Fix | None:
    """All results of the query in the file, unless it is known which query is meant; of a long file one."""
    query = fault.problem.value
    edits = without_lines_of(fault.file, query) if isinstance(query, str) and not fault.problem.nearly else ()
    return Fix("unsafe", "", edits) if edits else remove_record(fault)


REPAIRS: Mapping[str, Repair] = {
    "relevance-not-integer": to_integer,
    "blank-line": drop_record,
    "odd-rank": _number,
    "duplicate-docno": drop_copy,
    "duplicate-topic": keep_last,
    "judged-twice": drop_copy,
    "retrieved-twice": lowest_score_goes,
    "unknown-query": _all_of_query,
}
