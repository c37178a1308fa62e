"""Files written anew as a whole, in a stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import IO

from ragdatakit.fixes.applying import PlainFile

_PIECE = 1 << 20

Rewrite = Callable[[PlainFile, IO[bytes]], None]


def _line_feeds(source: PlainFile, target: IO[bytes]) -> None:
    """Lines that end in CR LF end in LF."""
    held = b""
    for at in range(0, source.size, _PIECE):
        piece = held + source.read(at, min(at + _PIECE, source.size))
        held = b"\r" if piece.endswith(b"\r") else b""
        target.write(piece[: len(piece) - len(held)].replace(b"\r\n", b"\n"))
    target.write(held)


REWRITES: Mapping[str, Rewrite] = {"line-feeds": _line_feeds}
"""By the names that fixes have for them."""
