"""jsonschema on every line, parsed by orjson: fields and types. Leaves out uniqueness, references, repeated keys."""

from __future__ import annotations

from pathlib import Path

import orjson
from jsonschema import Draft202012Validator
from tables import TABLES, json_schema, time_and_print


def check(root: Path, kind: str) -> int:
    """Validate every line; returns the number of records."""
    records = faults = 0
    for pattern, columns in TABLES[kind].items():
        validator = Draft202012Validator(json_schema(columns))
        for path in sorted(root.glob(pattern)):
            with path.open("rb") as file:
                for line in file:
                    records += 1
                    faults += sum(1 for _ in validator.iter_errors(orjson.loads(line)))
    if faults:
        raise SystemExit(f"{faults} faults")
    return records


if __name__ == "__main__":
    time_and_print(check)
