"""Repairs of A-RAG's files."""

from __future__ import annotations

from collections.abc import Mapping

from ragdatakit.files.containers import strict_json
from ragdatakit.fixes.edits import record_text
from ragdatakit.fixes.find import Repair
from ragdatakit.fixes.json_values import drop_null, only_item, replaced, to_text, to_text_id
from ragdatakit.fixes.whole_files import array_or_syntax, in_a_list, unwrapped
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.faults import Fault


def _drop_answer(fault: Fault) -> Fix | None:
    """Where there is a gold answer, which is read instead."""
    text = record_text(fault)
    record = strict_json.decode(text).value if text is not None else None
    return drop_null(fault) if isinstance(record, dict) and isinstance(record.get("gold_answer"), str) else None


REPAIRS: Mapping[str, Repair] = {
    "chunks-not-json": array_or_syntax,
    "chunks-one-string": in_a_list,
    "chunk-id-not-string": to_text_id,
    "questions-not-json": array_or_syntax,
    "questions-not-array": unwrapped,
    "null-answer": _drop_answer,
    "answer-not-text": replaced(only_item),
    "number-answer": to_text,
}
