"""Tokens of a text without a model: words, single CJK characters, punctuation marks. Made to be counted fast.

Each character becomes one byte that says what it is; tokens are counted and found in these bytes. A run of letters and
digits is cut after `LONGEST` characters, as subword tokenizers cut long words, so that a text without blanks does not
count as one token.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any

LONGEST = 12
"""Characters that a token has at most."""
BLANK, WORD, SINGLE = 0x20, 0x61, 0x70
_TOKEN = re.compile(rb"a{1,%d}|p" % LONGEST)
_TOO_LONG = b"a" * (2 * LONGEST + 1)
_LONG = b"a" * (LONGEST + 1)
_CJK = (
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3031, 0x3035),
    (0x3040, 0x3098),
    (0x309B, 0x30FF),
    (0x3100, 0x312F),
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x1B000, 0x1B16F),
)
_TABLED = 0x20000
"""Beyond it are CJK characters, and behind them a few marks (variation selectors)."""
_BEHIND_CJK = 0x40000


def classes(text: str) -> bytes:
    """One byte for each character: `BLANK`, `WORD` (letters, digits, marks), or `SINGLE`, a token by itself."""
    if text.isascii():
        return text.encode("ascii").translate(_ascii_table())
    import numpy as np

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    found: bytes = _numpy_table()[np.minimum(codes, _BEHIND_CJK)].tobytes()
    return found


def count(text: str) -> int:
    """How many tokens there are in a text."""
    kinds = classes(text)
    if _TOO_LONG in kinds:
        return len(_TOKEN.findall(kinds))
    words = kinds.count(b" a") + kinds.count(b"pa") + (kinds[:1] == b"a")
    return kinds.count(b"p") + words + kinds.count(_LONG)


def starts(text: str) -> list[int]:
    """Where the tokens of a text begin: 0-based offsets of characters."""
    return [match.start() for match in _TOKEN.finditer(classes(text))]


def class_of(code: int) -> int:
    """What the character of a code point is, as `classes` gives it."""
    if code < _TABLED:
        return _class_of(chr(code))
    return SINGLE if code < _BEHIND_CJK else WORD


def _class_of(character: str) -> int:
    if character.isspace():
        return BLANK
    code = ord(character)
    if code >= _CJK[0][0] and any(first <= code <= last for first, last in _CJK):
        return SINGLE
    return WORD if character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M" else SINGLE


@cache
def _ascii_table() -> bytes:
    return bytes(_class_of(chr(code)) for code in range(128)) + bytes(128)


@cache
def _numpy_table() -> Any:
    import numpy as np

    table = np.full(_BEHIND_CJK + 1, SINGLE, np.uint8)
    table[:_TABLED] = np.frombuffer(bytes(_class_of(chr(code)) for code in range(_TABLED)), np.uint8)
    table[_BEHIND_CJK] = WORD
    return table
