"""Words that differ by their accents only: Aschenbrodel and Aschenbrödel are different terms."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragdatakit.retrieval.terms.tokens import Tokenizer

_LEAST = 4
_LATIN = (range(0x00C0, 0x0250), range(0x1E00, 0x1F00))


def without_accents(text: str) -> str:
    """The text without marks above, below and through its letters, as far as Unicode takes them apart."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def spelled_with_other_accents(text: str, token: str, tokenizer: Tokenizer) -> str | None:
    """How a text spells a token that it has with other accents only; None where it does not have it so."""
    plain = without_accents(token)
    for found, start, end in tokenizer.spans(text):
        if found != token and without_accents(found) == plain:
            return text[start:end]
    return None


def accent_pattern(token: str) -> str:
    """A regular expression for the token with any accents; empty where it is short, or has other letters than Latin."""
    plain = without_accents(token)
    if len(plain) < _LEAST or not (plain.isascii() and plain.isalpha() and plain.islower()):
        return ""
    return "".join(f"[{letter}{_accented().get(letter, '')}]" for letter in plain)


@cache
def _accented() -> dict[str, str]:
    """Small Latin letters with accents by those without."""
    found: dict[str, str] = {}
    for character in map(chr, (code for codes in _LATIN for code in codes)):
        plain = without_accents(character)
        if plain != character and len(plain) == 1 and plain.isascii() and plain.islower():
            found[plain] = found.get(plain, "") + character
    return found
