"""SAGE records: generated ones, hostile ones, keys, types for operators; and that both engines say the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit import schemas, validate
from ragdatakit.files.texts.near_names import one_edit_apart
from ragdatakit.schemas.sage.records import RECORD
from ragdatakit.schemas.sage.types import Question, RAGData, RefiningResult, RerankingResult, RetrievalResult
from ragdatakit.validators import dataset_run
from ragdatakit.validators.sage.keys import KNOWN, generation
from ragdatakit.validators.sage.record import says_nothing
from tests.broad import examples
from tests.sage_cases import DOCUMENTED, OPERATORS

WORDS = st.text('abcdefg hij kléñ漢"\\/', min_size=1, max_size=12).map(lambda t: f"tide {t}x")
TEXTS = st.lists(WORDS, min_size=1, max_size=5, unique=True)
SCORES = st.floats(0, 1).map(lambda x: round(x, 4))
SECONDS = st.one_of(st.floats(0, 3600), st.integers(0, 3600))


@st.composite
def documented_records(draw: st.DrawFn) -> dict[str, Any]:
    """A record as the documentation has it, with some of the stages."""
    query = draw(WORDS)
    references = draw(st.lists(WORDS, max_size=3, unique=True))
    record: dict[str, Any] = {"query": query, "references": references}
    if draw(st.booleans()):
        record["question"] = {"id": 0, "references": references}
    context: list[str] = []
    if draw(st.booleans()):
        texts = draw(TEXTS)
        scores = sorted(draw(st.lists(SCORES, min_size=len(texts), max_size=len(texts))), reverse=True)
        results = [
            {"text": t, "score": s, "metadata": {"id": i}} for i, (t, s) in enumerate(zip(texts, scores, strict=True))
        ]
        record.update(retrieval_results=results, retrieval_docs=texts, retrieval_time=draw(SECONDS))
        context = texts
        if draw(st.booleans()):
            context = draw(st.permutations(texts))[: draw(st.integers(1, len(texts)))]
            record.update(reranking_results=[{"text": t} for t in context], reranking_docs=context)
            record["reranking_time"] = draw(SECONDS)
        if draw(st.booleans()):
            context = [f"refined {t}" for t in context]
            record.update(refining_results=[_refined(draw, t) for t in context], refining_docs=context)
            record["refining_time"] = draw(SECONDS)
    if references and draw(st.booleans()):
        record["prompt"] = f"{context[0] if context else ''} Answer: {query}"
        record.update(generated=draw(WORDS), generation_time=draw(SECONDS), my_notes=draw(st.integers(-99, 99)))
    return record


def _refined(draw: st.DrawFn, text: str) -> dict[str, Any]:
    original = draw(st.integers(1, 5000))
    refined = draw(st.integers(0, original))
    digits = draw(st.integers(2, 6))
    return {
        "text": text,
        "original_length": original,
        "refined_length": refined,
        "compression_ratio": round(refined / original, digits),
    }


@given(records=st.lists(documented_records(), min_size=1, max_size=4), indent=st.sampled_from([None, 1]))
@settings(max_examples=examples(150), deadline=None)
def test_a_documented_record_has_no_findings(
    records: list[dict[str, Any]], indent: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for number, record in enumerate(records):  # ids of a file are unique, and so are records without one
        if "question" in record:
            record["question"]["id"] = number
        else:
            record["input"] = number
    path = tmp_path_factory.mktemp("sage") / "records.json"
    path.write_text(json.dumps(records, indent=indent), encoding="utf-8")

    report = validate(path, format="sage")

    rules = {f.rule for f in report.findings if f.severity != "info"}
    assert rules <= {"many-refined-into-one"}


HOSTILE = {
    "deep lists": '{"query": "q", "retrieval_results": ' + "[" * 5000 + "]" * 5000 + "}",
    "deep objects": '{"query": "q", "question": ' + '{"a": ' * 900 + "1" + "}" * 900 + "}",
    "huge numbers": json.dumps(
        {
            "query": "q",
            "retrieval_results": [{"text": "a", "score": 10**400}, {"text": "b", "score": -(10**400)}],
            "refining_results": [
                {"text": "a", "original_length": 10**400, "refined_length": 10**800, "compression_ratio": 10**300},
                {"text": "b", "original_length": 1, "refined_length": 10**4000, "compression_ratio": 1e308},
                {"text": "c", "original_length": 3, "refined_length": 1, "compression_ratio": 1e-300},
            ],
            "retrieval_time": 10**400,
            "refine_time": 10**400,
            "refining_time": 0.5,
        }
    ),
    "not finite": '{"query": "q", "retrieval_results": [{"text": "a", "score": NaN}, {"text": "b", "score": 1e400}], '
    '"refine_time": -Infinity, "refining_results": [{"compression_ratio": NaN, "original_length": Infinity}]}',
    "surrogates": '{"query": "\\ud800", "references": ["\\udfff"], "retrieval_docs": ["\\ud800"], "\\ud800": 1, '
    '"question": {"id": "\\ud800"}, "generated": "\\ud83d"}',
    "everything null": json.dumps(dict.fromkeys(sorted(KNOWN))),
    "everything a list": json.dumps({k: [[]] for k in sorted(KNOWN)}),
    "everything an object": json.dumps({k: {"text": {}} for k in sorted(KNOWN)}),
    "lists of everything": json.dumps({k: [None, 1, "a", [], {}, True, {"text": []}] for k in sorted(KNOWN)}),
    "unhashable references": '{"query": "q", "references": [[], {}], "question": {"references": [{}, []]}}',
    "odd keys": '{"query": "q", "": 1, " ": 2, "a/b~c": 3, "\\u0000": 4, "_": 5}',
    "long key": json.dumps({"query": "q", "k" * 100_000: 1}),
}


@pytest.mark.parametrize("profile", [("unified",), ("operators",), ("unified", "operators")])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_records_crash_nothing(name: str, profile: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(HOSTILE[name] + "\n" + json.dumps(DOCUMENTED) + "\n", encoding="utf-8")

    report = validate(path, format="sage", profile=profile, max_per_rule=0)

    assert not [f for f in report.findings if f.rule == "rule-crashed"]
    assert all("?" not in f.message or "Which tide" in f.message for f in report.findings if f.code.startswith("SG"))


ANY_VALUE = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5), st.just("Neap tides")
    ),
    lambda below: st.one_of(
        st.lists(below, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    "text",
                    "score",
                    "content",
                    "similarity_score",
                    "original_length",
                    "refined_length",
                    "compression_ratio",
                    "id",
                    "references",
                    "metadata",
                    "document_index",
                    "refine_time",
                ]
            ),
            below,
            max_size=4,
        ),
    ),
    max_leaves=8,
)


@given(record=st.dictionaries(st.sampled_from([*sorted(KNOWN), "querry", "own"]), ANY_VALUE, max_size=8))
@settings(max_examples=examples(150), deadline=None)
def test_any_record_is_judged_by_both_engines_alike(
    record: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("sage") / "records.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in (DOCUMENTED, record, OPERATORS)), encoding="utf-8")
    profiles = ("unified", "operators")

    small = validate(path, format="sage", profile=profiles, max_per_rule=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset_run, "SMALL_DATASET", -1)
        big = validate(path, format="sage", profile=profiles, max_per_rule=0)

    assert not [f.message for f in small.findings if f.rule == "rule-crashed"]
    assert list(map(str, small.findings)) == list(map(str, big.findings))


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("retrival_docs", "retrieval_docs", True),
        ("refining_result", "refining_results", True),
        ("qurey", "query", True),
        ("Query", "query", True),
        ("query", "query", False),
        ("querries", "query", False),
        ("refining_docs", "reranking_docs", False),
    ],
)
def test_one_edit(one: str, other: str, apart: bool) -> None:
    assert one_edit_apart(one, other) is apart
    assert one_edit_apart(other, one) is apart


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (DOCUMENTED, "documented"),
        (OPERATORS, "operators"),
        ({"query": "q", "retrieval_results": [{"text": "a"}]}, ""),
        ({"query": "q", "refine_time": 0.3}, "operators"),
        ({"query": "q", "refine_time": 0.3, "golds": ["a"]}, "older"),
        ({"query": "q", "results": ["a"]}, "older"),
        ({"query": "q", "compressed_context": "a"}, "operators"),
        ({"query": "q"}, ""),
    ],
)
def test_generations(record: dict[str, Any], message: str) -> None:
    assert generation(record) == message


@pytest.mark.parametrize("text", ["The", "?", "a, an & the!", " ", "...", "A The"])
def test_references_that_say_nothing(text: str) -> None:
    assert says_nothing(text)


@pytest.mark.parametrize("text", ["x", "The Hague", "é", "no", "theatre", "1", "？"])
def test_references_that_say_something(text: str) -> None:
    assert not says_nothing(text)


def test_the_migration_of_older_keys_is_named_field_by_field(tmp_path: Path) -> None:
    record = {
        "query": "q",
        "results": [{"text": "a", "relevance_score": 0.5}],
        "retrieved_docs": ["a"],
        "refined_docs": ["b"],
        "refine_metrics": {"refine_time": 0.3, "rate": 2},
        "pred": "Paris",
        "golds": "Paris",
    }
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")

    rules = [f.message.split("; ")[0] for f in validate(path).findings if f.rule == "older-key"]

    assert rules == [
        "results is an older name: it becomes reranking_results, with the texts as reranking_docs",
        "retrieved_docs is an older name: it becomes retrieval_docs",
        "refined_docs is an older name: it becomes refining_docs",
        "refine_metrics is an older name: its refine_time becomes refining_time, the rest custom_refine_metrics",
        "pred is an older name: it becomes generated",
        "golds is an older name: it becomes references, as an array of one",
    ]


def test_both_profiles_are_checked_where_both_are_named(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(DOCUMENTED) + "\n", encoding="utf-8")

    both = {f.rule for f in validate(path, profile=("unified", "operators")).findings}

    assert {"missing-operators-time", "refined-as-object"} <= both
    assert not {f.rule for f in validate(path).findings if f.severity != "info"}


def test_types_for_operators_have_the_declared_fields() -> None:
    assert list(get_type_hints(RAGData)) == [f.name for f in RECORD.fields]
    for kind in (RAGData, Question, RetrievalResult, RerankingResult, RefiningResult):
        assert getattr(schemas, kind.__name__) is kind
        assert not kind.__required_keys__
        assert kind.__doc__
    assert set(get_type_hints(RefiningResult)) == set(DOCUMENTED["refining_results"][0])
    assert set(get_type_hints(RetrievalResult)) == set(DOCUMENTED["retrieval_results"][0])


def test_types_are_imported_when_they_are_asked_for() -> None:
    code = (
        "import sys, ragdatakit.schemas as s; print('ragdatakit.schemas.sage.types' in sys.modules, s.RAGData.__name__)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "RAGData"]
    with pytest.raises(AttributeError, match="Nothing"):
        schemas.Nothing  # type: ignore[attr-defined]  # noqa: B018


OPERATOR = """
from ragdatakit.schemas import RAGData, RetrievalResult

def retrieve(data: RAGData) -> RAGData:
    found: list[RetrievalResult] = [{"text": "Neap tides.", "score": 0.5, "metadata": {"id": "c8"}}]
    data["retrieval_results"] = found
    data["retrieval_docs"] = [result["text"] for result in found]
    data["retrieval_time"] = 0.02
    return data

answer: RAGData = {"query": "Which tide?", "references": ["neap tide"], "generated": "Neap"}
"""
WRONG = """
wrong: RAGData = {"query": "Which tide?", "refine_time": 0.3}
answer["retrieval_time"] = "0.02"
"""


@pytest.mark.broad(20)  # mypy reads the whole package for it
def test_mypy_knows_the_types(tmp_path: Path) -> None:
    sound, wrong = tmp_path / "sound_operator.py", tmp_path / "wrong_operator.py"
    sound.write_text(OPERATOR, encoding="utf-8")
    wrong.write_text(OPERATOR + WRONG, encoding="utf-8")

    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), sound, wrong]
    done = subprocess.run(words, capture_output=True, text=True, check=False).stdout

    assert [line for line in done.splitlines() if sound.name in line] == []
    assert 'Extra key "refine_time"' in done
    assert "[typeddict-item]" in done
    assert "Found 2 errors" in done
