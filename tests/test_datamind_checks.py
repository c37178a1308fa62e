"""DataMind chunks, triples, questions, skills and CSV files against what the two loaders do."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.texts.compared_answers import words_only
from ragdatakit.schemas.datamind.format import DATAMIND
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.datamind.bench import plain_questions, question_problems, reference_problems
from ragdatakit.validators.datamind.checks import DataMindChecks
from ragdatakit.validators.datamind.chunks import chunk_problems, v2_hash, v2_id
from ragdatakit.validators.datamind.csv import csv_problems
from ragdatakit.validators.datamind.images import ImageFolder
from ragdatakit.validators.datamind.shapes import shape_of
from ragdatakit.validators.datamind.skills import read_skill
from ragdatakit.validators.datamind.triples import triple_problems, unused_fields
from ragdatakit.validators.records import RecordChecker

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
TEXT = "Spring tides follow the moon."
NOWHERE = ImageFolder(None)


def names(problems: Any) -> list[str]:
    return [p.rule for p in problems]


def found(kind: str, value: Any, profile: str = "") -> list[str]:
    """Rules that a record breaks, by its declaration and by the checks; those of one profile where it is given."""
    extra = {
        "chunks": lambda v: list(chunk_problems(v, NOWHERE, profile != "v2")),
        "triplets": lambda v: list(triple_problems(v, NOWHERE)),
        "bench": lambda v: list(question_problems(v)),
        "results": lambda v: list(reference_problems(v)),
    }[kind]
    checker = RecordChecker(DATAMIND.file(kind).records, extra)
    _, problems = checker.examine(json.dumps(value).encode())
    own = {r.name: r for r in DATAMIND.rules}
    return [p.rule for p in problems if not profile or own[p.rule].applies((profile,))]


@pytest.mark.parametrize(
    ("chunk", "v1", "v2"),
    [
        ({"text": TEXT}, [], []),
        ({"text": TEXT, "metadata": {"page": 3, "ok": True, "score": 0.5, "by": "x"}}, [], []),
        (["a", "b"], ["chunk-not-object"], ["chunk-not-object"]),
        ({"metadata": {"source": "x"}}, ["empty-chunk"], ["empty-chunk"]),
        ({"text": ""}, ["empty-chunk"], ["empty-chunk"]),
        ({"text": None}, ["null-text"], ["null-text"]),
        ({"text": 7}, ["text-not-string"], ["text-not-string"]),
        ({"text": " \t\u3000"}, ["blank-text"], ["blank-text"]),
        ({"text": f" {TEXT}"}, [], ["padded-text"]),
        ({"text": f"{TEXT}\u00a0"}, [], ["padded-text"]),
        ({"text": TEXT, "metadata": None}, ["null-metadata"], []),
        ({"text": TEXT, "metadata": "x"}, ["metadata-not-object"], ["metadata-not-object"]),
        ({"text": TEXT, "modality": "Image"}, ["unknown-modality"], []),
        ({"text": TEXT, "modality": None}, ["unknown-modality"], []),
        ({"text": TEXT, "metadata": {"a": {"k": 1}}}, ["nested-metadata"], ["nested-metadata"]),
        ({"text": TEXT, "metadata": {"a": ["x", "y"]}}, ["list-metadata"], []),
        ({"text": TEXT, "metadata": {"a": [True, False]}}, ["list-metadata"], []),
        ({"text": TEXT, "metadata": {"a": []}}, ["mixed-list-metadata"], ["mixed-list-metadata"]),
        ({"text": TEXT, "metadata": {"a": [1, True]}}, ["mixed-list-metadata"], ["mixed-list-metadata"]),
        ({"text": TEXT, "metadata": {"a": [[1]]}}, ["mixed-list-metadata"], ["mixed-list-metadata"]),
        ({"text": TEXT, "metadata": {"": 1}}, ["forbidden-metadata-key"], ["forbidden-metadata-key"]),
        ({"text": TEXT, "metadata": {"a": None}}, ["lossy-metadata-value"], ["lossy-metadata-value"]),
        ({"text": TEXT, "metadata": {"a": 2**52}}, [], []),
        ({"text": TEXT, "source": 12}, [], ["source-not-string"]),
        ({"text": TEXT, "source": 12, "id": "a"}, [], []),
        ({"text": TEXT, "source": {"f": 1}, "id": "a"}, [], ["source-not-string"]),
        ({"text": TEXT, "source": None, "id": None}, [], []),
        ({"text": "x " * 16_390 + "y"}, ["oversized-chunk"], ["oversized-chunk"]),
        ({"text": "", "modality": "image"}, ["modality-without-image"], ["empty-chunk"]),
        ({"text": TEXT, "modality": "text_image", "image_path": None}, ["modality-without-image"], []),
        ({"text": TEXT, "image_path": "../key.png", "modality": "text_image"}, ["image-outside-profile"], []),
        ({"text": TEXT, "image_path": 5}, ["image-path-not-string"], []),
        ({"text": TEXT, "image_path": ""}, ["empty-image-path"], []),
        ({"text": TEXT, "image_path": "images/a.png"}, ["image-with-text-modality"], []),
        ({"text": TEXT, "image_path": "images/a.png", "modality": "text_image"}, [], []),
        ({"text": "", "image_path": "a.png", "modality": "image"}, ["image-only-chunk"], ["image-only-chunk"]),
        ({"text": TEXT, "image_description": 1}, ["image-description-not-string"], []),
    ],
)
def test_a_chunk_breaks_the_rules_of_each_loader(chunk: Any, v1: list[str], v2: list[str]) -> None:
    assert found("chunks", chunk, "v1") == v1
    assert found("chunks", chunk, "v2") == v2


@pytest.mark.parametrize(
    ("change", "v1", "v2"),
    [
        ({}, [], []),
        ({"object": ...}, ["missing-triple-field"], ["missing-triple-field"]),
        ({"object": 1982}, ["triple-field-not-string"], ["triple-field-not-string"]),
        ({"subject_type": None}, ["triple-field-not-string"], ["triple-field-not-string"]),
        ({"relation": ""}, ["empty-name"], ["empty-name"]),
        ({"relation": " "}, ["empty-name"], ["empty-name"]),
        ({"subject": "A "}, ["padded-name"], ["padded-name"]),
        ({"confidence": "high"}, ["confidence-not-number"], ["confidence-not-number"]),
        ({"confidence": None}, ["confidence-not-number"], ["confidence-not-number"]),
        ({"confidence": "0.9"}, [], []),
        ({"confidence": True}, [], []),
        ({"confidence": 7}, [], ["confidence-out-of-range"]),
        ({"source": None}, ["null-triple-source"], []),
        ({"source": 12}, ["triple-source-not-string"], ["triple-source-not-string"]),
        ({"subject_properties": None}, ["entity-properties-not-object"], []),
        ({"properties": None}, [], ["edge-properties-not-object"]),
        ({"object": "A"}, [], ["self-loop"]),
        ({"object_properties": {"image": "/etc/a.png"}}, ["missing-entity-image"], []),
    ],
)
def test_a_triple_breaks_the_rules_of_each_loader(change: dict[str, Any], v1: list[str], v2: list[str]) -> None:
    triple = {"subject": "A", "relation": "r", "object": "B", **change}
    triple = {k: v for k, v in triple.items() if v is not ...}

    assert found("triplets", triple, "v1") == v1
    assert found("triplets", triple, "v2") == v2


def test_fields_that_a_loader_throws_away_are_reported() -> None:
    triple = {"confidence": 0.5, "source": "x", "properties": {}, "subject_properties": {"a": 1}}

    assert sorted(unused_fields(triple)) == [
        "unused-confidence",
        "unused-edge-properties",
        "unused-entity-properties",
        "unused-triple-source",
    ]
    assert list(unused_fields({"confidence": None})) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"question": ...}, ["missing-question"]),
        ({"question": " "}, ["missing-question"]),
        ({"question": None}, ["question-not-string"]),
        ({"question": 5}, ["question-not-string"]),
        ({"reference_answer": ["A", "B"]}, ["reference-not-string"]),
        ({"reference_answer": ""}, ["empty-reference"]),
        ({"reference_answer": "«…»"}, ["empty-reference"]),
        ({"reference_answer": "_"}, ["short-reference"]),
        ({"reference_answer": None}, ["null-reference"]),
        ({"reference_answer": "8"}, ["short-reference"]),
        ({"reference_answer": "No."}, ["short-reference"]),
        ({"reference_answer": "東京"}, []),
        ({"reference_answer": ...}, []),
        ({"question_id": ...}, ["missing-question-id"]),
    ],
)
def test_a_question_breaks_the_rules_of_the_page(change: dict[str, Any], expected: list[str]) -> None:
    question = {"question": "Who?", "reference_answer": "the moon", "question_id": "n1", **change}

    assert found("bench", {k: v for k, v in question.items() if v is not ...}) == expected


def test_the_evaluation_keeps_articles_and_underscores() -> None:
    assert words_only("  The New_Moon's —  phase!") == "the new_moon s phase"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"question": ...}, ["missing-result-question"]),
        ({"answer": None}, ["answer-not-string"]),
        ({"answer": ...}, []),
        ({"reference_answer": ""}, ["empty-reference"]),
    ],
)
def test_a_result_breaks_the_rules_of_the_page(change: dict[str, Any], expected: list[str]) -> None:
    result = {"index": 0, "question": "Who?", "answer": "A", "error": None, "latency_s": 0.5, **change}

    assert found("results", {k: v for k, v in result.items() if v is not ...}) == expected


def test_plain_questions_are_questions_but_for_json_among_them() -> None:
    data = b'Who?\r\n\r\n1984\n{"question": ""}\n{"question": 5}\nWhen?'

    problems = [(p.rule, p.line) for p in plain_questions(data)]

    assert problems == [
        ("question-line-not-object", 3),
        ("missing-question", 4),
        ("question-not-string", 5),
        ("plain-text-questions", None),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nname: a\ndescription: b\nkeywords: [x, y]\n---\nText", []),
        ("---\nname: 'a'\ndescription: b\n---", []),
        ("---  \r\nname: a\r\ndescription: b\r\n---\r\nText", []),
        ("---\nname: a\ndescription: b\nText", [("unread-front-matter", 1)]),
        ("\n---\nname: a\n---\nText", [("unread-front-matter", 1)]),
        ("\ufeff---\nname: a\n---\nText", [("unread-front-matter", 1)]),
        ("---\n---\nText", [("unread-front-matter", 1)]),
        ("Text only", [("unnamed-skill", 1), ("unnamed-skill", 1)]),
        ("---\nname: a\ndescription: |\n  b\n---\nText", [("multi-line-front-matter", 3)]),
        ("---\nname: a\ndescription: >-\n  b\n---\nText", [("multi-line-front-matter", 3)]),
        ("---\nname: a\ndescription: b\nkeywords:\n  - x\n---\nText", [("multi-line-front-matter", 4)]),
        ("---\nname: a\ndescription: b\nkeywords: ['x, y', z]\n---\nText", [("comma-in-list-item", 4)]),
    ],
)
def test_front_matter_is_read_line_by_line(text: str, expected: list[tuple[str, int]]) -> None:
    skill = read_skill(text.encode(), "folder")

    assert [(p.rule, p.line) for p in skill.problems] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,name\n1,a\n", []),
        ("id,Name,name\n1,a,b\n", [("duplicate-csv-header", 1)]),
        ("col_2,unit price\n1,2\n", [("renamed-csv-header", 1), ("duplicate-csv-header", 1)]),
        ("\ufeffid,name\n1,2\n", [("renamed-csv-header", 1)]),
        ('id,name\r\n1,"a\r\nb"\r\n2\r\n', [("ragged-csv-row", 4)]),
        ("id,name\n\n1,a\n", [("blank-csv-row", 2)]),
        ("id,name\n", [("empty-csv", None)]),
        ("", [("empty-csv", None)]),
        ("\n1,2\n", [("unreadable-csv", 1)]),
        (f"id\n1\n{'x' * 140_000}\n", [("unreadable-csv", 3)]),
    ],
)
def test_a_csv_file_is_read_as_the_import_reads_it(text: str, expected: list[tuple[str, int | None]]) -> None:
    assert [(p.rule, p.line) for p in csv_problems(text.encode())] == expected


def test_the_longest_cell_is_the_import_s_whatever_the_process_allows() -> None:
    before = csv.field_size_limit(1 << 30)
    try:
        found = [(p.rule, p.line) for p in csv_problems(f"id\n1\n{'x' * 140_000}\n".encode())]
    finally:
        csv.field_size_limit(before)

    assert found == [("unreadable-csv", 3)]


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    root = tmp_path / "profile"
    images = root / "images"
    images.mkdir(parents=True)
    (images / "moon.png").write_bytes(PNG)
    (images / "moon.webp").write_bytes(b"RIFF\0\0\0\0WEBPVP8 ")
    (images / "moon.bmp").write_bytes(PNG)
    (images / "text.png").write_text("no picture")
    (images / "lfs.png").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    (tmp_path / "secret.png").write_bytes(PNG)
    (images / "way-out.png").symlink_to(tmp_path / "secret.png")
    (images / "within.png").symlink_to("moon.png")
    (images / "loop.png").symlink_to("loop.png")
    (root / "up").symlink_to(tmp_path)
    os.mkfifo(images / "pipe.png")
    return root


@pytest.mark.parametrize(
    ("image_path", "expected"),
    [
        ("images/moon.png", None),
        ("./images//moon.png", None),
        ("images/../images/moon.webp", None),
        ("images/within.png", None),
        ("images/none.png", "missing"),
        ("images/Moon.png", "missing"),
        ("images", "missing"),
        ("images/pipe.png", "missing"),
        ("images/loop.png", "missing"),
        ("images\\moon.png", "missing"),
        ("images/\0.png", "missing"),
        ("images/\ud83d.png", "missing"),
        ("x" * 5_000, "missing"),
        ("images/moon.bmp", "not-image"),
        ("images/text.png", "not-image"),
        ("images/lfs.png", "not-image"),
        ("../secret.png", "outside"),
        ("images/../../secret.png", "outside"),
        ("up/secret.png", "outside"),
        ("images/way-out.png", "outside"),
        ("/etc/passwd", "outside"),
        ("C:\\moon.png", "outside"),
    ],
)
def test_images_are_looked_at_inside_the_profile_only(profile: Path, image_path: str, expected: str | None) -> None:
    fault = ImageFolder(profile).fault(image_path)

    assert (fault.kind if fault else None) == expected


def test_images_that_nothing_names_are_listed(profile: Path) -> None:
    images = ImageFolder(profile)

    images.list_unnamed()
    images.fault("./images/moon.png")

    assert "images/moon.png" not in images.unnamed()
    assert "images/moon.webp" in images.unnamed()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"text": "a"}\n', "lines"),
        ('["a", "b"]\n{"text": "a"}\n', "lines"),
        ('["a", "b"]\n', "lines"),
        ('[{"text": "a"}]', "array"),
        ('[\n{"text": "a"}\n]\n', "array"),
        ('\ufeff[\n{"text": "a"}\n]\n', "array"),
        ('["a",\n{"text": "a"}\n', "lines"),
        ('{\n"text": "a"\n}\n', "spread objects"),
        ("Who?\nWhen?\n", "plain text"),
        ('Who?\n{"question": "a"}\n', "lines"),
        ("", "lines"),
        ("[" + '{"text": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},' * 3_000 + "{}]", "array"),
    ],
)
def test_the_shape_of_a_file_is_reported_from_its_ends(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(text.encode())

    assert shape_of(path, plain_allowed=True) == expected


def test_v2_makes_ids_as_text_and_hashes_the_rest() -> None:
    assert v2_id({"id": 1, "text": "a"}) == v2_id({"id": "1", "text": "b"}) == "1"
    assert v2_id({"id": 0, "text": "a"}) is None
    assert v2_id({"id": "x", "text": " "}) is None
    assert v2_hash({"text": "a"}, "f.jsonl") == v2_hash({"text": " a ", "source": "f.jsonl"}, "g.jsonl")
    assert v2_hash({"text": "a"}, "f.jsonl") != v2_hash({"text": "a"}, "g.jsonl")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [f.name for kind in ("chunks", "triplets", "bench", "results") for f in DATAMIND.file(kind).record.fields]
)


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> DataMindChecks:
    root = tmp_path_factory.mktemp("profile")
    return DataMindChecks(Dataset(root, str(root), DATAMIND, "profile"), ())


@given(value=VALUES | st.dictionaries(FIELDS, VALUES))
def test_no_record_makes_a_check_raise(checks: DataMindChecks, value: Any) -> None:
    for kind in ("chunks", "triplets", "bench", "results"):
        file = DataFile(Path("a"), "a", f"{kind}/a.jsonl", kind)

        assert all(isinstance(p, Problem) for p in checks.record(file, value))
        assert all(v is None or isinstance(v, str) for v in checks.derive(kind, value).values())


@given(data=st.binary() | st.text(alphabet="-;:'\"\\[]/*\n,{} aCREATETABLEt").map(str.encode))
def test_no_file_makes_a_check_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    root = tmp_path_factory.getbasetemp()
    checks = DataMindChecks(Dataset(root, str(root), DATAMIND, "file"), ())
    for kind in ("tables", "plain-bench", "skills", "claude-skills", "uploads-csv"):
        file = DataFile(Path("a"), "a", f"x/{kind}", kind)

        assert all(isinstance(p, Problem) for p in checks.text(file, data))
    list(checks.finish())


def test_every_rule_is_declared_once_and_says_which_loader_breaks() -> None:
    declared = [r.name for r in DATAMIND.rules]

    assert len(declared) == len(set(declared)) == len({r.code for r in DATAMIND.rules})
    for rule in DATAMIND.rules:
        assert re.fullmatch(r"DM\d{3}", rule.code)
        assert isinstance(rule.upstream, dict), rule.name
        assert set(rule.upstream) <= {"v1", "v2"}
        assert not rule.message.endswith(".")
        assert "\n" not in rule.message
