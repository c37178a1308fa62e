"""Names found without a model: what counts as one, where it stands, which are kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.retrieval.extraction.names import (
    LONGEST,
    NameCounter,
    extract_names,
    known_key,
    mentions,
    name_key,
    names_by_sentence,
    stands_as_name,
    title_names,
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We met Ada Lovelace in London.", ["Ada Lovelace", "London"]),
        ("She quoted Alexander the Great and Leonardo da Vinci.", ["Alexander the Great", "Leonardo da Vinci"]),
        ("He left the University of the Arts.", ["University of the Arts"]),
        ("However, Paris fell. It was June 1940. In May they left.", ["Paris", "1940"]),
        ("It was built in 1889, cost 1,500 and has 2000 steps or 20000.", ["1889", "2000"]),
        ("Dr. John J. R. R. Smith of St. Louis", ["Dr. John J. R. R. Smith of St. Louis"]),
        ("The U.S. President spoke. The U.S. It was late.", ["U.S. President", "U.S."]),
        ("World War I. The peace. World War II followed.", ["World War I", "World War II"]),
        ("Einstein's theory, the Smiths' boat", ["Einstein", "Smiths"]),
        ("Einstein's Theory", ["Einstein's Theory", "Einstein"]),
        ("Apollo 11 and AT&T and Jean-Luc O'Neill", ["Apollo 11", "AT&T", "Jean-Luc O'Neill"]),
        ('the poem "the raven and a cat" and “dark water”', ["the raven and a cat", "dark water"]),
        ("call fooBar, read_csv() and utf8", ["fooBar", "read_csv", "utf8"]),
        ("Émile Zola met Łukasz in Ōsaka; Москва спит.", ["Émile Zola", "Łukasz", "Ōsaka", "Москва"]),
        ("氏はアルベルト・アインシュタインの相対性理論を学んだ", ["アルベルト・アインシュタイン", "相対性理論"]),
        ("北京是中华人民共和国的首都", ["北京", "中华人民共和国", "首都"]),
        ("nothing to see here, 12 or 999 or 3.1415", []),
        ("", []),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_what_is_a_name(text: str, names: list[str]) -> None:
    assert extract_names(None, text) == names


def test_titles_come_first_with_and_without_their_brackets() -> None:
    assert extract_names("Ulm (film)", "A film set in Ulm and Bonn.") == ["Ulm (film)", "Ulm", "Bonn"]
    assert title_names("(untitled)") == ["(untitled)"]
    assert title_names(" a\x00b\nc ") == ["a b c"]
    assert title_names("\x00\n ") == title_names(None) == []


def test_sentences_keep_their_names_apart() -> None:
    text = "Ada met Bob in Ulm. Then Carl came! nothing here. 3.5 km on, Ada slept\nDora left."
    assert names_by_sentence("Log", text) == [["Log"], ["Ada", "Bob", "Ulm"], ["Carl"], ["Ada"], ["Dora"]]
    assert names_by_sentence(None, "") == [[]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Matrix", "matrix"),
        ("IBM", "\uff29\uff22\uff2d"),
        ("Jean-Luc", "jean luc"),
        ("Zola's", "ZOLA"),
        ("Ada\u00a0B", "ada b"),
    ],
    ids=["article", "width", "hyphen", "possessive", "blank"],
)
def test_spellings_of_one_name_have_one_key(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize("name", ["the", "A", "!!!", "C++", "the !"], ids=["the", "a", "signs", "c", "the-sign"])
def test_no_name_has_an_empty_key(name: str) -> None:
    assert name_key(name)


def test_kept_are_names_of_two_passages_and_titles() -> None:
    counter = NameCounter()
    counter.add("Ulm", ["Ulm", "Ada", "Bob"])
    counter.add(None, ["ADA", "Ada", "Carl"])
    kept = counter.kept()
    assert [name for name in ("ulm", "ada", "bob", "carl") if name in kept] == ["ulm", "ada"]
    assert len(kept) == 2
    assert 7 not in kept
    assert len(NameCounter().kept()) == 0


def test_a_name_is_known_by_its_end() -> None:
    known = {"lothair i", "ada", "new york city"}
    assert known_key("emperor lothair i", known) == "lothair i"
    assert known_key("new york city", known) == "new york city"
    assert known_key("countess ada", known) is None  # one word says too little
    assert known_key("lothair", known) is None


@pytest.mark.parametrize(
    ("text", "key", "is_name"),
    [
        ("Who directed the film Ulm?", "film", False),
        ("Who directed the film Ulm?", "ulm", True),
        ("Is The New-York times old?", "new york times", True),
        ("what happened in 1990?", "1990", True),
        ("北京在哪里", "北京", True),
        ("a filmmaker", "film", False),
    ],
)
def test_names_stand_with_a_capital(text: str, key: str, is_name: bool) -> None:
    assert stands_as_name(text, key) is is_name


@given(st.text(max_size=300), st.none() | st.text(max_size=300))
def test_any_text_gives_short_names_on_one_line(text: str, title: str | None) -> None:
    names = extract_names(title, text)
    assert all(0 < len(name) <= LONGEST and "\n" not in name and "\0" not in name for name in names)
    assert all(map(name_key, names))
    assert sorted(set(names)) == sorted(names)
    by_sentence = {name for sentence in names_by_sentence(title, text) for name in sentence}
    assert by_sentence == set(names)
    places = [mention.start for mention in mentions(text)]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "piece",
    ["A", "A ", "a", "A. ", "A of ", "a_", "aA", '"', "“", "「", "A-", "東", "(", "'s ", "Paris\n", "\ud800", "\0"],
    ids=ascii,
)
def test_long_monotonous_texts_take_no_time_to_speak_of(piece: str) -> None:
    from time import process_time

    text = piece * (50_000 // len(piece))
    started = process_time()
    extract_names(text, text)
    names_by_sentence(text, text)
    assert process_time() - started < 2
