"""What the compiled library looks for in texts: characters, and pairs of them, of which a rule may have something to
say. It may name too many texts, never too few: those that it names are looked at as all are without it.

What `ftfy` takes for odd is taken from its own pattern: of each of its alternatives two sets of characters that stand
side by side, the smallest ones.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from ragdatakit.files.texts.cut_texts import ENDS
from ragdatakit.quality import garbled
from ragdatakit.scanner.measures import USES, Alphabet
from ragdatakit.scanner.predicates import WHITE_SPACE

CONTROL = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202d\u202e\ufffd-\uffff"
"""Control characters, those that turn the direction of a text, and what stands for one that was lost."""
_ASCII, _ALL = 0x80, 0x10000
_RANGE = re.compile("(.)(?:-(.))?", re.DOTALL)
_Set = int
"""A bit for each character that is in it; the last stands for any behind."""
_EVERY = (2 << _ALL) - 1


@cache
def ascii_alphabet() -> Alphabet:
    """What is looked for in texts of ASCII."""
    return _alphabet({name: found & (2 << _ASCII) - 1 for name, found in _uses().items()}, [], _ASCII)


@cache
def alphabet(garbled_too: bool) -> Alphabet:
    """What is looked for in all texts, with or without mojibake. Raises `ImportError` without ftfy for the first."""
    uses = _uses()
    if not garbled_too:
        return _alphabet(uses, [])
    uses["east"], uses["accent"] = _in_ranges(garbled.EAST), _in_ranges(garbled.ACCENTS)
    uses["reported"] |= _in_ranges(garbled.SIGNS)
    pairs: list[tuple[_Set, _Set]] = []
    try:
        for window in _windows(garbled.badness_of_ftfy()):
            if isinstance(window, tuple):
                pairs.append(window)
            else:
                uses["reported"] |= window
    except (ImportError, AttributeError, TypeError, ValueError):  # of what is Python's own, or a pattern of a new kind
        uses["reported"] |= _of((_ASCII, _ALL))
    return _alphabet(uses, pairs)


def _uses() -> dict[str, _Set]:
    """By what it is there for, each set of characters that is looked for in all texts."""
    return {"reported": _in_ranges(CONTROL), "space": _in_ranges(WHITE_SPACE), "end": _in_ranges(ENDS)}


def _of(*ranges: tuple[int, int]) -> _Set:
    found = 0
    for first, last in ranges:
        found |= (2 << min(last, _ALL)) - (1 << min(first, _ALL))
    return found


def _in_ranges(ranges: str) -> _Set:
    """Characters, or the first and the last of several, with ``-`` between them."""
    return _of(*((ord(first), ord(last or first)) for first, last in _RANGE.findall(ranges)))


def _alphabet(uses: dict[str, _Set], pairs: list[tuple[_Set, _Set]], last: int = _ALL) -> Alphabet:
    """One kind for all characters that are in the same sets."""
    each = dict.fromkeys((*uses.values(), *(one for pair in pairs for one in pair)))
    numbers = {one: number for number, one in enumerate(each)}
    members = np.zeros(last + 1, np.uint64)
    for one, number in numbers.items():
        bits = np.frombuffer(one.to_bytes(last // 8 + 1, "little"), np.uint8)
        # fails beyond 64 sets, of which there are some 30
        members |= np.unpackbits(bits, count=last + 1, bitorder="little") * np.uint64(1 << number)
    begins = np.flatnonzero(np.diff(members, prepend=~members[:1]))  # of runs of the same kind, which are some hundred
    of_kinds, of_runs = np.unique(members[begins], return_inverse=True)
    kinds = np.repeat(of_runs, np.diff(begins, append=len(members)))

    def having(one: _Set) -> np.ndarray:
        return (of_kinds >> np.uint64(numbers[one]) & np.uint64(1)).astype(np.uint8)

    of_uses, beside = np.zeros(len(of_kinds), np.uint8), np.zeros((len(of_kinds),) * 2, np.uint8)
    for name, one in uses.items():
        of_uses |= np.uint8(USES[name]) * having(one)
    for first, second in pairs:
        beside |= np.outer(having(first), having(second))
    return Alphabet(kinds.astype(np.uint8).tobytes(), of_uses.tobytes(), beside.tobytes())


def _windows(pattern: re.Pattern[str]) -> Iterator[_Set | tuple[_Set, _Set]]:
    """Of each alternative of a pattern a set of characters, or two sets side by side, of which some are in all that it
    matches. Raises `ValueError` for one of which that is not known."""
    parser: Any = importlib.import_module("re._parser")
    (kind, found), *others = parser.parse(pattern.pattern, pattern.flags & re.VERBOSE)
    if others or str(kind) != "BRANCH" or pattern.flags & re.IGNORECASE:
        raise ValueError("no list of alternatives")
    for alternative in found[1]:
        sets = [_set_of(str(name), value) for name, value in alternative]
        pairs = [(a, b) for a, b in pairwise(sets) if a is not None and b is not None]
        alone = [each for each in sets if each is not None]
        if pairs:
            yield min(pairs, key=lambda pair: pair[0].bit_count() * pair[1].bit_count())
        elif alone:
            yield min(alone, key=int.bit_count)
        else:
            raise ValueError("an alternative without a character")


def _set_of(name: str, value: Any) -> _Set | None:
    """The characters that a part of a pattern matches, more perhaps; None where it matches none, or several."""
    if name == "LITERAL":
        return _of((value, value))
    if name == "ANY":
        return _EVERY
    if name != "IN":
        return None
    negated = str(value[0][0]) == "NEGATE"
    listed: list[tuple[int, int]] = []
    for item, characters in value[negated:]:
        if str(item) == "LITERAL":
            listed.append((characters, characters))
        elif str(item) == "RANGE":
            listed.append(characters)
        else:  # a category, such as white space
            return _EVERY
    found = _of(*listed)
    return _EVERY ^ found | 1 << _ALL if negated else found
