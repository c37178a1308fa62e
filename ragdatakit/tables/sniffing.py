"""What a lone file is, told from its first records."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragdatakit.schemas.declarations import File, Format
from ragdatakit.tables.folders import is_regular
from ragdatakit.tables.sources import BOM, GZIP_MAGIC

HEAD_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file: its container and its first readable records."""

    container: str
    records: tuple[Any, ...]


def read_head(path: Path) -> Head | None:
    """The first records of a file; None if it is no regular file, or no JSON in either container."""
    if not is_regular(path):
        return None
    try:
        with path.open("rb") as file:
            data = file.read(HEAD_BYTES)
    except OSError:
        return None
    if data.startswith(GZIP_MAGIC):
        try:
            data = zlib.decompressobj(wbits=31).decompress(data, HEAD_BYTES)
        except zlib.error:
            return None
    text = data.removeprefix(BOM).decode("utf-8", "replace")
    stripped = text.lstrip()
    if stripped.startswith("["):
        element = _first_element(stripped[1:].lstrip())
        if element is not None:
            return Head("json-array", (element,))
    records = []
    for line in text.splitlines()[:20]:
        try:
            records.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
        if len(records) == 3:
            break
    return Head("ndjson", tuple(records)) if records else None


def _first_element(text: str) -> Any:
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        cut = re.match(r'"((?:[^"\\]|\\.){200})', text)
        return cut.group(1) if cut else None


def looks_like(head: Head, kind: File) -> int:
    """How well a file's head fits a kind: 0 not at all, else the number of telling fields."""
    if head.container != kind.container:
        return 0
    best = 0
    for record in head.records:
        if isinstance(record, dict) and kind.keys:
            if all(k in record for k in kind.keys) and not any(k in record for k in kind.without):
                best = max(best, len(kind.keys) * 2 - len(record.keys() - {f.name for f in kind.record.fields}))
        elif isinstance(record, str) and any(
            r.shape == "string" and r.pattern and re.match(r.pattern, record) for r in kind.records
        ):
            best = max(best, 1)
    return max(best, 0)


def guess_kind(head: Head | None, formats: tuple[Format, ...]) -> tuple[Format, File] | None:
    """The format and kind that fit best; None if none does."""
    if head is None:
        return None
    ranked = [(looks_like(head, kind), fmt, kind) for fmt in formats for kind in fmt.files]
    ranked = [r for r in ranked if r[0] > 0]
    if not ranked:
        return None
    best = max(ranked, key=lambda r: r[0])
    return best[1], best[2]
