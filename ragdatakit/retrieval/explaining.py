"""Why a question fails: where its relevant passages are in the ranking, which of its terms they have, and what those
have that are above them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from ragdatakit.retrieval.gold_and_metrics.gold_causes import GoldCauses
from ragdatakit.retrieval.terms.accents import spelled_with_other_accents
from ragdatakit.schemas.retrieved import GoldPlace, Term
from ragdatakit.schemas.search.gold_causes import LOST, gold_cause
from ragdatakit.schemas.texts import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion
    from ragdatakit.retrieval.retriever import Retriever

DEPTH = 1000
_MOST_TERMS, _LONGEST_ID = 5, 60


def gold_places(
    retriever: Retriever, question: GoldQuestion, gold: Gold, mode: str = "bm25", k: int = 10, depth: int = DEPTH
) -> tuple[GoldPlace, ...]:
    """Each relevant target of a question, best rank first. ``gold`` is that of all questions: what is found may be that
    of another.

    The first ``k`` ranks are those that a search for ``k`` gives; ``depth`` is how far is looked.
    """
    if gold.unit == "node":
        found = _places_of_nodes(retriever, question, mode, depth)
    else:
        found = list(_Passages(retriever, question, gold, mode, k, depth).places())
    return tuple(sorted(found, key=lambda place: (place.rank is None, place.rank or 0)))


def _places_of_nodes(retriever: Retriever, question: GoldQuestion, mode: str, depth: int) -> list[GoldPlace]:
    graph = retriever.graph
    if mode != "graph" or graph is None:
        fault = f"it is a node of the graph: mode {mode} finds passages only"
        return [GoldPlace(target, question.grades[target], None, depth, fault) for target in question.gold]
    ranks = {name: rank for rank, (name, _) in enumerate(graph.rank_nodes([question.query], depth)[0], 1)}
    return [GoldPlace(target, question.grades[target], ranks.get(target), depth) for target in question.gold]


class _Passages:
    """The gold passages of one question, or the documents of which they are the chunks."""

    def __init__(self, retriever: Retriever, question: GoldQuestion, gold: Gold, mode: str, k: int, depth: int) -> None:
        self._retriever, self._question, self._mode, self._k, self._depth = retriever, question, mode, k, depth
        self._gold, unit = gold, gold.unit
        self._passages = retriever.index.passages
        self._of_documents = unit == "document" and self._passages.unit == "chunk"
        tokenizer, known = retriever.tokenizer, retriever.lexical.known
        what = (self._passages, tokenizer, known, question.gold, unit, mode)
        self._causes = GoldCauses(*what, k=min(k, depth), depth=depth)
        ranked = self._ranked()
        self._first = [*dict.fromkeys(map(self._name, ranked[:k]))]
        self._ranks = self._by_name(ranked)
        self._by_mode = {}
        if mode == "hybrid":
            fused = {name: retriever.rank([question.query], name, depth)[0] for name in retriever.fused}
            self._by_mode = {name: self._by_name(found.ordinals.tolist()) for name, found in fused.items()}
        own = set(question.gold)
        self._rival = next(((r, o) for r, o in enumerate(ranked[:k], 1) if self._name(o) not in own), None)

    def _ranked(self) -> list[int]:
        """The passages in order: first those that the search showed, as fusion depends on how many are asked for."""
        retriever, query = self._retriever, self._question.query
        shown: list[int] = retriever.rank([query], self._mode, self._k)[0].ordinals.tolist()
        deep: list[int] = retriever.rank([query], self._mode, self._depth)[0].ordinals.tolist()
        return list(dict.fromkeys((*shown, *deep)))[: self._depth]

    def _name(self, ordinal: int) -> str:
        return self._passages.document_id(ordinal) if self._of_documents else self._passages.id(ordinal)

    def _by_name(self, ranked: Sequence[int]) -> dict[str, tuple[int, int]]:
        """Rank and passage of each target; a document has the rank of its best chunk among documents."""
        ranks: dict[str, tuple[int, int]] = {}
        for rank, ordinal in enumerate(ranked, 1):
            ranks.setdefault(self._name(ordinal), (len(ranks) + 1 if self._of_documents else rank, ordinal))
        return ranks

    def places(self) -> Iterator[GoldPlace]:
        """What became of each target."""
        cause_of = self._causes.asked(self._question, self._first)
        for target in self._question.gold:
            first = self._causes.places.get(target, (None,))[0]
            rank, best = self._ranks.get(target, (None, first))
            cause = cause_of(target, rank)
            fault = cause.words if cause is not None and cause.kind in LOST else ""
            place = GoldPlace(target, self._question.grades[target], rank, self._depth, fault, cause=cause)
            yield self._with_terms(place, best) if best is not None else place

    def _with_terms(self, place: GoldPlace, ordinal: int) -> GoldPlace:
        """The place with the terms that the target has; of a document, those of its best chunk."""
        passage = self._passages[ordinal]
        if place.fault:
            return replace(place, title=passage.title)
        has = self._tokens(ordinal)
        terms = self._terms()
        place = replace(
            place,
            title=passage.title,
            shared=tuple(term for token, term in terms.items() if token in has),
            missing=tuple(self._spelled(t, term, passage.searched) for t, term in terms.items() if t not in has),
        )
        query = self._question.query
        graph = self._retriever.graph if self._mode == "graph" or "graph" in self._by_mode else None
        ranks = {mode: ranks.get(place.target_id, (None, 0))[0] for mode, ranks in self._by_mode.items()}
        place = replace(place, ranks=ranks, path=graph.path(query, ordinal) if graph is not None else ())
        if place.rank is not None and place.rank <= self._k:
            return place
        hit = self._retriever.hit(ordinal, 1, 0.0, query)
        return replace(place, why=self._why(place, has, terms), snippet=hit.snippet)

    def _tokens(self, ordinal: int) -> set[str]:
        return set(self._retriever.tokenizer.tokens(self._passages[ordinal].searched))

    def _terms(self) -> dict[str, Term]:
        """The terms of the question by their tokens."""
        text, lexical = self._question.text, self._retriever.lexical
        spans = {token: (start, end) for token, start, end in reversed(self._retriever.tokenizer.spans(text))}
        counts = {token: lexical.document_frequency(token) for token in spans}
        return {t: Term(text[start:end], counts[t]) for t, (start, end) in reversed(spans.items())}

    def _spelled(self, token: str, term: Term, text: str) -> Term:
        """A term that is missing, with the spelling that the text has of it where only accents differ."""
        spelled = spelled_with_other_accents(text, token, self._retriever.tokenizer)
        return replace(term, spelled=spelled) if spelled is not None else term

    def _vectors_may(self) -> str:
        """How to search by vectors here."""
        if not self._retriever.lack("dense"):
            return "vectors may find it (--mode dense)"
        return "vectors may find it (`ragdata retrieve … --mode dense --embedder KIND:MODEL`)"

    @cached_property
    def _other(self) -> str:
        """Of which other question the best result is the gold that is not that of this one; empty where of none."""
        if self._rival is None:
            return ""
        name = self._name(self._rival[1])
        other = next((q.question_id for q in self._gold.judged if q.grades.get(name, 0) > 0), None)
        return f"the gold of question {shortened(other, _LONGEST_ID)}" if other is not None else ""

    def _why(self, place: GoldPlace, has: set[str], terms: Mapping[str, Term]) -> str:
        """Why a target that could be found is not among the hits."""
        if self._mode == "graph":
            graph = self._retriever.graph
            if graph is not None and not graph.seeds(self._question.query):
                return "the question names no node of the graph, so that there is nowhere to start"
            return "" if place.path or place.rank else "no short way leads to it from the nodes that the question names"
        if self._mode not in ("bm25", "hybrid"):
            return ""
        if not terms:
            return "the question has no terms"
        if place.cause is not None and place.cause.kind == "no-words":
            vectors = self._vectors_may() if self._mode == "bm25" else ""
            return f"{place.cause.words} {vectors[:1].upper()}{vectors[1:]}".rstrip()
        if not place.shared:
            rest = self._vectors_may() if self._mode == "bm25" else "only the other modes can"
            words = place.cause.words if place.cause is not None else gold_cause("no-term").words
            of = f"; rank {self._rival[0]} is {other}" if self._rival is not None and (other := self._other) else ""
            return f"{words}: bm25 cannot find it{of}. Do the question and its gold belong together? If so, {rest}"
        if place.cause is not None and place.cause.kind == "copy":
            return place.cause.words
        if self._mode == "hybrid" or self._rival is None:
            return ""
        number, ordinal = self._rival
        other = self._other
        rank = f"rank {number}, {other}," if other else f"rank {number}"
        rival = self._tokens(ordinal)
        more = [term for token, term in terms.items() if token in rival and token not in has]
        if not more:
            return f"{rank} has no term that it lacks, but has them more often, or in a shorter text"
        more = sorted(more, key=lambda term: term.passages)  # the rarest say most
        listed = ", ".join(f"{term.text} ({term.passages:,})" for term in more[:_MOST_TERMS])
        others = f" and {len(more) - _MOST_TERMS:,} more" if len(more) > _MOST_TERMS else ""
        return f"{rank} has {listed}{others}, which it lacks"
