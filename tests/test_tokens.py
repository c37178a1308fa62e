"""Texts become the tokens that the rules say, in any script, and each token points at the characters it is made of."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.retrieval.terms import tokens
from ragdatakit.retrieval.terms.tokens import LONGEST, Tokenizer
from ragdatakit.schemas.errors import MissingExtraError, UnknownNameError
from tests.broad import examples

pytest.importorskip("Stemmer", reason="needs ragdatakit[retrieval]")

TOKENIZER = Tokenizer()
PLAIN = Tokenizer(stemmer="none")
PIECES = [
    "getUserName2",
    "x_y",
    "aT",
    "naïve",
    "cafe\u0301",
    "ﬁne",
    "½",
    "㍿",
    "ｶﾞｲﾄﾞ",
    "ごみの",
    "渡し船",
    "か\u309a",
    "배가",
    "ㄱㅏ",
    "\u1112\u1161\u11ab",
    "สวัสดีครับ",
    "นำ",
    "नाव",
    "co\u00adop",
    "می\u200cروم",
    "İstanbul",
    "ΟΔΟΣ",
    "ﷺ",
    "葛\U000e0100城",
    "𠮷野",
    "😀",
    "\0",
    "\ud800",
    "Z" * 70,
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join) | st.lists(
    st.sampled_from(PIECES), max_size=12
).map(" ".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("The boat to the islands", "boat island", id="stop-words-and-stems"),
        pytest.param("snake_case-word's", "snake case word s", id="punctuation-and-underscore-separate"),
        pytest.param("getUserName2", "getusername2 get user name 2", id="camel-case"),
        pytest.param("HTTPServer", "httpserver http server", id="upper-case-run"),
        pytest.param("COVID-19 B12", "covid 19 b12 b 12", id="letters-and-digits"),
        pytest.param("iPhone isOpen", "iphon i phone isopen open", id="stop-word-as-part"),
        pytest.param("aT iS", "", id="stop-word-in-any-case"),
        pytest.param("PARIS Paris paris", "pari pari pari", id="case"),
        pytest.param("ＦＵＬＬ ｗｉｄｔｈ ① ﬁ", "full width 1 fi", id="nfkc"),
        pytest.param("Cafe\u0301 café", "café café", id="composed"),
        pytest.param("co\u00adoperate", "cooper", id="soft-hyphen"),
        pytest.param("渡し船", "渡 船 渡し し船", id="han-and-hiragana"),
        pytest.param("港のごみです", "港 港の のご", id="hiragana-gives-its-beginning"),
        pytest.param("ごみは?", "ごみ", id="hiragana-alone"),
        pytest.param("は", "", id="one-hiragana"),
        pytest.param("LINEアプリ第3回", "line ア プ リ 第 アプ プリ リ第 3 回", id="scripts-mixed"),
        pytest.param("ｶﾞｲﾄﾞ", "ガ イ ド ガイ イド", id="half-width"),
        pytest.param("中国", "中 国 中国", id="chinese"),
        pytest.param("배가 와", "배 가 배가 와", id="korean"),
        pytest.param("ไทย ดีครับ", "ไทย ดีค ีคร ครั รับ", id="thai"),
        pytest.param("नाव हिन्दी", "नाव हिन्दी", id="marks-belong-to-words"),
        pytest.param("می\u200cروم", "میروم", id="zero-width-non-joiner"),
        pytest.param("Привет МИР", "привет мир", id="cyrillic"),
        pytest.param("\0\x1b\ud800 \ufffe 😀", "", id="nothing-to-find"),
        pytest.param("", "", id="empty"),
    ],
)
def test_rules(text: str, expected: str) -> None:
    assert TOKENIZER.tokens(text) == expected.split()


def test_other_stemmers() -> None:
    assert PLAIN.tokens("The islands") == ["the", "islands"]
    assert Tokenizer(stemmer="german").tokens("die Häuser") == ["die", "haus"]


@pytest.mark.parametrize("length", [LONGEST, LONGEST + 1, 5 * LONGEST + 3], ids=["longest", "one-more", "many"])
def test_long_words_are_cut(length: int) -> None:
    found = PLAIN.tokens("ACGT " + "Ab1" * length + " end")
    assert found[0] == "acgt" and found[-1] == "end"
    assert "".join(found[1:-1]) == "ab1" * length
    assert max(map(len, found)) <= LONGEST


def test_checksums_have_no_parts() -> None:
    assert PLAIN.tokens("3f2a9c8e1b7d4a6f0e5c") == ["3f2a9c8e1b7d4a6f0e5c"]


@given(TEXTS)
@settings(max_examples=examples(300), deadline=None)
def test_spans_point_at_what_they_claim(text: str) -> None:
    for tokenizer in (TOKENIZER, PLAIN):
        found = tokenizer.spans(text)
        assert [token for token, _, _ in found] == tokenizer.tokens(text)
        for token, start, end in found:
            assert 0 <= start < end <= len(text)
            # What stands there gives the token, if by itself: among pairs, parts or pieces of it.
            there = unicodedata.normalize("NFKC", text[start:end])
            if tokenizer is PLAIN:
                seen = tokens._NOT_SEEN.sub("", there).lower().replace("\u03c2", "\u03c3")
                assert token.replace("\u03c2", "\u03c3") in seen


@given(TEXTS)
@settings(max_examples=examples(200), deadline=None)
def test_tokens_are_fit_for_an_index(text: str) -> None:
    for token in TOKENIZER.tokens(text):
        assert token.encode("utf-8").decode() == token
        assert 0 < len(token) <= 2 * LONGEST
        assert not any(c.isspace() or unicodedata.category(c)[0] in "CPZ" for c in token), token


@given(st.lists(TEXTS, max_size=6))
@settings(max_examples=examples(100), deadline=None)
def test_what_came_before_does_not_matter(texts: list[str]) -> None:
    fresh = Tokenizer()
    for text in [*texts, *texts]:
        assert fresh.tokens(text) == TOKENIZER.tokens(text)


def test_the_words_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_CACHED", 10)
    small = Tokenizer()
    text = " ".join(f"word{n}" for n in range(100))
    assert small.tokens(text) == TOKENIZER.tokens(text)
    assert 0 < len(small._words) <= 10


def test_runs_without_blanks_are_not_remembered() -> None:
    fresh = Tokenizer()
    fresh.tokens("渡し船は九時に出る " + "x" * (LONGEST + 1))
    assert not fresh._words


@pytest.mark.parametrize("text", ["a" * 300_000, "渡し船" * 50_000, "aB1" * 50_000, "é" * 100_000, "a\u0301" * 50_000])
def test_long_texts(text: str) -> None:
    found = TOKENIZER.tokens(text)
    assert found and max(map(len, found)) <= LONGEST


@given(st.lists(st.sampled_from([*PIECES, " ", " ", "\n", "\u0301"])), st.integers(1, 20))
def test_a_very_long_text_is_cut_into_words_part_by_part(pieces: list[str], size: int) -> None:
    text = "".join(pieces)
    with mock.patch.object(tokens, "_SLICE", size):
        parts = list(TOKENIZER.lines(text))

    assert " ".join(parts).split() == TOKENIZER.tokens(text)
    assert len(parts) > 1 or len(text) <= size or " " not in text[1:]


def test_settings() -> None:
    assert TOKENIZER.settings == Tokenizer().settings
    assert TOKENIZER.settings != PLAIN.settings != Tokenizer(stemmer="german").settings
    assert TOKENIZER.settings["rules"] == tokens.RULES
    assert {"PyStemmer", "unicode"} <= set(TOKENIZER.settings)
    assert "PyStemmer" not in PLAIN.settings
    TOKENIZER.settings.clear()
    assert TOKENIZER.settings


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown stemmer 'englsh', did you mean english"):
        Tokenizer(stemmer="englsh")
    with pytest.raises(UnknownNameError, match=r"unknown analyzer 'jp'"):
        Tokenizer("jp")


@pytest.mark.parametrize(
    ("library", "arguments", "extra"),
    [
        ("Stemmer", ("default", "english"), "retrieval"),
        ("fugashi", ("ja", "none"), "ja"),
        ("unidic_lite", ("ja", "none"), "ja"),
    ],
    ids=["stemmer", "fugashi", "dictionary"],
)
def test_missing_libraries(
    monkeypatch: pytest.MonkeyPatch, library: str, arguments: tuple[str, str], extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'ragdatakit\[{extra}\]'"):
        Tokenizer(*arguments)


def test_a_stemmer_is_not_needed_without_stemming(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    assert Tokenizer(stemmer="none").tokens("Islands") == ["islands"]


@pytest.mark.parametrize(("module", "light"), [("terms.snippets", {"numpy"}), ("lexical", set())])
def test_importing_is_light(module: str, light: set[str]) -> None:
    code = f"import sys, ragdatakit.retrieval.{module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"tantivy", "Stemmer", "fugashi", "unidic_lite", *light} & set(loaded)


@pytest.fixture(scope="module")
def japanese() -> Tokenizer:
    pytest.importorskip("fugashi", reason="needs ragdatakit[ja]")
    pytest.importorskip("unidic_lite", reason="needs ragdatakit[ja]")
    return Tokenizer("ja")


class TestJapanese:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            pytest.param("ごみを出したい", "塵 出す", id="dictionary-forms"),
            pytest.param("コンピューターを使いました", "コンピューター 使う", id="loan-word"),
            pytest.param("The islands getUserName", "island getusernam get user name", id="not-japanese"),
            pytest.param("배가 와", "배 가 배가 와", id="korean"),
            pytest.param("は、が。", "", id="particles"),
        ],
    )
    def test_words(self, japanese: Tokenizer, text: str, expected: str) -> None:
        assert japanese.tokens(text) == expected.split()

    def test_unknown_words_stand_as_they_are(self, japanese: Tokenizer) -> None:
        assert "".join(japanese.tokens("鱻麤龘")) == "鱻麤龘"

    def test_settings_name_the_dictionary(self, japanese: Tokenizer) -> None:
        assert {"fugashi", "unidic-lite"} <= set(japanese.settings)

    def test_long_runs(self, japanese: Tokenizer) -> None:
        assert len(japanese.tokens("九時に船が出る" * 2_000)) >= 4 * 2_000

    @given(TEXTS)
    @settings(max_examples=examples(100), deadline=None)
    def test_spans(self, japanese: Tokenizer, text: str) -> None:
        found = japanese.spans(text)
        assert [token for token, _, _ in found] == japanese.tokens(text)
        assert all(0 <= start < end <= len(text) for _, start, end in found)
