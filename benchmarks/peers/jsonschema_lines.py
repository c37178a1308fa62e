"""jsonschema on every line, parsed by orjson: fields and types. Leaves out uniqueness, references, repeated keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
from jsonschema import Draft202012Validator
from sage_schema import SAGE_RECORD
from tables import TABLES, json_schema, time_and_print


def check(root: Path, kind: str) -> int:
    """Validate every line; returns the number of records."""
    records = faults = 0
    for pattern, schema in _schemas(kind).items():
        validator = Draft202012Validator(schema)
        for path in sorted(root.glob(pattern)):
            with path.open("rb") as file:
                for line in file:
                    records += 1
                    faults += sum(1 for _ in validator.iter_errors(orjson.loads(line)))
    if faults:
        raise SystemExit(f"{faults} faults")
    return records


def _schemas(kind: str) -> dict[str, dict[str, Any]]:
    if kind == "sage":
        return {"records.jsonl": SAGE_RECORD}
    return {pattern: json_schema(columns) for pattern, columns in TABLES[kind].items()}


if __name__ == "__main__":
    time_and_print(check)
