"""`formats`, `rules`, `explain`, `schema` and `init`: complete, true to the declarations, and fit for programs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ragdatakit import validate
from ragdatakit.schemas import all_formats, all_rules
from ragdatakit.schemas.declarations import File, Format
from tests.broad import chosen
from tests.command_line import run, spawn

FORMATS = all_formats()
RULES = [rule for rule, _ in all_rules()]
RECORDS = [(fmt, file) for fmt in FORMATS for file in fmt.files if file.records]
each_format = pytest.mark.parametrize("fmt", FORMATS, ids=lambda f: f.name)
each_kind = pytest.mark.parametrize(("fmt", "file"), RECORDS, ids=lambda v: v.name if isinstance(v, Format) else v.kind)


@each_format
def test_init_writes_a_dataset_that_passes(fmt: Format, tmp_path: Path) -> None:
    folder = tmp_path / "set"

    outcome = run("init", fmt.name, folder)

    written = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert (outcome.code, written) == (0, set(fmt.example))
    assert all(name in outcome.out for name in written)
    report = validate(folder, severity="warning")
    assert ([f.message for f in report.findings], report.unrecognised) == ([], [])
    assert {d.format for d in report.datasets} == {fmt.name}
    assert run("validate", folder).code == 0


def test_init_leaves_what_is_there_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "empty").mkdir()

    refused, taken = run("init", "light-splade", tmp_path), run("init", "light-splade", tmp_path / "empty")

    assert (refused.code, taken.code) == (2, 0)
    assert {p.name for p in tmp_path.iterdir()} == {"mine.txt", "empty"}


def test_every_rule_is_explained_by_code_and_by_name() -> None:
    """Braces of examples in JSON or YAML are quoted as they are; a word in braces would be a fact nobody filled in."""
    for rule in RULES:
        by_code = run("explain", rule.code.lower())

        assert by_code.code == 0
        if chosen(rule.code):
            by_name = run("explain", rule.name)
            assert by_name.code == 0
            assert by_code.out in by_name.out
        assert f"{rule.code} {rule.name}" in by_code.out and f"Source: {rule.source}" in by_code.out
        assert "What to do: " in by_code.out and not re.search(r"(^|: )None$", by_code.out, re.M)
        shown = by_code.out
        for line in f"{rule.bad}\n{rule.good}\n{rule.hint}".splitlines():
            shown = shown.replace(line, "")
        assert re.findall(r"(?<!\$)\{\w+(?::[^}]*)?\}", shown) == []


def test_rules_as_text_and_as_json_are_all() -> None:
    text, listed = run("rules").out, run("rules", "--output-format", "json").json

    assert [r["code"] for r in listed] == [rule.code for rule in RULES]
    assert [line.split()[0] for line in text.splitlines()] == [rule.code for rule in RULES]
    names = {"code", "name", "severity", "severities", "format", "summary", "upstream", "hint", "source"}
    names |= {"since", "status", "replaced_by", "fix", "fixable"}
    assert all(r.keys() == names for r in listed)


@pytest.mark.parametrize("letters", ["GR", "qu", "TR"])
def test_the_beginning_of_a_code_is_none_of_a_name(letters: str) -> None:
    listed = run("rules", letters, "--output-format", "json").json

    assert {rule["code"][:2] for rule in listed} == {letters.upper()}
    assert len(listed) == sum(rule.code.startswith(letters.upper()) for rule in RULES)


@each_format
def test_rules_of_one_format(fmt: Format) -> None:
    listed = run("rules", fmt.name, "--output-format", "json").json

    assert {r["code"][:2] for r in listed} == {"RD", "QU", fmt.letters}


def test_a_severity_that_depends_on_the_profile_is_reported() -> None:
    (listed,) = [r for r in run("rules", "--output-format", "json").json if r["code"] == "GF304"]

    assert (listed["severity"], listed["severities"]) == ("warning", {"": "warning"})
    assert run("explain", "GF304").out.startswith(
        "GF304 no-entity-edge  (error, or warning where no profile is chosen; gfm-rag; since 0.1.0)\n"
    )


@each_format
def test_formats_shows_every_kind(fmt: Format) -> None:
    text = run("formats", fmt.name).out
    (listed,) = run("formats", fmt.name, "--output-format", "json").json

    assert all(file.kind in text and file.title in text for file in fmt.files)
    assert (listed["name"], listed["rules"]) == (fmt.name, len(fmt.rules))
    assert [f["kind"] for f in listed["files"]] == [file.kind for file in fmt.files]


def test_formats_lists_every_format() -> None:
    listed = run("formats", "--output-format", "json").json

    assert [f["name"] for f in listed] == [fmt.name for fmt in FORMATS]


def examples(document: Any) -> list[Any]:
    """The examples of a schema's records, at its top and in its alternatives."""
    found = list(document.get("examples", ()))
    for part in document.get("anyOf", ()):
        found += part.get("examples", ())
    return found


@each_kind
def test_schema_is_2020_12_and_accepts_its_examples(fmt: Format, file: File) -> None:
    document = run("schema", fmt.name, file.kind).json

    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(document)
    judge = jsonschema.Draft202012Validator(document)
    assert examples(document) and all(judge.is_valid(example) for example in examples(document))


@each_format
def test_schema_of_a_format_is_that_of_its_kinds(fmt: Format, tmp_path: Path) -> None:
    together = run("schema", fmt.name).json
    written = run("schema", fmt.name, "--all", tmp_path / "schemas")

    kinds = [file.kind for file in fmt.files if file.records]
    assert list(together) == kinds
    for kind in kinds:
        assert together[kind] == run("schema", fmt.name, kind).json
    names = {f"{fmt.name}.{kind}.schema.json" for kind in kinds} | {"catalog.json"}
    assert (written.code, {p.name for p in (tmp_path / "schemas").iterdir()}) == (0, names)


def test_schema_of_files_without_records_is_refused() -> None:
    outcome = run("schema", "light-splade", "training-pairs")

    assert (outcome.code, "hold no JSON records" in outcome.err) == (2, True)


def test_version() -> None:
    from ragdatakit import __version__

    assert run("--version").out == f"ragdata {__version__}\n"
    assert spawn("--version").out == f"ragdata {__version__}\n"


def test_every_rule_says_where_its_verdict_comes_from() -> None:
    """In the framework's code or docs, not in a section of notes."""
    notes = r"\b[A-Z]{2}-[A-Z]?\d+|^[A-Z]{2}-?[A-Z]?\d+|^section|^[EW]?\d"
    assert [r.code for r in RULES if len(r.source) <= 5 or re.search(notes, r.source)] == []


def test_rules_have_a_bad_and_a_good_example() -> None:
    assert [rule.code for rule in RULES if not (rule.bad and rule.good)] == []
    assert [rule.code for rule in RULES if rule.bad == rule.good] == []
