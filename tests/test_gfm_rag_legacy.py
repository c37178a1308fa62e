"""The layout of GFM-RAG before release 2, against what its own loader did with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit import validate
from ragdatakit.schemas import get_format
from ragdatakit.schemas.findings import Finding
from ragdatakit.validators.gfm_rag.legacy import Triple, TripleLines, delimiter_of, lines_of, split_line
from tests.gfm_rag_behaviour import SERIOUS, Kind
from tests.gfm_rag_sets import changed, write
from tests.upstream_data import UPSTREAM_DATA, needs

REAL = UPSTREAM_DATA / "gfm-rag-sample"
needs_real_data = needs("gfm-rag-sample")

STAGE1 = "processed/stage1/"
SAMPLE: dict[str, Any] = {
    "id": "h1",
    "question": "Which boat did the Osprey tow?",
    "answer": "Lena",
    "supporting_facts": ["Harbour log"],
    "question_entities": ["osprey"],
    "supporting_entities": ["lena"],
}
FILES: dict[str, Any] = {
    "raw/dataset_corpus.json": {"Harbour log": "The tug Osprey towed the barge Lena into Port Hale."},
    STAGE1 + "kg.txt": "osprey,towed,lena\nlena,lies in,port hale\n",
    STAGE1 + "document2entities.json": {"Harbour log": ["osprey", "lena"]},
    STAGE1 + "test.json": [SAMPLE],
}


def findings(root: Path, change: dict[str, Any]) -> list[Finding]:
    """What is found in the changed dataset, but for the finding that every such dataset gets."""
    found = validate(write(root, changed(FILES, change)), severity="warning").findings
    assert [f.severity for f in found if f.rule == "legacy-layout"] == ["error"]
    return [f for f in found if f.rule != "legacy-layout"]


def sample(**change: Any) -> dict[str, Any]:
    """The processed questions with one more, changed one."""
    return {STAGE1 + "test.json": [SAMPLE, changed(SAMPLE, {"id": "h2", **change})]}


def kg(*lines: str) -> dict[str, Any]:
    """The triples with more lines."""
    return {STAGE1 + "kg.txt": FILES[STAGE1 + "kg.txt"] + "".join(line + "\n" for line in lines)}


def entities(value: Any, title: str = "Dock log") -> dict[str, Any]:
    """One more document with these entities."""
    return {
        "raw/dataset_corpus.json": {**FILES["raw/dataset_corpus.json"], title: "Nothing."},
        STAGE1 + "document2entities.json": {"Harbour log": ["osprey", "lena"], title: value},
    }


# What is changed, what release 1.0.0 did, our rules.
ROWS: list[tuple[str, dict[str, Any], Kind, set[str]]] = [
    ("nothing", {}, "fine", set()),
    ("comma in a phrase", kg("osprey,towed,lena, slowly"), "drops", {"triple-not-three"}),
    ("two parts", kg("osprey,towed"), "drops", {"triple-not-three"}),
    ("blank line", kg("", "  "), "fine", set()),
    ("CR LF", {STAGE1 + "kg.txt": "osprey,towed,lena\r\nlena,lies in,port hale\r\n"}, "fine", set()),
    ("blanks around the line", kg("  osprey,met,lena  "), "fine", set()),
    ("blanks around a part", kg("osprey, met, lena"), "risky", {"untrimmed-part"}),
    ("empty part", kg("osprey,,lena"), "risky", {"empty-part"}),
    ("repeated line", kg("osprey,towed,lena"), "risky", {"repeated-triple"}),
    (
        "two commas",
        {STAGE1 + "kg.txt": "osprey,,towed,,lena\nlena,,lies in,,port hale\n"},
        "drops",
        {"double-comma-delimiter"},
    ),
    ("no kg.txt", {STAGE1 + "kg.txt": ...}, "raises", {"missing-legacy-file"}),
    ("no document2entities", {STAGE1 + "document2entities.json": ...}, "raises", {"missing-legacy-file"}),
    ("no corpus", {"raw/dataset_corpus.json": ...}, "raises", {"missing-legacy-file"}),
    ("entity not in kg.txt", entities(["osprey", "Lena"]), "drops", {"unknown-document-entity"}),
    (
        "document not in the corpus",
        {STAGE1 + "document2entities.json": {"Harbour log": ["osprey"], "Dock log": ["lena"]}},
        "raises",
        {"document-not-in-corpus"},
    ),
    (
        "document without entities",
        {"raw/dataset_corpus.json": {**FILES["raw/dataset_corpus.json"], "Dock log": "Nothing."}},
        "risky",
        {"document-without-entities"},
    ),
    ("entities null", entities(None), "raises", {"entities-not-list"}),
    ("entities a number", entities(5), "raises", {"entities-not-list"}),
    ("entities a list of lists", entities([["osprey"]]), "raises", {"entities-not-list"}),
    ("entities a text", entities("osprey"), "drops", {"entities-is-text"}),
    ("title is an entity", entities(["osprey"], "lena"), "risky", {"title-is-entity"}),
    ("no question", sample(question=...), "raises", {"missing-legacy-field"}),
    ("no question_entities", sample(question_entities=...), "raises", {"missing-legacy-field"}),
    ("no supporting_entities", sample(supporting_entities=...), "raises", {"missing-legacy-field"}),
    ("no supporting_facts", sample(supporting_facts=...), "raises", {"missing-legacy-field"}),
    ("no id", sample(id=...), "fine", set()),
    ("unknown start", sample(question_entities=["Osprey"]), "drops", {"legacy-sample-skipped"}),
    ("no start", sample(question_entities=[]), "drops", {"legacy-sample-skipped"}),
    ("unknown target", sample(supporting_entities=["Lena"]), "drops", {"legacy-sample-skipped"}),
    ("unknown document", sample(supporting_facts=["Dock log"]), "drops", {"legacy-sample-skipped"}),
    ("pairs", sample(supporting_facts=[["Harbour log", 0]]), "raises", {"supporting-facts-pairs"}),
    ("a null list", sample(question_entities=None), "raises", {"legacy-not-object"}),
    ("no sample", {STAGE1 + "test.json": []}, "raises", {"no-usable-legacy-sample"}),
    ("no questions", {STAGE1 + "test.json": ...}, "raises", {"no-usable-legacy-sample"}),
    (
        "no sample left",
        {STAGE1 + "test.json": [changed(SAMPLE, {"question_entities": []})]},
        "raises",
        {"legacy-sample-skipped", "no-usable-legacy-sample"},
    ),
    ("broken JSON", {STAGE1 + "document2entities.json": '{"Harbour log": ["osprey"'}, "raises", {"legacy-not-json"}),
]


@pytest.mark.parametrize(("change", "does", "expected"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_our_severity_follows_from_what_release_1_did(
    tmp_path: Path, change: dict[str, Any], does: Kind, expected: set[str]
) -> None:
    found = findings(tmp_path, change)

    assert {f.rule for f in found} == expected
    severities = {get_format("gfm-rag").rule(name).severity for name in expected}
    assert ("error" in severities) == (does in SERIOUS)
    assert ("warning" in severities) == (does == "risky")


def test_places_in_the_triples(tmp_path: Path) -> None:
    (parts, blank) = findings(tmp_path, kg("osprey,towed", "", "osprey,met, lena"))

    assert (parts.line, parts.column, parts.value) == (3, None, "osprey,towed")
    assert (blank.line, blank.column, blank.value) == (5, 12, " lena")


def test_a_file_of_two_commas_is_reported_once_with_its_number_of_lines(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, {STAGE1 + "kg.txt": "osprey,,towed,,lena\n" + "lena,,met,,osprey\n" * 1})

    assert "(in 2 records of this file)" in finding.message


def test_bytes_that_are_no_utf8(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    (tmp_path / STAGE1 / "kg.txt").write_bytes(b"osprey,towed,lena\ncaf\xe9,in,lena\n")

    found = [f for f in validate(tmp_path, severity="error").findings if f.rule != "legacy-layout"]

    assert [(f.rule, f.line, f.column) for f in found] == [("invalid-utf8", 2, 4)]


@pytest.mark.parametrize("part", ["", "raw", "processed", "processed/stage1"])
def test_every_part_of_the_layout_may_be_given(tmp_path: Path, part: str) -> None:
    report = validate(write(tmp_path, FILES) / part, severity="warning")

    assert [f.rule for f in report.findings] == ["legacy-layout"]


@pytest.mark.parametrize("name", [STAGE1 + "kg.txt", STAGE1 + "document2entities.json"])
def test_every_file_may_be_given(tmp_path: Path, name: str) -> None:
    report = validate(write(tmp_path, FILES) / name, severity="warning")

    assert [(d.format, [f.rule for f in report.findings]) for d in report.datasets] == [("gfm-rag", ["legacy-layout"])]


def test_leftovers_beside_tables_are_no_legacy_dataset(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, STAGE1 + "nodes.csv": "name,type,attributes\nosprey,entity,{}\n"})

    assert "legacy-layout" not in {f.rule for f in validate(tmp_path).findings}


@given(st.text(st.sampled_from("ab, \n\r\t\x0b"), max_size=40))
def test_lines_are_read_as_release_1_read_them(text: str) -> None:
    kept = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        parts = line.strip().split(",")
        if len(parts) == 3:
            kept += [parts[0], parts[2]]
    lines = TripleLines(lines_of(text))

    problems = list(lines.problems())

    if lines.delimiter == ",":
        assert lines.entities == set(kept)
        skipped = [line for line in lines.lines if line.strip() and len(line.strip().split(",")) != 3]
        assert sum(p.rule == "triple-not-three" for p in problems) == len(skipped)


def test_delimiters() -> None:
    assert (delimiter_of(["a,b,c"]), delimiter_of(["a,,c"]), delimiter_of([])) == (",", ",", ",")
    assert (delimiter_of(["a,,b,,c"]), delimiter_of(["a,,b,,c", "a,b,c"])) == (",,", ",")
    assert split_line(" a, b,c ", ",") == Triple("a", " b", "c")
    assert split_line("a,b", ",") == 2


@needs_real_data
def test_the_fork_with_two_commas() -> None:
    root = REAL / "fork-v1-double-comma" / "hotpotqa_test"
    report = validate(root, max_per_rule=0)
    by_rule: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    lines = lines_of((root / STAGE1 / "kg.txt").read_text(encoding="utf-8"))
    triples = TripleLines(lines)
    repeated = sum(p.rule == "repeated-triple" for p in triples.problems())

    assert "(in 1,826 records of this file)" in by_rule["double-comma-delimiter"][0].message
    assert triples.entities == set(json.loads((root / "processed/stage2/ent2id.json").read_text(encoding="utf-8")))
    assert repeated == 1826 - 1224
    assert by_rule.keys() >= {"legacy-layout", "double-comma-delimiter", "no-usable-legacy-sample", "repeated-triple"}
    assert not by_rule.keys() & {"triple-not-three", "unknown-document-entity", "document-not-in-corpus"}


@needs_real_data
def test_the_fork_with_blanks() -> None:
    report = validate(REAL / "fork-v1-tiny" / "hotpotqa_test", severity="warning")
    found = {f.rule: f for f in report.findings}

    assert (found["untrimmed-part"].line, found["untrimmed-part"].value) == (1, " relation.is_brother_of")
    assert found["unknown-document-entity"].value == "Joe"


@needs_real_data
def test_pointers_that_stand_for_files() -> None:
    root = REAL / "upstream-v0.1.0-lfs-pointers" / "hotpotqa_train_example"
    report = validate(root)

    assert {f.rule for f in report.findings if f.severity == "error"} == {"legacy-layout", "lfs-pointer"}
    assert sum(f.rule == "lfs-pointer" for f in report.findings) == 7
