"""Words as codes: they are those of `flat_words`, one number for each word."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.files.texts.flat_text import flat_words
from ragdatakit.quality import word_codes as module
from ragdatakit.quality.sketches import _bands, sketches
from ragdatakit.quality.word_codes import DIGITS, in_numpy, runs, word_codes
from ragdatakit.scanner.texts import Joined
from tests.broad import examples

TEXTS = st.lists(st.text("abZ_1９ \n\x00é’ßµﬁ市役ー\u0301\ud800-", max_size=30), max_size=6)


def same(texts: list[str]) -> tuple[Any, Any]:
    codes, lengths = word_codes(texts)
    others, numbers = in_numpy(texts)

    assert (codes.tolist(), lengths.tolist()) == (others.tolist(), numbers.tolist())
    return codes, lengths


def sketched(texts: list[str], least: int = 3) -> None:
    """Sketches are the same by the library as in numpy."""
    mine = sketches(texts, Joined.of(texts), least)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragdatakit.quality.sketches.made_sketches", lambda *_: None)
        plain = sketches(texts, Joined.of(texts), least)

    assert [each.tolist() for each in mine] == [each.tolist() for each in plain]


def agree(texts: list[str]) -> None:
    """Codes are those of the words, the same by the library as in numpy."""
    codes, lengths = same(texts)
    words = [flat_words(text) for text in texts]
    of_word: dict[str, int] = {}
    of_code: dict[int, str] = {}

    assert lengths.tolist() == [len(found) for found in words]
    for word, code in zip((word for found in words for word in found), codes.tolist(), strict=True):
        assert of_word.setdefault(word, code) == code
        assert of_code.setdefault(code, word) == word
        assert bool(code & DIGITS) == any(character in "0123456789" for character in word)


@settings(max_examples=examples(60), deadline=None)
@given(TEXTS)
def test_codes_are_those_of_the_words(texts: list[str]) -> None:
    agree(texts)


def test_runs_do_not_go_over_the_end_of_a_text() -> None:
    codes, lengths = word_codes(["a b c d", "", "b c", "x  B-c D"])
    found = runs(codes, lengths).tolist()

    assert lengths.tolist() == [4, 0, 2, 4]
    assert [found.index(code) for code in found] == [0, 1, 2, 1]


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.text("abZ_1９ \n\x00é’ßµﬁ市役ー\u0301\ud800- ab cd", max_size=99), max_size=6), st.sampled_from([3, 9])
)
def test_sketches(texts: list[str], least: int) -> None:
    sketched(texts, least)


def test_sketches_of_texts_of_all_lengths() -> None:
    choose = random.Random(1)
    words = [f"w{number}" for number in range(3_000)]

    sketched([" ".join(choose.choices(words, k=length)) for length in (3, 4, 9, 40, 99, 260, 700, 3_000)])
    sketched([f"{'a' * 70_000} b c d", "a b c d"])


def test_sketches_are_those_of_all_versions() -> None:
    counts = np.array([1, 2, 7, 40, 150, 800])
    codes = np.arange(1, counts.sum() + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)

    assert [number >> 16 for number in _bands(codes, counts)[:, 0].tolist()] == [
        *(0x79A3D7C1D030, 0x71AE53C21E99, 0xBC8F5D266D5B, 0x6C820CE4CF6A, 0xAB72411DA710, 0xA3F976162ED4)
    ]


@pytest.mark.parametrize("chunk", [9, 10, 33, 64])
def test_texts_of_many_chunks(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["abc 12 é,x", "", "f-g  h" * 9, "市役所の62", "word"] * 3
    whole = in_numpy(texts)[0].tolist()
    monkeypatch.setattr(module, "_CHUNK", chunk)
    module._powers.cache_clear()

    try:
        agree(texts)
        assert in_numpy(texts)[0].tolist() == whole
    finally:
        module._powers.cache_clear()


def test_each_character_is_folded_by_the_library_as_in_a_text() -> None:
    characters = [chr(code) for code in range(0x80, 0x20000, 17) if not 0xD800 <= code < 0xE000]

    same([f"a{c}b 1{c}{c} {c}" for c in characters])


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.text(min_size=1, max_size=12), max_size=4))
def test_texts_of_any_characters(texts: list[str]) -> None:
    same(texts)


@pytest.mark.parametrize("made", [word_codes, in_numpy])
def test_a_word_longer_than_a_chunk(made: Callable[[list[str]], tuple[Any, Any]]) -> None:
    codes, lengths = made(["a" * 300_000 + " b", "b"])

    assert lengths.tolist()[1] == 1
    assert codes[-1] == codes[-2]
