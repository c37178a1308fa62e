"""A tree made of texts: leaves of whole sentences, clusters of texts that are alike, a summary of each.

Everything is deterministic: clusters are halves along the direction in which vectors differ most. Without a model,
vectors are hashed words and summaries are sentences of the texts themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ragdatakit.files.raptor.hashing import hashed
from ragdatakit.files.texts import plain_tokens
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.extraction.summaries import pieces, sentences, summary

LEAF_TOKENS = 100
MOST_LAYERS = 5
SMALLEST_LAYER = 11
"""A layer of so many nodes or fewer is the top one, as RAPTOR has it."""
LARGEST_CLUSTER = 8
_STEPS = 12
Vectors = npt.NDArray[np.float32]
Summarize = Callable[[Sequence[Sequence[str]]], Sequence[str]]
"""The summaries of some groups of texts, in their order."""


@dataclass(frozen=True, slots=True)
class Made:
    """A summary that was made, and the places of what it summarizes in the layer below."""

    text: str
    children: tuple[int, ...]


def leaves_of(text: str, most: int = LEAF_TOKENS) -> Iterator[str]:
    """A text as leaves of whole sentences, with at most this many tokens; a longer sentence is cut between words."""
    held: list[str] = []
    size = 0
    for sentence in sentences(text):
        for piece in pieces(sentence, most):
            tokens = plain_tokens.count(piece)
            if held and size + tokens > most:
                yield " ".join(held)
                held, size = [], 0
            held.append(piece)
            size += tokens
    if held:
        yield " ".join(held)


def hashed_vectors(texts: Sequence[str]) -> Vectors:
    """The vectors of texts, of hashed words."""
    return np.stack([hashed(text).astype(np.float32) for text in texts])


def extracts(groups: Sequence[Sequence[str]]) -> list[str]:
    """Summaries of sentences of the texts."""
    return [summary(group) for group in groups]


def summary_layers(
    texts: Sequence[str],
    summarize: Summarize = extracts,
    vectors_of: Callable[[Sequence[str]], Vectors] = hashed_vectors,
) -> list[list[Made]]:
    """The layers above the leaves, from the lowest; none where there are too few leaves."""
    layers: list[list[Made]] = []
    below = list(texts)
    while len(below) > SMALLEST_LAYER and len(layers) < MOST_LAYERS:
        found = clusters(vectors_of(below))
        summaries = summarize([[below[place] for place in cluster] for cluster in found])
        made = [Made(text, cluster) for text, cluster in zip(summaries, found, strict=True)]
        layers.append(made)
        below = [each.text for each in made]
    return layers


def clusters(vectors: Vectors, most: int = LARGEST_CLUSTER) -> list[tuple[int, ...]]:
    """Rows in groups of at most this many that are alike, each row in one; ordered by their first rows."""
    found: list[tuple[int, ...]] = []
    waiting = [np.arange(len(vectors))]
    while waiting:
        rows = waiting.pop()
        if len(rows) <= most:
            found.append(tuple(rows.tolist()))
        else:
            waiting += _halves(vectors, rows)
    return sorted(found)


def _halves(vectors: Vectors, rows: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """Rows on the two sides of the middle, along the direction in which they differ most."""
    centred = vectors[rows] - vectors[rows].mean(axis=0)
    direction = centred[int(np.argmax(np.linalg.norm(centred, axis=1).round(5)))]
    for _ in range(_STEPS):
        following = (centred @ direction) @ centred
        length = float(np.linalg.norm(following))
        if length == 0:
            break
        direction = following / length
    order = rows[np.lexsort((rows, (centred @ direction).round(5)))]
    return [np.sort(half) for half in (order[: len(order) // 2], order[len(order) // 2 :])]
