"""Links questions to the entities of a graph: by the names in them, else by BM25 over names or by nearest vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.retrieval.extraction.names import extract_names, stands_as_name
from ragdatakit.retrieval.linking import NodeLinker
from ragdatakit.retrieval.terms.tokens import Tokenizer
from ragdatakit.schemas.options import SearchOptions

if TYPE_CHECKING:
    import numpy.typing as npt

Linker = Callable[[str, int], list[int]]
"""The entities, by their places, with which the search for an answer starts: of a text, at most this many."""
_BATCH = 256
_OF_WHOLE_QUESTIONS = 3


def make_linker(names: Sequence[str], kind: str, search: SearchOptions) -> Linker:
    """A linker for these names. ``kind`` says what is done for a question that names none of them: ``bm25`` takes the
    names that share words with it, ``embeddings`` the nearest ones."""

    named = NodeLinker(names, Tokenizer(search.analyzer, search.stemmer))
    nearest = _Nearest(names, search) if kind == "embeddings" else None

    def link(text: str, most: int) -> list[int]:
        (found,) = named.named([text])
        if found:  # "film" and "mother" are names of some nodes, but not what the question names
            return ([node for node in found if stands_as_name(text, names[node])] or found)[:most]
        return nearest(text, most) if nearest is not None else [node for node, _ in named.alike(text)][:most]

    return link


class _Nearest:
    """The nearest name for each name in the question; without any, the three that are nearest to the question."""

    def __init__(self, names: Sequence[str], search: SearchOptions) -> None:

        from ragdatakit.outputs.user_cache import cache_folder
        from ragdatakit.retrieval.vectors.embedders import make_embedder

        self._embedder = make_embedder(search, cache_folder() / "vectors")
        starts = range(0, len(names), _BATCH)
        parts = [self._embedder.embed(list(names[at : at + _BATCH]), "passage") for at in starts]
        self._vectors: npt.NDArray[np.float32] = np.concatenate(parts)

    def __call__(self, text: str, most: int) -> list[int]:
        phrases = extract_names(None, text)
        number = 1 if phrases else min(most, _OF_WHOLE_QUESTIONS)
        found: dict[int, None] = {}
        for vector in self._embedder.embed(phrases or [text], "query"):
            scores = self._vectors @ vector
            for place in (-scores).argsort(kind="stable")[:number]:
                found[int(place)] = None
        return list(found)[:most]
