"""Summaries without a language model: sentences of the texts themselves, as they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from ragdatakit.files.raptor.hashing import hashed
from ragdatakit.files.texts import plain_tokens

SUMMARY_TOKENS = 100
_LIKENESS = 0.3
"""How much a sentence loses that says what a chosen one says."""
_MOST_SENTENCES = 200
_ENDS = re.compile("(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])|\\n+")
_BLANKS = re.compile(r"\s+")


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, as they stand, without the blanks around them."""
    return [found for part in _ENDS.split(text) if (found := part.strip())]


def pieces(sentence: str, most: int) -> Iterator[str]:
    """A sentence as parts of at most this many tokens, cut between words; itself where it is short."""
    if plain_tokens.count(sentence) <= most:
        yield sentence
        return
    held: list[str] = []
    size = 0
    for word in _BLANKS.split(sentence):
        while plain_tokens.count(word) > most:  # a text without blanks
            yield word[:most]
            word = word[most:]
        tokens = plain_tokens.count(word)
        if held and size + tokens > most:
            yield " ".join(held)
            held, size = [], 0
        held.append(word)
        size += tokens
    if any(held):
        yield " ".join(held)


def summary(texts: Sequence[str], most: int = SUMMARY_TOKENS) -> str:
    """The sentences that are nearest to what all say and not to each other, in their order."""
    found = list(dict.fromkeys(sentence for text in texts for sentence in sentences(text)))[:_MOST_SENTENCES]
    if not found:
        return " ".join(texts).strip()
    vectors = np.stack([hashed(sentence) for sentence in found])
    nearness = (vectors @ vectors.mean(axis=0)).round(6)
    chosen: list[int] = []
    size = 0
    tokens = [plain_tokens.count(sentence) for sentence in found]
    open_places = set(range(len(found)))
    while open_places:
        alike = (vectors @ vectors[chosen].T).max(axis=1).round(6) if chosen else np.zeros(len(found))
        best = max(open_places, key=lambda i: (nearness[i] - _LIKENESS * alike[i], -i))
        open_places.discard(best)
        if size + tokens[best] <= most:
            chosen.append(best)
            size += tokens[best]
        elif not chosen and not open_places:
            return next(pieces(found[best], most))
    return " ".join(found[i] for i in sorted(chosen))
