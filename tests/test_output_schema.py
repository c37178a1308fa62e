"""The contract of ``--output-format json``: real reports fit the published schema and hold nothing beyond it."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import ragdatakit
from ragdatakit.reports.output_schema import output_schema

ROOT = Path(__file__).parent.parent
BROKEN = sorted(p.parent for p in (ROOT / "fixtures").glob("*/broken/*/expected.json"))
PATHS = [*sorted((ROOT / "fixtures").glob("*/valid/*")), *BROKEN[::4], ROOT / "fixtures/demo-broken"]


@cache
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(output_schema())
    return Draft202012Validator(output_schema())


def undocumented(value: Any, schema: dict[str, Any], where: str = "") -> list[str]:
    """Keys of a document that its schema does not know."""
    if "$ref" in schema:
        schema = output_schema()["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
    found = []
    if isinstance(value, dict) and "properties" in schema:
        for key, item in value.items():
            if key not in schema["properties"]:
                found.append(f"{where}/{key}")
            else:
                found += undocumented(item, schema["properties"][key], f"{where}/{key}")
    elif isinstance(value, list):
        for item in value:
            found += undocumented(item, schema.get("items", {}), where)
    return found


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_reports_fit(path: Path) -> None:
    expected = path / "expected.json"
    target = json.loads(expected.read_text()).get("target", "data") if expected.exists() else ""
    report = ragdatakit.validate(path / target)

    document = json.loads(json.dumps(report.as_dict(), default=str))

    assert [e.message for e in validator().iter_errors(document)] == []
    assert undocumented(document, output_schema()) == []


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
        "shown": len([line for line in lines if line["type"] == "finding"]),
    }
    assert [e.message for e in validator().iter_errors(document)] == []


def test_a_document_that_breaks_the_contract_is_refused() -> None:
    document = ragdatakit.validate(ROOT / "fixtures/demo-broken").as_dict()
    document["findings"][0]["line"] = 0

    assert [e.json_path for e in validator().iter_errors(document)] == ["$.findings[0].line"]
