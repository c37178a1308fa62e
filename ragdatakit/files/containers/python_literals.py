"""What ``ast.literal_eval`` makes of a cell, and what is odd about it, without running or blowing up on anything.

The verdict is that of Python's own parser (checked on 3.11 to 3.13, which agree). Cells that are JSON without an escape
take a quicker way to the same verdict. For columns of millions see `ragdatakit.arrays.literal_cells`.
"""

from __future__ import annotations

import ast
import json
import math
import re
import threading
import warnings
from collections.abc import Iterator
from typing import Any, Literal

from ragdatakit.files.containers.strict_json import SURROGATE
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.cells import parts_of

Kind = Literal["none", "empty", "dict", "other", "invalid", "unjudged"]

_MOST_NESTED = 200  # brackets within brackets, in every version of Python
_MOST_PARTS = 400_000  # elements whose syntax tree takes some 200 MB
_PART = re.compile(r"[,:\[{(+\-]|(?<=['\"])\s+(?=['\"])")
# What Python's parser warns of: escapes it does not know, and a number that runs into a word.
_ESCAPE = re.compile(r"\\(?:[\n\r\\'\"abfnrtvxuUN]|[0-3][0-7]{0,2}|[4-7][0-7]?(?![0-7]))|(\\)")
_NUMBER_WORD = re.compile(r"(?:[0-9][0-9_.]*[jJ]?|0[xX][0-9a-fA-F_]+)(?:and|else|for|if|in|is|not|or)")
_BYTES = re.compile(r"[bB][rR]?['\"]")
_PAIR = re.compile(r"\\(.)", re.DOTALL)
_WARNINGS = threading.Lock()


@dataclass(frozen=True, slots=True)
class Judgement:
    """One cell as ``ast.literal_eval`` reads it.

    ``kind`` is "none" (the literal None), "empty" (a literal with nothing in it: ``{}``, ``[]``, ``()``, ``""``),
    "dict" (with keys), "other" (any other literal; ``type`` names it), "invalid" (no literal; ``reason`` says why in a
    few words, ``is_json`` whether JSON readers take it) or "unjudged" (too large to be parsed). ``value`` is what was
    read.

    ``surrogate`` is the first lone surrogate in any text, spelled as an escape. ``escaped_slash``: a text was written
    with ``\\/`` and keeps the backslash. ``repeated`` are keys, at any depth, that appear twice in their dict.
    ``portable``: JSON readers take it and see the same, an object or list of texts, finite numbers, lists and objects.
    """

    kind: Kind
    type: str = ""
    reason: str = ""
    value: Any = None
    is_json: bool = False
    portable: bool = False
    surrogate: str = ""
    escaped_slash: bool = False
    repeated: tuple[Any, ...] = ()

    @property
    def has_content(self) -> bool:
        """Whether it is a dict whose ``content`` is a text that is not empty."""
        return isinstance(self.value, dict) and isinstance(text := self.value.get("content"), str) and text != ""

    @property
    def clean(self) -> bool:
        """Whether there is nothing to say, except that it may not be portable."""
        plain = self.kind in ("none", "dict") or (self.kind == "empty" and isinstance(self.value, dict))
        return plain and not (self.surrogate or self.escaped_slash or self.repeated)


_EMPTY = Judgement("empty", "dict", value={}, is_json=True, portable=True)
_NONE = Judgement("none", "None")


def judge(cell: str) -> Judgement:
    """Read one cell as ``ast.literal_eval`` does; never raises."""
    if cell == "{}":
        return _EMPTY
    if cell == "None":
        return _NONE
    return _judge_plain(cell) or _judge_literal(cell)


class _Odd(Exception):
    """Something that the quick way leaves to the slow one."""


def _judge_plain(cell: str) -> Judgement | None:
    """The verdict on a dict without escapes, its quotes all of one kind; None where that is not plain to see."""
    opening = cell[:2]
    if opening not in ('{"', "{'") or "\\" in cell or cell.count("{") + cell.count("[") > _MOST_NESTED:
        return None
    single = opening == "{'"
    if single and '"' in cell:
        return None
    try:
        value = _PLAIN_JSON.decode(cell.replace("'", '"') if single else cell)
        if not cell.isascii():
            cell.encode()
    except (ValueError, _Odd):
        return None
    if not all(type(part) in _PORTABLE for part in parts_of(value)):
        return None
    return Judgement("dict", "dict", value=value, is_json=not single, portable=not single)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Odd
    return found


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _Odd
    return number


def _no_constant(name: str) -> Any:
    raise _Odd(name)


