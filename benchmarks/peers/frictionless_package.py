"""frictionless: a package of four resources with types, required fields, primary keys and foreign keys.

Leaves out references inside lists, pairs of query and positive, what stands in a cell, and for JSON lines; a file ends
at the first bad JSON.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from frictionless import Package, Resource, Schema, system
from tables import KEYS, MASTERS, TABLES, references, time_and_print

TYPES = {"BIGINT": "integer", "DOUBLE": "number", "VARCHAR": "string", "JSON": "object", "BIGINT[]": "array"}


def check(root: Path, kind: str) -> int:
    """Validate the package; returns the number of records."""
    resources = [
        Resource(
            name=path.stem,
            path=str(path),
            format="csv" if path.suffix == ".csv" else "jsonl",
            schema=_schema(kind, pattern, columns),
        )
        for pattern, columns in TABLES[kind].items()
        for path in sorted(root.glob(pattern))
    ]
    with system.use_context(trusted=True):
        report = Package(resources=resources).validate()
    if not report.valid:
        raise SystemExit(str(report.flatten(["type", "message"])[:3]))
    return sum(task.stats.get("rows") or 0 for task in report.tasks)


def _schema(kind: str, pattern: str, columns: dict[str, str]) -> Schema:
    schema: dict[str, Any] = {
        "fields": [{"name": n, "type": TYPES[t], "constraints": {"required": True}} for n, t in columns.items()]
    }
    if pattern in KEYS:
        schema["primaryKey"] = [KEYS[pattern]]
    schema["foreignKeys"] = [
        {"fields": [name], "reference": {"resource": master, "fields": [MASTERS[master]]}}
        for name, master in references(kind, pattern).items()
    ]
    return Schema.from_descriptor(schema)


if __name__ == "__main__":
    time_and_print(check)
