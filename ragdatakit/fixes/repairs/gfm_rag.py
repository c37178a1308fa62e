"""Repairs of GFM-RAG's files."""

from __future__ import annotations

from collections.abc import Mapping

from ragdatakit.files.containers import strict_json
from ragdatakit.fixes.attributes import join_escapes, unescape_slashes, write_as_json, write_empty, write_words_as_texts
from ragdatakit.fixes.csv_cells import named_as_declared, with_last_cell
from ragdatakit.fixes.edits import record_text, remove_record
from ragdatakit.fixes.find import Repair
from ragdatakit.fixes.json_values import list_of_texts, moved_to, text_to_list, to_empty_list, to_text, to_text_id
from ragdatakit.fixes.whole_files import array_or_syntax, as_array, rows_with_commas, rows_without_last_comma, unwrapped
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.faults import Fault


def _own_type(fault: Fault) -> str | None:
    """The type that nodes.csv gives a node."""
    kind = fault.problem.facts.get("found")
    return kind if isinstance(kind, str) else None


def _header(fault: Fault) -> Fix | None:
    return named_as_declared(fault) or rows_with_commas(fault)


def _name(fault: Fault) -> Fix | None:
    """A number as a text, unless that is in the list, too."""
    text, above = record_text(fault), (fault.problem.pointer or "").rpartition("/")[0]
    span = fault.form.span(text, above) if text is not None else None
    if text is None or span is None:
        return None
    beside = strict_json.decode(text[span[0] : span[0] + span[1]]).value
    return None if isinstance(beside, list) and str(fault.problem.value) in beside else to_text_id(fault)


_with_attributes = with_last_cell("attributes", "{}")

REPAIRS: Mapping[str, Repair] = {
    "missing-column": _header,
    "shifted-columns": rows_without_last_comma,
    "short-row": _with_attributes,
    "short-edge-row": _with_attributes,
    "questions-not-json": array_or_syntax,
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
    "node-name-not-text": _name,
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
