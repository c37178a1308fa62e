"""Repairs of records that are not JSON: a comma too many, two records on a line, Python's way of writing."""

from __future__ import annotations

import io
import json
import tokenize
from itertools import pairwise
from typing import Any

from ragdatakit.files.containers import strict_json
from ragdatakit.files.containers.python_literals import judge
from ragdatakit.files.containers.record_forms import MemberForm
from ragdatakit.fixes.edits import edit_of, edits_of, line_end, record_text, safe, unsafe
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.faults import Fault

_TRAILING = "a trailing comma"
_MOST_COMMAS = 100
_LONGEST = 1 << 20
"""Characters of a record beyond which its syntax is not repaired."""


def mend_syntax(fault: Fault) -> Fix | None:
    """The first repair after which the record is JSON."""
    text = record_text(fault)
    if text is None or len(text) > _LONGEST or isinstance(fault.form, MemberForm):
        return None
    return _without_commas(fault, text) or _on_lines_of_their_own(fault, text) or _from_python(fault, text)


def _without_commas(fault: Fault, text: str) -> Fix | None:
    """Commas that nothing follows go."""
    changes: list[tuple[int, int, str]] = []
    left = text
    while len(changes) < _MOST_COMMAS:
        decoded = strict_json.decode(left)
        if not decoded.error:
            is_record = fault.container != "ndjson" or isinstance(decoded.value, dict)  # not a line of what is spread
            return safe(*edits_of(fault, text, sorted(changes))) if changes and is_record else None
        at = _comma(left, decoded)
        if at < 0:
            return None
        changes.append((at, at + 1, ""))
        left = f"{left[:at]} {left[at + 1 :]}"
    return None


def _comma(text: str, decoded: strict_json.Decoded) -> int:
    """Where the comma too many is: before a bracket, or behind the record; -1 where it is another fault."""
    if decoded.error == _TRAILING:
        return decoded.position
    solid = text.rstrip()
    last = len(solid) - 1
    return last if solid.endswith(",") and decoded.error == "extra data" and decoded.position == last else -1


def _on_lines_of_their_own(fault: Fault, text: str) -> Fix | None:
    """Several records on one line, each of which is one of the file's kind."""
    if fault.container != "ndjson":
        return None
    names = [field.name for field in fault.declared.record.fields if field.required]
    decoder, at = json.JSONDecoder(), strict_json.solid(text, 0)
    spans: list[tuple[int, int]] = []
    while at < len(text):
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict) or not names or not all(name in value for name in names):
            return None
        spans.append((at, end))
        at = strict_json.solid(text, end)
    if len(spans) < 2:
        return None
    between = line_end(fault)
    return safe(*(edit_of(fault, text, end, start, between) for (_, end), (start, _) in pairwise(spans)))


def _from_python(fault: Fault, text: str) -> Fix | None:
    """An object as Python prints it, which is read as a literal: nothing in it is run."""
    begin, end = strict_json.solid(text, 0), len(text.rstrip())
    if (fault.problem.position or 0) >= end:  # it is cut: its brackets stay open in Python, too
        return None
    judged = judge(text[begin:end])
    if judged.kind != "dict" or judged.repeated or judged.surrogate or not _is_json(judged.value):
        return None
    if not _is_printed(text[begin:end]):
        return None
    return unsafe(edit_of(fault, text, begin, end, json.dumps(judged.value, ensure_ascii=False)))


def _is_printed(text: str) -> bool:
    """Whether Python may print a literal so: without comments, and without texts side by side, which it reads as one
    (a comma is missing)."""
    try:
        tokens = [token.type for token in tokenize.generate_tokens(io.StringIO(text).readline)]
    except (tokenize.TokenError, SyntaxError):
        return False
    kinds = [kind for kind in tokens if kind != tokenize.NL]
    return tokenize.COMMENT not in kinds and (tokenize.STRING, tokenize.STRING) not in pairwise(kinds)


def _is_json(value: Any) -> bool:
    """Whether JSON can hold a value without changing it."""
    if isinstance(value, dict):
        return all(isinstance(name, str) and _is_json(each) for name, each in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    if isinstance(value, float):
        return abs(value) < float("inf")
    return value is None or isinstance(value, bool | int | str)
