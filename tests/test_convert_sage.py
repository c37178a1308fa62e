"""SAGE to SAGE: older names to documented ones, documented ones to today's operators, and back."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ragdatakit
from ragdatakit.converters.sage.converter import CONVERTER
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.conversion_tools import read_tables, write_tables
from tests.sage_cases import DOCUMENTED, FULL, OPERATORS, OTHER, QUERY, SHORT, asked
from tests.sage_records import TEXTS, documented_records

FIXTURES = Path(__file__).parent.parent / "fixtures" / "sage"
RANDOM = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
NUMBERS = count()


def converted(folder: Path, records: list[Any], profile: str = "", **options: str) -> tuple[list[dict[str, Any]], Any]:
    """The records, written to a file and converted to SAGE; and the losses."""
    source, target = folder / f"source{next(NUMBERS)}", folder / f"target{next(NUMBERS)}"
    source.mkdir()
    target.mkdir()
    (source / "records.jsonl").write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), "utf-8")
    reading = {o.name for o in CONVERTER.options if o.side == "read"}
    names = {name.replace("_", "-"): value for name, value in options.items()}
    tables = read_tables(source, "sage", **{n: v for n, v in names.items() if n in reading})
    write_tables(tables, "sage", target, profile, **{n: v for n, v in names.items() if n not in reading})
    lines = (target / "records.jsonl").read_text("utf-8").splitlines()
    report = ragdatakit.validate(target, format="sage", profile=profile or "unified", severity="error")
    assert [f.message for f in report.findings] == []
    return [json.loads(line) for line in lines], tables.losses


def one(folder: Path, record: Any, profile: str = "", **options: str) -> dict[str, Any]:
    """The one record that becomes of another one."""
    (found,), _ = converted(folder, [record], profile, **options)
    return found


def canonical(value: Any) -> str:
    """Canonical JSON: names in order, numbers as they are written."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def results(*texts: str) -> list[dict[str, str]]:
    return [{"text": text} for text in texts]


OLDER: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    (asked(results=["a"]), {"retrieval_docs": ["a"], "retrieval_results": results("a")}),
    (asked(results=[]), {"retrieval_docs": [], "retrieval_results": []}),
    (
        asked(results=[{"content": "a", "similarity_score": 2, "page": 7}]),
        {"retrieval_docs": ["a"], "retrieval_results": [{"text": "a", "score": 2, "page": 7}]},
    ),
    (
        asked(results=[{"contents": "b", "relevance_score": 0.5}]),
        {"reranking_docs": ["b"], "reranking_results": [{"text": "b", "score": 0.5}]},
    ),
    (
        asked(retrieved_docs=["a", "b"], results=["b"]),
        {
            "retrieval_docs": ["a", "b"],
            "retrieval_results": results("a", "b"),
            "reranking_docs": ["b"],
            "reranking_results": results("b"),
        },
    ),
    (
        asked(results=["short"], refine_time=0.3),
        {"refining_docs": ["short"], "refining_results": results("short"), "refining_time": 0.3},
    ),
    (
        asked(results=[{"text": "s", "ratio": 2}], refined_docs=["s"]),
        {"refining_docs": ["s"], "refining_results": [{"text": "s", "ratio": 2}]},
    ),
    (
        asked(results=["a"], refined_docs=["s"]),
        {
            "retrieval_docs": ["a"],
            "retrieval_results": results("a"),
            "refining_docs": ["s"],
            "refining_results": results("s"),
        },
    ),
    (asked(retrieved_docs=["a"]), {"retrieval_docs": ["a"], "retrieval_results": results("a")}),
    (
        asked(retrieved_docs=["a"], retrieved_documents=["a"]),
        {"retrieval_docs": ["a"], "retrieval_results": results("a")},
    ),
    (asked(refine_metrics={"refine_time": 0.3}), {"refining_time": 0.3}),
    (
        asked(refine_metrics={"refine_time": 0.3, "rate": 1.50}, refine_time=0.3),
        {"refining_time": 0.3, "custom_refine_metrics": {"rate": 1.5}},
    ),
    (asked(refine_metrics={"refine_time": "fast"}), {"custom_refine_metrics": {"refine_time": "fast"}}),
    (
        asked(refine_time=1, generate_time=2, retrieve_time=3),
        {"refining_time": 1, "generation_time": 2, "retrieval_time": 3},
    ),
    (asked(pred="Paris", golds="Rome"), {"generated": "Paris", "references": ["Rome"]}),
    (asked(golds=["Rome", 1982]), {"references": ["Rome", "1982"]}),
    (asked(golds=None, pred=None), {"references": []}),
    (asked(question="q"), {}),
    (asked(question="r"), {"custom_question": "r"}),
    (asked(retrieval_results=[{"page_content": "a"}]), {"retrieval_results": results("a"), "retrieval_docs": ["a"]}),
    (asked(retrieval_results=results("a"), results=[]), {"retrieval_results": results("a"), "retrieval_docs": ["a"]}),
    (asked(refining_results=["s"]), {"refining_results": results("s"), "refining_docs": ["s"]}),
)


