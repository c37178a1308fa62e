"""check-jsonschema, the command: fields and types. It takes no NDJSON, so arrays are made for it, outside the clock.

Leaves out lines, uniqueness, references and repeated keys; holds a whole file in memory.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import click
from check_jsonschema import main as check_jsonschema
from tables import TABLES, json_schema


def check(root: Path, kind: str, folder: Path) -> tuple[int, float]:
    """Validate every file as an array; returns the number of records and the seconds without making the arrays."""
    records, seconds = 0, 0.0
    for number, (pattern, columns) in enumerate(TABLES[kind].items()):
        schema = folder / f"{number}.schema.json"
        schema.write_text(json.dumps({"type": "array", "items": json_schema(columns)}), encoding="utf-8")
        for path in sorted(root.glob(pattern)):
            lines = path.read_text(encoding="utf-8").splitlines()
            array = folder / "array.json"
            array.write_text("[" + ",\n".join(lines) + "]", encoding="utf-8")
            records += len(lines)
            start = time.perf_counter()
            _run(["--schemafile", str(schema), str(array)])
            seconds += time.perf_counter() - start
    return records, seconds


def _run(words: list[str]) -> None:
    try:
        check_jsonschema(words, standalone_mode=False)
    except click.exceptions.Exit as end:
        if end.exit_code:
            raise SystemExit(end.exit_code) from end
    except SystemExit as end:
        if end.code:
            raise


if __name__ == "__main__":
    import sys

    with tempfile.TemporaryDirectory() as scratch:
        count, spent = check(Path(sys.argv[1]), sys.argv[2], Path(scratch))
    print(json.dumps({"seconds": spent, "records": count}))
