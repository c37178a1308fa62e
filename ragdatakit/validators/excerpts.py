"""Values and lines made fit to print: short, one line, no control characters, no bidi tricks."""

from __future__ import annotations

import json
import unicodedata
from itertools import islice
from typing import Any

from ragdatakit.schemas.findings import Excerpt, quick_excerpt
from ragdatakit.visible_text import without_commands

BEFORE, AFTER = 50, 60
_VALUE_LENGTH = 60
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


def _is_plain(text: str) -> bool:
    """Whether a text, and each part of it, is `visible` as it is."""
    return text.isascii() and text.isprintable() and "##" not in text


def visible(text: str) -> str:
    """``text`` with everything that a terminal would obey or hide, or a CI runner carry out, made visible."""
    if _is_plain(text):
        return text
    return without_commands(text if text.isprintable() else "".join(map(_visible_character, text)))


def _visible_character(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if code < 32:
        return chr(0x2400 + code)
    if code == 127:
        return "␡"
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
        return f"<U+{code:04X}>"
    return character


def show(value: Any) -> str:
    """A value as JSON, cut to a readable length."""
    try:
        text = repr(value) if type(value) is int else _ENCODER.encode(_beginning(value))
    except (ValueError, RecursionError, TypeError):
        text = type(value).__name__
    text = visible(text)
    return text if len(text) <= _VALUE_LENGTH else text[: _VALUE_LENGTH - 1] + "…"


def _beginning(value: Any) -> Any:
    """As much of a value as can be shown."""
    if isinstance(value, str | list):
        value = value[: 2 * _VALUE_LENGTH]
    if isinstance(value, list):
        return [_beginning(item) for item in value]
    if isinstance(value, dict):
        return {key: _beginning(item) for key, item in islice(value.items(), _VALUE_LENGTH)}
    return value


def plain_value(value: Any) -> Any:
    """A value for the JSON output: scalars as they are, long or nested ones cut to text."""
    if isinstance(value, int):
        return value if isinstance(value, bool) or -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, str):
        cut = value if len(value) <= 200 else value[:199] + "…"
        if cut.isascii():
            return cut
        return cut.encode("utf-8", "backslashreplace").decode("utf-8")
    if value is None:
        return value
    if isinstance(value, float):
        return float(value) if -1e400 < value < 1e400 else str(float(value))
    return show(value)


def excerpt(line: str, start: int, length: int) -> Excerpt:
    """The part of a line around the characters at fault."""
    size = len(line)  # without `min` and `max`, which would be half of what this takes
    start = 0 if start < 0 else start if start < size else size
    length = 0 if length < 0 else length if length < size - start else size - start
    first = start - BEFORE if start > BEFORE + 10 else 0
    end = start + (AFTER if length > AFTER else length or 1) + AFTER
    if size - end < 10:
        end = size
    behind = start + length if start + length < end else end
    pieces = [line[first:start], line[start:behind], line[behind:end]]
    if not _is_plain(line[first:end]):
        pieces = [visible(piece) for piece in pieces]
    head, middle, tail = ("…" if first else "") + pieces[0], pieces[1], pieces[2] + ("…" if end < size else "")
    return quick_excerpt(head + middle + tail, len(head), len(middle))


def line_and_column(text: str, at: int, line: int, indent: int) -> tuple[int, int]:
    """Line and column of the character ``at`` of a record that begins on ``line`` behind ``indent`` characters."""
    if text.find("\n", 0, at) < 0:  # as in every record that is one line
        return line, at + 1 + indent
    return line + text.count("\n", 0, at), at - text.rfind("\n", 0, at)


def line_excerpt(text: str, start: int | None, length: int) -> Excerpt:
    """The line of a record that has the character ``start`` (the first where it is None), around ``length``
    characters."""
    begin = text.rfind("\n", 0, start) + 1 if start else 0
    first, _, _ = text[begin:].partition("\n")
    return excerpt(first.rstrip("\r"), (start or 0) - begin, length)