@pytest.mark.parametrize(("older", "documented"), OLDER, ids=lambda value: ",".join(value)[:60])
def test_older_names_become_the_documented_ones_and_doing_it_again_changes_nothing(
    tmp_path: Path, older: dict[str, Any], documented: dict[str, Any]
) -> None:
    found = one(tmp_path, older)

    assert found == {"query": "q", **documented}
    assert canonical(one(tmp_path, found)) == canonical(found)


PAIRS: tuple[tuple[Any, dict[str, str], dict[str, Any]], ...] = (
    (["q", ["a"]], {}, {"query": "q", "retrieval_docs": ["a"], "retrieval_results": results("a")}),
    (["q", "a"], {"pair": "docs"}, {"query": "q", "retrieval_docs": ["a"], "retrieval_results": results("a")}),
    (["q", "a"], {"pair": "generated"}, {"query": "q", "generated": "a"}),
    ([{"query": "q"}, [{"role": "user"}]], {}, {"query": "q", "ragdata_messages": [{"role": "user"}]}),
)


@pytest.mark.parametrize(("pair", "options", "documented"), PAIRS)
def test_saved_pairs_become_records(
    tmp_path: Path, pair: Any, options: dict[str, str], documented: dict[str, Any]
) -> None:
    (first, found), _ = converted(tmp_path, [asked(retrieved_docs=["a"]), pair], **options)

    assert (first["query"], found) == ("q", documented)


def test_a_file_of_pairs_alone(tmp_path: Path) -> None:
    (tmp_path / "saved.jsonl").write_text('["q", "a"]\n["r", "b"]\n')
    tables = read_tables(tmp_path / "saved.jsonl", "sage", pair="generated")

    assert [(a.question_id, a.text) for a in tables.peek("answers")] == [("record-1", "a"), ("record-2", "b")]


def test_two_strings_are_never_guessed_at(tmp_path: Path) -> None:
    with pytest.raises(
        RagdataError, match=r"records\.jsonl:2 is a pair of two strings.*--option pair=docs or pair=generated"
    ):
        converted(tmp_path, [asked(), ["q", "a"]])


def test_what_is_no_record_is_left_out_and_reported(tmp_path: Path) -> None:
    found, losses = converted(tmp_path, [asked(results=["a"]), ["q", 12], ["q"], "q", None])

    assert [r["query"] for r in found] == ["q"]
    assert sum(loss.count for loss in losses if loss.kind == "dropped") == 4
    assert '["q",12]' in [example for loss in losses for example in loss.examples]


def test_the_stage_of_results_can_be_said(tmp_path: Path) -> None:
    found, losses = converted(tmp_path, [asked(results=["a"])], results_stage="refining")

    assert found == [asked(refining_results=results("a"), refining_docs=["a"])]
    assert [loss.reason for loss in losses] == [
        "the older name became refining_results and refining_docs, as option results-stage says (refining)"
    ]


def test_changes_are_reported_with_the_values_before_them(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "records.jsonl").write_text(json.dumps(asked(golds="Paris", results=["a"])) + "\n")
    tables = read_tables(source, "sage")
    list(tables.peek("runs"))

    examples = {loss.reason: loss.examples for loss in tables.losses if loss.column != "question_id"}

    assert examples == {
        "one answer became an array of one": ['"Paris"'],
        "the older name became references": ['"Paris"'],
        "the older name became retrieval_results and retrieval_docs": [],
    }


