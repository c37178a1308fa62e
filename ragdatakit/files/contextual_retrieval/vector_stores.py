"""The notebook's stores of vectors: pickles of plain values, which are read as data, a vector or a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.json_text import loads
from ragdatakit.files.containers.pickle_opcodes import opened_pickle
from ragdatakit.files.containers.pickles import DICT, LIST, TEXT, Allowed, PickledValues, PickleError
from ragdatakit.files.paths.boundary import Boundary

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_FIELDS = ("embeddings", "metadata", "query_cache")
_TEXTS_READ, _SOME = 4, 1 << 26
"""Chunks may have so many times the file's bytes of text, and some more: one text may be of many chunks."""


class VectorStore:
    """What a store holds. Raises `PickleError` where it is none, and where a text is damaged that is asked for."""

    def __init__(self, values: PickledValues) -> None:
        self._values = values
        if values.kind(values.root) != DICT:
            raise _unusable("it is not a dict of embeddings, metadata and query_cache")
        found = {values.text(key): value for key, value in values.pairs(values.root)}
        missing = [name for name in _FIELDS if name not in found]
        if missing:
            raise _unusable(f"it has no {missing[0]}")
        self._vectors, self._chunks, self._cache = (found[name] for name in _FIELDS)
        for name in _FIELDS[:2]:
            if values.kind(found[name]) != LIST:
                raise _unusable(f"{name} is not a list")
        if values.tag(self._cache) != TEXT:
            raise _unusable("query_cache is not a text")
        self.vector_count, self.chunk_count = values.count(self._vectors), values.count(self._chunks)

    def lengths(self) -> Iterator[int | None]:
        """How many numbers each vector has; None for what is not a list of numbers."""
        for value in self._values.items(self._vectors):
            found = self._values.measure(value)
            yield found[0] if found is not None and found[0] else None

    def vectors(self) -> Iterator[npt.NDArray[np.float64] | None]:
        """The numbers of each vector."""
        for value, length in zip(self._values.items(self._vectors), self.lengths(), strict=True):
            yield self._values.numbers(value) if length is not None else None

    def chunks(self) -> Iterator[dict[str, Any] | None]:
        """What is said of each chunk by name, None for what is no simple value; None for what is no dict."""
        values, left = self._values, _TEXTS_READ * self._values.window.size + _SOME
        for value in values.items(self._chunks):
            if values.kind(value) != DICT:
                yield None
                continue
            pairs = list(values.pairs(value))
            left -= sum(values.length(each) for pair in pairs for each in pair if values.tag(each) == TEXT)
            if left < 0:
                raise PickleError("limit", 0, "its chunks repeat more text than the file has")
            named = ((values.text(key), values.plain(each)) for key, each in pairs)
            yield {name: found for name, found in named if name is not None}

    def queries(self) -> dict[str, Any]:
        """The vectors of questions that were asked already, by their texts."""
        try:
            found = loads(self._values.text(self._cache) or "")
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def _unusable(reason: str) -> PickleError:
    return PickleError("foreign", 0, reason)


@contextmanager
def opened_store(path: Path, boundary: Boundary) -> Iterator[VectorStore]:
    """A store, open for reading. Raises `PickleError`, and `OSError` where it cannot be opened."""
    with opened_pickle(path, boundary, Allowed(noun="store")) as values:
        yield VectorStore(values)
