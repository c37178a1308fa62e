"""Processed questions of GFM-RAG against what the loaders do with them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.schemas import get_format
from ragdatakit.validators.gfm_rag.questions import Asked, in_words, listed_names, resolve, walk_fails
from ragdatakit.validators.row_problems import RowProblems
from tests.gfm_rag_behaviour import SAMPLE, SERIOUS, Kind
from tests.gfm_rag_sets import SmallTables, changed, examine, finished, question_checks, read

NOWHERE = "\ud83d"


def rules(change: dict[str, Any], tables: SmallTables | None = None) -> list[str]:
    """The rules that the changed sample breaks, without those that are only worth knowing."""
    checks = question_checks(tables)
    names = [p.rule for p in examine(checks, checks.dataset.files[0], [changed(SAMPLE, change)])]
    fmt = get_format("gfm-rag")
    return [n for n in names if n not in {r.name for r in fmt.rules} or fmt.rule(n).severity != "info"]


# What is changed, what the loaders (or the consumer that the message names) do with it, and the rules that say so.
ROWS: list[tuple[dict[str, Any], Kind, list[str]]] = [
    ({}, "fine", []),
    ({"id": 7}, "fine", []),
    ({"id": -(2**63)}, "fine", ["integer-beyond-2-53"]),
    ({"id": "", "question": ""}, "fine", []),
    ({"id": ...}, "raises", ["missing-question-field"]),
    ({"question": ...}, "raises", ["missing-question-field"]),
    ({"start_nodes": ...}, "raises", ["missing-question-field"]),
    ({"target_nodes": ...}, "raises", ["missing-question-field"]),
    ({"id": None}, "raises", ["question-id-null"]),
    ({"id": 1.5}, "misreads", ["question-id-decimal"]),
    ({"id": 7.0}, "misreads", ["question-id-decimal"]),
    ({"id": 2**63}, "raises", ["question-id-too-big", "integer-beyond-2-53"]),
    ({"id": NOWHERE}, "raises", ["question-id-surrogate", "lone-surrogate"]),
    ({"id": ["h1"]}, "raises", ["question-id-other"]),
    ({"id": {"h": 1}}, "raises", ["question-id-other"]),
    ({"question": None}, "raises", ["question-not-text"]),
    ({"question": 5}, "raises", ["question-not-text"]),
    ({"start_nodes": ["osprey"]}, "raises", ["nodes-not-object"]),
    ({"start_nodes": None}, "raises", ["nodes-not-object"]),
    ({"target_nodes": "lena"}, "raises", ["nodes-not-object"]),
    ({"start_nodes": {"entity": None}}, "raises", ["node-list-not-list"]),
    ({"start_nodes": {"entity": ["osprey"], "place": 5}}, "raises", ["node-list-not-list"]),
    ({"start_nodes": {"entity": ["osprey", ["lena"]]}}, "raises", ["node-name-not-text"]),
    ({"start_nodes": {"entity": ["osprey", {"a": 1}]}}, "raises", ["node-name-not-text"]),
    ({"start_nodes": {"entity": ["osprey", 5]}}, "drops", ["node-name-not-text"]),
    ({"target_nodes": {**SAMPLE["target_nodes"], "boat": "lena"}}, "drops", ["node-list-is-text"]),
    ({"target_nodes": {"entity": "lena"}}, "drops", ["node-list-is-text", "no-known-target-node"]),
    ({"start_nodes": {"entity": ["Osprey"]}}, "drops", ["no-known-start-node"]),
    ({"start_nodes": {"entity": [" osprey"]}}, "drops", ["no-known-start-node"]),
    ({"start_nodes": {}}, "drops", ["no-known-start-node"]),
    ({"start_nodes": {"entity": []}}, "drops", ["no-known-start-node"]),
    ({"target_nodes": {"entity": ["Lena"]}}, "drops", ["no-known-target-node"]),
    ({"start_nodes": {"entity": ["osprey", "osprey"]}}, "fine", []),
    ({"start_nodes": {"entity": {"osprey": 1}}}, "fine", []),
    ({"start_nodes": {"entity": ["osprey", "Lena"]}}, "risky", ["unknown-start-node"]),
    (
        {"target_nodes": {"document": ["Harbour log", "Dock log"], "entity": ["lena"]}},
        "misreads",
        ["unknown-target-node"],
    ),
    ({"start_nodes": {"boat": ["osprey"]}}, "risky", ["node-under-other-type"]),
    ({"target_nodes": {"entity": ["lena"]}}, "risky", ["no-document-target"]),
    ({"target_nodes": {"document": ["Harbour log"]}}, "risky", ["no-entity-target"]),
    ({"answer": ...}, "risky", ["missing-answer"]),
    ({"answer": None}, "raises", ["answer-not-text"]),
    ({"answer": 1901}, "raises", ["answer-not-text"]),
    ({"answer": True}, "raises", ["answer-not-text"]),
    ({"answer": ["Lena"]}, "raises", ["answer-not-text"]),
    ({"answer_aliases": None}, "raises", ["aliases-not-list"]),
    ({"answer_aliases": "Lena"}, "raises", ["aliases-not-list"]),
    ({"answer_aliases": ...}, "fine", []),
    ({"supporting_documents": None}, "raises", ["supporting-documents-not-list"]),
    ({"supporting_documents": "Harbour log"}, "misreads", ["supporting-documents-not-list"]),
    ({"supporting_documents": []}, "raises", ["empty-supporting-documents"]),
    ({"supporting_documents": ...}, "fine", []),
    ({"evidence": [1], "question_type": None}, "fine", []),
]


@pytest.mark.parametrize(("change", "does", "expected"), ROWS, ids=lambda v: v if isinstance(v, str) else None)
def test_our_severity_follows_from_what_the_loaders_do(change: dict[str, Any], does: Kind, expected: list[str]) -> None:
    fmt = get_format("gfm-rag")
    own = {r.name for r in fmt.rules}

    assert sorted(rules(change)) == sorted(expected)
    severities = {fmt.rule(name).severity for name in expected if name in own}
    assert ("error" in severities) == (does in SERIOUS)
    assert ("warning" in severities) == (does == "risky")


def test_nothing_is_looked_up_in_a_graph_that_could_not_be_read() -> None:
    assert rules({"start_nodes": {"entity": ["Osprey"]}}, SmallTables(usable=False)) == []


def test_types_that_the_graph_does_not_have_are_not_missed_in_every_question() -> None:
    tables = SmallTables()
    del tables.types["entity"]

    assert rules({"target_nodes": {"document": ["Harbour log"]}}, tables) == []


def test_messages_can_name_the_place_and_the_names() -> None:
    checks = question_checks()
    sample = changed(
        SAMPLE, {"start_nodes": {"entity": ["a", "b", "c", "d", "a"]}, "target_nodes": {"entity/x": ["q"]}}
    )

    found = {p.rule: p for p in examine(checks, checks.dataset.files[0], [sample])}

    assert found["no-known-start-node"].facts == {"names": '"a", "b", "c" and 1 more'}
    assert found["no-known-target-node"].pointer == "/target_nodes"
    sample["target_nodes"]["entity/x"].append("lena")
    found = {p.rule: p for p in examine(checks, checks.dataset.files[0], [sample])}
    assert found["unknown-target-node"].pointer == "/target_nodes/entity~1x/0"
    assert (found["node-under-other-type"].pointer, found["node-under-other-type"].facts) == (
        "/target_nodes/entity~1x/1",
        {"type": "entity/x", "found": "entity"},
    )


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["a", "b"], []),
        ([1, 2], []),
        (["a", None, "b"], []),
        (["a", 7, "b", 8], [1, 3]),
        ([7, "a"], [1]),
        ([7, 2.5], []),
        ([True, 7], [1]),
        ([None, "a", 7], [2]),
        (["a", ["b"], 2.5], []),
        ([True, False], []),
    ],
)
def test_ids_are_of_one_kind(ids: list[Any], expected: list[int]) -> None:
    found = read(question_checks(), [changed(SAMPLE, {"id": i, "question": str(n)}) for n, i in enumerate(ids)])

    assert found == ({"mixed-question-ids": expected} if expected else {})


def test_ids_are_of_one_kind_over_both_files() -> None:
    checks = question_checks(files=2)
    read(checks, [changed(SAMPLE, {"question": "One?"})])
    checks.start_file(checks.dataset.files[1])

    (hit, _) = checks.batch("questions", None, [changed(SAMPLE, {"id": 7})], type("B", (), {"first_row": 1}), None)

    assert (hit.rule, list(hit.rows), hit.firsts) == ("mixed-question-ids", [1], [0])
    assert hit.facts == [{"kind": "an integer", "other": "text", "first": "train.json, sample 1"}]


def test_ids_of_samples_that_are_skipped_make_no_column() -> None:
    skipped = changed(SAMPLE, {"id": 7, "start_nodes": {}})

    assert read(question_checks(), [SAMPLE, skipped]) == {}


def test_a_question_of_the_other_file_is_reported() -> None:
    checks = question_checks(files=2)
    first = [SAMPLE, changed(SAMPLE, {"id": "h2"}), changed(SAMPLE, {"id": "h3", "question": ""})]
    second = [changed(s, {"id": f"t{i}"}) for i, s in enumerate(first)]

    assert read(checks, first) == {}
    assert read(checks, second, 1, 3) == {"question-in-train-and-test": [3, 4]}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([], None, [("test.json", "no-usable-sample")]),
        ([{"start_nodes": {}}], None, [("test.json", "no-usable-sample")]),
        ([{"start_nodes": {}}], [{"target_nodes": {}}], [("test.json", "no-usable-sample")]),
        ([{}], [], [("test.json", "empty-split")]),
        ([], [{}], [("train.json", "empty-split")]),
        ([{}], [{}], []),
        ([{"start_nodes": []}], None, []),
        ([{"id": ...}], None, []),
        ([{"question": ...}], None, []),
        ([{"question": ..., "start_nodes": {}}], None, [("test.json", "no-usable-sample")]),
    ],
)
def test_samples_that_are_left(
    first: list[dict[str, Any]], second: list[dict[str, Any]] | None, expected: list[tuple[str, str]]
) -> None:
    files = [f for f in (first, second) if f is not None]
    checks = question_checks(files=len(files))
    for number, changes in enumerate(files):
        read(checks, [changed(SAMPLE, change) for change in changes], number, number)

    assert [(name.rsplit("/", 1)[-1], p.rule) for name, p in finished(checks)] == expected


@pytest.mark.parametrize("unreadable", [True, False])
def test_nothing_is_said_of_the_number_of_samples_of_an_unreadable_file(unreadable: bool) -> None:
    checks = question_checks(SmallTables(usable=unreadable))
    read(checks, [changed(SAMPLE, {"start_nodes": {}})])
    checks.dataset.files[0].readable = not unreadable

    assert finished(checks) == []


def test_large_masks_are_reported_by_their_size() -> None:
    checks = question_checks(SmallTables(size=40_000_000))
    read(checks, [changed(SAMPLE, {"id": str(i)}) for i in range(2)])

    ((_, problem),) = finished(checks)

    assert (problem.rule, problem.facts) == ("large-masks", {"bytes": "1.3 GB", "nodes": 40_000_000, "samples": 2})


def test_targets_out_of_reach() -> None:
    both = changed(SAMPLE, {"id": "h2"})
    only = changed(SAMPLE, {"target_nodes": {"entity": ["nobody", "lena"]}})
    checks = question_checks(SmallTables(edges=[(1, 0)]))
    checks.dataset.options["max_hops"] = 2
    read(checks, [both, only])

    found = {one.rule: one for one in checks.finish() if isinstance(one, RowProblems)}

    none, some = found["unreachable-targets"], found["partly-unreachable-targets"]
    assert (none.rows, some.rows) == ([1], [0])
    facts = {name: fact(only) if callable(fact) else fact for name, fact in none.facts[0].items()}
    assert facts == {"hops": 2, "start": '"osprey"', "targets": '"lena"'}
    assert some.facts[0]["targets"](both) == '"lena"'
    assert some.facts[0]["targets"](None) == "none is listed"


def test_a_graph_in_which_all_is_near_gives_nothing() -> None:
    checks = question_checks()
    read(checks, [SAMPLE])

    assert list(checks.finish()) == []


ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["osprey", "lena", "", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["entity", "a/b"]), inner, max_size=2),
    max_leaves=8,
)


def as_upstream(nodes: Any, known: dict[str, int]) -> set[int] | None:
    """The nodes that are found, by trying: every value of the object is walked through; None where that raises."""
    try:
        return {known[name] for names in nodes.values() for name in names if name in known}
    except (AttributeError, TypeError):
        return None


@given(ANY_JSON)
def test_names_are_found_as_upstream_finds_them(nodes: Any) -> None:
    tables = SmallTables()
    expected = as_upstream(nodes, {name: number for name, (number, _) in tables.nodes.items()})

    found = resolve(nodes, "start_nodes", tables)

    assert found.raises == walk_fails(nodes) == (expected is None)
    assert expected is None or set(found.known) == expected
    assert len(found.known) == len(found.names)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(SAMPLE, ANY_JSON)))
def test_no_sample_is_too_odd(change: dict[str, Any]) -> None:
    checks = question_checks()
    sample = {**SAMPLE, **change}

    problems = examine(checks, checks.dataset.files[0], [sample])
    read(checks, [sample])

    for problem in problems:
        assert problem.rule
    assert all(name for name, _ in finished(checks))


def test_characters_of_a_text_are_names_for_the_loader() -> None:
    assert [name for _, _, name in listed_names({"entity": "ab"}, "start_nodes")] == ["a", "b"]


def test_in_words() -> None:
    assert (in_words([]), in_words([5, "a", "a"]), in_words(list("abcde"))) == (
        "none is listed",
        '"a"',
        '"a", "b", "c" and 2 more',
    )


@given(st.lists(st.tuples(st.lists(st.integers(0, 99)), st.lists(st.integers(0, 99)))))
def test_asked_gives_back_what_it_was_given(questions: list[tuple[list[int], list[int]]]) -> None:
    asked = Asked()
    for row, (starts, targets) in enumerate(questions):
        asked.add(row, starts, targets)

    assert list(asked) == [(row, *question) for row, question in enumerate(questions)]
    assert len(asked) == len(questions)