_PORTABLE = frozenset((str, int, float, list, dict))
_PLAIN_JSON = json.JSONDecoder(object_pairs_hook=_distinct, parse_float=_finite, parse_constant=_no_constant)


def _judge_literal(cell: str) -> Judgement:
    is_json, as_json = _read_json(cell)
    if len(cell) > _MOST_PARTS and sum(1 for _ in _PART.finditer(cell)) > _MOST_PARTS:
        return Judgement("unjudged", reason="too many elements", is_json=is_json)
    if not cell.strip(" \t\n\r\f"):
        return Judgement("invalid", reason="it is empty")
    try:
        tree = _parse(cell.lstrip(" \t"))
        value = ast.literal_eval(tree)
    except SyntaxError as error:
        return Judgement("invalid", reason=_syntax_reason(error), is_json=is_json)
    except (MemoryError, RecursionError):
        return Judgement("invalid", reason="nested too deeply", is_json=is_json)
    except UnicodeEncodeError:
        return Judgement("invalid", reason="a lone surrogate", is_json=is_json)
    except TypeError:
        return Judgement("invalid", reason="a list, dict or set as a key or in a set", is_json=is_json)
    except ValueError:
        reason = "a NUL character" if "\0" in cell else _value_reason(cell)
        return Judgement("invalid", reason=reason, is_json=is_json)
    parts = list(parts_of(value))
    texts = [part for part in parts if isinstance(part, str)] if "\\" in cell else []
    # a colon for each key: as many keys as colons, and none was lost
    keys = sum(len(part) for part in parts if isinstance(part, dict))
    return Judgement(
        _kind(value),
        "None" if value is None else type(value).__name__,
        value=value,
        is_json=is_json,
        portable=is_json and _same(as_json, value),
        surrogate=next((f"\\u{ord(found[0]):04x}" for text in texts if (found := SURROGATE.search(text))), ""),
        escaped_slash=any("\\/" in text for text in texts) and any(pair[1] == "/" for pair in _PAIR.finditer(cell)),
        repeated=() if keys == cell.count(":") else tuple(_repeated_keys(tree)),
    )


def _kind(value: Any) -> Kind:
    if value is None:
        return "none"
    if isinstance(value, (dict, list, tuple, set, str, bytes)) and not value:
        return "empty"
    return "dict" if isinstance(value, dict) else "other"


def _parse(source: str) -> ast.Expression:
    unknown_escape = "\\" in source and (
        any(found[1] for found in _ESCAPE.finditer(source)) or _BYTES.search(source) is not None
    )
    if not unknown_escape and not _NUMBER_WORD.search(source):
        return ast.parse(source, mode="eval")
    # The parser would warn, on the screen. The filters belong to the whole process: one thread at a time.
    with _WARNINGS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, mode="eval")


def _read_json(cell: str) -> tuple[bool, Any]:
    if cell.startswith("{'"):
        return False, None
    try:
        return True, _ANY_JSON.decode(cell)
    except (ValueError, RecursionError, _Odd):
        return False, None


_ANY_JSON = json.JSONDecoder(parse_constant=_no_constant)


def _same(as_json: Any, value: Any) -> bool:
    """Whether JSON and Python see the same object or list, of texts and finite numbers."""
    if not isinstance(value, (dict, list)) or as_json != value:
        return False
    return all(not isinstance(part, float) or math.isfinite(part) for part in parts_of(value))


def _repeated_keys(tree: ast.Expression) -> Iterator[Any]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            seen = set()
            for key in node.keys:
                value = ast.literal_eval(key) if key is not None else None
                if value in seen:
                    yield value
                seen.add(value)


_SYNTAX = (
    ("was never closed", "a bracket is never closed"),
    ("unterminated", "a quote is never closed"),
    ("unicode error", "an escape that is not a character"),
    ("Exceeds the limit", "a number of more than 4300 digits"),
    ("too many nested", "nested too deeply"),
    ("too complex", "nested too deeply"),
    ("null byte", "a NUL character"),
    ("leading zeros", "a number with leading zeros"),
    ("does not match", "brackets that do not match"),
    ("unmatched", "brackets that do not match"),
)


def _syntax_reason(error: SyntaxError) -> str:
    return next((words for part, words in _SYNTAX if part in (error.msg or "")), "the syntax is wrong")


def _value_reason(cell: str) -> str:
    """Which part of a cell that parses is no literal."""
    for node in ast.walk(_parse(cell.lstrip(" \t"))):
        if isinstance(node, ast.Call):
            return "a call"
        if isinstance(node, ast.Name):
            return f"the word {node.id if len(node.id) <= 40 else node.id[:39] + '…'}"
        if isinstance(node, ast.JoinedStr):
            return "an f-string"
    return "an expression"
