"""Repairs of SAGE's files."""

from __future__ import annotations

from collections.abc import Mapping

from ragdatakit.fixes.find import Repair
from ragdatakit.fixes.json_syntax import mend_syntax
from ragdatakit.fixes.json_values import (
    drop_item,
    drop_null,
    remove_item,
    remove_member,
    rename_member,
    text_to_list,
    to_empty_list,
    to_number,
    to_text,
)
from ragdatakit.fixes.whole_files import as_lines
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.faults import Fault


def _meant(fault: Fault) -> str | None:
    """The name that a message gives a key."""
    meant = fault.problem.facts.get("meant")
    return meant if isinstance(meant, str) else None


def _text(fault: Fault) -> str | None:
    return "text"


def _as_references(fault: Fault) -> Fix | None:
    """The one reference as it is in the list of the evaluators."""
    return text_to_list(fault) if fault.problem.facts.get("other") == [fault.problem.value] else None


def _shown(fault: Fault) -> Fix | None:
    """A guess is shown only."""
    fix = rename_member(_meant)(fault)
    return Fix("display", "", fix.edits) if fix is not None else None


REPAIRS: Mapping[str, Repair] = {
    "record-not-json": mend_syntax,
    "references-not-list": text_to_list,
    "null-references": to_empty_list,
    "differing-references": _as_references,
    "reference-not-text": to_text,
    "generated-not-text": drop_null,
    "duplicate-reference": drop_item,
    "stage-not-list": drop_null,
    "score-not-number": to_number,
    "time-not-seconds": to_number,
    "text-under-other-key": rename_member(_text),
    "operators-time-key": rename_member(_meant),
    "older-key": rename_member(_meant),
    "misspelt-key": _shown,
    "redundant-older-key": remove_member,
    "documents-as-array": as_lines,
    "unknown-document": remove_item,
}
