"""Tables whose rows others read part by part: what a writer may ask of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.conversions import WrittenFile

R = TypeVar("R")


class Lines(Protocol):
    """A file of records that is being written."""

    records: int

    def put(self, data: bytes) -> None: ...
    def write(self, value: Any) -> None: ...


@dataclass(slots=True)
class Piece:
    """A file of the output, or a part of one, as a worker has written it: where it is, and what it is."""

    path: str = ""
    written: WrittenFile = field(default_factory=lambda: WrittenFile("", 0, 0, ""))


class PartPlace(Protocol):
    """Where a worker writes what a part becomes."""

    def writing(self, name: str) -> AbstractContextManager[tuple[Lines, Piece]]:
        """A file for it, there when the block ends, whatever came of it before."""


Work = Callable[[Any, PartPlace, Any], R]
"""What is done with the canonical tables of a part, in a worker: a function of a module."""

SpanWork = Callable[[Iterator[Any], PartPlace, Any], R]
"""The same with the tables of several parts, one after the other."""


class TablesInParts(Protocol):
    """The parts of tables; the passages are the documents."""

    def number(self, table: str) -> int:
        """How many parts a table has; 0 where it is not read in parts."""

    def each(self, work: Work[R], given: Sequence[Any], table: str = "documents") -> Iterator[R]:
        """What a function makes of each part and of what is given for it, in their order. What was lost, and how many
        rows there are, is accounted."""

    def spans(self, work: SpanWork[R], given: Sequence[tuple[int, int, Any]]) -> Iterator[R]:
        """What a function makes of the documents of the parts from a first one to a last one, and of what is given for
        them, in their order. Nothing is accounted."""

    def remove(self, path: Path) -> None:
        """A piece was taken."""

    def close(self) -> None:
        """All is written."""
