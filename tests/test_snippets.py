"""A snippet is one line of a passage that can be shown anywhere, with the matched terms marked."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.retrieval.terms.snippets import LOOKED_AT, one_line, snippet
from ragdatakit.retrieval.terms.tokens import Tokenizer
from ragdatakit.schemas.retrieved import Snippet
from tests.broad import examples

pytest.importorskip("Stemmer", reason="needs ragdatakit[retrieval]")

TOKENIZER = Tokenizer()
FERRY = "The ferry leaves the harbour at nine. " * 20
WINTER = "In winter the last boat to the northern islands sails at noon, because of ice. "
RAIN = "It rains for the whole day. " * 20
WORDS = [
    "ferry",
    "Ferries",
    "island",
    "getUserName",
    "渡し船",
    "ｶﾞｲﾄﾞ",
    "ごみ",
    "cafe\u0301",
    "a\u0301" * 5,
    "x" * 70,
    "\u202e",
]
TEXTS = st.lists(st.sampled_from([*WORDS, ". ", " ", "\n", "\0", "\ud800"]) | st.text(max_size=3), max_size=30).map(
    "".join
)


def shown(found: Snippet) -> str:
    text, at = "", 0
    for start, end in found.marks:
        text += f"{found.text[at:start]}[{found.text[start:end]}]"
        at = end
    return ("…" if found.before else "") + text + found.text[at:] + ("…" if found.after else "")


@pytest.mark.parametrize(
    ("passage", "question", "width", "expected"),
    [
        pytest.param("The ferries leave.", "when does a ferry leave", 60, "The [ferries] [leave].", id="whole-passage"),
        pytest.param(
            FERRY + WINTER + RAIN,
            "boat to the islands in winter",
            60,
            "…In [winter] the last [boat] to the northern [islands] sails…",
            id="most-different-terms",
        ),
        pytest.param(
            "boat here, and far away " + "word " * 30 + "the boat and the boat",
            "boat",
            30,
            "…word the [boat] and the [boat]",
            id="most-terms",
        ),
        pytest.param(FERRY, "ferry", 40, "The [ferry] leaves the harbour at nine.…", id="first-of-equal"),
        pytest.param(FERRY, "zebra", 40, "The ferry leaves the harbour at nine.…", id="no-match"),
        pytest.param(FERRY, "", 40, "The ferry leaves the harbour at nine.…", id="no-question"),
        pytest.param("", "ferry", 40, "", id="no-passage"),
        pytest.param(" \n\t ", "ferry", 40, "", id="blank"),
        pytest.param("one\r\n two\x1b[31m\tthree\u2028four", "two", 40, "one [two] [31m three four", id="one-line"),
        pytest.param("a\u202eferry\u202c b\ufeff \ud800", "b", 40, "aferry [b] \ufffd", id="harmless"),
        pytest.param("call getUserName()", "user", 40, "call get[User]Name()", id="part-of-a-word"),
        pytest.param("call getUserName()", "getusername name", 40, "call [getUserName]()", id="part-in-whole"),
        pytest.param("渡し船は港で待つ。", "渡し船", 40, "[渡し船]は港で待つ。", id="pairs"),
        pytest.param("あ" * 50 + "渡し船" + "い" * 50, "渡し船", 9, "…あああ[渡し船]いいい…", id="no-blanks"),
        pytest.param("ｶﾞｲﾄﾞ と", "ガイド", 40, "[ｶﾞｲﾄﾞ] と", id="half-width"),
        pytest.param("x" * 60 + " ferry", "x" * 60, 20, "[xxxxxxxxxxxxxxxxxxxx]…", id="term-wider-than-the-window"),
        pytest.param("ferry", "ferry", 0, "[f]…", id="no-width"),
    ],
)
def test_snippets(passage: str, question: str, width: int, expected: str) -> None:
    assert shown(snippet(passage, question, TOKENIZER, width)) == expected


def test_only_the_beginning_of_a_long_passage_is_looked_at() -> None:
    late = "word " * (LOOKED_AT // 5) + "ferry"
    found = snippet(late, "ferry", TOKENIZER)
    assert not found.marks and found.after and not found.before
    assert snippet(late[5:], "ferry", TOKENIZER).marks


@given(TEXTS, st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), st.integers(1, 80))
@settings(max_examples=examples(300), deadline=None)
def test_any_text(passage: str, question: str, width: int) -> None:
    found = snippet(passage, question, TOKENIZER, width)
    line = one_line(passage)
    assert found.text in line and len(found.text) <= width
    assert found.text == found.text.strip() and "  " not in found.text
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in found.text)
    assert not {"\u202a", "\u202b", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068"} & set(found.text)
    assert line.startswith(found.text) or found.before
    assert line.endswith(found.text) or found.after
    behind = 0
    for start, end in found.marks:
        assert behind <= start < end <= len(found.text)
        behind = end
    wanted = set(TOKENIZER.tokens(question))
    assert bool(found.marks) == bool(wanted & set(TOKENIZER.tokens(line)))


@given(st.text(max_size=60))
def test_the_text_itself_is_marked(text: str) -> None:
    found = snippet(text, text, TOKENIZER, 100)
    for start, end in found.marks:
        assert TOKENIZER.tokens(found.text[start:end])
