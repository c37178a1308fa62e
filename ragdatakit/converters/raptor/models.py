"""What models make of the texts of a tree: summaries of clusters, and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.converters.raptor.building import Vectors, hashed_vectors
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.extraction.summaries import summary

if TYPE_CHECKING:
    from ragdatakit.retrieval.extraction.asking import Asker, Asking
    from ragdatakit.retrieval.extraction.text_vectors import ChosenEmbedder
    from ragdatakit.retrieval.extraction.texts import Cluster
    from ragdatakit.schemas.conversions import Losses


@dataclass(slots=True)
class AskedSummaries:
    """Summaries by a language model, layer by layer; sentences of the texts where it gives none."""

    tree: str
    asker: Asker
    losses: Losses
    _asking: Asking[Cluster, str] | None = None
    _layer: int = 0

    def __call__(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """The summaries of the next layer. Raises `RagdataError` where continuing is of no use."""
        from ragdatakit.retrieval.extraction.texts import Cluster, summary_task

        self._layer += 1
        clusters = [Cluster(f"{self.tree}, layer {self._layer}, cluster {n}", tuple(g)) for n, g in enumerate(groups)]
        if self._asking is None:
            self._asking = self.asker.begin(summary_task(self.asker))
        made: list[str] = []
        for answer in self._asking.answers(clusters):
            if answer.failure:
                why = "the model gave no summary; sentences of the texts take its place"
                self.losses.add("lost", "summaries", "text", why, f"{answer.item.name}: {answer.failure}")
            made.append(answer.reply if answer.reply is not None else summary(answer.item.texts))
        return made

    def finish(self) -> None:
        """Raise `RagdataError` where too many of all clusters have no summary."""
        if self._asking is not None:
            self._asking.finish()


@dataclass(slots=True)
class TextVectors:
    """Vectors of texts, each made once: by the embedder that was chosen, else of hashed words."""

    embedder: ChosenEmbedder | None
    _known: dict[str, Vectors] = field(default_factory=dict)

    @property
    def by_model(self) -> str:
        """The embedder; empty where vectors are hashed words."""
        return self.embedder.name if self.embedder is not None else ""

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """The vectors, one row for each text."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            made = self.embedder.vectors(missing) if self.embedder is not None else None
            found = made if made is not None else hashed_vectors(missing)
            self._known.update(zip(missing, found, strict=True))
        return np.stack([self._known[text] for text in texts])
