"""Numbers of many texts at once: characters, tokens (as `plain_tokens` counts them), and the script.

The compiled library counts them, character by character. Without it texts are looked at as bytes: most texts of most
sets are ASCII with some accented letters, which are counted from their bytes; the others are decoded, all of a batch
together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from ragdatakit.files.texts import plain_tokens
from ragdatakit.files.texts.plain_tokens import LONGEST, SINGLE, WORD
from ragdatakit.quick_values import NamedTuple
from ragdatakit.scanner.texts import listed_words, tokens_and_scripts
from ragdatakit.scanner.views import offsets_of

Numbers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
_MOST_CHARACTERS = 1 << 20
_ODD, _DIGIT, _HAN_SIGN = 0x58, 0x64, 0x48
_PLAIN_LEADS = range(0xC3, 0xCA)
"""First bytes of U+00C0 to U+027F: letters, except for the signs of multiplication and division."""
_HAN_LEADS = range(0xE4, 0xEA)
"""First bytes of U+4000 to U+9FFF: Han characters, and the signs of the Book of Changes, which are no letters."""
_SIGNS = (b"\xc3\x97", b"\xc3\xb7", b"\xe4\xb7")

SCRIPTS = (
    "none", "Latin", "Greek", "Cyrillic", "Armenian", "Hebrew", "Arabic", "Devanagari", "Bengali", "Tamil", "Telugu",
    "Thai", "Georgian", "Hangul", "Han", "Japanese", "other",
)  # fmt: skip
"""The scripts that are distinguished. ``Japanese`` are texts with kana, whose Han characters count with them; ``none``
are texts without letters."""
_KANA, _HAN, _OTHER, _LATIN = 15, 14, 16, 1
_RANGES = (
    (0x41, 0x5A, 1), (0x61, 0x7A, 1), (0xAA, 0xAA, 1), (0xBA, 0xBA, 1), (0xC0, 0x2AF, 1), (0x1E00, 0x1EFF, 1),
    (0xFF21, 0xFF3A, 1), (0xFF41, 0xFF5A, 1), (0x370, 0x3FF, 2), (0x1F00, 0x1FFF, 2), (0x400, 0x52F, 3),
    (0x531, 0x58F, 4), (0x590, 0x5FF, 5), (0x600, 0x6FF, 6), (0x750, 0x77F, 6), (0x8A0, 0x8FF, 6), (0xFB50, 0xFDFF, 6),
    (0xFE70, 0xFEFC, 6), (0x900, 0x97F, 7), (0x980, 0x9FF, 8), (0xB80, 0xBFF, 9), (0xC00, 0xC7F, 10),
    (0xE00, 0xE7F, 11), (0x10A0, 0x10FF, 12), (0x1100, 0x11FF, 13), (0x3130, 0x318F, 13), (0xAC00, 0xD7AF, 13),
    (0x3400, 0x4DBF, 14), (0x4E00, 0x9FFF, 14), (0xF900, 0xFAFF, 14),
    (0x3041, 0x30FF, 15), (0x31F0, 0x31FF, 15), (0xFF66, 0xFF9F, 15), (0x20000, 0x323AF, 14),
    (0x2C60, 0x2C7F, 1), (0xA722, 0xA7FF, 1), (0xFB00, 0xFB06, 1), (0x1C80, 0x1C8F, 3), (0xA640, 0xA69F, 3),
    (0xFB13, 0xFB17, 4), (0xFB1D, 0xFB4F, 5), (0x1C90, 0x1CBF, 12), (0x2D00, 0x2D2F, 12), (0xA960, 0xA97F, 13),
    (0xD7B0, 0xD7FF, 13), (0xFFA1, 0xFFDC, 13), (0x3005, 0x3005, 14),
)  # fmt: skip
_BEHIND_CJK = 0x40000
"""Behind it are marks only."""


class TextNumbers(NamedTuple):
    """Characters, tokens and the place in `SCRIPTS` of each text; a missing text has -1, -1 and 0."""

    characters: Numbers
    tokens: Numbers
    scripts: Bytes


def counted(data: Bytes, offsets: npt.NDArray[np.int32], first: int = 0, step: int = 1) -> tuple[Numbers, Bytes] | None:
    """Tokens and scripts of the texts that are one behind the other in ``data``, between these offsets, from the
    ``first`` on of every so many-th; None where there is no compiled library."""
    chosen = range(first, len(offsets) - 1, step)
    return tokens_and_scripts(data, offsets, chosen, _known, _learn, (LONGEST, _KANA, _HAN))


def words_of_list(
    texts: Sequence[bytes], words: Sequence[bytes], most: int
) -> Iterator[tuple[list[int], int] | None] | None:
    """`listed_words` of the first so many characters of texts; None where there is no compiled library."""
    return listed_words(texts, words, most, _known, _learn)


def text_numbers(texts: Sequence[str | None]) -> TextNumbers:
    """The numbers of texts, in their order."""
    found = list(map(_of_piece, _pieces(texts)))
    if not found:
        return TextNumbers(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint8))
    characters, tokens, scripts = zip(*found, strict=True)
    return TextNumbers(np.concatenate(characters), np.concatenate(tokens), np.concatenate(scripts))


def _pieces(texts: Sequence[str | None]) -> Iterator[Sequence[str | None]]:
    """The texts in pieces of some megabytes."""
    first, size = 0, 0
    for place, text in enumerate(texts):
        size += len(text or "")
        if size > _MOST_CHARACTERS and place > first:
            yield texts[first:place]
            first, size = place, len(text or "")
    if first < len(texts):
        yield texts[first:]


def _of_piece(texts: Sequence[str | None]) -> TextNumbers:
    encoded = [b"" if text is None else text.encode() for text in texts]
    data = b"".join(encoded)
    ends = np.concatenate(([0], np.cumsum(list(map(len, encoded)), dtype=np.int64)))
    characters = np.array([0 if text is None else len(text) for text in texts], np.int64)
    scanned = counted(np.frombuffer(data, np.uint8), ends.astype(np.int32))
    tokens, scripts = scanned if scanned is not None else _of_bytes(texts, data, ends, characters)
    if None in texts:
        missing = np.array([text is None for text in texts])
        characters[missing] = tokens[missing] = -1
        scripts[missing] = 0
    return TextNumbers(characters, tokens, scripts)


def _of_bytes(
    texts: Sequence[str | None], data: bytes, byte_ends: Numbers, characters: Numbers
) -> tuple[Numbers, Bytes]:
    """Tokens and scripts where there is no compiled library."""
    plain = data.isascii()
    ends = byte_ends if plain else offsets_of(characters)
    kinds = np.frombuffer(data.translate(_byte_table(), b"" if plain else _CONTINUATIONS), np.uint8)
    letters = kinds == WORD
    tokens = _tokens(letters | (kinds == _DIGIT), (kinds == SINGLE) | (kinds == _HAN_SIGN), ends)
    latin = _sums(letters, ends)
    scripts = (latin > 0).astype(np.uint8) * _LATIN
    if not plain:
        scripts[_sums(kinds == _HAN_SIGN, ends) > latin] = _HAN
        odd = _sums(kinds == _ODD, ends) > 0
        for sign in _SIGNS:
            if sign in data:
                odd |= _with(data, sign, byte_ends)
        chosen = np.flatnonzero(odd)
        if len(chosen):
            tokens[chosen], scripts[chosen] = _decoded(
                "".join(texts[i] or "" for i in chosen.tolist()), characters[chosen]
            )
    return tokens, scripts


_CONTINUATIONS = bytes(range(0x80, 0xC0))


@cache
def _byte_table() -> bytes:
    """What a byte says of its character: a class, distinguished further, or that it has to be decoded."""
    classes = plain_tokens.classes(bytes(range(128)).decode("ascii"))
    ascii_kinds = bytes(
        _DIGIT if kind == WORD and not chr(code).isalpha() else kind for code, kind in enumerate(classes)
    )
    leads = dict.fromkeys(_PLAIN_LEADS, WORD) | dict.fromkeys(_HAN_LEADS, _HAN_SIGN)
    return ascii_kinds + bytes(leads.get(byte, _ODD) for byte in range(128, 256))


def _sums(marks: npt.NDArray[np.bool_] | Bytes, ends: Numbers) -> Numbers:
    """How many marks there are between the ends of each text."""
    lengths = np.diff(ends)
    found = np.zeros(len(lengths), np.int64)
    there = np.flatnonzero(lengths)  # an empty one would take from its neighbour
    if len(there):
        kind = np.uint16 if int(lengths.max()) < 1 << 16 else np.int64
        found[there] = np.add.reduceat(marks.view(np.uint8), ends[:-1][there], dtype=kind)
    return found


def _with(data: bytes, sign: bytes, ends: Numbers) -> npt.NDArray[np.bool_]:
    """Which texts have a sign of two bytes."""
    first, second = sign
    values = np.frombuffer(data, np.uint8)
    at = np.flatnonzero((values[:-1] == first) & (values[1:] == second))
    found = np.zeros(len(ends) - 1, np.bool_)
    found[np.searchsorted(ends, at, "right") - 1] = True
    return found


def _tokens(words: npt.NDArray[np.bool_], singles: npt.NDArray[np.bool_], ends: Numbers) -> Numbers:
    """Tokens of each text: runs of the characters of words, cut where they are long, and single ones."""
    begins, goes_on = words.copy(), words.copy()
    begins[1:] &= ~words[:-1]
    goes_on[:-1] &= words[1:]
    goes_on[-1:] = False
    inside = ends[(ends > 0) & (ends < len(words))]
    begins[inside] = words[inside]
    goes_on[inside - 1] = False
    found = _sums(begins, ends) + _sums(singles, ends)
    long = _runs(goes_on, LONGEST)
    if len(long):
        first = np.flatnonzero(np.diff(long, prepend=-2) != 1)
        lengths = np.diff(np.append(first, len(long)))
        texts = np.searchsorted(ends, long[first], "right") - 1
        np.add.at(found, texts, (lengths + LONGEST - 1) // LONGEST)
    return found


def _runs(marks: npt.NDArray[np.bool_], length: int) -> Numbers:
    """Where so many marks are one after the other."""
    held, have = marks, 1
    while have < length and len(held) > (step := min(have, length - have)):
        held = held[:-step] & held[step:]
        have += step
    return np.flatnonzero(held) if have == length else np.empty(0, np.int64)


def _decoded(text: str, lengths: Numbers) -> tuple[Numbers, Bytes]:
    """Tokens and script of texts of these lengths, one behind the other, in which any character may be."""
    ends = offsets_of(lengths)
    kinds = _kinds(np.frombuffer(text.encode("utf-32-le"), np.int32))
    scripts = kinds & _SCRIPT
    counts = np.zeros((len(lengths), len(SCRIPTS)), np.int64)
    for script in np.flatnonzero(np.bincount(scripts, minlength=len(SCRIPTS))):
        if script:
            counts[:, script] = _sums(scripts == script, ends)
    kana = counts[:, _KANA] > 0
    counts[kana, _KANA] += counts[kana, _HAN]
    return _tokens((kinds & _IN_WORD) > 0, (kinds & _ALONE) > 0, ends), counts.argmax(axis=1).astype(np.uint8)


_SCRIPT, _IN_WORD, _ALONE = 0x1F, 0x20, 0x40


_UNKNOWN = 0xFF
_known: Bytes = np.full(_BEHIND_CJK + 1, _UNKNOWN, np.uint8)
"""What each character is that was seen so far: its script (0: no letter), in a word, alone, or neither. The last is
for all behind."""


def _kinds(codes: npt.NDArray[np.int32]) -> Bytes:
    """What characters are."""
    found = _known.take(codes, mode="clip")
    fresh = np.flatnonzero(found == _UNKNOWN)
    if len(fresh):
        for code in np.unique(codes[fresh]).tolist():
            _known[min(code, _BEHIND_CJK)] = _kind(code)
        found = _known.take(codes, mode="clip")
    return found


def _learn(code: int) -> None:
    """Say of a character, and of those around it, what they are."""
    first = min(code, _BEHIND_CJK) // _AT_ONCE * _AT_ONCE
    for each in range(first, min(first + _AT_ONCE, len(_known))):
        _known[each] = _kind(each)


_AT_ONCE = 128


def _kind(code: int) -> int:
    token = plain_tokens.class_of(code)
    kind = _IN_WORD if token == WORD else _ALONE if token == SINGLE else 0
    if code >= _BEHIND_CJK or not chr(code).isalpha():
        return kind
    return kind | next((script for first, last, script in _RANGES if first <= code <= last), _OTHER)
