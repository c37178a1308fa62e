"""The JSON Schema of ``ragdata report --output-format json``: published as docs/output-schema-report.json.

Version 1 may gain fields, so readers should pass over those they do not know; none is renamed or dropped.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.derived_schema import Schema, schema_of
from ragdatakit.reports.findings.schema import SeverityCounts
from ragdatakit.schemas.bounds import Share, Signed
from ragdatakit.schemas.hierarchies import Hierarchy
from ragdatakit.schemas.neighbourhoods import NodeAround
from ragdatakit.schemas.results import FileSummary, RemoteSource
from ragdatakit.schemas.search.claims import ClaimScores
from ragdatakit.schemas.summaries import ColumnSummary, ContextSummary, Example, Hub, LeftOut

_Integer = Signed | str | None
"""A text where it has more than 64 bits."""


@dataclass(frozen=True, kw_only=True)
class _File(FileSummary):
    """One file that was read, and the split it belongs to; ``records`` is null where it has none."""

    split: str | None


class _Split(TypedDict):
    """Rows of a split."""

    split: str | None
    rows: int


class _Table(TypedDict):
    """A canonical table."""

    name: str
    rows: int
    splits: list[_Split]
    columns: list[ColumnSummary]


class _Ids(TypedDict):
    """The ids of a table; ``minimum``, ``maximum`` and ``gaps`` (integers in between) are null unless all are integers.

    ``count`` is of the rows that have an id.
    """

    table: str
    column: str
    count: int
    distinct: int
    integers: int
    minimum: _Integer
    maximum: _Integer
    gaps: _Integer
    examples: list[str]


class _Bin(TypedDict):
    """A bar, from ``low`` to ``high`` (which is not in it, except for the last)."""

    low: float | None
    high: float | None
    count: int


class _Distribution(TypedDict):
    """How a number is distributed; ``name`` is an identifier, as documents.text.characters.

    ``unit`` is what is counted, ``by`` the split or stage (null: all together), ``quantiles`` are by per cent: 5, 25,
    50, 75, 95, 99. ``logarithmic``: each of the ``bins`` is larger by a factor than the one before.
    """

    name: str
    title: str
    unit: str
    by: str | None
    count: int
    minimum: float | None
    maximum: float | None
    mean: float | None
    quantiles: dict[str, float | None]
    bins: list[_Bin]
    logarithmic: bool


class _Value(TypedDict):
    """A value, how many rows have it, and what a file next to the data calls it."""

    value: str
    count: int
    label: str | None


class _Frequencies(TypedDict):
    """How often values occur; ``name`` is an identifier, as edges.relation.

    ``values`` are the most frequent, ``distinct`` counts all values, ``rest`` the rows with another than these.
    """

    name: str
    title: str
    values: list[_Value]
    distinct: int
    rest: int


class _Reached(TypedDict):
    """The share of the questions that reach their targets within so many edges."""

    edges: int
    share: Share


class _Graph(TypedDict):
    """The graph; components are without regard to direction.

    ``isolated`` nodes have no edge, ``self_loops`` go from a node to itself, ``parallel_edges`` repeat the ends and the
    relation of another. ``hubs`` have most edges. ``questions`` are those with start nodes and targets.
    """

    nodes: int
    edges: int
    relations: int
    components: int
    largest_component: int
    isolated: int
    self_loops: int
    parallel_edges: int
    hubs: list[Hub]
    reachable: list[_Reached]
    questions: int


class _Note(TypedDict):
    """A fact in a sentence, with the share or count in it; ``level`` warning: something is to be done about it."""

    name: str
    words: str
    value: float | None
    level: Literal["info", "warning"]


class _Dataset(TypedDict):
    """One dataset.

    ``graph`` and ``hierarchy`` are null where there is none, ``around`` without --node, ``contexts`` where no chunk has
    one, ``claims`` where no answers have RAGChecker's labels. ``losses`` says what could not be read, ``unread`` that
    nothing could be.
    """

    path: str
    name: str
    format: str
    files: list[_File]
    tables: list[_Table]
    ids: list[_Ids]
    distributions: list[_Distribution]
    frequencies: list[_Frequencies]
    graph: _Graph | None
    hierarchy: Hierarchy | None
    around: NodeAround | None
    contexts: ContextSummary | None
    claims: ClaimScores | None
    notes: list[_Note]
    examples: list[Example]
    losses: list[str]
    unread: bool
    seconds: float


class _NotRead(TypedDict):
    """A file, and its size as it is."""

    path: str
    bytes: int


class _Checked(TypedDict):
    """What was checked together: a dataset for its profiles, or one of its splits."""

    path: str
    format: str
    profile: str | None
    split: str | None
    errors: int
    warnings: int


class _Findings(TypedDict):
    """With --findings: what `ragdata validate` counts; ``unrecognised`` are data files that belong to no dataset."""

    counts: SeverityCounts
    by_rule: dict[str, int]
    datasets: list[_Checked]
    unrecognised: list[str]


class _Report(TypedDict):
    """What `ragdata report --output-format json` prints. Fields may be added; none is renamed or dropped.

    ``datasets`` are in the order of the paths. ``left_out`` are folders whose data is of no known format, or without
    permission to read, where other data is of one; ``not_read`` are the files at the paths that no dataset reads.
    ``sources`` say of each URL which state of it was read.
    """

    version: Literal[1]
    datasets: list[_Dataset]
    left_out: list[LeftOut]
    not_read: list[_NotRead]
    findings: _Findings | None
    sources: NotRequired[list[RemoteSource]]


def summary_schema() -> Schema:
    """The schema of the whole document."""
    return schema_of(_Report, "output-report", "report")
