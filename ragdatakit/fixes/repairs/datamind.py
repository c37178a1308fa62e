"""Repairs of DataMind's files."""

from __future__ import annotations

from collections.abc import Mapping

from ragdatakit.fixes.edits import drop_record, safe, unsafe
from ragdatakit.fixes.find import Repair
from ragdatakit.fixes.json_syntax import mend_syntax
from ragdatakit.fixes.json_values import (
    drop_empty_text,
    drop_null,
    lower,
    replaced,
    stripped,
    to_lone_text,
    to_number,
    to_text,
    to_text_id,
)
from ragdatakit.fixes.records import drop_copy
from ragdatakit.fixes.whole_files import as_lines, without_mark
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.faults import Fault

_MODALITIES = frozenset({"text", "image", "text_image"})


def _type_or_name(fault: Fault) -> Fix | None:
    """A type may be left out; a name is a text."""
    pointer = fault.problem.pointer or ""
    return (drop_null(fault) if pointer.endswith("_type") else None) or to_text(fault)


def _number_or_nothing(fault: Fault) -> Fix | None:
    return drop_null(fault) or to_number(fault)


def _copy(fault: Fault) -> Fix | None:
    """A copy is a chunk of its own for v1, while v2 stops there."""
    fix = drop_copy(fault)
    return fix if fix is None or fault.dataset.profile == "v2" else unsafe(*fix.edits)


def _stripped(fault: Fault) -> Fix | None:
    """Version 1 strips names by itself, for 2 it is another entity then."""
    return replaced(stripped, safe if fault.dataset.profile == "v1" else unsafe)(fault)


REPAIRS: Mapping[str, Repair] = {
    "not-json-lines": as_lines,
    "questions-in-array": as_lines,
    "broken-chunk-line": mend_syntax,
    "broken-triple-line": mend_syntax,
    "broken-question-line": mend_syntax,
    "null-metadata": drop_null,
    "unknown-modality": replaced(lower(_MODALITIES)),
    "lossy-metadata-value": drop_null,
    "source-not-string": to_text_id,
    "duplicate-chunk-id": _copy,
    "duplicate-chunk": _copy,
    "empty-image-path": drop_empty_text,
    "triple-field-not-string": _type_or_name,
    "padded-name": _stripped,
    "confidence-not-number": _number_or_nothing,
    "duplicate-triple": drop_copy,
    "entity-properties-not-object": drop_null,
    "null-triple-source": drop_null,
    "triple-source-not-string": to_text_id,
    "edge-properties-not-object": drop_null,
    "reference-not-string": to_lone_text,
    "unread-front-matter": without_mark,
    "renamed-csv-header": without_mark,
    "blank-csv-row": drop_record,
}
