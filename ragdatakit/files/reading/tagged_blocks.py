"""Blocks of a big file of elements between tags, for a scanner: what follows the last of them is for Python alone."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import chain

from ragdatakit.files.containers.tagged_text import ElementFinder, Place
from ragdatakit.late_dataclasses import dataclass

LONG_ELEMENT = 1 << 24
"""Bytes within which an element ends that is not looked at by Python alone."""


@dataclass(slots=True)
class TaggedBlock:
    """Whole elements; where they begin in the file."""

    data: bytes
    offset: int
    place: Place


class TaggedBlocks:
    """Blocks of some ``size`` that end behind a closing tag, up to the last one or an element that is very long.

    The first piece begins at this offset and place, between elements. Without a place nobody counts lines: each block
    has that of a beginning. ``rest`` is what is left once all blocks were given, ``end`` a block of nothing at its
    beginning.
    """

    def __init__(
        self, tags: tuple[str, ...], size: int, pieces: Iterator[bytes], offset: int = 0, place: Place | None = None
    ) -> None:
        self._finder, self._size = ElementFinder(tags), size
        self.rest, self._is_placed = pieces, place is not None
        self.end = TaggedBlock(b"", offset, place or Place())

    def __iter__(self) -> Iterator[TaggedBlock]:
        pieces, offset, place = self.rest, self.end.offset, self.end.place
        held, size = next(pieces, b""), self._size
        for piece in chain(pieces, (None,)):
            held += piece or b""
            if piece is not None and len(held) < size:
                continue
            cut = self._finder.cut(held)
            if piece is not None and not cut and size > LONG_ELEMENT:
                break
            size = self._size if cut else 2 * size
            if cut:
                yield TaggedBlock(held[:cut], offset, copy(place))
                if self._is_placed:
                    place.move(held[:cut])
                held, offset = held[cut:], offset + cut
        self.rest, self.end = chain((held,), pieces), TaggedBlock(b"", offset, place)
