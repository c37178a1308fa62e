"""Names of nodes are found in questions: the longest, in any script and spelling, else the most alike."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numpy", reason="needs ragdatakit[retrieval]")
pytest.importorskip("Stemmer", reason="needs ragdatakit[retrieval]")

from ragdatakit.retrieval.linking import LONGEST, MOST_ALIKE, NodeLinker, atoms
from ragdatakit.retrieval.terms.tokens import Tokenizer
from tests.broad import examples

TOKENIZER = Tokenizer()


def linked(names: list[str], text: str, most: int = 20) -> list[str]:
    """The names that a text is linked to because they stand in it."""
    found = NodeLinker(names, TOKENIZER).link(text, most)
    assert all(weight == 1 for _, weight in found)
    return [names[node] for node, _ in found]


@pytest.mark.parametrize(
    ("names", "text", "found"),
    [
        (["London", "University of London"], "Who founded the University of London?", ["University of London"]),
        (["London", "University of London"], "Is London older than the University of London?", None),
        (["ALPHA beta", "Gamma"], "alpha-Beta, or gamma!", None),
        (["The Ferry", "A Boat"], "ferry and boat", None),
        (["Paris", "Parish"], "the parish of Skarn", ["Parish"]),
        (["New York City", "City Hall"], "near New York City Hall", ["New York City"]),
        (["AB", "BC"], "a b c AB BC", None),
        (["Müller", "naïve"], "MÜLLER was not NAI\u0308VE", None),
        (["Straße"], "die STRASSE", ["Straße"]),
        (["\uff21\uff22\uff23 Corp"], "abc corp", ["\uff21\uff22\uff23 Corp"]),
        (["C", "7", "1984", "the", "who", "He", "of the"], "Who is the C of 7 in 1984, he?", ["1984"]),
        (["東京", "東京都"], "東京都の人口は？", ["東京都"]),
        (["東京", "人口"], "東京都の人口は？", None),
        (["データ", "データベース"], "データベースの名前", ["データベース"]),
        (["データ"], "データを見る", ["データ"]),
        (["北京大学", "清华大学"], "清华大学和北京大学哪个更大", ["清华大学", "北京大学"]),
        (["서울"], "서울의 인구", ["서울"]),
        (["iPhone", "苹果"], "苹果的iPhone用", ["苹果", "iPhone"]),
        (["กรุงเทพ"], "ประชากรกรุงเทพเท่าไร", ["กรุงเทพ"]),
        (["हिन्दी भाषा"], "क्या हिन्दी भाषा है", ["हिन्दी भाषा"]),
    ],
)
def test_names_in_questions(names: list[str], text: str, found: list[str] | None) -> None:
    """None: all of the names, in this order."""
    assert linked(names, text) == (names if found is None else found)


def test_a_long_name_is_found_and_a_longer_one_is_alike() -> None:
    words = [f"w{i}" for i in range(LONGEST + 1)]
    just, more = " ".join(words[:LONGEST]), " ".join(words)
    assert linked([just], f"see {just}!") == [just]
    assert NodeLinker([more], TOKENIZER).link(more) == [(0, 1.0)]
    assert next(NodeLinker([more], TOKENIZER).named([more])) == []


def test_of_names_in_several_spellings_the_one_in_the_text() -> None:
    names = ["apple", "Apple", "APPLE "]
    assert linked(names, "Who founded Apple?") == ["Apple"]
    assert linked(names, "Who founded aPPle?") == names


def test_a_name_counts_once_and_most_is_kept() -> None:
    names = [f"Boat{i}" for i in range(9)]
    assert linked(names, " ".join([*names, *names]), most=4) == names[:4]


def test_without_a_name_the_most_alike_are_taken() -> None:
    names = ["Harbour of Skarn", "Skarn lighthouse keeper", "Osprey", "Harbour office", "the tides"]
    found = NodeLinker(names, TOKENIZER).link("Who keeps the lighthouses?")
    assert [names[node] for node, _ in found] == ["Skarn lighthouse keeper"]
    found = NodeLinker(names, TOKENIZER).link("Which harbours have a keeper?")
    assert [names[node] for node, _ in found] == ["Skarn lighthouse keeper", "Harbour of Skarn", "Harbour office"]
    weights = [weight for _, weight in found]
    assert weights[0] == 1
    assert weights == sorted(weights, reverse=True)
    assert weights[1] == weights[2]


def test_alike_are_few_with_ties_by_place() -> None:
    names = [f"ship {i}" for i in range(100, 150)]
    linker = NodeLinker(names, TOKENIZER)
    assert [node for node, _ in linker.link("ships")] == list(range(MOST_ALIKE))
    assert [node for node, _ in linker.alike("ships", 2)] == [0, 1]


@pytest.mark.parametrize("text", ["", " ", "?!", "zzz qqq", "\ud800", "\x00", "の"])
def test_nothing_is_linked_where_nothing_is_shared(text: str) -> None:
    assert NodeLinker(["Osprey", "", "  ", "?", "\ud800\udfff", "\x00\n"], TOKENIZER).link(text) == []
    assert NodeLinker([], TOKENIZER).link(text) == []


def test_exact_prefers_the_very_name() -> None:
    linker = NodeLinker(["the Osprey", "osprey", "?!", "?"], TOKENIZER)
    assert linker.exact("osprey") == 1
    assert linker.exact("OSPREY") == 0
    assert linker.exact("?") == 3
    assert linker.exact("!") is None
    assert linker.exact("ospreys") is None


def test_exact_finds_names_that_questions_are_not_searched_for() -> None:
    names = ["C", "the", "x " * (LONGEST + 5)]
    linker = NodeLinker(names, TOKENIZER)
    assert [linker.exact(name) for name in names] == [0, 1, 2]


def test_a_linker_that_was_saved_links_the_same(tmp_path: Path) -> None:
    names = ["University of London", "London", "東京", "Harbour of Skarn"]
    linker = NodeLinker(names, TOKENIZER)
    linker.save(tmp_path)
    again = NodeLinker.open(tmp_path, names, TOKENIZER)
    for text in ("the University of London, London", "東京都", "harbours", "nothing"):
        assert again.link(text) == linker.link(text)
    assert again.exact("london") == 1


def test_texts_in_bulk_are_kept_apart() -> None:
    """A name does not begin in one text and end in the next, also not where a batch ends."""
    names = ["New York", "York Harbour", "York"]
    linker = NodeLinker(names, TOKENIZER)
    texts = ["New", "York Harbour", "new", "", "York", "new york"] * 100
    assert list(linker.named(texts)) == [[], [1], [], [], [2], [0]] * 100


words = st.sampled_from(["sea", "north", "reef", "of", "the", "skarn", "東", "京", "データ", "x"])


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.lists(words, min_size=1, max_size=4).map(" ".join), max_size=8), st.lists(words, max_size=12))
def test_each_found_name_stands_in_the_text(names: list[str], text_words: list[str]) -> None:
    text = " ".join(text_words)
    linker = NodeLinker(names, TOKENIZER)
    (found,) = linker.named([text])
    assert len(set(found)) == len(found)
    padded = f" {' '.join(atoms(text))} "
    for node in found:
        key = atoms(names[node])
        key = key[1:] if len(key) > 1 and key[0] == "the" else key
        assert f" {' '.join(key)} " in padded
    if not found:  # then no name stands there that is looked for at all
        sought = [n for n in names if len(n) > 1 and n not in ("of", "the", "of the", "the of", "the the", "of of")]
        assert not any(f" {' '.join(atoms(n))} " in padded and _has_content(n) for n in sought)


def _has_content(name: str) -> bool:
    return any(atom in ("sea", "north", "reef", "skarn", "データ") for atom in atoms(name))


def test_many_names_with_the_same_key_and_long_texts_take_no_time() -> None:
    names = ["Same Name"] * 5_000 + [f"Boat {i}" for i in range(1000)]
    linker = NodeLinker(names, TOKENIZER)
    started = time.process_time()
    found = linker.link("same name " * 5_000)
    assert 0 < len(found) <= 64
    assert time.process_time() - started < 2
