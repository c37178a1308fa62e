"""Repairs of attributes in GFM-RAG's tables, which are read as a literal of Python."""

from __future__ import annotations

import json
import re
from typing import Any

from ragdatakit.files.containers.python_literals import judge
from ragdatakit.fixes.csv_cells import cell_replaced
from ragdatakit.fixes.edits import unsafe

_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})")
_SLASH = re.compile(r"(?<!\\)((?:\\\\)*)\\/")


def _characters(cell: str) -> str | None:
    """Pairs of escapes as the characters that they are, if JSON and Python see the same then."""
    new = _PAIR.sub(lambda match: match[1] + str(json.loads(f'"{match[2]}"')), cell)
    return new if _same_in_both(new) else None


def _slashes(cell: str) -> str | None:
    """Slashes without a backslash, if JSON and Python see the same then."""
    new = _SLASH.sub(lambda match: f"{match[1]}/", cell)
    return new if _same_in_both(new) else None


def _same_in_both(cell: str) -> bool:
    judged = judge(cell)
    if judged.kind != "dict" or judged.surrogate or judged.escaped_slash:
        return False
    try:
        return bool(json.loads(cell) == judged.value)
    except (ValueError, RecursionError):
        return False


def _as_json(cell: str) -> str | None:
    """A literal in the form that JSON readers read, too, if both see the same."""
    judged = judge(cell)
    if (
        judged.kind not in ("dict", "empty")
        or judged.repeated
        or judged.surrogate
        or not isinstance(judged.value, dict)
    ):
        return None
    try:
        new = json.dumps(judged.value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return None
    again = judge(new)
    return new if again.portable and again.value == judged.value else None


def _without_words(cell: str) -> str | None:
    """JSON's words as texts, what is null or no number left out."""
    try:
        value = json.loads(cell, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    new = json.dumps(_plain(value), ensure_ascii=False) if isinstance(value, dict) else ""
    return new if new and judge(new).portable else None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_plain(each) for each in value if each is not None]
    return ("true" if value else "false") if isinstance(value, bool) else value


join_escapes = cell_replaced(_characters)
unescape_slashes = cell_replaced(_slashes)
write_as_json = cell_replaced(_as_json)
write_words_as_texts = cell_replaced(_without_words, unsafe)
write_empty = cell_replaced(lambda _: "{}")
