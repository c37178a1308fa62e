"""Repairs of light-splade's files."""

from __future__ import annotations

from collections.abc import Mapping

from ragdatakit.fixes.edits import drop_record, remove_record
from ragdatakit.fixes.find import Repair
from ragdatakit.fixes.json_syntax import mend_syntax
from ragdatakit.fixes.json_values import integer_to_list, remove_item, remove_member, reorder, to_integer, to_number
from ragdatakit.fixes.records import copy_or_last, keep_last
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.faults import Fault


def _id_first(fault: Fault) -> Fix | None:
    return reorder("qid" if fault.file.kind == "queries" else "doc_id")(fault)


REPAIRS: Mapping[str, Repair] = {
    "invalid-json": mend_syntax,
    "blank-line": drop_record,
    "unexpected-field": remove_member,
    "id-not-integer": to_integer,
    "positives-not-list": integer_to_list,
    "empty-positive-list": remove_record,
    "duplicate-positive": remove_item,
    "field-order": _id_first,
    "dangling-qid": remove_record,
    "dangling-doc-id": remove_record,
    "dangling-positive-qid": remove_record,
    "dangling-positive-doc-id": remove_item,
    "query-without-positives": remove_record,
    "negative-is-positive": remove_record,
    "duplicate-qid": copy_or_last,
    "duplicate-doc-id": copy_or_last,
    "duplicate-positive-list": keep_last,
    "duplicate-scores": keep_last,
    "duplicate-triplet": remove_record,
    "score-not-number": to_number,
}
