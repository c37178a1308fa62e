"""Vectors of texts by the embedder that a conversion was given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragdatakit.schemas.options import SearchOptions

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class ChosenEmbedder:
    """The embedder of ``search``. With ``only_count`` it makes nothing: ``counted`` says of how many texts."""

    def __init__(self, search: SearchOptions) -> None:
        self._search = search
        self.only_count = False
        self.counted = 0

    @property
    def name(self) -> str:
        """It, as KIND:MODEL."""
        return self._search.embedder

    def vectors(self, texts: Sequence[str]) -> npt.NDArray[np.float32] | None:
        """A row for each text; None where only is counted. Raises `RagdataError` where it cannot be asked."""
        if self.only_count:
            self.counted += len(texts)
            return None
        from ragdatakit.outputs.user_cache import cache_folder
        from ragdatakit.retrieval.vectors.embedders import make_embedder

        return make_embedder(self._search, cache_folder() / "vectors").embed(texts)
