"""Repairs of A-RAG's files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from ragdatakit.files.containers import strict_json
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.fixes.edits import edit_of, record_text, unsafe
from ragdatakit.fixes.find import Repair
from ragdatakit.fixes.json_values import drop_null, only_item, replaced, to_text, to_text_id
from ragdatakit.fixes.whole_bytes import whole_bytes
from ragdatakit.fixes.whole_files import array_or_syntax, as_array, in_a_list, unwrapped
from ragdatakit.outputs.file_states import PresentState, present_state
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.arag.chunks import expected_id, id_and_text
from ragdatakit.validators.faults import Fault


def _array_of_chunks(fault: Fault) -> Fix | None:
    """Lines of objects, or of texts, as one array."""
    return as_array(fault, str) or array_or_syntax(fault)


def _drop_answer(fault: Fault) -> Fix | None:
    """Where there is a gold answer, which is read instead."""
    text = record_text(fault)
    record = strict_json.decode(text).value if text is not None else None
    return drop_null(fault) if isinstance(record, dict) and isinstance(record.get("gold_answer"), str) else None


def _plain_id(fault: Fault) -> Fix | None:
    """An id without blanks and zeros, where no other chunk would have it, too."""
    text, expected = record_text(fault), str(fault.problem.facts.get("expected", ""))[1:-1]
    if text is None or not expected or _ids(fault.file).get(expected) != 1:
        return None
    at, found = fault.problem.position, str(fault.problem.value)
    if at is not None:  # the beginning of a string; where it is written with escapes, it is longer than the id
        is_plain = text.startswith(found, at)
        return unsafe(edit_of(fault, text, at, at + len(found), expected)) if is_plain else None
    return replaced(lambda value, _: json.dumps(expected, ensure_ascii=False), unsafe)(fault)


def _ids(file: DataFile) -> Counter[str]:
    """How many chunks of a file have an id, as ids are expected; none where the file is long."""
    return _ids_of(file.path, present_state(file.path), file.boundary)


@lru_cache(1)
def _ids_of(path: Path, state: PresentState | None, boundary: Boundary) -> Counter[str]:
    data = whole_bytes(path, boundary)
    chunks = strict_json.decode(data.decode("utf-8", "replace")).value if data is not None else None
    found = (id_and_text(chunk)[0] for chunk in chunks) if isinstance(chunks, list) else ()
    return Counter(expected_id(each) for each in found if isinstance(each, str))


REPAIRS: Mapping[str, Repair] = {
    "chunks-not-json": _array_of_chunks,
    "chunks-one-string": in_a_list,
    "chunk-id-not-string": to_text_id,
    "padded-chunk-id": _plain_id,
    "questions-not-json": array_or_syntax,
    "questions-not-array": unwrapped,
    "null-answer": _drop_answer,
    "answer-not-text": replaced(only_item),
    "number-answer": to_text,
}
