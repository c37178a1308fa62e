"""Repairs of HippoRAG's files."""

from __future__ import annotations

from collections.abc import Mapping

from ragdatakit.fixes.find import Repair
from ragdatakit.fixes.json_syntax import mend_syntax
from ragdatakit.fixes.json_values import drop_item, list_of_texts, to_text
from ragdatakit.fixes.records import drop_copy, keep_last
from ragdatakit.fixes.whole_files import as_array, unwrapped
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.faults import Fault


def _array(fault: Fault) -> Fix | None:
    return as_array(fault) or unwrapped(fault)


def _syntax(fault: Fault) -> Fix | None:
    return as_array(fault) or mend_syntax(fault)


REPAIRS: Mapping[str, Repair] = {
    "repeated-passage": drop_copy,
    "answer-not-text": to_text,
    "repeated-triple": drop_item,
    "repeated-answer": drop_item,
    "corpus-not-json": _syntax,
    "corpus-not-list": _array,
    "questions-not-json": _syntax,
    "questions-not-list": _array,
    "aliases-not-list": list_of_texts,
    "repeated-results": keep_last,
}
