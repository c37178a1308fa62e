"""The canonical tables, in which converters meet: one row type per table, with the field's names.

A reader turns a format into rows of these tables, a writer turns rows into a format. A column without a value holds
None (a tuple column: the empty tuple). ``metadata`` and ``attributes`` are JSON objects as compact text, so that every
number and string in them keeps its exact form.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quick_values import NamedTuple

MENTION = "is_mentioned_in"
"""The relation of an edge from an entity to a passage, where a graph has passages as nodes."""


class Document(NamedTuple):
    """A text of the corpus that stands for itself; retrieval may look for it or for its chunks.

    ``field_order`` is as that of questions; empty where the record has no fields but those of its format.
    """

    doc_id: str
    text: str
    title: str | None = None
    metadata: str | None = None
    field_order: tuple[str, ...] = ()


class Chunk(NamedTuple):
    """A piece of text that is indexed as one; ``ordinal`` is its 0-based place in its document."""

    chunk_id: str
    text: str
    doc_id: str | None = None
    ordinal: int | None = None
    context: str | None = None
    modality: str | None = None
    image_path: str | None = None
    image_description: str | None = None
    metadata: str | None = None


class Node(NamedTuple):
    """A node of a graph; ``name`` is its key."""

    name: str
    type: str | None = None
    attributes: str | None = None


class Relation(NamedTuple):
    """A kind of edge."""

    name: str
    attributes: str | None = None


class Edge(NamedTuple):
    """An edge of a graph, or triple; ``provenance`` says where it comes from."""

    source: str
    relation: str
    target: str
    attributes: str | None = None
    confidence: float | None = None
    provenance: str | None = None


class Question(NamedTuple):
    """A question; ``answer`` is the gold answer, ``aliases`` are further right ones.

    ``field_order`` names the fields of the source's record in its order, those of this table by their names here,
    others by their own: a writer whose records have room for all of them keeps the order.
    """

    question_id: str | None
    text: str
    answer: str | None = None
    aliases: tuple[str, ...] = ()
    split: str | None = None
    metadata: str | None = None
    field_order: tuple[str, ...] = ()


class Qrel(NamedTuple):
    """A relevance judgement. ``target_kind`` is ``document``, ``chunk``, or ``node`` (``node_type`` then shows its
    type, where the format has it)."""

    question_id: str
    target_id: str
    grade: int = 1
    target_kind: str = "document"
    split: str | None = None
    node_type: str | None = None


class StartNode(NamedTuple):
    """A node from which the search for a question's answer starts."""

    question_id: str
    node: str
    node_type: str | None = None


class Triplet(NamedTuple):
    """A training triplet: a passage that answers the question and one that does not."""

    question_id: str
    positive_id: str
    negative_id: str
    split: str | None = None


class PairScore(NamedTuple):
    """A teacher's score for a question and a passage."""

    question_id: str
    doc_id: str
    score: float


class Summary(NamedTuple):
    """A summary of chunks or of other summaries; ``level`` counts from 1, ``children`` are ids."""

    summary_id: str
    level: int
    text: str
    children: tuple[str, ...] = ()
    metadata: str | None = None


class Community(NamedTuple):
    """A cluster of nodes; ``level`` counts from 0 at the top, ``parent`` is the id of the one it lies in, ``members``
    are names of nodes."""

    community_id: str
    level: int
    title: str | None = None
    parent: str | None = None
    members: tuple[str, ...] = ()
    attributes: str | None = None


class Run(NamedTuple):
    """One result of a retrieval stage; ``rank`` is 1-based. ``seconds`` is what the stage took for the question."""

    question_id: str
    stage: str
    rank: int
    target_id: str | None = None
    text: str | None = None
    score: float | None = None
    seconds: float | None = None
    metadata: str | None = None


class Answer(NamedTuple):
    """What a system answered."""

    question_id: str
    text: str | None
    prompt: str | None = None
    seconds: float | None = None
    metadata: str | None = None


class Trace(NamedTuple):
    """A record of a pipeline as a whole, as JSON text; ``before`` is what was in the file, where reading renamed it.

    Questions, runs and answers hold the same in parts, for targets that have no such records.
    """

    question_id: str | None
    record: str
    before: str | None = None


class Asset(NamedTuple):
    """A file that goes along: ``path`` is relative, with ``/``; ``content`` its bytes, or the file that has them.

    ``kind`` is ``image``, ``sql``, ``skill`` or ``file``.
    """

    path: str
    content: bytes | Path
    kind: str = "file"


@dataclass(frozen=True, slots=True)
class Table:
    """A canonical table: its row type, and the columns that distinguish a row from the others (none: only its place
    does).

    ``restates``: tables that hold the same in parts. A writer takes this one or those; the rest is not lost.
    """

    name: str
    row: Any
    key: tuple[str, ...] = ()
    restates: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        names: tuple[str, ...] = self.row._fields
        return names


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table("documents", Document, ("doc_id",)),
        Table("chunks", Chunk, ("chunk_id",)),
        Table("nodes", Node, ("name",)),
        Table("relations", Relation, ("name",)),
        Table("edges", Edge, ("source", "relation", "target")),
        Table("questions", Question, ("question_id", "text")),
        Table("qrels", Qrel, ("question_id", "target_kind", "target_id", "split")),
        Table("start_nodes", StartNode, ("question_id", "node")),
        Table("triplets", Triplet, ("question_id", "positive_id", "negative_id", "split")),
        Table("pair_scores", PairScore, ("question_id", "doc_id")),
        Table("communities", Community, ("community_id",)),
        Table("summaries", Summary, ("summary_id",)),
        Table("runs", Run, ("question_id", "stage", "rank")),
        Table("answers", Answer, ("question_id",)),
        Table("traces", Trace, (), restates=("questions", "runs", "answers")),
        Table("assets", Asset, ("path",)),
    )
}
