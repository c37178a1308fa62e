"""How many different keys the objects of a block have, looked up before a reader makes a column of each of them."""

from __future__ import annotations

import re

MOST_KEYS = 256
"""A columnar reader makes a column of each key, with a cell in every row: beyond this, records are read one by one."""

_COLON = re.compile(rb'"[ \t\r\n]*:')
_LONGEST_KEY = 256


def has_many_keys(data: bytes, most: int = MOST_KEYS) -> bool:
    """Whether JSON text names more than ``most`` different keys.

    Only quote marks and colons are looked at, so that a text with ``\\":`` in it counts as a key, too: that makes
    reading slower, never wrong. Keys of more than 256 bytes are distinguished by their ends.
    """
    keys: set[bytes] = set()
    for colon in _COLON.finditer(data):
        end = colon.start()
        begin = data.rfind(b'"', max(end - _LONGEST_KEY, 0), end)
        keys.add(data[begin + 1 if begin >= 0 else max(end - _LONGEST_KEY, 0) : end])
        if len(keys) > most:
            return True
    return False
