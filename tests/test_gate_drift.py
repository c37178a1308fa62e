"""Gates: a first suite holds on its own data, and fails exactly on what drifts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ragdatakit.reports.gates.derived_columns import damage_of
from ragdatakit.schemas.canonical import Edge, Node, PairScore, Question
from tests.gate_tools import Rows, asked, checks_of, good_rows, needs_library, suite_of, touched_by


@pytest.fixture(scope="module")
def suite() -> dict[str, Any]:
    """A first suite of the good rows."""
    return suite_of(good_rows())


def fewer(rows: Rows) -> None:
    rows["documents"] = rows["documents"][:50]


def without_titles(rows: Rows) -> None:
    rows["documents"] = [d if d.doc_id in ("d1", "d11", "d21") else d._replace(title=None) for d in rows["documents"]]


def without_one_split(rows: Rows) -> None:
    rows["questions"][7] = rows["questions"][7]._replace(split=None)


def far_score(rows: Rows) -> None:
    rows["pair_scores"][50] = rows["pair_scores"][50]._replace(score=100.0)


def long_text(rows: Rows) -> None:
    rows["documents"][50] = rows["documents"][50]._replace(text="word " * 1000)


def longer_texts(rows: Rows) -> None:
    rows["documents"] = [d._replace(text=f"{i:03} {'word ' * 48}x") for i, d in enumerate(rows["documents"])]


def same_texts(rows: Rows) -> None:
    rows["questions"] = [q._replace(text=asked(0)) if i < 20 else q for i, q in enumerate(rows["questions"])]


def new_grade(rows: Rows) -> None:
    rows["qrels"][5] = rows["qrels"][5]._replace(grade=3)


def lost_grade(rows: Rows) -> None:
    rows["qrels"] = [q._replace(grade=min(q.grade, 1)) for q in rows["qrels"]]


def same_key(rows: Rows) -> None:
    rows["documents"][59] = rows["documents"][59]._replace(doc_id="d58")


def same_judgement(rows: Rows) -> None:
    rows["qrels"][59] = rows["qrels"][0]


def broken_reference(rows: Rows) -> None:
    rows["qrels"][5] = rows["qrels"][5]._replace(target_id="gone")


def moved_split(rows: Rows) -> None:
    rows["questions"] = [q._replace(split="train") if i % 5 else q for i, q in enumerate(rows["questions"])]


def inverted_grades(rows: Rows) -> None:
    rows["qrels"] = [q._replace(grade=(q.grade + 2) % 3 if i < 40 else 1) for i, q in enumerate(rows["qrels"])]


def one_relation(rows: Rows) -> None:
    rows["edges"] = [e._replace(relation="r0") if i % 2 else e for i, e in enumerate(rows["edges"])]


def other_ids(rows: Rows) -> None:
    rows["pair_scores"] = [p._replace(question_id=f"Q-{p.question_id[1:]}") for p in rows["pair_scores"]]


def other_language(rows: Rows) -> None:
    rows["questions"] = [
        q._replace(text=f"{i:03}番の質問に答えて下さい。それは何の事でしょうか")
        for i, q in enumerate(rows["questions"])
    ]


def wrong_encoding(rows: Rows) -> None:
    rows["documents"][3] = rows["documents"][3]._replace(text=f"003 {'word ' * 22}caf\u00c3\u00a9")


def lower_scores(rows: Rows) -> None:
    rows["pair_scores"] = [p._replace(score=p.score if i > 90 else 0.1) for i, p in enumerate(rows["pair_scores"])]


DRIFTS: list[tuple[Callable[[Rows], None], str, list[tuple[str, str | None]]]] = [
    (fewer, "documents", [("table_row_count_to_be_between", None)]),
    (without_titles, "documents", [("column_proportion_of_non_null_values_to_be_between", "title")]),
    (without_one_split, "questions", [("column_values_to_not_be_null", "split")]),
    (far_score, "pair_scores", [("column_values_to_be_between", "score")]),
    (long_text, "documents", [("column_values_to_be_between", "text_length")]),
    (longer_texts, "documents", [("column_median_to_be_between", "text_length")]),
    (same_texts, "questions", [("column_proportion_of_unique_values_to_be_between", "text")]),
    (new_grade, "qrels", [("column_distinct_values_to_equal_set", "grade")]),
    (
        lost_grade,
        "qrels",
        [("column_distinct_values_to_equal_set", "grade"), *[("column_max_to_be_between", "grade_share")] * 2],
    ),
    (same_key, "documents", [("column_values_to_be_unique", "doc_id")]),
    (same_judgement, "qrels", [("compound_columns_to_be_unique", None)]),
    (broken_reference, "qrels", [("column_mean_to_be_between", "target_id_found")]),
    (moved_split, "questions", [("column_max_to_be_between", "split_share")]),
    (inverted_grades, "qrels", [("column_max_to_be_between", "grade_share")] * 2),
    (one_relation, "edges", [("column_max_to_be_between", "relation_share")]),
    (
        other_ids,
        "pair_scores",
        [("column_values_to_match_regex", "question_id"), ("column_mean_to_be_between", "question_id_found")],
    ),
    (other_language, "questions", [("column_values_to_be_in_set", "text_language")]),
    (wrong_encoding, "documents", [("column_values_to_be_in_set", "text_damaged")]),
    (lower_scores, "pair_scores", [("column_mean_to_be_between", "score")]),
]


@needs_library
def test_a_first_suite_holds_on_its_own_data() -> None:
    for tolerance in (0.1, 0):
        checks = checks_of(good_rows(), suite_of(good_rows(), tolerance))

        assert len(checks) > 30 and all(check.success for check in checks)


@needs_library
@pytest.mark.parametrize(("drift", "table", "message"), DRIFTS, ids=[d[0].__name__ for d in DRIFTS])
def test_exactly_the_drift_fails(
    drift: Callable[[Rows], None], table: str, message: list[tuple[str, str | None]], suite: dict[str, Any]
) -> None:
    rows = good_rows()
    drift(rows)

    failed = [c for c in checks_of(rows, touched_by(suite, table)) if not c.success]

    assert [(c.expectation.table, c.expectation.type, c.expectation.kwargs.get("column")) for c in failed] == [
        (table, f"expect_{kind}", column) for kind, column in message
    ]
    assert not any(check.error for check in failed)


@needs_library
def test_odd_values_hold_on_their_own_data() -> None:
    odd = ["a'b", 'a"b', "a`b", "@x", "{table}"]
    rows: Rows = {
        "nodes": [Node(f"{{table}}' [{i}", type=odd[i % 5]) for i in range(60)],
        "pair_scores": [PairScore("q", "d", [0.1, 0.25, 1e300, float("nan"), float("inf")][i % 5]) for i in range(40)],
    }
    for tolerance in (0.1, 0):
        assert [c for c in checks_of(rows, suite_of(rows, tolerance)) if not c.success] == []


@needs_library
def test_what_moves_within_the_tolerance_passes(suite: dict[str, Any]) -> None:
    rows = {table: listed[::-1] for table, listed in good_rows().items()}
    rows["documents"] = [d for d in rows["documents"] if d.doc_id not in ("d41", "d45", "d50")]
    rows["pair_scores"] = rows["pair_scores"][4:]

    assert [c for c in checks_of(rows, suite) if not c.success] == []


def test_a_first_suite_says_what_a_person_would_want() -> None:
    rows = good_rows()
    rows["questions"] = [q._replace(metadata=f'{{"type":"{q.split}"}}') for q in rows["questions"]]
    rows["nodes"] = [Node("n1", type="town", attributes='{"size":1}'), Node("n2", type="town", attributes="{}")]

    by_name: dict[str, set[str]] = {}
    for e in suite_of(rows)["expectations"]:
        about = f"{e['meta']['ragdata_table']}.{e['kwargs'].get('column', '')}"
        by_name.setdefault(about, set()).add(e["type"].removeprefix("expect_").removeprefix("column_"))

    assert by_name["questions.metadata"] == by_name["nodes.attributes"] == {"values_to_not_be_null"}
    assert "values_to_be_unique" in by_name["questions.question_id"] and "questions." in by_name
    assert not {"questions.aliases_length", "questions.answer", "qrels.node_type", "edges.confidence"} & by_name.keys()
    assert "compound_columns_to_be_unique" not in by_name["questions."]
    assert by_name["nodes.type"] == {"values_to_not_be_null"}
    assert by_name["questions.text_language"] == {"values_to_be_in_set"} and "documents.title_language" not in by_name


def graph_rows(common: str, others: int) -> Rows:
    """Edges of which two in five have the same relation, the others each another one of so many."""
    edges = [Edge(f"n{i}", common if i % 5 < 2 else f"r{i % others}", f"n{i + 1}") for i in range(200)]
    return {"edges": edges}


@needs_library
def test_a_common_value_of_many_that_is_gone() -> None:
    suite = suite_of(graph_rows("treats", 31))

    failed = [c for c in checks_of(graph_rows("causes", 31), suite) if not c.success]

    assert [c for c in checks_of(graph_rows("treats", 31), suite) if not c.success] == []
    assert [(c.expectation.type, c.expectation.kwargs["column"]) for c in failed] == [
        ("expect_column_max_to_be_between", "relation_share")
    ]
    assert failed[0].expectation.kwargs["row_condition"]["parameter"] == "treats"


@needs_library
@pytest.mark.parametrize(
    ("form", "changed"),
    [
        ("{:032x}", str.upper),
        ("{:032X}", str.lower),
        ("{:08x}-00af-4bcd-8000-00000000000a", lambda text: text.replace("-", "")),
        ("{:032x}", lambda text: text[1:]),
    ],
)
def test_ids_that_are_digests_or_uuids(form: str, changed: Callable[[str], str]) -> None:
    def rows(change: Callable[[str], str]) -> Rows:
        ids = [change(form.format((i + 1) * 0xABCDEF)) for i in range(40)]
        return {"questions": [Question(one, asked(i)) for i, one in enumerate(ids)]}

    suite = suite_of(rows(str))

    assert [c for c in checks_of(rows(str), suite) if not c.success] == []
    assert [c.expectation.type for c in checks_of(rows(changed), suite) if not c.success] == [
        "expect_column_values_to_match_regex"
    ]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
@pytest.mark.parametrize("text", ["β-catenin", "10 μm", "École", "straße", "Österreich", "Привет", "اللغة", "naïve"])
def test_signs_of_a_wrong_encoding(text: str, encoding: str) -> None:
    assert damaged(text.encode().decode(encoding, "replace"))
    assert not damaged(text)


@pytest.mark.parametrize("text", ["CAFÉ”", "OÙ…", "IRMÃ” disse", "MANHÃ… e", "MANHÃ– e", "Ø 5 m", "Ø² m", "«À»"])
def test_what_a_text_may_well_have_is_no_damage(text: str) -> None:
    assert not damaged(text)


def damaged(text: str) -> bool:
    import duckdb

    with duckdb.connect() as connection:
        (found,) = connection.execute(f"select {damage_of('t')} from (select ? as t)", [text]).fetchall()
    return bool(found[0])
