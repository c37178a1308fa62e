"""Values and lines made fit to print: short, one line, no control characters, no bidi tricks."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragdatakit.late_modules import late_module
from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas.findings import Excerpt, quick_excerpt
from ragdatakit.visible_text import without_commands

if TYPE_CHECKING:
    import unicodedata
else:
    unicodedata = late_module("unicodedata")

BEFORE, AFTER = 50, 60
_VALUE_LENGTH = 60
_FEW_DIGITS = 10 ** (_VALUE_LENGTH - 1)
_JOINED, _LOOKED = 1 << 10, 1 << 16
"""Characters of lines that are shown as one, and in which a value is looked for."""
_BREAK = late_pattern(r"\s*\n\s*")
_OF_NUMBERS = frozenset('0123456789.eE+-"')
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


def _is_plain(text: str) -> bool:
    """Whether a text, and each part of it, is `visible` as it is."""
    return text.isascii() and text.isprintable() and "##" not in text


def visible(text: str) -> str:
    """``text`` with everything that a terminal would obey or hide, or a CI runner carry out, made visible."""
    if text.isascii() and text.isprintable() and "##" not in text:
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
    if type(value) is int and -_FEW_DIGITS < value < _FEW_DIGITS:
        return repr(value)
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
    size = len(line)
    if size <= BEFORE + 10 and 0 <= start <= size and 0 <= length <= size - start and _is_plain(line):
        return quick_excerpt(line, start, length)  # all of it
    # without `min` and `max`, which would be half of what this takes
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


def line_excerpt(text: str, start: int | None, length: int, sought: Any = None) -> Excerpt:
    """The line of a record that has the character ``start`` (the first where it is None), around ``length``
    characters; where it ends with a bracket, with the lines behind it, around the value that is ``sought``."""
    at = start or 0
    begin = text.rfind("\n", 0, at) + 1
    first = text[begin:].partition("\n")[0].rstrip()
    if not first.endswith(("{", "[")) or (length and text[at : at + 1] not in ("{", "[")):
        return excerpt(first, at - begin, length)
    end = at + length if length else len(text)
    place, size = place_of(text, sought, at, end) or (at, min(length, 1))
    if place > begin + _JOINED:
        begin = text.rfind("\n", 0, place) + 1
    before = _BREAK.sub(" ", text[begin:place]).lstrip()
    behind = _BREAK.sub(" ", text[place : min(place + _JOINED, end)])
    return excerpt(before + behind, len(before) if size else 0, size)


def place_of(text: str, value: Any, start: int, end: int) -> tuple[int, int] | None:
    """Where a text or a number is in JSON, and its length: as the first value of a member, else anywhere; a number only
    where it is there once, as others may be the same by chance."""
    end = min(end, start + _LOOKED)
    if isinstance(value, str) and 0 < len(value) < _JOINED:
        names = dict.fromkeys((json.dumps(value, ensure_ascii=False), json.dumps(value)))
    else:
        names = {str(value): None} if type(value) in (int, float) else {}
    found: list[tuple[int, int]] = []
    for name in names:
        size, at = len(name), text.find(name, start, end)
        while at >= 0:
            if name[0] == '"':
                if text[max(at - 3, 0) : at].rstrip().endswith(":"):
                    return at, size
                found.append((at, size))
            elif not {text[at - 1 : at], text[at + size : at + size + 1]} & _OF_NUMBERS:
                found.append((at, size))
            at = text.find(name, at + size, end)
    return found[0] if found and (isinstance(value, str) or len(found) == 1) else None
