"""The guess at the languages of texts: short questions, names, code, texts of several languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.reports.summary import languages
from ragdatakit.reports.summary.languages import UNCLEAR, _stop_words_of, _words_of, languages_note
from ragdatakit.reports.summary.shown_texts import BEGINNING

QUESTIONS = {
    "English": ["Who mapped the reef?", "how to prune a pear tree", "When was the lighthouse of Skarn lit?"],
    "German": ["Wann wurde der Leuchtturm gebaut?", "Welche Lampe hat das Feuer?"],
    "French": ["Quelle est la capitale de la France ?", "Où se trouve le phare ?"],
    "Spanish": ["¿Cuándo fue construido el faro?", "¿Cuál es la luz del norte?"],
    "Portuguese": ["Quando foi construído o farol?", "Qual é a luz do norte?"],
    "Italian": ["Quando è stato costruito il faro?", "Chi ha acceso la lampada?"],
    "Dutch": ["Wanneer werd de vuurtoren gebouwd?", "Wie is het licht van de kust?"],
    "Swedish": ["Vad är det för ljus?", "När var fyren byggd?"],
    "Polish": ["Kto był w tej latarni i kiedy?"],
    "Turkish": ["Deniz feneri ne zaman ve neden kuruldu?"],
    "Indonesian": ["Kapan mercusuar itu dibangun?"],
}


def languages_of(texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    return languages.languages_of((script, text.encode()) for script, text in texts)


@pytest.mark.parametrize("language", QUESTIONS)
def test_short_questions(language: str) -> None:
    assert list(languages_of([("Latin", text) for text in QUESTIONS[language]])) == [language] * len(
        QUESTIONS[language]
    )


@pytest.mark.parametrize(
    "text",
    [
        "Ludwig van Beethoven",
        "Rio de Janeiro",
        "1871",
        "hash map insert",
        "use core::{ffi::c_void, fmt::Debug}; use std::sync::atomic::{AtomicBool, Ordering}; let a = b as usize;",
    ],
)
def test_names_and_code_are_of_no_language(text: str) -> None:
    assert list(languages_of([("Latin", text)])) == [UNCLEAR]


def test_a_script_tells_more_than_words() -> None:
    given = [("Japanese", "灯台の明かり"), ("Han", "灯塔"), ("Cyrillic", "Когда был построен маяк?"), ("Arabic", "متى")]
    assert list(languages_of(given)) == ["Japanese", "Chinese", "Russian", UNCLEAR]


def test_one_word_tells_the_usual_language_only() -> None:
    """``in`` stands in English, German, Dutch and Italian texts, ``van`` in Dutch ones and in names."""
    short, name = "Cut branches in winter.", "Ludwig van Beethoven"
    assert list(languages_of([("Latin", t) for t in (short, name)])) == [UNCLEAR, UNCLEAR]
    assert list(languages_of([("Latin", t) for t in ("Who lit the lamp?", short, name)])) == [
        "English", "English", UNCLEAR,
    ]  # fmt: skip
    assert list(languages_of([("Latin", t) for t in ("Wann war das?", short, name)])) == ["German", "German", UNCLEAR]


def test_one_note_tells_all_texts_that_were_not_read() -> None:
    note = languages_note([("documents", 1000, 5183), ("questions", 1000, 1109)])

    assert (note.name, note.value, note.level) == ("sampled.languages", 2000, "info")
    assert note.words == (
        "languages are guessed from texts that are evenly spread: 1,000 of 5,183 documents, 1,000 of 1,109 questions"
    )


@given(st.text(st.one_of(st.characters(), st.sampled_from("Aa_ 1éΣσ\u00a0\u212a\u0301½東"))))
def test_words_are_runs_of_letters_in_lower_case(text: str) -> None:
    assert [word.decode() for word in _words_of(text)] == re.findall(r"[^\W\d_]+", text.lower())


_CHARACTERS = st.one_of(st.characters(), st.sampled_from("Aa_ 1éΣσ\u00a0\u212a\u0130\u0301½〇。東"))
_WORDS = st.sampled_from(
    ("the", "The", "für", "ÜBER", "что", "ЧТО", "i\u0307l", "İle", "değildir", "a1b", "of²", "नहीं")
)


@given(st.lists(st.lists(st.one_of(_WORDS, st.text(_CHARACTERS, max_size=4))).map(" ".join)))
def test_stop_words_are_those_of_the_words(texts: list[str]) -> None:
    stop_words = {word.decode() for word in languages._languages_of_words()}
    found = list(_stop_words_of([text.encode("utf-8", "surrogatepass") for text in texts]))

    words = [re.findall(r"[^\W\d_]+", text.lower()) for text in texts]
    assert [total for _, total in found] == list(map(len, words))
    assert [[word.decode() for word in own] for own, _ in found] == [
        [w for w in own if w in stop_words] for own in words
    ]


def test_stop_words_are_those_of_beginnings() -> None:
    texts = ["the " * 500 + "of", "é" * (BEGINNING - 4) + " then", "東" * (BEGINNING - 1) + "a"]

    found = list(_stop_words_of([text.encode() for text in texts]))

    assert found == [([b"the"] * 500, 500), ([b"the"], 2), ([], 1)]
