"""Vectors of texts without a model: each word adds to a place that its hash gives. The same everywhere, always."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from math import log

import numpy as np
import numpy.typing as npt

from ragdatakit.schemas.texts import text_hash

NAME = "hashing"
USUAL = 256
"""Numbers of a vector."""
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=1 << 16)
def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.lower())


def hashed(text: str, dimensions: int = USUAL) -> npt.NDArray[np.float64]:
    """The vector of a text, of length 1; of a text without words one that is alike to all."""
    vector = np.zeros(dimensions)
    for word, count in Counter(words(text)).items():
        code = text_hash(word)
        vector[(code >> 1) % dimensions] += (1 + log(count)) * (1 if code & 1 else -1)
    length = float(np.linalg.norm(vector))
    return vector / length if length else np.full(dimensions, dimensions**-0.5)
