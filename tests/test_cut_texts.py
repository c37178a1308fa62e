"""Texts that were cut off at one length, and those that look alike and were not."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from ragdatakit.files.texts.cut_texts import cut_off

WORDS = "a of it the boat canal winter harbour repaired committee perseverance superintendent".split()
Cut = Callable[[str], str]


def written(count: int, seed: int = 5) -> list[str]:
    """Texts of 3 to 30 sentences."""
    choose = random.Random(seed)
    return [
        " ".join(
            f"{' '.join(choose.choices(WORDS, k=choose.randint(5, 12))).capitalize()}."
            for _ in range(choose.randint(3, 30))
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("cut", "length", "unit"),
    [
        (lambda text: text[:120], 120, "character"),
        (lambda text: text[:120].strip(), 120, "character"),
        (lambda text: text if len(text) <= 120 else f"{text[:120]}...", 123, "character"),
        (lambda text: " ".join(text.split()[:25]), 25, "word"),
    ],
)
def test_texts_that_were_cut_off(cut: Cut, length: int, unit: str) -> None:
    texts = written(400)

    found = cut_off([*texts[:40], *map(cut, texts[40:])])

    assert found is not None
    assert (found.length, found.unit, found.texts) == (length, unit, 400)
    assert found.count > 250
    assert found.first in (40, 41)


def in_pieces(text: str) -> list[str]:
    return [text[start : start + 120] for start in range(0, len(text), 120)]


@pytest.mark.parametrize(
    "texts",
    [
        [],
        written(400),
        [text[:120] for text in written(19)],
        [piece for text in written(100) for piece in in_pieces(text)],
        [f"Record {n:04} of the harbour book of the old town, kept by the superintendent" for n in range(400)],
        [f"{text[:120].lower()}" for text in written(400)],
        [" ".join(text.split(". ")[:1]) + "." for text in written(400)],
    ],
    ids=["none", "whole", "few", "chunks", "template", "lower case", "sentences"],
)
def test_texts_that_were_not(texts: Sequence[str]) -> None:
    assert cut_off(texts) is None
