"""Tables of which one reading of the files gives the rows of all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.conversions import Losses


class TablesTogether(Protocol):
    """Tables whose rows come of the same records."""

    def rows(self, table: str) -> Iterator[Any]:
        """The rows of one of them."""

    def together(self, tables: Collection[str]) -> Iterator[Mapping[str, Sequence[Any]]]:
        """The rows of several, some thousand at a time; what is reported of the records is what `rows` reports, one
        table after the other."""


class Filling(Protocol):
    """A table of a report that is filled: what is lost of it, and what is known of the texts that it has so far."""

    losses: Losses

    @property
    def facts(self) -> Any:
        """As `ragdatakit.database.text_facts.TextFacts`."""


@dataclass(frozen=True, slots=True)
class SharedRows:
    """The source of one of these tables. Where something is made of its rows, the source is another one: so whoever
    finds it may read them together. ``columns`` gives batches of columns for the several of these tables that are
    filled; it raises `Unproved` where it cannot."""

    group: TablesTogether
    table: str
    columns: Callable[[Mapping[str, Filling]], Iterator[Mapping[str, Any]]] | None = None

    def __call__(self) -> Iterator[Any]:
        """Its rows, from the beginning."""
        return self.group.rows(self.table)
