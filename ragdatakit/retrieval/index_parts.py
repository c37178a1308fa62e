"""What an index is made of: parts that are built once from the passages, and the rankers that search them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ragdatakit.late_dataclasses import dataclass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.passages import Passage, Passages
    from ragdatakit.schemas.retrieved import ContextItem, PathStep, Query

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Passages by their ordinals (int64) with their scores (float64): by falling score, then by ordinal."""

    ordinals: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]


class Ranker(Protocol):
    """A part of an index, open for searching. Safe to call from one thread at a time."""

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """For each query the ``k`` best passages; fewer, or none, where no more have a score above 0."""
        ...


class Explaining(Protocol):
    """A ranker that can say why each candidate was found."""

    def explain(self, query: Query, k: int) -> tuple[ContextItem, ...]:
        """All candidates of a search for ``k``, in their order, with those that budgets leave out."""
        ...


class GraphLike(Protocol):
    """What a graph can show besides the ranking of passages."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no nodes besides the passages."""
        ...

    def seeds(self, query: Query) -> tuple[str, ...]:
        """The nodes from which the walk starts, best first."""
        ...

    def path(self, query: Query, ordinal: int) -> tuple[PathStep, ...]:
        """A shortest way from a start node to the passage; empty where there is none."""
        ...

    def rank_nodes(self, queries: Sequence[Query], k: int) -> list[list[tuple[str, float]]]:
        """For each query the ``k`` best nodes of the graph, passages among them, by name."""
        ...


class Way(Ranker, Protocol):
    """A ranker that also finds summaries, which are numbered behind the passages."""

    def nodes(self, query: Query, k: int) -> Ranking:
        """The ``k`` best passages and summaries for a query."""
        ...

    def passage(self, number: int) -> Passage:
        """A passage or a summary by its number."""
        ...


class Seeding(Ranker, Protocol):
    """A ranker that starts from nodes of a graph."""

    def seeds(self, query: Query) -> tuple[str, ...]:
        """The nodes from which the search starts, best first."""
        ...


class Part(Protocol):
    """A kind of index part. ``settings`` has all that decides about its content, the engine's version included: parts
    with other settings lie side by side."""

    @property
    def kind(self) -> str:
        """``lexical``, ``sparse``, ``dense``, ``graph`` or ``contextual``."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON values."""
        ...

    def build(
        self, folder: Path, passages: Passages, tables: Callable[[], CanonicalTables], progress: Progress | None
    ) -> Mapping[str, Any]:
        """Write the part into the empty folder; returns facts for the summary (counts, sizes). The caller moves the
        folder into place. ``tables`` reads the dataset, for parts that need more than its passages."""
        ...

    def open(self, folder: Path, passages: Passages) -> Ranker:
        """Open what was built."""
        ...
