"""Whether all readers of JSON read a text the same."""

from __future__ import annotations

import re
from typing import Any

from ragdatakit.late_patterns import late_pattern

_COLON = late_pattern(rb'"[ \t\r\n]*:')
_STRING = late_pattern(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"([ \t\r\n]*:)?', re.S)
_SAFE = 2**53


def read_alike(value: Any, data: bytes) -> bool:
    """Whether every reader reads ``data`` as ``value``: no key appears twice in it, no number is one that some
    round."""
    keys = _count_keys(value, 0)
    if keys <= 0:
        return not keys
    if data.count(b":") == keys or len(_COLON.findall(data)) == keys:
        return True
    return sum(map(bool, _STRING.findall(data))) == keys  # there may be quote marks and colons in texts


def _count_keys(value: Any, depth: int) -> int:
    """Keys in all objects of a value; negative where a number or the depth wants a closer look."""
    kind = type(value)
    if depth > 200:
        return -1
    if kind is dict:
        total = len(value)
        for item in value.values():
            kind = type(item)
            if kind is int:
                if not -_SAFE <= item <= _SAFE:
                    return -1
            elif kind is not str and kind is not bool and item is not None:
                below = _count_keys(item, depth + 1)
                if below < 0:
                    return -1
                total += below
        return total
    if kind is list:
        total = 0
        for item in value:
            if type(item) is not str:
                below = _count_keys(item, depth + 1)
                if below < 0:
                    return -1
                total += below
        return total
    if kind is int:
        return 0 if -_SAFE <= value <= _SAFE else -1
    if kind is float:
        return 0 if -_SAFE < value < _SAFE else -1
    return 0
