"""What the compiled library finds of texts that the rules of quality ask for."""

from __future__ import annotations

import numpy as np

from ragdatakit.quick_values import NamedTuple
from ragdatakit.scanner.library import called, needed_library, run_seed
from ragdatakit.scanner.texts import Bytes, Joined, Numbers


class Alphabet(NamedTuple):
    """What the library looks for in texts: the kind of each character (the last is that of all behind), what each kind
    is there for, and of each kind in turn whether it is looked for before each of the kinds."""

    kinds: bytes
    uses: bytes
    pairs: bytes


USES = {"reported": 1, "east": 2, "accent": 4, "space": 8, "end": 16}
"""What kinds of characters are there for: a text that has one is named; or one with six of them in a row, or two times
six; white space; what ends a sentence."""
NOT_UTF8 = 2
"""What is said of a text of which nothing else is; 1 of one that is named, 0 of others."""


class TextMeasures(NamedTuple):
    """Of texts, by number: characters; blanks; codes of it with single blanks for white space (0: nothing is left), and
    of it as it is; how it stops and begins, as in `measures.rs`; what is said of its characters."""

    characters: Numbers
    blanks: Numbers
    squeezed: Numbers
    exact: Numbers
    ends: Bytes
    looked: Bytes


def text_measures(texts: Joined, alphabet: Alphabet) -> TextMeasures:
    """What is found of each text. Raises `ScannerError`, also where there is no library."""
    numbers = np.zeros((texts.number, 4), np.int64)
    marks = _marks(texts, alphabet, numbers.ctypes.data)
    return TextMeasures(*(np.ascontiguousarray(column) for column in (*numbers.T, *marks.T)))


def looked_at(texts: Joined, alphabet: Alphabet) -> Bytes:
    """What is said of the characters of each text, as in `TextMeasures`. Raises `ScannerError`, as above."""
    return _marks(texts, alphabet, None)[:, 1]


def _marks(texts: Joined, alphabet: Alphabet, numbers: int | None) -> Bytes:
    found = needed_library()
    data, offsets, number = *texts, texts.number
    marks = np.zeros((number, 2), np.uint8)
    tables = [part for table in alphabet for part in (table, len(table))]
    given = (data, len(data), offsets.ctypes.data, number)
    called(found.rd_text_measures(*tables, run_seed(), *given, numbers, marks.ctypes.data))
    return marks
