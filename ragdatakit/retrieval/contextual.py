"""Contextual mode: chunks are searched together with their contexts, by BM25, and by vectors where there are any.

A chunk without a context gets one that is made of its document, without a language model. The two rankings are fused as
the cookbook on contextual retrieval does it: 150 candidates of each, 0.8 by the rank of the vectors and 0.2 by that of
the terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.files.containers.json_text import loads
from ragdatakit.files.contextual_retrieval.contexts import CONTEXT_LENGTH, extractive_context
from ragdatakit.retrieval.index_parts import Ranking
from ragdatakit.retrieval.lexical import LexicalPart

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.passages import Passage, Passages
    from ragdatakit.schemas.canonical import Document

CANDIDATES = 150
DENSE_WEIGHT, LEXICAL_WEIGHT = 0.8, 0.2
_VERSION = 1


class ContextualPart(LexicalPart):
    """BM25 over the chunks and their contexts. While it is built, memory holds the documents."""

    kind = "contextual"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Those of terms, and how contexts are made."""
        return {**super().settings, "contexts": _VERSION, "length": CONTEXT_LENGTH}

    def _prepare(self, tables: Callable[[], CanonicalTables]) -> None:
        self._documents: dict[str, Document] = {d.doc_id: d for d in tables().peek("documents")}

    def _text(self, passage: Passage) -> str:
        document = self._documents.get(passage.document_id or "")
        if passage.context or document is None:
            return passage.searched
        metadata = loads(document.metadata) if document.metadata else {}
        context = extractive_context(document.text, passage.text, document.title, metadata, CONTEXT_LENGTH)
        return f"{passage.searched}\n\n{context}"


def fuse_by_rank(dense: Ranking, lexical: Ranking, passages: Passages, k: int) -> Ranking:
    """The ``k`` best of both: the sum of weight / rank. Ties go to the later document, and the later chunk in it."""
    scores: dict[int, float] = {}
    for ranking, weight in ((dense, DENSE_WEIGHT), (lexical, LEXICAL_WEIGHT)):
        for rank, ordinal in enumerate(ranking.ordinals[:CANDIDATES].tolist(), 1):
            scores[ordinal] = scores.get(ordinal, 0.0) + weight * (1 / rank)
    best = sorted(scores, key=lambda o: (scores[o], passages.document_id(o), o), reverse=True)[:k]
    return Ranking(np.array(best, np.int64), np.array([scores[o] for o in best], np.float64))
