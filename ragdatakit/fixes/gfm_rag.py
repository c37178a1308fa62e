"""Repairs of GFM-RAG's files."""

from __future__ import annotations

from collections.abc import Mapping

from ragdatakit.fixes.attributes import join_escapes, unescape_slashes, write_as_json, write_empty, write_words_as_texts
from ragdatakit.fixes.csv_cells import named_as_declared, with_last_cell
from ragdatakit.fixes.edits import remove_record
from ragdatakit.fixes.find import Repair
from ragdatakit.fixes.json_syntax import mend_syntax
from ragdatakit.fixes.json_values import list_of_texts, moved_to, text_to_list, to_empty_list, to_text, to_text_id
from ragdatakit.fixes.whole_files import as_array, unwrapped
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.faults import Fault


def _array(fault: Fault) -> Fix | None:
    return as_array(fault) or mend_syntax(fault)


def _own_type(fault: Fault) -> str | None:
    """The type that nodes.csv gives a node."""
    kind = fault.problem.facts.get("found")
    return kind if isinstance(kind, str) else None


_with_attributes = with_last_cell("attributes", "{}")

REPAIRS: Mapping[str, Repair] = {
    "missing-column": named_as_declared,
    "short-row": _with_attributes,
    "short-edge-row": _with_attributes,
    "questions-not-json": _array,
    "questions-not-list": unwrapped,
    "questions-as-lines": as_array,
    "empty-attributes": write_empty,
    "empty-edge-attributes": write_empty,
    "edge-attributes-like-missing": write_empty,
    "attributes-not-literal": write_words_as_texts,
    "attributes-surrogate": join_escapes,
    "attributes-escaped-slash": unescape_slashes,
    "attributes-not-portable": write_as_json,
    "dangling-endpoint": remove_record,
    "dangling-relation": remove_record,
    "duplicate-edge": remove_record,
    "node-list-not-list": to_empty_list,
    "node-name-not-text": to_text_id,
    "node-list-is-text": text_to_list,
    "question-id-decimal": to_text,
    "mixed-question-ids": to_text_id,
    "node-under-other-type": moved_to(_own_type),
    "answer-not-text": to_text,
    "aliases-not-list": list_of_texts,
    "supporting-documents-not-list": list_of_texts,
    "entities-not-list": to_empty_list,
    "entities-is-text": text_to_list,
}
