"""What is taken from a language model's reply about a text: JSON of several shapes, GraphRAG's tuples, nonsense."""

from __future__ import annotations

import json
from contextlib import suppress
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.retrieval.extraction.replies import (
    MOST_CHARACTERS,
    MOST_TRIPLES,
    FoundEntity,
    UnreadableReplyError,
    clean_name,
    clean_relation,
    parse_reply,
)

OSPREY = ["Osprey", "Lena"]
TOWED = [("Osprey", "towed", "Lena")]
GOOD = '{"entities": ["Osprey", "Lena"], "triples": [["Osprey", "towed", "Lena"]]}'


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here it is:\n\n```\n{GOOD}\n``` Done.",
        f"Sure! {GOOD} I hope that {{this}} helps.",
        f"<think>Is {{it}} [a boat]?</think>{GOOD}",
        '{"entities": ["Osprey", "Lena",], "triples": [["Osprey", "towed", "Lena",],],}',
        '{"nodes": [{"id": "Osprey"}, {"id": "Lena"}], "edges": [{"from": "Osprey", "type": "TOWED", "to": "Lena"}]}',
        '{"named_entities": ["Osprey"], "triplets": [["Osprey", "towed", "Lena"]]}',
        '[["Osprey", "towed", "Lena"]]',
        '[{"source": "Osprey", "predicate": "towed", "target": "Lena"}]',
        '{"entities": [], "triples": [["Osprey", "towed", "Lena"], ["Osprey", "towed"], "x", null, [1, 2, null]]}',
        '{"entities": ["Osprey", 7, null, {}, {"name": []}, ["x"]], "triples": [["Osprey", "towed", "Lena"]]}'.replace(
            "7, ", ""
        ),
    ],
    ids=[
        "plain",
        "fenced",
        "between sentences",
        "in a sentence",
        "thought",
        "commas too many",
        "objects",
        "other words",
        "a list",
        "a list of objects",
        "broken triples",
        "broken entities",
    ],
)
def test_json_of_many_shapes(reply: str) -> None:
    found = parse_reply(reply)
    assert sorted(found.entities) == sorted(OSPREY)
    assert found.triples == TOWED


def test_types_and_descriptions_are_kept() -> None:
    found = parse_reply('{"entities": [{"entity_name": " Osprey ", "entity_type": "boat", "description": "A\\ntug."}]}')
    assert found.entities == {"Osprey": FoundEntity("Osprey", "boat", "A tug.")}
    assert found.triples == []


TUPLES = (
    '("entity"<|>OSPREY<|>BOAT<|>A tug (of the harbour).)##\n("entity"<|>LENA<|>BOAT<|>A barge.)##\n'
    '("relationship"<|>OSPREY<|>LENA<|>The Osprey towed the Lena.<|>9)<|COMPLETE|>'
)


def test_tuples_of_graphrag() -> None:
    found = parse_reply(TUPLES)
    assert list(found.entities) == ["OSPREY", "LENA"]
    assert found.entities["OSPREY"] == FoundEntity("OSPREY", "BOAT", "A tug (of the harbour).")
    assert found.triples == [("OSPREY", "is related to", "LENA")]


def test_tuples_of_lightrag_have_keywords() -> None:
    reply = '("relationship"<|>Osprey<|>Lena<|>It towed her.<|>Towing, trade<|>9)\n<|COMPLETE|>'
    assert parse_reply(reply).triples == [("Osprey", "towing", "Lena")]


def test_tuples_that_are_cut_off_give_what_is_whole() -> None:
    found = parse_reply(TUPLES[: TUPLES.index("LENA<|>BOAT") + 8])
    assert list(found.entities) == ["OSPREY"]


def test_nothing_found_is_an_answer() -> None:
    for reply in ('{"entities": [], "triples": []}', "<|COMPLETE|>"):
        found = parse_reply(reply)
        assert (found.entities, found.triples) == ({}, [])


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("<think>hm</think>", "empty"),
        ("I cannot do that.", "no whole JSON object"),
        ('{"entities": ["Osprey"', "no whole JSON object"),
        ("{}", "no list called entities or triples"),
        ('{"answer": "Osprey"}', "no list called entities or triples"),
        ('{"entities": "Osprey"}', "no list called entities or triples"),
        ('"Osprey"', "no whole JSON object"),
        ('{"entities": [{"description": "no name"}]}', "has names"),
        ("x" * (MOST_CHARACTERS + 1), "longer than"),
        ("[" * 100_000, "no whole JSON object"),
        ("{" * 100_000 + "}" * 100_000, "no whole JSON object"),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, "no whole JSON object"),
        ('"' * 100_000, "no whole JSON object"),
        ("<|>" * 100_000, "no whole JSON object"),
        ("<think>" * 100_000, "no whole JSON object"),
        ('("entity"<|>' * 50_000, "no whole JSON object"),
        ("```\n{" * 100_000, "no whole JSON object"),
    ],
    ids=[
        "empty",
        "blank",
        "thought only",
        "prose",
        "cut off",
        "no members",
        "other members",
        "no list",
        "a text",
        "no names",
        "too long",
        "nested lists",
        "nested nothing",
        "nested objects",
        "quotes",
        "tuple marks",
        "thoughts",
        "open tuples",
        "fences",
    ],
)
def test_nonsense_is_refused_with_a_reason(reply: str, why: str) -> None:
    started = process_time()
    with pytest.raises(UnreadableReplyError, match=why):
        parse_reply(reply)
    assert process_time() - started < 2


def test_names_are_data() -> None:
    reply = json.dumps(
        {"entities": ["A\nB\0\x1b[31m", "x" * 500, " ", "\ud800Z", '"Quoted"', 1990, True], "triples": []}
    )
    assert list(parse_reply(reply).entities) == ["A B [31m", "\ufffdZ", "Quoted", "1990"]


def test_only_so_much_of_a_reply_is_taken() -> None:
    triples = [[f"a{n}", "r", "b"] for n in range(MOST_TRIPLES + 5)]
    found = parse_reply(json.dumps({"triples": triples}))
    assert len(found.triples) < MOST_TRIPLES
    assert found.left_out >= 5


def test_relations_are_phrases() -> None:
    assert clean_relation("Is_Located-IN!") == "is located in"
    assert clean_relation("生まれた") == "生まれた"
    assert clean_relation(None) == clean_relation("...") == "is related to"


@given(
    st.recursive(
        st.none() | st.text() | st.integers() | st.booleans(),
        lambda x: (
            st.lists(x)
            | st.dictionaries(st.sampled_from(["entities", "triples", "name", "subject", "relation", "object"]), x)
        ),
        max_leaves=20,
    )
)
def test_any_json_is_read_or_refused(value: object) -> None:
    try:
        found = parse_reply(json.dumps(value))
    except UnreadableReplyError:
        return
    assert all(clean_name(name) == name for name in found.entities)
    assert all(a in found.entities and b in found.entities for a, _, b in found.triples)


@given(st.text(alphabet='{}[]",:<|>#()entiy \n\\', max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(UnreadableReplyError):
        assert parse_reply(text).left_out == 0
