"""Decoding alone: every line to Python objects, by orjson or by the standard library. Checks the syntax, no more."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
from tables import time_and_print

FILES: dict[str, tuple[str, Callable[[bytes], Any]]] = {
    "sage-json": ("records.jsonl", json.loads),
    "sage-orjson": ("records.jsonl", orjson.loads),
    "all-orjson": ("*.[nj]*s*on*", orjson.loads),
}


def decode(root: Path, kind: str) -> int:
    """Decode every line; returns the number of records."""
    name, loads = FILES[kind]
    records = 0
    for path in sorted(root.rglob(name)):
        with path.open("rb") as file:
            for line in file:
                loads(line)
                records += 1
    return records


if __name__ == "__main__":
    time_and_print(decode)