def test_the_original_can_be_kept(tmp_path: Path) -> None:
    older = asked(pred="Paris", golds="Paris")

    assert one(tmp_path, older, keep_original="true")["input"] == older
    assert one(tmp_path, ["q", ["a"]], keep_original="true")["input"] == ["q", ["a"]]
    assert "input" not in one(tmp_path, DOCUMENTED, keep_original="true")


@pytest.mark.parametrize(
    "record",
    [
        asked(retrieved_docs=["a"], retrieval_docs=["b"]),
        asked(pred="a", generated="b"),
        asked(golds="a", references=["b"]),
        asked(refine_time=1, refining_time=2),
        asked(refine_metrics={"refine_time": 1}, refine_time=2),
        asked(retrieved_docs=["a"], retrieved_documents=["b"]),
    ],
    ids=",".join,
)
def test_nothing_that_is_there_is_overwritten(tmp_path: Path, record: dict[str, Any]) -> None:
    found, losses = converted(tmp_path, [record, asked(query="another")])

    assert [one["query"] for one in found] == ["another"]
    (loss,) = (loss for loss in losses if loss.kind == "dropped")
    assert loss.table == "records"
    assert loss.reason.endswith(" mean the same and differ")


def test_decisions_are_reported_once_however_often_the_records_are_read(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "records.jsonl").write_text(json.dumps(asked(pred="Paris", golds="Paris")) + "\n")
    tables = read_tables(source, "sage")
    for table in ("questions", "runs", "answers", "traces", "questions"):
        list(tables.peek(table))

    losses = {(loss.kind, loss.column): loss.count for loss in tables.losses}

    assert losses == {
        ("derived", "pred"): 1,
        ("derived", "golds"): 1,
        ("coerced", "golds"): 1,
        ("derived", "question_id"): 1,
    }


