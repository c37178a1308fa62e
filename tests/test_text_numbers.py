"""Many texts counted at once: the same numbers as one by one."""

from __future__ import annotations

import random

import pytest

from ragdatakit.files.texts import plain_tokens
from ragdatakit.reports.summary.text_numbers import SCRIPTS, text_numbers

POOL = [
    "a", "Z", "9", "_", " ", "\n", ".", ",", "é", "ß", "×", "÷", "ɿ", "ɏ", "Ā", "«", "\u00a0", "漢", "䷀", "の", "ア",
    "д",
    "Ω", "😀", "\u0301", "ʰ", "한", "\ufe0f", "𠀋", "\x00", "\u2028", "ﬁ", "א", "ก", "\ue000",
    "\U000e0100", "\u3000",
]  # fmt: skip


def drawn() -> list[str | None]:
    chance = random.Random(3)
    sizes = (0, 1, 2, 5, 30, 60)
    texts = ["".join(chance.choices(POOL[: chance.randint(3, len(POOL))], k=chance.choice(sizes))) for _ in range(4000)]
    return [None, "", "abc", *texts, *("a" * n for n in range(40)), *("é" * n for n in range(40)), None]


@pytest.fixture(params=["compiled", "plain"], autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are counted in both ways."""
    if request.param == "plain":
        monkeypatch.setattr("ragdatakit.reports.summary.text_numbers.tokens_and_scripts", lambda *_: None)


def test_both_ways_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    found = text_numbers(drawn())
    monkeypatch.setattr("ragdatakit.reports.summary.text_numbers.tokens_and_scripts", lambda *_: None)
    plain = text_numbers(drawn())

    assert [column.tolist() for column in found] == [column.tolist() for column in plain]


def test_the_same_as_one_by_one() -> None:
    given = drawn()
    for texts in (given, given[7:907]):
        found = text_numbers(texts)
        for text, characters, tokens in zip(texts, found.characters, found.tokens, strict=True):
            assert (characters, tokens) == ((-1, -1) if text is None else (len(text), plain_tokens.count(text)))


def test_nothing() -> None:
    assert len(text_numbers([]).tokens) == 0


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("12 .", "none"), ("naïve", "Latin"), ("漢字", "Han"), ("漢字の", "Japanese"), ("привет a", "Cyrillic"),
        ("한국어", "Hangul"), ("שלום", "Hebrew"), ("ไทย", "Thai"), ("Ωμέγα", "Greek"), ("ምን", "other"),
        ("漢 abc", "Latin"), ("ﬁﬂ", "Latin"), ("ⱥ", "Latin"), ("々", "Han"),
        ("ﬓ", "Armenian"), ("שׁ", "Hebrew"), ("ﾡ", "Hangul"),
        ("नमस्ते", "Devanagari"), ("𠀋", "Han"), ("䷀", "none"), ("×", "none"), ("سلام", "Arabic"),
    ],
)  # fmt: skip
def test_scripts(text: str, script: str) -> None:
    assert SCRIPTS[text_numbers([text]).scripts[0]] == script
