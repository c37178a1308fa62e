"""Repairs of light-splade's files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragdatakit.fixes.edits import drop_record, edit_of, edit_without, record_text, remove_record, unsafe
from ragdatakit.fixes.find import Repair
from ragdatakit.fixes.json_syntax import mend_syntax
from ragdatakit.fixes.json_values import (
    integer_to_list,
    remove_item,
    remove_member,
    rename_member,
    reorder,
    to_integer,
    to_number,
)
from ragdatakit.fixes.records import copy_or_last, drop_copy, keep_last, out_of_training
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.faults import Fault

_LIST = "/positive_doc_ids"


def _id_first(fault: Fault) -> Fix | None:
    return reorder("qid" if fault.file.kind == "queries" else "doc_id")(fault)


def _renamed_or_removed(fault: Fault) -> Fix | None:
    """A field that seems to be meant for a missing one holds the only copy of its value."""
    meant = fault.problem.facts.get("meant")
    return rename_member(lambda _: meant)(fault) if isinstance(meant, str) else remove_member(fault)


def _merged(fault: Fault) -> Fix | None:
    """Of two lists one, with the documents of both; a list that equals the other goes."""
    text, other = record_text(fault), fault.other
    if (copy := drop_copy(fault)) is not None:
        return copy
    span = fault.form.span(text, _LIST) if text is not None else None
    if text is None or span is None or other is None or not other.whole or fault.other_file is not fault.file:
        return None
    mine, its = (_items(fault.form.value(each)) for each in (text, other.raw.decode("utf-8", "replace")))
    if mine is None or its is None:
        return None
    more = ", ".join(str(item) for item in dict.fromkeys(its) if item not in mine)
    if not more:
        return unsafe(edit_without(fault, other))
    end = span[0] + span[1] - 1
    return unsafe(edit_without(fault, other), edit_of(fault, text, end, end, f", {more}" if mine else more))


def _items(record: Any) -> list[int] | None:
    items = record.get(_LIST[1:]) if isinstance(record, dict) else None
    if not isinstance(items, list) or any(type(item) is not int for item in items):
        return None
    return items


REPAIRS: Mapping[str, Repair] = {
    "invalid-json": mend_syntax,
    "blank-line": drop_record,
    "unexpected-field": _renamed_or_removed,
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
    "duplicate-positive-list": _merged,
    "duplicate-scores": keep_last,
    "duplicate-triplet": remove_record,
    "query-leak": out_of_training,
    "score-not-number": to_number,
}
