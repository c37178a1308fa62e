"""Texts that were cut off at one length, and those that look alike and were not."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

import pytest

from ragdatakit.files.texts.cut_texts import CutOff, TextLengths

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


def cut_off(texts: Sequence[str]) -> CutOff | None:
    """Of all texts at once, and of parts of them that are put together."""

    def read(numbers: Sequence[int]) -> Iterable[str]:
        assert [*numbers] == sorted({*numbers})
        return (texts[number] for number in numbers)

    whole, together = TextLengths(), TextLengths()
    for first in range(0, len(texts), 7):
        part = TextLengths()
        for text in texts[first : first + 7]:
            whole.add(text)
            part.add(text)
        together.extend(part)
    assert together.cut_off(read) == whole.cut_off(read)
    return whole.cut_off(read)


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


def titled(book: str, title: str) -> list[str]:
    return [f"{title}: {piece}" for piece in in_pieces(book)]


def filled_in(form: str, count: int = 400, seed: int = 5) -> list[str]:
    """Texts of one template, with a word of another length in each gap."""
    choose = random.Random(seed)
    return [
        " ".join(choose.choice(WORDS).title() if word == "_" else word for word in form.split()) for _ in range(count)
    ]


CATALOGUE = "Brand: _ Model: _ Color: _ Size: _ Material: _ Weight: _ kg Price: _ EUR Stock: _ City: _ Rating: _ of 5"
LOG = "INFO worker _ handled request of _ for _ in 12 ms with status 200 from host _ of region _ and queue _"


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
        filled_in(CATALOGUE),
        filled_in(LOG),
        [text.upper() for text in in_pieces(" ".join(written(100)))],
        titled(" ".join(written(60, 1)), "Moby Dick") + titled(" ".join(written(60, 2)), "The Voyage Out"),
        [text[:60].rstrip(".").ljust(120) for text in written(400)],
        in_pieces(" ".join(str(7919 * n) for n in range(9_000))),
    ],
    ids=[
        "none",
        "whole",
        "few",
        "chunks",
        "template",
        "lower case",
        "sentences",
        "catalogue",
        "log",
        "chunks in capitals",
        "chunks with titles",
        "padded",
        "chunks of numbers",
    ],
)
def test_texts_that_were_not(texts: Sequence[str]) -> None:
    assert cut_off(texts) is None
