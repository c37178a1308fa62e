"""Words as codes: they are those of `flat_words`, one number for each word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.files.texts.flat_text import flat_words
from ragdatakit.quality import word_codes as module
from ragdatakit.quality.word_codes import DIGITS, _in_numpy, run_codes, runs, word_codes
from ragdatakit.scanner.texts import Joined
from tests.broad import examples

TEXTS = st.lists(st.text("abZ_1９ \n\x00é’ßµﬁ市役ー\u0301\ud800-", max_size=30), max_size=6)


def same(texts: list[str]) -> tuple[Any, Any]:
    codes, lengths = word_codes(texts)
    others, numbers = _in_numpy(texts)

    assert (codes.tolist(), lengths.tolist()) == (others.tolist(), numbers.tolist())
    joined, counted = run_codes(texts, Joined.of(texts))
    assert (joined.tolist(), counted.tolist()) == (runs(others, numbers).tolist(), numbers.tolist())
    return codes, lengths


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
    codes, lengths = run_codes(["a b c d", "", "b c", "x  B-c D"], Joined.of(["a b c d", "", "b c", "x  B-c D"]))

    assert lengths.tolist() == [4, 0, 2, 4]
    assert [codes.tolist().index(code) for code in codes.tolist()] == [0, 1, 2, 1]


@pytest.mark.parametrize("chunk", [9, 10, 33, 64])
def test_texts_of_many_chunks(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["abc 12 é,x", "", "f-g  h" * 9, "市役所の62", "word"] * 3
    whole = _in_numpy(texts)[0].tolist()
    monkeypatch.setattr(module, "_CHUNK", chunk)
    module._powers.cache_clear()

    try:
        agree(texts)
        assert _in_numpy(texts)[0].tolist() == whole
    finally:
        module._powers.cache_clear()


def test_each_character_is_folded_by_the_library_as_in_a_text() -> None:
    characters = [chr(code) for code in range(0x80, 0x20000, 17) if not 0xD800 <= code < 0xE000]

    same([f"a{c}b 1{c}{c} {c}" for c in characters])


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.text(min_size=1, max_size=12), max_size=4))
def test_texts_of_any_characters(texts: list[str]) -> None:
    same(texts)


@pytest.mark.parametrize("made", [word_codes, _in_numpy])
def test_a_word_longer_than_a_chunk(made: Callable[[list[str]], tuple[Any, Any]]) -> None:
    codes, lengths = made(["a" * 300_000 + " b", "b"])

    assert lengths.tolist()[1] == 1
    assert codes[-1] == codes[-2]
