"""Finds the names of a graph's nodes in texts: in questions, to start from; in passages, which mention them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, TypeVar

from ragdatakit.files.texts.texts_together import texts_together

if TYPE_CHECKING:
    from ragdatakit.scanner.texts import CompiledFinder

_WORDS_ONLY = bytes(code if code < 0x80 and chr(code).isalnum() else 0x20 for code in range(256))
_SPACED_UP_TO = "\u0e00"
"""Scripts up to here put blanks between words, so that a name is no part of a longer word."""
_LEAST = 2
K = TypeVar("K")


class NameFinder:
    """The longest names first, from left to right, at the borders of words.

    Names of ASCII letters and digits are compared as the framework writes phrases: lower case, blanks for all else.
    Others are searched for as they stand, except for case; in scripts that do not separate words, anywhere.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._phrases: dict[tuple[str, ...], str] = {}
        self._lengths: dict[tuple[str, ...], list[int]] = {}  # by the first two words, how many there are
        self._alone: set[str] = set()
        self._others: dict[str, str] = {}
        self._other_lengths: dict[str, list[int]] = {}
        for name in names:
            if name.isascii():
                self._add_phrase(name)
            elif len(name) >= _LEAST:
                folded = name.casefold()
                if self._others.setdefault(folded, name) is name:
                    _note_length(self._other_lengths, folded[0], len(folded))

    def _add_phrase(self, name: str) -> None:
        words = tuple(_rough_words(name.lower()))
        if sum(map(len, words)) >= _LEAST and self._phrases.setdefault(words, name) is name:
            if len(words) == 1:
                self._alone.add(words[0])
            else:
                _note_length(self._lengths, words[:2], len(words))

    def find(self, text: str) -> list[str]:
        """The names that are in a text, each once."""
        found = dict.fromkeys(self._find_phrases(text))
        if self._others and not text.isascii():
            found.update(dict.fromkeys(self._others_in(text)))
        return list(found)

    def find_each(self, texts: Iterable[tuple[K, str]]) -> Iterator[tuple[K, list[str]]]:
        """The names that are in each of many texts, each once; a text has a key."""
        finder = self._compiled()
        if finder is None:
            for key, text in texts:
                yield key, self.find(text)
            return
        names = list(self._phrases.values())
        for batch in texts_together(texts):
            found = finder.find([text.encode("utf-8", "replace") for _, text in batch])
            for (key, text), places in zip(batch, found, strict=True):
                if places is None:
                    yield key, self.find(text)
                    continue
                others = self._others_in(text) if self._others and not text.isascii() else ()
                yield key, list(dict.fromkeys(chain(map(names.__getitem__, places), others)))

    def _compiled(self) -> CompiledFinder | None:
        from ragdatakit.scanner.library import library  # it needs numpy
        from ragdatakit.scanner.texts import CompiledFinder

        return CompiledFinder(list(map(" ".join, self._phrases)), _is_other_letter) if library() is not None else None

    def _others_in(self, text: str) -> Iterator[str]:
        return self._find_others(text.casefold())

    def _find_phrases(self, text: str) -> Iterator[str]:
        text = text.lower()
        words = _rough_words(text)
        words.append("")
        lengths, alone, name_of = self._lengths, self._alone, self._phrases.get
        if lengths.keys().isdisjoint(pairwise(words)) and alone.isdisjoint(words):
            return
        if not text.isascii():
            words = [*_words(text), ""]
        behind = 0
        for place in [place for place, pair in enumerate(pairwise(words)) if pair in lengths or pair[0] in alone]:
            if place < behind:
                continue
            for length in (*lengths.get((words[place], words[place + 1]), ()), 1):
                name = name_of(tuple(words[place : place + length]))
                if name is not None:
                    yield name
                    behind = place + length
                    break

    def _find_others(self, text: str) -> Iterator[str]:
        place = 0
        while place < len(text):
            for length in self._other_lengths.get(text[place], ()):
                name = self._others.get(text[place : place + length])
                if name is not None and not _cuts_word(text, place) and not _cuts_word(text, place + length):
                    yield name
                    place += length
                    break
            else:
                place += 1


def _note_length(lengths: dict[K, list[int]], first: K, length: int) -> None:
    """Lengths, the longest first."""
    listed = lengths.setdefault(first, [])
    if length not in listed:
        listed.append(length)
        listed.sort(reverse=True)


def _is_other_letter(character: str) -> bool | None:
    """Whether a character beyond ASCII is a letter or digit of a script with blanks between words; None where it is
    something else when it is lowered."""
    lowered = character.lower()
    if len(lowered) != 1 or lowered.isascii():
        return None
    return lowered < _SPACED_UP_TO and lowered.isalnum()


def _rough_words(text: str) -> list[str]:
    """The words of ASCII letters and digits; of a word that has other letters, too, its parts without them."""
    return text.encode("utf-8", "replace").translate(_WORDS_ONLY).decode("ascii").split()


def _words(text: str) -> list[str]:
    """The words of ASCII letters and digits; an empty one for a word that has other letters, too."""
    return _rough_words(text) if text.isascii() else _runs().findall(text)


@cache
def _runs() -> re.Pattern[str]:
    """Runs of letters and digits of scripts that put blanks between words: those of ASCII as a group, those that are
    mixed without; the others are passed over."""
    others = "".join(c for c in map(chr, range(0x80, ord(_SPACED_UP_TO))) if c.isalnum())
    return re.compile(
        f"([a-z0-9]++)(?![{others}])|[a-z0-9][a-z0-9{others}]*+|(?<![{others}])[{others}]++[a-z0-9][a-z0-9{others}]*+"
    )


def _cuts_word(text: str, place: int) -> bool:
    """Whether the characters before and at a place are of one word."""
    if not 0 < place < len(text):
        return False
    before, behind = text[place - 1], text[place]
    return before.isalnum() and behind.isalnum() and before < _SPACED_UP_TO and behind < _SPACED_UP_TO
