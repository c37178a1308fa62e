"""Numbers of columns that the scanner keeps are those that Python reads."""

from __future__ import annotations

import random

import numpy as np

from ragdatakit.converters.kept_numbers import numbers_of
from ragdatakit.scanner.blocks import KeptValues

ODD = ["", "-0", "-0.0", "0.0", "1e5", "1E-3", "123456789012.345", "999999999999999", "0.0000000000001", "1e400"]


def written(chance: random.Random) -> str:
    return chance.choice(
        [
            f"{chance.random():.2f}",
            f"{chance.random() * 10 ** chance.randint(-20, 20)!r}",
            f"{chance.uniform(-9, 9):.{chance.randint(1, 17)}f}",
            str(chance.randint(0, 10 ** chance.randint(1, 17))),
            chance.choice(ODD),
        ]
    )


def test_numbers_are_those_of_python() -> None:
    chance = random.Random(1)
    for _ in range(50):
        given = [written(chance) for _ in range(chance.randint(0, 40))]
        offsets = np.cumsum([0, *map(len, given)])
        kept = KeptValues("".join(given).encode(), offsets, np.empty(0, np.int64))
        first = chance.randint(0, len(given))
        values, missing = numbers_of(kept, first, len(given))
        assert list(map(repr, values.tolist())) == [repr(float(text or 0)) for text in given[first:]]
        assert missing.tolist() == [row for row, text in enumerate(given[first:]) if not text]
