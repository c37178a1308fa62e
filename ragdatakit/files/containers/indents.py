"""How much is before a record on its line, in characters and in bytes."""

from __future__ import annotations

from typing import NamedTuple

_CONTINUATION = bytes(range(0x80, 0xC0))


class Indent(NamedTuple):
    """What is before a record on its line; ``size`` is in bytes."""

    characters: int = 0
    size: int = 0

    def behind(self, data: bytes, start: int, end: int) -> Indent:
        """What is before the byte ``end`` of ``data``, where this is what is before the byte ``start``."""
        begin = data.rfind(b"\n", start, end) + 1
        own = data[begin or start : end]
        if begin:
            return Indent(characters(own), len(own))
        return Indent(self.characters + characters(own), self.size + len(own))


NO_INDENT = Indent()
"""Nothing is before it."""


def characters(data: bytes) -> int:
    """How many characters UTF-8 bytes are."""
    return len(data) if data.isascii() else len(data.translate(None, _CONTINUATION))
