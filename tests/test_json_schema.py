"""The schemas of whole files, and the catalogue by which editors find them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fnmatch import translate
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ragdatakit import validate
from ragdatakit.schemas import all_formats, get_format
from ragdatakit.schemas.catalog import CATALOG, documents, file_patterns, schema_name
from ragdatakit.schemas.declarations import File, Format
from ragdatakit.schemas.json_schema import file_schema, record_schema, whole_file_schema
from ragdatakit.validators.records import RecordChecker
from tests.command_line import FIXTURES, ROOT, run
from tests.test_schema_agreement import Strict, is_json

KINDS = [(fmt, file) for fmt in all_formats() for file in fmt.files if file.records]
DOCUMENTS = {name: d for name, d in documents(all_formats()).items() if name != CATALOG}
ENTRIES: list[dict[str, Any]] = documents(all_formats())[CATALOG]["schemas"]
each_kind = pytest.mark.parametrize(("fmt", "file"), [pytest.param(*k, id=f"{k[0].name} {k[1].kind}") for k in KINDS])
each_document = pytest.mark.parametrize("name", DOCUMENTS)


@each_document
def test_a_document_is_a_schema_that_accepts_its_examples(name: str) -> None:
    document = DOCUMENTS[name]

    Draft202012Validator.check_schema(document)
    assert document["title"] and document["description"] and document["examples"]
    assert all(Strict(document).is_valid(example) for example in document["examples"])


def test_the_published_documents_are_those_of_the_declarations() -> None:
    """Words and examples, too, which no verdict shows; `make docs PAGES=docs/schemas` writes them anew."""
    published = {name: json.loads((ROOT / "docs" / "schemas" / name).read_text("utf-8")) for name in DOCUMENTS}

    assert [name for name in DOCUMENTS if published[name] != json.loads(json.dumps(DOCUMENTS[name]))] == []


def test_every_document_has_an_id_of_its_own() -> None:
    ids = [d["$id"] for d in DOCUMENTS.values()]
    records = {f"urn:ragdata:{fmt.name}:{file.kind}" for fmt, file in KINDS}

    assert len(set(ids)) == len(ids) == len(KINDS)
    assert {i.removesuffix(":file") for i in ids} == records


@each_kind
def test_a_file_wraps_the_schema_of_its_record(fmt: Format, file: File) -> None:
    document, record = whole_file_schema(fmt, file), file_schema(fmt, file)

    if file.container in ("json-array", "json"):
        assert document["$defs"] == {r.name: record_schema(r) for r in file.records}
        assert file.container == "json" or not Strict(document).is_valid("a text")
    elif file.container == "json-wrapped":
        assert document["required"] == [file.wrapper[0]]
        assert document["$defs"] == {r.name: record_schema(r) for r in file.records}
        assert not Strict(document).is_valid({file.wrapper[0]: ["a text"]})
    elif file.container == "json-object":
        _, content = file.record.fields[:2]
        assert document["additionalProperties"] == record["properties"][content.name]
        assert not Strict(document).is_valid([])
    else:
        assert document == record


def file_values(folder: Path) -> Iterator[tuple[Format, File, Any]]:
    """Every JSON document of a fixture, with its kind."""
    try:
        report = validate(folder, max_per_rule=1)
    except Exception:  # noqa: BLE001 - what cannot be validated as a folder is shown by other tests
        return
    for dataset in report.datasets:
        fmt = get_format(dataset.format)
        for summary in dataset.files:
            file = fmt.file(summary.kind)
            path = Path(dataset.path) / summary.path
            if file.container in ("json-array", "json-object", "json") and path.is_file():
                try:
                    value = json.loads(path.read_bytes().decode("utf-8"))
                except ValueError:
                    continue
                if is_json(value):
                    yield fmt, file, value


FOLDERS = sorted(p for p in FIXTURES.glob("*/*/*") if p.is_dir())


@pytest.mark.broad(20)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: p.relative_to(FIXTURES).as_posix())
def test_a_file_is_judged_as_its_records(folder: Path) -> None:
    for fmt, file, value in file_values(folder):
        checker = RecordChecker(file.records)
        filled = any(r.rules.get("no-records") for r in file.records)
        if file.container == "json-object":
            names = [f.name for f in file.record.fields[:2]]
            records = [dict(zip(names, m, strict=True)) for m in value.items()] if isinstance(value, dict) else None
        else:
            records = value if isinstance(value, list) else [value] if file.container == "json" else None
        sound = records is not None and not any(map(checker.declared_problems, records)) and bool(records or not filled)

        assert Strict(whole_file_schema(fmt, file)).is_valid(value) == sound, (fmt.name, file.kind)


def test_files_of_fixtures_are_found() -> None:
    found = {(fmt.name, file.kind) for fmt, file, _ in file_values(FIXTURES / "arag" / "broken" / "chunk-not-string")}

    assert ("arag", "chunks") in found


def test_the_catalogue_names_every_document() -> None:
    assert [e["url"] for e in ENTRIES] == list(DOCUMENTS)
    assert all(e.keys() == {"name", "description", "fileMatch", "url"} for e in ENTRIES)
    assert all(isinstance(v, str) and v for e in ENTRIES for k, v in e.items() if k != "fileMatch")
    assert len({e["name"] for e in ENTRIES}) == len(ENTRIES)


def test_editors_are_reported_of_json_documents_only_and_of_each_once() -> None:
    patterns = [p for e in ENTRIES for p in e["fileMatch"]]

    assert patterns
    assert len(set(patterns)) == len(patterns)
    assert all(p.endswith(".json") and (p[0] != "*" or p.startswith("**/")) for p in patterns)


def matching(path: str) -> set[str]:
    """The documents that an editor would apply to a file."""
    return {
        e["url"]
        for e in ENTRIES
        for p in e["fileMatch"]
        if re.fullmatch(translate(p.removeprefix("**/")), path.rsplit("/", p.removeprefix("**/").count("/") + 1)[-1])
        or (p.startswith("**/") and re.fullmatch(translate(f"*/{p.removeprefix('**/')}"), f"/{path}"))
    }


@pytest.mark.parametrize("fmt", all_formats(), ids=lambda f: f.name)
def test_the_files_of_an_example_find_their_schema(fmt: Format, tmp_path: Path) -> None:
    run("init", fmt.name, tmp_path / "data")
    found = file_patterns()

    for dataset in validate(tmp_path / "data").datasets:
        for summary in dataset.files:
            file = fmt.file(summary.kind)
            if (fmt.name, file.kind) in found:
                assert matching(f"data/{summary.path}") == {schema_name(fmt, file)}


def test_written_by_the_command_line(tmp_path: Path) -> None:
    folder = tmp_path / "schemas"

    outcome = run("schema", "--all", folder)

    written = {p.name: json.loads(p.read_text(encoding="utf-8")) for p in folder.iterdir()}
    entries = written.pop(CATALOG)["schemas"]
    assert (outcome.code, outcome.out) == (0, f"wrote {len(DOCUMENTS)} schemas and catalog.json to {folder}\n")
    assert written == DOCUMENTS
    assert [e["url"] for e in entries] == [(folder / name).as_uri() for name in DOCUMENTS]


def test_the_urls_can_begin_with_anything(tmp_path: Path) -> None:
    for base, expected in {
        "./schemas": "./schemas/",
        "https://example.org/s/": "https://example.org/s/",
        "": "",
    }.items():
        run("schema", "arag", "--all", tmp_path, "--base-url", base)

        urls = [e["url"] for e in json.loads((tmp_path / CATALOG).read_text(encoding="utf-8"))["schemas"]]
        assert urls == [f"{expected}arag.{kind}.schema.json" for kind in ("chunks", "questions", "predictions")]


def test_a_base_without_a_folder_is_refused() -> None:
    outcome = run("schema", "arag", "--base-url", "https://example.org")

    assert (outcome.code, "--base-url is for --all DIR" in outcome.err) == (2, True)


def test_the_settings_in_the_docs_are_those_of_the_catalogue() -> None:
    page = (ROOT / "docs/editors.md").read_text(encoding="utf-8")
    shown = json.loads(page.partition("```json\n")[2].partition("```")[0])["json.schemas"]

    entries = documents([get_format("arag")], "./schemas")[CATALOG]["schemas"]
    assert shown == [{k: e[k] for k in ("fileMatch", "url")} for e in entries if e["fileMatch"]]
