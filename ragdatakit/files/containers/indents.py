"""How much is before a record on its line, in characters and in bytes."""

from __future__ import annotations

from ragdatakit.quick_values import NamedTuple

_PIECE = 1 << 20
"""Bytes that are counted at once: a line may have hundreds of millions."""
_CONTINUATION = bytes(range(0x80, 0xC0))


class Indent(NamedTuple):
    """What is before a record on its line; ``size`` is in bytes."""

    characters: int = 0
    size: int = 0

    def behind(self, data: bytes, start: int, end: int) -> Indent:
        """What is before the byte ``end`` of ``data``, where this is what is before the byte ``start``."""
        begin = data.rfind(b"\n", start, end) + 1
        first = begin or start
        if end - first <= _PIECE:
            own = characters(data[first:end])
        else:
            own = sum(characters(data[at : min(at + _PIECE, end)]) for at in range(first, end, _PIECE))
        if begin:
            return Indent(own, end - begin)
        return Indent(self.characters + own, self.size + end - start)


NO_INDENT = Indent()
"""Nothing is before it."""


def characters(data: bytes) -> int:
    """How many characters UTF-8 bytes are."""
    return len(data) if data.isascii() else len(data.translate(None, _CONTINUATION))
