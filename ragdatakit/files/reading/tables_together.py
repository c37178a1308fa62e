"""Tables of which one reading of the files gives the rows of all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from ragdatakit.late_dataclasses import dataclass


class TablesTogether(Protocol):
    """Tables whose rows come of the same records."""

    def rows(self, table: str) -> Iterator[Any]:
        """The rows of one of them."""

    def together(self, tables: Collection[str]) -> Iterator[Mapping[str, Sequence[Any]]]:
        """The rows of several, some thousand at a time; what is reported of the records is what `rows` reports, one
        table after the other."""


@dataclass(frozen=True, slots=True)
class SharedRows:
    """The source of one of these tables. Where something is made of its rows, the source is another one: so whoever
    finds it may read them together."""

    group: TablesTogether
    table: str

    def __call__(self) -> Iterator[Any]:
        """Its rows, from the beginning."""
        return self.group.rows(self.table)