@RANDOM
@given(st.lists(documented_records(), min_size=1, max_size=3))
def test_documented_records_come_back_as_they_were(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    found, losses = converted(tmp_path, records)

    assert list(map(canonical, found)) == list(map(canonical, records))
    assert not losses.any_lost


@pytest.mark.parametrize("number", ["1.0", "1", "1e2", "0.30000000000000004", "12345678901234567890123", "-0.0"])
def test_numbers_keep_the_form_in_which_they_are_written(tmp_path: Path, number: str) -> None:
    line = f'{{"query":"q","retrieval_results":[{{"text":"a","score":{number}}}],"own_number":{number}}}'
    (tmp_path / "records.json").write_text(f"[\n {line}\n]")
    out = tmp_path / "out"
    out.mkdir()
    write_tables(read_tables(tmp_path / "records.json", "sage"), "sage", out)

    assert (out / "records.jsonl").read_text() == f"{line}\n"


def kept_by_operators(record: dict[str, Any]) -> dict[str, Any]:
    """What a record must still have after it went through today's operators' form."""
    names = ("query", "references", "question", "generated", "retrieval_time", "refining_time", "generation_time")
    kept = {name: record[name] for name in names if name in record}
    kept["retrieved"] = record.get("retrieval_results")
    kept["refined"] = [result["text"] for result in record.get("refining_results", ())]
    return kept


@RANDOM
@given(st.lists(documented_records(), min_size=1, max_size=3))
def test_todays_operators_keep_what_the_page_promises(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    through, _ = converted(tmp_path, records, "operators")
    back, _ = converted(tmp_path, through)

    assert [canonical(kept_by_operators(r)) for r in back] == [canonical(kept_by_operators(r)) for r in records]
    assert [r.get("prompt") for r in back] == [r.get("prompt") for r in records]


def test_today_s_records_are_written_for_today_s_operators_as_they_are(tmp_path: Path) -> None:
    assert one(tmp_path, OPERATORS, "operators") == OPERATORS
    assert one(tmp_path, asked(retrieval_results=["a"]), "operators") == asked(retrieval_results=["a"])


def test_a_record_for_today_s_operators(tmp_path: Path) -> None:
    (found,), losses = converted(tmp_path, [DOCUMENTED], "operators")

    assert found == {
        **{key: DOCUMENTED[key] for key in ("query", "question", "references", "retrieval_results", "generated")},
        "retrieve_time": 0.02,
        "refine_time": 0.3,
        "generate_time": 0.4,
        "refining_results": [SHORT],
        "ragdata_prompt": DOCUMENTED["prompt"],
    }
    assert sorted(loss.column or "" for loss in losses if loss.kind == "lost") == [
        *("refining_results", "reranking_results", "reranking_time")
    ]
    assert [(loss.column, loss.count) for loss in losses if loss.kind == "coerced"] == [("prompt", 1)]


def test_reranked_results_move_only_when_asked(tmp_path: Path) -> None:
    record = {k: v for k, v in DOCUMENTED.items() if not k.startswith("refining")}

    stays, _ = converted(tmp_path, [record], "operators")
    moved, losses = converted(tmp_path, [record], "operators", move_reranked="true")

    assert [r["text"] for r in stays[0]["retrieval_results"]] == [FULL, OTHER]
    assert moved[0]["retrieval_results"] == [{"text": FULL, "score": 0.98}]
    assert [loss.column for loss in losses if loss.kind == "coerced"] == ["prompt", "retrieval_results"]


@RANDOM
@given(st.data())
def test_random_older_records_are_renamed_once(tmp_path: Path, data: st.DataObject) -> None:
    texts = st.lists(TEXTS, min_size=1, max_size=3, unique=True)
    keys = {
        "results": st.one_of(texts, texts.map(lambda found: [{"content": t, "similarity_score": 1} for t in found])),
        "refined_docs": texts,
        "refine_metrics": st.dictionaries(st.sampled_from(["refine_time", "rate"]), st.integers(0, 5)),
        "generate_time": st.floats(0, 9),
        "retrieve_time": st.integers(0, 9),
        "pred": TEXTS,
        "golds": st.one_of(TEXTS, texts),
        "own_key": TEXTS,
    }
    older = asked(**data.draw(st.fixed_dictionaries({}, optional=keys)))

    found = one(tmp_path, older)

    assert canonical(one(tmp_path, found)) == canonical(found)
    assert found.get("own_key") == older.get("own_key")
    assert found.get("generated") == older.get("pred")


@pytest.mark.parametrize("profile", ["", "operators"])
@pytest.mark.parametrize("name", sorted(p.name for p in (FIXTURES / "valid").iterdir()))
def test_valid_fixtures_stay_valid(tmp_path: Path, name: str, profile: str) -> None:
    write_tables(read_tables(FIXTURES / "valid" / name, "sage"), "sage", tmp_path, profile)
    report = ragdatakit.validate(tmp_path, format="sage", profile=profile or "unified", severity="error")

    assert [f.message for f in report.findings] == []


MENDED = (
    *("older-key", "older-key-3", "operators-time-key", "refined-as-text", "result-is-text", "record-is-array"),
    *("record-is-array-2", "question-not-object", "result-without-text-2"),
)


@pytest.mark.parametrize("name", MENDED)
def test_findings_that_reading_mends_are_mended(tmp_path: Path, name: str) -> None:
    data = FIXTURES / "broken" / name / "data"
    found = [f for f in ragdatakit.validate(data, format="sage", profile="unified").findings if f.severity == "error"]
    write_tables(read_tables(data, "sage"), "sage", tmp_path)
    report = ragdatakit.validate(tmp_path, format="sage", profile="unified", severity="error")

    assert found or name == "result-without-text-2"
    assert CONVERTER.repairs is not None
    assert all(CONVERTER.repairs(finding, {}) for finding in found)
    assert [f.message for f in report.findings] == []


def test_findings_of_other_faults_are_not_mended() -> None:
    data = FIXTURES / "broken"
    faults = ("conflicting-older-key", "null-query", "result-without-text", "reference-not-text", "uneven-stage")
    found = [f for n in faults for f in ragdatakit.validate(data / n / "data", format="sage").findings]

    assert CONVERTER.repairs is not None
    assert {f.rule for f in found if f.severity == "error" and not CONVERTER.repairs(f, {})} == set(faults)


def test_a_question_in_words_stands_for_the_query(tmp_path: Path) -> None:
    (_, found), _ = converted(tmp_path, [asked(), {"question": QUERY}])

    assert found == {"query": QUERY}
