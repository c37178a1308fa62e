"""Texts as their words, so that spelling of no account does not tell them apart: case, punctuation, width, spaces.

Words are runs of letters and digits after NFKC; in scripts without blanks between words each character is one.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_ASCII_TOKEN = re.compile(r"[a-z0-9]+")
_BETWEEN = re.compile(r"[^\x00-\x7f\w][^\x00-\x7f\w]*")
_ALONE = re.compile(f"([{_UNSPACED}])")
_BEYOND = re.compile(r"[^\x00-\x7f][^\x00-\x7f]*")
_MARKS = re.compile("[\u0300-\u036f]")
"""All with which characters of ASCII are composed in NFKC, perhaps over other marks between them."""
_SHORT = 8
"""Characters of runs beyond ASCII that are remembered, as most come again and again."""


def flat_words(text: str) -> list[str]:
    """The words of a text, in order, in lower case."""
    if text.isascii():
        return _ASCII_TOKEN.findall(text.lower())
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def flat_bytes(text: str) -> bytes:
    """A text of which the words are `flat_words`, as runs of ASCII letters of either case, ASCII digits and bytes
    beyond ASCII."""
    if text.isascii():
        return text.encode("ascii")
    # without marks runs beyond ASCII are flattened by themselves
    flat = _flat(text) if _MARKS.search(text) is not None else _BEYOND.sub(_flat_run, text)
    return flat.encode("utf-8", "surrogatepass")


def _flat(text: str) -> str:
    text = _BETWEEN.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(_ALONE.split(text))


def _flat_run(run: re.Match[str]) -> str:
    found = run[0]
    return _flat_again(found) if len(found) <= _SHORT else _flat(found)


_flat_again = lru_cache(1 << 14)(_flat)


def flat_character(character: str) -> bytes | None:
    """What `flat_bytes` makes of a character beyond ASCII; None where it depends on its neighbours: of marks, and of
    the later parts of Korean syllables."""
    composed = unicodedata.normalize("NFKC", character)
    if any(unicodedata.category(c)[0] == "M" or "\u1160" <= c <= "\u11ff" for c in composed):
        return None
    return _flat(character).encode()


INVISIBLE = "\u00ad\u180e\u200b\u200c\u200d\u2060\ufeff"
"""Characters that show nothing and are no blanks to Python: zero-width ones and the soft hyphen."""


def is_blank(text: str) -> bool:
    """Whether a text has nothing in it that shows."""
    text = text.strip()
    return not text or (not text.isascii() and not text.translate(dict.fromkeys(map(ord, INVISIBLE))).strip())
