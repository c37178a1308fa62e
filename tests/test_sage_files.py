"""SAGE files found by their content, beside those of other formats; documents, mapping and results together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit import validate
from ragdatakit.files.detection.find import detect
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.validators import dataset_run
from tests.broad import examples
from tests.command_line import FIXTURES
from tests.sage_cases import DOCUMENTED, OPERATORS

RESULTS = {"metadata": {"pipeline_name": "naive"}, "results": []}
SIGNS: tuple[tuple[str, Any], ...] = (
    ("records", DOCUMENTED),
    ("records", OPERATORS),
    ("records", {"query": "q"}),
    ("records", {"retrieval_docs": ["a"]}),
    ("records", {"generation_time": 0.4, "source": "a", "tag": "b", "user": "c"}),
    ("records", {"query": "q", "results": []}),
    ("records", {"query": "q", "refine_time": 0.3}),
    ("records", {"pred": "a", "golds": ["a"]}),
    ("records", {"query": "q", "references": ["a"], "all_classes": None, "length": 3, "_dataset": "d", "context": "c"}),
    ("records", ["q", ["a", "b"]]),
    ("documents", {"contents": "a"}),
    ("documents", {"id": 1, "title": "a", "contents": "b", "url": "c", "date": "d"}),
    ("benchmark-questions", {"id": "t1", "question": "q", "answers": ["a"], "ctxs": []}),
    ("benchmark-results", RESULTS),
    ("dumps", {"timestamp": 1.5, "query": "q", "retrieval_results": [], "backend_type": "chroma", "top_k": 10}),
    ("dumps", {"timestamp": 1.5, "query": "q", "retrieved_count": 0, "documents": []}),
    ("dumps", {"timestamp": 1.5, "query": "q", "external_corpus": "a", "prompt": []}),
    ("dumps", {"timestamp": 1.5, "query": "q", "input_docs": [], "refined_docs": [], "budget": 2048}),
    ("dumps", {"timestamp": 1.5, "query": "q", "prompt": "a", "response": "b", "model_name": "c"}),
)
UNKNOWN: tuple[Any, ...] = (
    {"qid": 1, "query": "q"},
    {"user": "a", "message": "b"},
    {"timestamp": 1.5, "query": "q", "user": "a"},
    {"question": "q", "context": "c"},
    ["a", "b"],
    [1, 2],
    12,
)


@pytest.mark.parametrize("name", ["any.jsonl", "any.json"])
@pytest.mark.parametrize(("kind", "value"), SIGNS)
def test_a_lone_file_is_known_by_its_first_record(kind: str, value: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(json.dumps(value, indent=None if name == "any.jsonl" else 2) + "\n", encoding="utf-8")

    (lone,) = detect(path).datasets
    (below,) = detect(tmp_path).datasets

    assert (lone.format.name, [f.kind for f in lone.files]) == ("sage", [kind])
    assert (below.format.name, [f.kind for f in below.files]) == ("sage", [kind])


def formats_at(path: Path) -> set[str]:
    try:
        return {d.format.name for d in detect(path).datasets}
    except RagdataError:
        return set()


@pytest.mark.parametrize("value", UNKNOWN)
def test_other_files_are_not_taken(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "any.jsonl"
    path.write_text(json.dumps(value) + "\n", encoding="utf-8")

    assert "sage" not in formats_at(path)
    assert "sage" not in formats_at(tmp_path)


@pytest.mark.parametrize(
    "text", ['["q", ["a"]]\n["r", ["b"]]\n', '["q", "a"]\n["r", "b"]\n', '[["q", ["a"]], ["r", []]]']
)
def test_saved_pairs_are_records(text: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.json"
    path.write_text(text, encoding="utf-8")

    found = validate(path).findings

    assert [f.rule for f in found] == ["record-is-array"] * 2


@pytest.mark.broad
def test_other_formats_keep_their_datasets() -> None:
    stolen = []
    for case in sorted(FIXTURES.glob("*/*/*")):
        if case.parts[-3] in ("light-splade", "arag", "datamind", "gfm-rag", "shared"):
            try:
                stolen += [str(case) for d in detect(case).datasets if d.format.name == "sage"]
            except RagdataError:
                continue

    assert stolen == []


def test_the_files_of_sage_are_of_sage() -> None:
    for case in sorted(FIXTURES.glob("sage/*/*")):
        assert {d.format.name for d in detect(case).datasets} == {"sage"}, case


def test_a_folder_of_several_things(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_text(json.dumps(DOCUMENTED) + "\n", encoding="utf-8")
    (tmp_path / "log.jsonl").write_text('{"user": "a"}\n', encoding="utf-8")
    (tmp_path / "docs.jsonl").write_text('{"contents": "a"}\n', encoding="utf-8")
    (tmp_path / "chunk_mapping.json").write_text("[0]", encoding="utf-8")

    found = detect(tmp_path)

    assert [(f.name, f.kind) for d in found.datasets for f in d.files] == [
        ("docs.jsonl", "documents"),
        ("chunk_mapping.json", "mapping"),
        ("records.jsonl", "records"),
    ]
    assert [Path(p).name for p in found.unrecognised] == ["log.jsonl"]


def test_a_mapping_alone_is_known_where_the_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mapping.json"
    path.write_text("[0, 1.5]", encoding="utf-8")

    assert [f.rule for f in validate(path, format="sage").findings] == ["mapping-not-integers"]
    with pytest.raises(RagdataError, match="not recognised"):
        validate(path)


@pytest.mark.parametrize("name", ["records.jsonl", "records.json", "documents.jsonl"])
def test_a_file_that_nothing_can_be_reported_from_is_known_where_the_format_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("pear\n", encoding="utf-8")

    found = validate(path, format="sage").findings

    assert [f.rule for f in found] == ["document-not-json" if name.startswith("doc") else "record-not-json"]


def test_generations_are_reported_per_file(tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text((json.dumps(OPERATORS) + "\n") * 3, encoding="utf-8")
    (tmp_path / "old.jsonl").write_text('{"query": "q", "golds": ["a"]}\n{"query": "q"}\n', encoding="utf-8")

    rules = [f.message.split(";")[0] for f in validate(tmp_path).findings if f.rule == "records-of-another-generation"]

    assert rules == ["records as today's operators write them: 3 of 3", "records older than the documentation: 1 of 2"]
    for_operators = validate(tmp_path, profile="operators").findings
    assert [Path(f.path).name for f in for_operators if f.rule == "records-of-another-generation"] == ["old.jsonl"]


TEXTS = st.sampled_from(["a", "tide", "", " ", "\u3000", "\n", "é", "漢字", " a"])
DOCUMENTS = st.lists(
    st.fixed_dictionaries(
        {"contents": TEXTS},
        optional={
            "id": st.sampled_from(["1", 1, 2, "x", None, True, 1.5, [1]]),
            "text": st.one_of(TEXTS, st.none(), st.just(3)),
            "title": TEXTS,
            "doc_size": st.integers(0, 9),
        },
    ),
    min_size=1,
    max_size=8,
)


@given(documents=DOCUMENTS, with_records=st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_documents_are_judged_by_both_engines_alike(
    documents: list[dict[str, Any]], with_records: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("sage")
    text = "".join(json.dumps(d, ensure_ascii=False) + "\n" for d in [{"contents": "Neap tides."}, *documents])
    (folder / "documents.jsonl").write_text(text, encoding="utf-8")
    if with_records:
        results = [{"text": d["contents"], "document_index": i, "title": "tide"} for i, d in enumerate(documents)]
        (folder / "records.jsonl").write_text(
            json.dumps({"query": "q", "retrieval_results": results}), encoding="utf-8"
        )

    small = validate(folder, max_per_rule=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset_run, "SMALL_DATASET", -1)
        patch.setattr(dataset_run, "TEXT_BLOCK_BYTES", 120)
        big = validate(folder, max_per_rule=0)

    assert list(map(str, big.findings)) == list(map(str, small.findings))
    blank = sum(not d["contents"].strip() for d in documents)
    assert sum(f.rule == "empty-contents" for f in small.findings) == blank
    ids = [str(d["id"]) for d in documents if d.get("id") not in (None, [1]) and d.get("id") is not True]
    assert sum(f.rule == "duplicate-document-id" for f in small.findings) == len(ids) - len(set(ids))


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "is empty"), ("[]", "is an empty JSON array"), (" [ ]\n", "is an empty JSON array"), ("\n \n", "blanks")],
)
def test_an_empty_file_is_called_so(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(text)

    for given_path in (path, tmp_path):
        with pytest.raises(RagdataError, match=f"{words}: there is no record to check"):
            validate(given_path, format="sage")


@pytest.mark.parametrize(("text", "rule"), [("{'query': 'q'}\n", "record-not-json"), ("{}", "missing-query")])
def test_a_file_that_tells_nothing_is_what_the_user_says(text: str, rule: str, tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(text)

    for given_path in (path, tmp_path):
        assert [f.rule for f in validate(given_path, format="sage").findings] == [rule]


def test_no_advice_to_name_a_format_that_was_named(tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text('{"a": 1}\n')

    with pytest.raises(RagdataError, match="see `ragdata formats sage` for the files it has"):
        validate(tmp_path, format="sage")
