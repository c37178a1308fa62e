"""What a report on a dataset holds: numbers, distributions, shares and examples, made to be shown in any form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.results import FileSummary

if TYPE_CHECKING:
    from ragdatakit.schemas.hierarchies import Hierarchy
    from ragdatakit.schemas.neighbourhoods import Neighbourhoods, NodeAround
    from ragdatakit.schemas.search.claims import ClaimScores


@dataclass(frozen=True, slots=True)
class Bin:
    """A bar of a histogram: how many values are from ``low`` (included) to ``high`` (excluded but in the last)."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Distribution:
    """How a number is distributed over the rows of a table.

    ``name`` is an identifier such as ``documents.text.characters``, ``title`` says it in words, ``unit`` what is
    counted (``characters``, ``tokens``, ``seconds``). ``quantiles`` has 5, 25, 50, 75, 95 and 99 (per cent).
    ``logarithmic`` bins grow by a factor. ``by`` is the split or stage it belongs to, None for all together.
    """

    name: str
    title: str
    unit: str
    count: int
    minimum: float
    maximum: float
    mean: float
    quantiles: Mapping[int, float]
    bins: tuple[Bin, ...]
    logarithmic: bool = False
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How often each value of a column of few values occurs; the most frequent ones, and how many are in the rest.

    ``labels`` are what a file next to the data calls some of the values.
    """

    name: str
    title: str
    values: tuple[tuple[str, int], ...]
    distinct: int
    rest: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """A column of a canonical table: rows without a value, rows with an empty one, distinct values, repeated rows.

    ``distinct`` is exact; ``duplicates`` counts the rows whose value came before (None where this says nothing).
    """

    name: str
    missing: int
    empty: int
    distinct: int | None = None
    duplicates: int | None = None


@dataclass(frozen=True, slots=True)
class IdSummary:
    """The ids of a table: how many are integers, their range, the gaps in it, and ids that appear twice."""

    table: str
    column: str
    count: int
    distinct: int
    integers: int
    minimum: int | None = None
    maximum: int | None = None
    gaps: int | None = None
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableSummary:
    """A canonical table: its rows, in all and by split (None: no split), and its columns."""

    name: str
    rows: int
    by_split: Mapping[str | None, int]
    columns: tuple[ColumnSummary, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A row to look at. ``why`` is ``first``, ``longest``, ``shortest`` or ``random``; ``row`` has JSON values, long
    texts cut (``cut`` names the columns)."""

    table: str
    why: str
    row: Mapping[str, Any]
    cut: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hub:
    """A node with many edges; ``label`` is what a file next to the data calls it."""

    name: str
    degree: int
    type: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """The graph of a dataset. Components are those of the undirected graph; ``reachable`` is the share of judged
    questions whose target nodes are reached from their start nodes within so many edges, by that number."""

    nodes: int
    edges: int
    relations: int
    components: int
    largest_component: int
    isolated: int
    self_loops: int
    parallel_edges: int
    hubs: tuple[Hub, ...]
    reachable: Mapping[int, float] = field(default_factory=dict)
    questions: int = 0


@dataclass(frozen=True, slots=True)
class ContextPair:
    """A chunk with its context, both cut. ``why`` it is shown: ``first``, ``longest``, ``shortest``, ``contains its
    chunk`` or ``random``."""

    chunk_id: str
    document_id: str | None
    context: str
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class ContextSummary:
    """Contexts of chunks: how many chunks there are, how many of them have one, and how many different ones.

    ``repeating`` contexts contain their chunk. ``added`` is the length of the contexts as a share of that of their
    chunks.
    """

    chunks: int
    given: int
    distinct: int
    repeating: int
    added: float
    pairs: tuple[ContextPair, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A fact in words that a reader should know: leakage between splits, uneven splits, coverage, what was sampled.

    ``value`` is a share or a count; ``level`` is ``info`` or ``warning``.
    """

    name: str
    words: str
    value: float
    level: str = "info"


@dataclass(slots=True, repr=False)
class Summary:
    """The result of `ragdatakit.report` for one dataset.

    ``seconds`` is how long it took; ``losses`` are sentences about what could not be read; ``unread``: nothing could,
    and ``losses`` says why. ``neighbourhoods`` is the
    part of the graph that a page takes along (None where there is no graph, or nobody asked for it). ``around`` is the
    node that was asked for. ``hierarchy`` are
    communities or a tree of summaries, ``contexts`` those of chunks, ``claims`` RAGChecker's metrics, where answers
    have labels.
    """

    path: str
    name: str
    format: str
    files: list[FileSummary] = field(default_factory=list)
    file_splits: list[str | None] = field(default_factory=list)
    tables: list[TableSummary] = field(default_factory=list)
    ids: list[IdSummary] = field(default_factory=list)
    distributions: list[Distribution] = field(default_factory=list)
    frequencies: list[Frequencies] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    graph: GraphSummary | None = None
    around: NodeAround | None = None
    hierarchy: Hierarchy | None = None
    contexts: ContextSummary | None = None
    claims: ClaimScores | None = None
    examples: list[Example] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    seconds: float = 0.0
    unread: bool = False
    neighbourhoods: Neighbourhoods | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        """One line: which dataset, and the rows of its tables."""
        rows = ", ".join(f"{table.rows:,} {table.name}" for table in self.tables)
        return f"<Summary of {self.path!r} ({self.format}): {rows or ('not read' if self.unread else 'no rows')}>"

    def table(self, name: str) -> TableSummary | None:
        """The summary of a table, None where the dataset does not have it."""
        return next((t for t in self.tables if t.name == name), None)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A folder whose data is of no known format, next to datasets that are of one: how many files are there. None where
    it may not be looked into."""

    path: str
    files: int | None


@dataclass(frozen=True, slots=True)
class NotRead:
    """A file that no dataset reads: its ``name`` below ``folder``, the path that was given, and its size as it is."""

    folder: str
    name: str
    bytes: int

    @property
    def path(self) -> str:
        """Where it is, as the user called the folder."""
        return self.name if self.folder == "." else f"{self.folder.rstrip('/')}/{self.name}"
