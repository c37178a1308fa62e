"""Texts that are looked at together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

K = TypeVar("K")
_MOST = 1 << 20


def texts_together(texts: Iterable[tuple[K, str]]) -> Iterator[list[tuple[K, str]]]:
    """Texts and what they are of, about a million characters at a time."""
    batch, size = [], 0
    for each in texts:
        batch.append(each)
        size += len(each[1])
        if size > _MOST:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
