"""A-RAG chunks, one by one, against tables of what the readers do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.validators.arag.checks import ARagChecks
from ragdatakit.validators.arag.chunks import ChunkOrder, dot_inside, has_sentence, is_ragged
from tests.arag_sets import BELL, LAMP, dataset, examine, hits, problems, rules, serious


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([f"0:{LAMP}", f"1:{BELL}"], []),
        ([f"0:{LAMP}", "1:https: a colon in the text is text."], []),
        (["text without an id"], ["chunk-without-colon"]),
        (["0:a", 7], ["chunk-without-sentence", "chunk-not-string"]),
        ([f"0:{LAMP}", None, [], True, 1.5], ["chunk-not-string"] * 4),
        ([f"0:{LAMP}", {"id": "1", "text": BELL}], ["chunk-not-string"]),
        ([7, f"0:{LAMP}", {"id": "1", "text": BELL}], ["chunk-not-string"] * 2),
        (["00:a", "01:b"], ["padded-chunk-id", "chunk-without-sentence"] * 2),
        ([f" 0:{LAMP}"], ["padded-chunk-id"]),
        ([f"0 :{LAMP}"], ["padded-chunk-id"]),
        ([f" note :{LAMP}"], ["padded-chunk-id", "chunk-id-not-number"]),
        (["http://example.org is cited"], ["chunk-id-not-number"]),
        ([f":{LAMP}"], ["chunk-id-not-number"]),
        ([f"-1:{LAMP}"], ["chunk-id-not-number"]),
        ([f"\u0661:{LAMP}"], ["chunk-id-not-number"]),
        (["0:a", "2:b"], ["chunk-without-sentence"] * 2),
        (["0:"], ["empty-chunk"]),
        (["0: \n"], ["empty-chunk"]),
        (["0:Ten chars."], ["chunk-without-sentence"]),
        (["0:Eleven char"], []),
        (["0:" + "blank " * 200], ["chunk-is-one-sentence"]),
        (["0:" + "灯塔建于一八七一年。" * 3], ["chunk-is-one-sentence"]),
    ],
)
def test_a_chunk_string_breaks_the_rules_of_the_page(chunks: list[Any], expected: list[str]) -> None:
    assert serious(rules("chunks", chunks)) == expected


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([{"id": "0", "text": LAMP}], []),
        ([{"id": "0", "text": LAMP}, f"1:{BELL}"], ["chunk-not-object"]),
        ([{"id": "0", "text": LAMP}, 7], ["chunk-not-string"]),
        ([{"id": 0, "text": LAMP}], ["chunk-id-not-string"]),
        ([{"id": None, "text": LAMP}], ["chunk-id-not-string"]),
        ([{"text": LAMP}], ["incomplete-chunk"]),
        ([{"id": "0"}], ["incomplete-chunk"]),
        ([{"id": "0", "text": None}], ["incomplete-chunk"]),
        ([{"id": "0", "text": 7}], ["incomplete-chunk"]),
        ([{"id": "0", "text": ""}], ["empty-chunk"]),
        ([{"id": "0", "text": " "}], ["empty-chunk"]),
        ([{"id": "00", "text": LAMP}], ["padded-chunk-id"]),
        ([{"id": "a:b", "text": LAMP}], ["chunk-id-not-number"]),
    ],
)
def test_a_chunk_object_breaks_the_rules_of_the_page(chunks: list[Any], expected: list[str]) -> None:
    assert serious(rules("chunks", chunks)) == expected


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        (f"007:{LAMP}", '"007'),
        ("0:Yes. No. Maybe.", '"0:Y'),
        (f"a note:{LAMP}", '"a note'),
        ('"quoted": text after it.', None),
    ],
)
def test_the_fault_is_shown_inside_the_string(chunk: str, expected: str | None) -> None:
    first = problems("chunks", [chunk])[0]
    raw = json.dumps(chunk)

    assert (None if first.position is None else raw[: first.position + first.length]) == expected


def test_what_is_reported_of_consecutive_chunks() -> None:
    checks = ARagChecks(dataset(Path("skarn"), "chunks"), ())

    first = hits(checks, "chunks", [f"0:{LAMP}", f"1: {BELL}", None, f"3:##{BELL}"])
    second = hits(checks, "chunks", [f"4:{LAMP}", {"id": "5", "text": BELL}, f"9:{LAMP}"], first_row=4)

    assert first == {"ragged-chunk-start": [1, 3]}
    assert second == {"chunk-ids-out-of-order": [6]}


def test_chunk_objects_are_mentioned() -> None:
    checks = ARagChecks(dataset(Path("skarn"), "chunks"), ())

    assert hits(checks, "chunks", [{"id": "0", "text": LAMP}, f"1:{BELL}"]) == {"chunks-as-objects": [0]}


def test_one_dot_inside_a_sentence_is_enough() -> None:
    chunks = ["0:It weighs three tons and more.", "1:It weighs 3.5 tons and more.", "2:It weighs 4.5 tons and more."]
    found = dataset(Path("skarn"), "chunks")
    checks = ARagChecks(found, ())

    assert [problem.value for problem in examine(checks, found.files[0], chunks)] == ["3.5"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" begins with a blank.", True),
        ("\nbegins with a line break.", True),
        ("##lus is half a word.", True),
        ("# one mark is none.", False),
        ("plain", False),
        ("  ", False),
        ("", False),
    ],
)
def test_ragged_starts(text: str, expected: bool) -> None:
    assert is_ragged(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It weighs 3.5 tons.", "3.5"),
        ("See https://example.org/a.html for it.", "https://example.org/a.html"),
        ("The keeper, Mr. Brandt, left.", "Mr."),
        ("Ends of sentences. Like this one.", None),
    ],
)
def test_dots_inside_sentences(text: str, expected: str | None) -> None:
    assert dot_inside(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12345678901", True),
        ("1234567890", False),
        ("12345.67890?abcdef!", False),
        ("   1234567890   ", False),
        ("short. a longer piece follows", True),
        ("......................", False),
        ("", False),
    ],
)
def test_sentences_are_kept_from_eleven_characters(text: str, expected: bool) -> None:
    assert has_sentence(text) is expected


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["0", "1", "2"], []),
        (["1", "2"], ["1"]),
        (["0", "2", "3"], ["2"]),
        (["0", "2", "4"], ["2", "4"]),
        (["2", "1", "0"], ["2", "1", "0"]),
        (["0", None, "2"], []),
        (["0", None, "1"], []),
        (["0", "note", "2"], []),
        (["0", "0", "1"], []),
        (["0", "0", "2"], []),
        (["0", "1", "0", "2"], []),
        (["0", None, "4"], ["4"]),
        (["0", "9" * 5000], []),
    ],
)
def test_the_order_of_ids(ids: list[str | None], expected: list[str]) -> None:
    order = ChunkOrder()

    found = [i for i in ids if order.is_out_of_order(i)]

    assert found == expected


@pytest.mark.parametrize(
    ("first", "value", "expected"),
    [
        ("0:a", "12:text: more", "12"),
        ("0:a", "no colon", None),
        ("0:a", {"id": "1", "text": "b"}, None),
        ({"id": "0", "text": "a"}, {"id": "1", "text": "b"}, "1"),
        ({"id": "0", "text": "a"}, {"id": 1, "text": "b"}, None),
        ({"id": "0", "text": "a"}, "1:b", None),
        ("0:a", None, None),
    ],
)
def test_chunk_ids_as_the_readers_take_them(first: Any, value: Any, expected: str | None) -> None:
    checks = ARagChecks(dataset(Path("skarn"), "chunks"), ())
    checks.derive("chunks", first)

    assert checks.derive("chunks", value).get("@id") == expected


def test_texts_are_reported_apart_without_keeping_them() -> None:
    checks = ARagChecks(dataset(Path("skarn"), "chunks"), ())

    keys = [checks.derive("chunks", c).get("@text") for c in (f"0:{LAMP}", f"1:{LAMP}", f"2:{BELL}", "3:", "4")]

    assert keys[0] == keys[1] != keys[2]
    assert keys[3:] == [None, None]
