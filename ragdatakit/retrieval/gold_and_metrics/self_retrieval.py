"""Whether passages are found by their own first words: what speaks for the index, without any gold."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ragdatakit.retrieval.gold_and_metrics.gold_facts import same_text
from ragdatakit.schemas.retrieved import Query

if TYPE_CHECKING:
    from ragdatakit.retrieval.index_parts import Ranking
    from ragdatakit.retrieval.passages import Passage, Passages

Rank = Callable[[Sequence[Query], int], "list[Ranking]"]
"""Ranks passages for queries, at most this many for each: `Ranker.rank`, or `Retriever.rank` with its mode bound."""

_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Characters of scripts without blanks between words."""


def self_retrieval(
    rank: Rank, passages: Passages, count: int = 200, words: int = 15, seed: int = 13
) -> tuple[float | None, int]:
    """The share of sampled passages that are found first by their own first words, and how many were asked.

    A passage with the same text counts as the same, and so does one of the same document that has these words, as where
    chunks overlap. Where a script has no blanks, three characters stand for a word.
    Passages without a letter or digit are not asked; None where none is left.
    """
    numbers = random.Random(seed).sample(range(len(passages)), min(count, len(passages)))
    asked: list[tuple[Passage, Query]] = []
    for number in numbers:
        passage = passages[number]
        query = first_words(passage.text, words) or first_words(passage.searched, words)
        if query and same_text(passage.searched):
            asked.append((passage, Query(query)))
    if not asked:
        return None, 0
    found = rank([query for _, query in asked], 1)
    hits = sum(
        len(ranking.ordinals) > 0 and _has_words_of(passages[int(ranking.ordinals[0])], passage, query.text)
        for (passage, query), ranking in zip(asked, found, strict=True)
    )
    return hits / len(asked), len(asked)


def _has_words_of(found: Passage, asked: Passage, words: str) -> bool:
    """Whether it has the text of the passage that was asked for, or these words of the same document."""
    if asked.document_id is not None and found.document_id == asked.document_id and words in same_text(found.text):
        return True
    return same_text(found.searched) == same_text(asked.searched)


def first_words(text: str, words: int) -> str:
    """The first words of a text; in scripts without blanks, three times as many characters; empty without any."""
    start = " ".join(same_text(text[: 200 * words]).split(" ")[:words])
    unspaced = _UNSPACED.findall(start)
    return start[: 3 * words] if 2 * len(unspaced) > len(start) else start
