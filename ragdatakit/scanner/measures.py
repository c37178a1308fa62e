"""What the compiled library finds of texts that the rules of quality ask for."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ragdatakit.quick_values import NamedTuple
from ragdatakit.scanner.library import View, called, needed_library, run_seed
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


class Measures:
    """What `sketches` finds of so many texts besides."""

    def __init__(self, number: int, alphabet: Alphabet) -> None:
        self._numbers, self._marks = np.zeros((number, 4), np.int64), np.zeros((number, 2), np.uint8)
        addresses = (self._numbers.ctypes.data, self._marks.ctypes.data)
        self.asked = (_views(alphabet), run_seed(), *addresses)
        """What the library is called with."""

    def found(self) -> TextMeasures:
        """What was found of each text."""
        return TextMeasures(*(np.ascontiguousarray(column) for column in (*self._numbers.T, *self._marks.T)))


def looked_at(texts: Joined, alphabet: Alphabet) -> Bytes:
    """What is said of the characters of each text, as in `TextMeasures`. Raises `ScannerError`, also where there is no
    library."""
    data, looked = texts.held, np.zeros(texts.number, np.uint8)
    given = (data.ctypes.data, len(data), texts.offsets.ctypes.data, texts.number)
    called(needed_library().rd_text_looks(_views(alphabet), *given, looked.ctypes.data))
    return looked


def _views(alphabet: Alphabet) -> Any:
    """Those of its bytes, which are held by it."""
    return (View * 3)(*(View(ctypes.cast(ctypes.c_char_p(table), ctypes.c_void_p), len(table)) for table in alphabet))
