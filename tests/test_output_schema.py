"""The contract of ``--output-format json``: real outputs fit the published schemas and hold nothing beyond them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import ragdatakit
from ragdatakit.reports.findings.schema import output_schema
from ragdatakit.reports.search_output_schema import search_output_schemas
from tests.command_line import run

ROOT = Path(__file__).parent.parent
BROKEN = sorted(p.parent for p in (ROOT / "fixtures").glob("*/broken/*/expected.json"))
PATHS = [*sorted((ROOT / "fixtures").glob("*/valid/*")), *BROKEN[::4], ROOT / "fixtures/demo-broken"]


@cache
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(output_schema())
    return Draft202012Validator(output_schema())


def resolved(schema: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """What a schema of a part says: the definition that it refers to, or that of the part where it is not null."""
    if "anyOf" in schema:
        schema = next((kind for kind in schema["anyOf"] if kind != {"type": "null"}), {})
    return whole["$defs"][schema["$ref"].rsplit("/", 1)[-1]] if "$ref" in schema else schema


def undocumented(value: Any, schema: dict[str, Any], whole: dict[str, Any], where: str = "") -> list[str]:
    """Keys of a document that its schema does not know; ``whole`` has the definitions."""
    schema = resolved(schema, whole)
    found = []
    if isinstance(value, dict):
        others = schema.get("additionalProperties")
        for key, item in value.items():
            known = schema.get("properties", {}).get(key, others)
            if known is not None:
                found += undocumented(item, known, whole, f"{where}/{key}")
            elif "properties" in schema:
                found.append(f"{where}/{key}")
    elif isinstance(value, list):
        for item in value:
            found += undocumented(item, schema.get("items") or {}, whole, where)
    return found


def damaged(value: Any, schema: dict[str, Any], whole: dict[str, Any], where: str = "") -> Iterator[tuple[str, Any]]:
    """Documents like this one with one fault each: a field that is missing, or of another type or sign; and where."""
    schema = resolved(schema, whole)
    if not schema:  # anything is right
        return
    if isinstance(value, dict) and value:
        yield where, list(value)
        for key, item in value.items():
            if key in schema.get("required", ()):
                yield f"{where}/{key}", {name: other for name, other in value.items() if name != key}
            known = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
            for place, wrong in damaged(item, known, whole, f"{where}/{key}"):
                yield place, {**value, key: wrong}
    elif isinstance(value, list) and value:
        yield where, dict.fromkeys(map(str, value))
        for place, wrong in damaged(value[0], schema.get("items") or {}, whole, where):
            yield place, [wrong, *value[1:]]
    else:
        yield where, {"": value} if isinstance(value, list) else [value]
        if isinstance(value, int) and "minimum" in schema:
            yield where, schema["minimum"] - 1


def shortened(value: Any, schema: dict[str, Any], whole: dict[str, Any]) -> Any:
    """The document with as few items of each list as may be, one where keys are no fields: all have one schema."""
    schema = resolved(schema, whole)
    if isinstance(value, dict):
        fields, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        names = list(value) if fields else list(value)[:1]
        return {name: shortened(value[name], fields.get(name, others), whole) for name in names}
    if isinstance(value, list):
        return [shortened(item, schema.get("items") or {}, whole) for item in value[: schema.get("minItems", 1)]]
    return value


def accepted_damage(document: Any, schema: dict[str, Any]) -> list[str]:
    """The places of a document at which its schema takes anything."""
    checker = Draft202012Validator(schema)
    short = shortened(document, schema, schema)
    assert checker.is_valid(short)
    return [place for place, wrong in damaged(short, schema, schema) if checker.is_valid(wrong)]


@pytest.mark.broad
@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_reports_fit(path: Path) -> None:
    expected = path / "expected.json"
    target = json.loads(expected.read_text()).get("target", "data") if expected.exists() else ""
    report = ragdatakit.validate(path / target)

    document = json.loads(json.dumps(report.as_dict(), default=str))

    assert [e.message for e in validator().iter_errors(document)] == []
    assert undocumented(document, output_schema(), output_schema()) == []


def test_the_command_prints_such_a_document() -> None:
    command = [sys.executable, "-m", "ragdatakit", "validate", "fixtures/demo-broken", "--output-format", "json"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)

    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert [e.message for e in validator().iter_errors(document)] == []
    assert document["counts"]["error"] > 0


def test_the_lines_of_ndjson_are_parts_of_it() -> None:
    command = [sys.executable, "-m", "ragdatakit", "validate", "fixtures/demo-broken", "--output-format", "ndjson"]

    lines = [
        json.loads(line)
        for line in subprocess.run(command, cwd=ROOT, capture_output=True, check=False).stdout.splitlines()
    ]

    summary = lines[-1]
    document = {
        "version": summary["version"],
        "datasets": [line for line in lines if line["type"] == "dataset"],
        "findings": [line for line in lines if line["type"] == "finding"],
        "counts": summary["counts"],
        "by_rule": summary["by_rule"],
        "unrecognised": summary["unrecognised"],
        "baselined": summary["baselined"],
        "older": summary["older"],
        "unchanged": summary["unchanged"],
        "budgets": summary["budgets"],
        "ok": summary["ok"],
        "shown": len([line for line in lines if line["type"] == "finding"]),
    }
    assert [e.message for e in validator().iter_errors(document)] == []


def test_a_document_that_breaks_the_contract_is_refused() -> None:
    document = ragdatakit.validate(ROOT / "fixtures/demo-broken").as_dict()
    document = json.loads(json.dumps(document))
    faults = list(damaged(document, output_schema(), output_schema()))
    document["findings"][0]["line"] = 0

    assert [e.json_path for e in validator().iter_errors(document)] == ["$.findings[0].line"]
    assert len(faults) > 50
    assert [place for place, wrong in faults if validator().is_valid(wrong)] == []


def outputs() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Schema, and the words of a command whose output fits it."""
    demo, graph, arag = "fixtures/demo-search", "fixtures/gfm-rag/valid/both-loaders", "fixtures/arag/valid/predictions"
    contexts = "fixtures/contextual-retrieval/valid/with-contexts"
    yield "index", ("index", demo, "--json")
    yield "index", ("index", graph, "--json")
    yield "index-list", ("index", "--list", "--json")
    yield "index-list", ("index", "--prune", "--json")
    yield "retrieve", ("retrieve", demo, "where does the map hang", "--json")
    yield "retrieve", ("retrieve", demo, "--id", "q25", "--explain", "--output-format", "json")
    yield "retrieve", ("retrieve", graph, "--questions", "--mode", "hybrid", "--json")
    yield "retrieve", ("retrieve", contexts, "--questions", "--mode", "contextual", "--json")
    yield "eval", ("eval", demo, "--json")
    yield "eval", ("eval", demo, "--mode", "bm25,graph", "--compare", "bm25", "graph", "--min", "mrr=0.1", "--json")
    yield "eval", ("eval", graph, "--json")
    yield "eval", ("eval", arag, "--json")


@pytest.mark.parametrize(("name", "words"), list(outputs()), ids=lambda v: v if isinstance(v, str) else " ".join(v[1:]))
def test_searches_print_such_documents(
    name: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = search_output_schemas()[name]
    Draft202012Validator.check_schema(schema)
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path))
    if name == "index-list":
        run("index", "fixtures/demo-search")

    document = run(*words).json

    assert [f"{e.json_path}: {e.message}" for e in Draft202012Validator(schema).iter_errors(document)] == []
    assert undocumented(document, schema, schema) == []
    assert accepted_damage(document, schema) == []


def test_undocumented_fields_are_seen() -> None:
    schema = search_output_schemas()["eval"]
    document = {"runs": [{"scores": {"mrr": {"mean": 0.5, "median": 0.5}}, "colour": 1}], "by_rule": {"EV101": 1}}

    assert undocumented(document, schema, schema) == ["/runs/scores/mrr/median", "/runs/colour"]
