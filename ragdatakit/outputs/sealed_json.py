"""JSON documents that say whether anybody changed them: with a checksum over their content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_CHECKSUM = "checksum"
_MOST_BYTES = 1 << 28  # somebody may have put another file in its place: no more than this is read


def digest_of(document: Any) -> str:
    """The SHA-256 of a JSON value, whatever the order of its members, in hexadecimal."""
    text = json.dumps(document, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def sealed(document: Mapping[str, Any]) -> bytes:
    """The document with its checksum, as a file has it."""
    whole = {**document, _CHECKSUM: digest_of(document)}
    return json.dumps(whole, ensure_ascii=True, indent=1).encode("ascii") + b"\n"


def read_sealed(path: Path) -> dict[str, Any] | None:
    """The document of a file; None where there is none, or it is not as it was written."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    checksum = document.pop(_CHECKSUM, None)
    return document if checksum == digest_of(document) else None
