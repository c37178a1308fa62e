"""How deep JSON is nested: Arrow and DuckDB end the process over what is too deep, and say nothing."""

from __future__ import annotations

import re

from ragdatakit.late_patterns import late_pattern

MOST_NESTED = 900
"""Levels that every reader bears: Python's stops near 1,000, orjson at 1,024, others at the end of their stack."""
_PART = late_pattern(rb'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def has_deep_line(data: bytes) -> bool:
    """Whether a line of JSON lines is nested deeper than `MOST_NESTED`."""
    if data.count(b"{") + data.count(b"[") <= MOST_NESTED:
        return False
    return any(map(_is_deep, data.split(b"\n")))


def _is_deep(line: bytes) -> bool:
    if len(line) <= MOST_NESTED or line.count(b"{") + line.count(b"[") <= MOST_NESTED:
        return False
    depth = 0
    for part in _PART.finditer(line):
        sign = line[part.start()]
        depth += (sign in b"[{") - (sign in b"]}")
        if depth > MOST_NESTED:
            return True
    return False
