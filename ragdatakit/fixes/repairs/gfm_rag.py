"""Repairs of GFM-RAG's files."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from ragdatakit.files.containers import strict_json
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.fixes.attributes import join_escapes, unescape_slashes, write_as_json, write_empty, write_words_as_texts
from ragdatakit.fixes.csv_cells import cell_replaced, named_as_declared, with_last_cell
from ragdatakit.fixes.edits import record_text, remove_record, unsafe
from ragdatakit.fixes.find import Repair
from ragdatakit.fixes.json_values import list_of_texts, moved_to, text_to_list, to_empty_list, to_text, to_text_id
from ragdatakit.fixes.records import out_of_training
from ragdatakit.fixes.whole_bytes import whole_bytes
from ragdatakit.fixes.whole_files import (
    array_or_syntax,
    as_array,
    parts_trimmed,
    rows_with_commas,
    rows_without_last_comma,
    unwrapped,
)
from ragdatakit.outputs.file_states import PresentState, present_state
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.faults import Fault

_LONGEST = 1 << 26
"""Bytes of a table all names of which are looked up at once."""


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


def _trimmed(fault: Fault) -> Fix | None:
    """A name without blanks around it, where no other row has it."""
    name, column = fault.problem.value, (fault.problem.pointer or "").removeprefix("/")
    if not isinstance(name, str) or _names_of(fault.file, column).get(name.strip()) != 1:
        return None
    return cell_replaced(lambda cell: cell.strip() or None, unsafe)(fault)


def _names_of(file: DataFile, column: str) -> Counter[str]:
    """How many rows of a table have a name, blanks around it aside; none where the table is long."""
    return _names_at(file.path, present_state(file.path), file.boundary, column)


@lru_cache(2)
def _names_at(path: Path, state: PresentState | None, boundary: Boundary, column: str) -> Counter[str]:
    data = whole_bytes(path, boundary, _LONGEST)
    rows = csv.DictReader(io.StringIO((data or b"").decode("utf-8", "replace"), newline=""))
    try:
        return Counter((row.get(column) or "").strip() for row in rows)
    except csv.Error:
        return Counter()


def _endpoint(fault: Fault) -> Fix | None:
    """The name without blanks around it, where there is such a node or relation; else the edge goes."""
    value = fault.problem.value
    bare = value.strip() if isinstance(value, str) else ""
    renamed = cell_replaced(lambda _: bare, unsafe)(fault) if bare and fault.problem.nearly == bare else None
    return renamed or remove_record(fault)


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
    "untrimmed-name": _trimmed,
    "untrimmed-part": parts_trimmed,
    "dangling-endpoint": _endpoint,
    "dangling-relation": _endpoint,
    "duplicate-edge": remove_record,
    "node-list-not-list": to_empty_list,
    "node-name-not-text": _name,
    "node-list-is-text": text_to_list,
    "question-id-decimal": to_text,
    "mixed-question-ids": to_text_id,
    "question-in-train-and-test": out_of_training,
    "node-under-other-type": moved_to(_own_type),
    "answer-not-text": to_text,
    "aliases-not-list": list_of_texts,
    "supporting-documents-not-list": list_of_texts,
    "entities-not-list": to_empty_list,
    "entities-is-text": text_to_list,
}
