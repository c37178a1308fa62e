"""What a search returns: passages in order of their score, with the words or the path that led to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, field
from typing import Any, ClassVar

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.notebooks.tabular import Tabular
from ragdatakit.schemas.search.gold_causes import GoldCause


@dataclass(frozen=True, slots=True)
class Keywords:
    """What LightRAG searches by in place of the question: ``low`` for entities, ``high`` for relations."""

    low: tuple[str, ...] = ()
    high: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A question to search for; ``start_nodes`` are those the dataset gives for it (graph mode links words else).

    ``keywords`` are for LightRAG's modes (None: the question itself is the keyword).
    """

    text: str
    question_id: str | None = None
    start_nodes: tuple[str, ...] = ()
    keywords: Keywords | None = None


@dataclass(frozen=True, slots=True)
class Snippet:
    """The part of a passage that says most about the question, on one line.

    ``marks`` are the matched terms in ``text`` as (start, end) character offsets, ascending and disjoint. ``before``
    and ``after`` say whether the passage continues there.
    """

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    before: bool = False
    after: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"text": self.text, "marks": list(map(list, self.marks)), "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class PathStep:
    """An edge on the way from a start node to a passage, walked from ``source`` to ``target``.

    ``forward`` is false where it is walked against its arrow: the dataset has it from ``target`` to ``source``.
    """

    source: str
    relation: str
    target: str
    forward: bool = True

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"source": self.source, "relation": self.relation, "target": self.target, "forward": self.forward}


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found. ``rank`` is 1-based; ``score`` is the mode's own, higher is better.

    ``ranks`` are the passage's ranks in the modes that were fused; ``path`` is the way through the graph.
    """

    rank: int
    passage_id: str
    score: float
    text: str
    title: str | None = None
    document_id: str | None = None
    snippet: Snippet | None = None
    path: tuple[PathStep, ...] = ()
    ranks: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "rank": self.rank,
            "id": self.passage_id,
            "score": self.score,
            "title": self.title,
            "document": self.document_id,
            "text": self.text,
            "snippet": None if self.snippet is None else self.snippet.as_dict(),
            "ranks": dict(self.ranks),
            "path": [step.as_dict() for step in self.path],
        }


@dataclass(frozen=True, slots=True)
class ContextItem:
    """A candidate for the context that a framework would make for a question, and why it is one.

    ``kind`` is ``entity``, ``relation``, ``claim``, ``chunk`` or ``summary``; ``place`` its 1-based place among the
    candidates of its kind. ``score`` is that of the search that found it, None where it came by the graph or the tree;
    ``tokens`` what it takes of the budget. ``cut`` says why it is left out, and is empty where it is not.
    """

    kind: str
    name: str
    place: int
    why: str
    score: float | None = None
    tokens: int | None = None
    cut: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Retrieval(Tabular):
    """The answer to one query. ``seconds`` is the search alone, without opening the index.

    ``seeds`` are the nodes from which graph mode and GraphRAG's local search started; ``notes`` are sentences about
    what the user should know (no term of the question is in the index, no node was linked). ``candidates``
    are all candidates for the context of a framework's mode or a tree, where they were asked for.
    """

    query: Query
    mode: str
    k: int
    hits: tuple[Hit, ...]
    seconds: float
    seeds: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    candidates: tuple[ContextItem, ...] | None = None
    _COLUMNS: ClassVar[Mapping[str, type]] = {
        "rank": int,
        "score": float,
        **dict.fromkeys(("id", "document", "title", "text"), str),
    }

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """The passages that were found."""
        for hit in self.hits:
            yield hit.rank, hit.score, hit.passage_id, hit.document_id, hit.title, hit.text

    def __repr__(self) -> str:
        """One line: the question, and the best passages."""
        text = self.query.text if len(self.query.text) <= 60 else f"{self.query.text[:59]}…"
        best = ", ".join(f"{hit.passage_id} {hit.score:.3g}" for hit in self.hits[:3])
        more = f" and {len(self.hits) - 3:,} more" if len(self.hits) > 3 else ""
        return f"<Retrieval by {self.mode} of {text!r}: {best or 'nothing found'}{more}>"

    def as_dict(self) -> dict[str, Any]:
        """The JSON form: an element of ``queries`` in the JSON of ``ragdata retrieve``."""
        document: dict[str, Any] = {
            "id": self.query.question_id,
            "text": self.query.text,
            "seconds": self.seconds,
            "seeds": list(self.seeds),
            "notes": list(self.notes),
            "hits": [hit.as_dict() for hit in self.hits],
        }
        if self.candidates is not None:
            document["candidates"] = [asdict(item) for item in self.candidates]
        return document


@dataclass(frozen=True, slots=True)
class IndexPart:
    """One part of an index: ``lexical``, ``sparse``, ``dense``, ``graph`` or ``contextual``; ``built`` is false where
    it was there."""

    kind: str
    built: bool
    seconds: float
    bytes: int
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What an index holds and where it lies; ``unit`` is what its passages are (``document`` or ``chunk``)."""

    dataset: str
    name: str
    format: str
    folder: str
    digest: str
    unit: str
    passages: int
    parts: tuple[IndexPart, ...]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The JSON form: that of ``ragdata index``, without the modes that the index can be searched by."""
        parts = [
            {"kind": p.kind, "built": p.built, "seconds": p.seconds, "bytes": p.bytes, "facts": dict(p.facts)}
            for p in self.parts
        ]
        return {
            "version": 1,
            "dataset": self.dataset,
            "name": self.name,
            "format": self.format,
            "index": self.folder,
            "digest": self.digest,
            "unit": self.unit,
            "passages": self.passages,
            "parts": parts,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a question as it stands there; ``passages`` counts the passages of the index that have it.

    ``spelled`` is how the passage spells it, where only accents differ, so that it is not found by it.
    """

    text: str
    passages: int
    spelled: str | None = None


@dataclass(frozen=True, slots=True)
class GoldPlace:
    """What became of a relevant target of a question. ``rank`` is 1-based, None where it is not within ``depth``.

    ``cause`` is why it is not among the first results, None where it is; ``fault`` its words where it cannot be found
    at all (not in the corpus, no text), else empty. ``shared`` are the terms of the question that it has, ``missing``
    those that it has not. ``why`` says in a sentence why it is not among the hits. ``snippet``, ``path`` and ``ranks``
    are those that it would have as a hit; of a mode in which it has no rank, ``ranks`` has None.
    """

    target_id: str
    grade: int
    rank: int | None
    depth: int
    fault: str = ""
    title: str | None = None
    shared: tuple[Term, ...] = ()
    missing: tuple[Term, ...] = ()
    why: str = ""
    snippet: Snippet | None = None
    path: tuple[PathStep, ...] = ()
    ranks: Mapping[str, int | None] = field(default_factory=dict)
    cause: GoldCause | None = None

    @property
    def reason(self) -> str:
        """The cause with what more is known of it; empty where it is among the first results, or nothing is known."""
        words = self.cause.words if self.cause is not None else ""
        if not words or words in self.why:
            return self.why or self.fault
        return f"{words}: {self.why}" if self.why else words


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """An index as it lies on the disk. ``state`` is ``current``; ``changed`` or ``gone``, as its dataset is; or
    ``damaged``."""

    folder: str
    name: str
    format: str
    dataset: str
    passages: int
    parts: tuple[str, ...]
    bytes: int
    made: str
    state: str
