"""Words as codes: they are those of `flat_words`, one number for each word."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.files.texts.flat_text import flat_words
from ragdatakit.quality import word_codes as module
from ragdatakit.quality.word_codes import DIGITS, word_codes
from tests.broad import examples

TEXTS = st.lists(st.text("abZ_1９ \n\x00é’ßµﬁ市役ー\u0301\ud800-", max_size=30), max_size=6)


def agree(texts: list[str]) -> None:
    codes, lengths = word_codes(texts)
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


@pytest.mark.parametrize("chunk", [9, 10, 33, 64])
def test_texts_of_many_chunks(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["abc 12 é,x", "", "f-g  h" * 9, "市役所の62", "word"] * 3
    whole = word_codes(texts)[0].tolist()
    monkeypatch.setattr(module, "_CHUNK", chunk)
    module._powers.cache_clear()

    try:
        agree(texts)
        assert word_codes(texts)[0].tolist() == whole
    finally:
        module._powers.cache_clear()


def test_a_word_longer_than_a_chunk() -> None:
    codes, lengths = word_codes(["a" * 300_000 + " b", "b"])

    assert lengths.tolist()[1] == 1
    assert codes[-1] == codes[-2]
