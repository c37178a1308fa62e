"""What has been read of a working directory: ids and names, and hashes of what was said of them. No texts."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quick_values import NamedTuple

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile


class Described(NamedTuple):
    """What the graph says of a node or an edge: where, the hash of its texts, the chunks that it names."""

    line: int
    number: int
    texts: int
    sources: tuple[str, ...]


@dataclass(slots=True)
class Known:
    """What is complete is compared with: a table is None where it was not read to its end."""

    documents: dict[str, None] | None = None
    chunks: dict[str, int] | None = None
    nodes: dict[str, Described] | None = None
    edges: dict[tuple[str, str], Described] | None = None
    clusters: set[str] | None = None
    dimensions: dict[DataFile, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def one(self, text: str) -> str:
        """The same text, held once however often it comes."""
        return self.texts.setdefault(text, text)
