"""The JSON Schemas of what ``ragdata index``, ``retrieve`` and ``eval`` print as JSON: docs/output-schema-*.json.

Version 1 may gain fields, so readers should pass over those they do not know; none is renamed or dropped.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.derived_schema import Schema, schema_of
from ragdatakit.schemas.bounds import Place, Share
from ragdatakit.schemas.evaluations import AnswerInTop, Ceiling, Comparison, QuestionResult, Sanity, Score
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.retrieved import ContextItem, PathStep, Snippet
from ragdatakit.schemas.search.claims import ClaimScores
from ragdatakit.schemas.search.gold_causes import GoldCause

_Mode = Literal[
    "bm25",
    "sparse",
    "dense",
    "graph",
    "collapsed",
    "traversal",
    "contextual",
    "hybrid",
    "lightrag-local",
    "lightrag-global",
    "lightrag-hybrid",
    "lightrag-mix",
    "lightrag-naive",
    "graphrag-local",
    "graphrag-global",
]
_Unit = Literal["document", "chunk"]


class _Dataset(TypedDict):
    version: Literal[1]
    dataset: str
    name: str
    format: str


class _Part(TypedDict):
    """One part of the index; ``built`` is false where it was there, ``facts`` depend on the kind."""

    kind: Literal["lexical", "sparse", "dense", "graph", "tree", "contextual", "lightrag", "graphrag"]
    built: bool
    seconds: float
    bytes: int
    facts: dict[str, Any]


class _Index(_Dataset):
    """What `ragdata index PATH --json` prints.

    ``index`` is the index's folder, ``digest`` is SHA-256 over the dataset's files. ``modes`` can be used;
    ``unavailable`` are the others, with what they lack. ``notes`` are sentences about faults of the dataset and what
    was built anew.
    """

    index: str
    digest: str
    unit: _Unit
    passages: int
    parts: list[_Part]
    modes: list[_Mode]
    unavailable: dict[str, str]
    notes: list[str]


class _Stored(TypedDict):
    """An index in the cache; ``format`` and ``dataset`` are empty where it is damaged, ``made`` is in UTC.

    ``state`` says whether the dataset is as it was indexed, has changed, or is not there any more.
    """

    folder: str
    name: str
    format: str
    dataset: str
    passages: int
    parts: list[str]
    bytes: int
    made: str | None
    state: Literal["current", "changed", "gone", "damaged"]


class _IndexList(TypedDict):
    """What `ragdata index --list --json` (``indexes``: all of them) and `--prune --json` (``removed``) print."""

    version: Literal[1]
    indexes: NotRequired[list[_Stored]]
    removed: NotRequired[list[_Stored]]


class _Hit(TypedDict):
    """A passage that was found: a document, or a chunk of ``document``.

    ``score`` is the mode's own, higher is better. ``ranks`` are those in each mode that found it (mode hybrid),
    ``path`` is the way from a start node (mode graph).
    """

    rank: Place
    id: str
    score: float
    title: str | None
    document: str | None
    text: str
    snippet: Snippet | None
    ranks: dict[str, Place]
    path: list[PathStep]


class _Term(TypedDict):
    """A term of the question, as it is in there; ``passages`` counts those that have it."""

    text: str
    passages: int


class _Gold(TypedDict):
    """What became of a relevant target of the question; ``rank`` is null where it is not within ``depth``.

    ``fault`` says why it cannot be found at all, ``cause`` why it is not among the first ``k`` results, ``why`` what
    ranks above it or why it is not found. ``shared`` are the terms of the question that it has, ``missing`` those that
    it has not.
    """

    id: str
    grade: int
    rank: Place | None
    depth: int
    fault: str | None
    title: str | None
    shared: list[_Term]
    missing: list[_Term]
    why: str | None
    cause: GoldCause | None
    snippet: Snippet | None
    ranks: dict[str, Place | None]
    path: list[PathStep]


class _Query(TypedDict):
    """One question, and what was found, best first; ``seconds`` without opening the index.

    ``seeds`` are the start nodes, the heaviest first (modes graph and graphrag-local); ``gold`` is there with --id,
    ``candidates`` with --explain in the modes of trees and frameworks.
    """

    id: str | None
    text: str
    seconds: float
    seeds: list[str]
    notes: list[str]
    hits: list[_Hit]
    gold: NotRequired[list[_Gold]]
    candidates: NotRequired[list[ContextItem]]


class _Retrieval(_Dataset):
    """What `ragdata retrieve --output-format json` prints. ``k`` is how many passages were asked for."""

    index: str
    unit: _Unit
    passages: int
    mode: _Mode
    k: Place
    queries: list[_Query]


@dataclass(frozen=True, kw_only=True)
class _Question(QuestionResult):
    """One of the worst questions; ``titles`` are titles, or beginnings of texts, by id."""

    titles: dict[str, str]


class _Run(TypedDict):
    """One run against the gold: a mode, or the tag or stage of a run that was given.

    ``by_type`` is empty where questions have no types. ``worst`` are the questions with the lowest values of the first
    metric.
    """

    name: str
    depth: int
    seconds: float | None
    scores: dict[str, Score]
    by_type: dict[str, dict[str, Score]]
    sanity: Sanity
    worst: list[_Question]
    notes: list[str]


class _Reply(TypedDict):
    """A reply that is not the answer."""

    question_id: str
    gold: str
    answer: str


class _Answers(TypedDict):
    """Answers of a system; left out are empty ones and those without a gold answer.

    ``missing`` counts the questions of the dataset with a gold answer that are not among them.
    """

    name: str
    scores: dict[str, Score]
    answered: int
    unanswered: int
    without_gold: int
    missing: int
    worst: list[_Reply]


class _Evaluation(_Dataset):
    """What `ragdata eval --output-format json` prints, and `--output FILE` writes.

    ``split`` null: all questions. ``unit`` is what is judged: document, chunk or node; empty where nothing is known of
    it. ``passages`` is 0 where there is no corpus. ``judged`` counts the questions with gold, which are scored. ``ok``:
    no finding is an error; the exit code is 0 then. ``ceiling`` is null where nothing is judged; ``answers_in_top`` has
    one entry for each mode where there is no gold, ``comparisons`` two tests for each metric with --compare.
    ``claims`` are RAGChecker's metrics of answers that come with claims or labels. ``minimums`` are the demands of
    --min. ``findings`` are errors first, at most --max-per-rule of one rule; ``by_rule`` counts all by code.
    """

    split: str | None
    unit: str
    passages: int
    questions: int
    judged: int
    without_gold: int
    ok: bool
    runs: list[_Run]
    ceiling: Ceiling | None
    answers_in_top: list[AnswerInTop]
    comparisons: list[Comparison]
    answers: list[_Answers]
    claims: list[ClaimScores]
    minimums: dict[str, Share]
    findings: list[Finding]
    by_rule: dict[str, int]
    notes: list[str]
    seconds: float


def search_output_schemas() -> dict[str, Schema]:
    """All of them, by the command's name (``index-list`` is that of ``--list`` and ``--prune``)."""
    return {
        "index": schema_of(_Index, "output-index", "index"),
        "index-list": schema_of(_IndexList, "output-index-list", "index --list"),
        "retrieve": schema_of(_Retrieval, "output-retrieve", "retrieve"),
        "eval": schema_of(_Evaluation, "output-eval", "eval"),
    }
