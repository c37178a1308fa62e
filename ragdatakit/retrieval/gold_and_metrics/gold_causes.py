"""Finds out why gold is not among the first results: its passage, its terms, and what is above it are looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ragdatakit.retrieval.gold_and_metrics.gold_facts import same_text
from ragdatakit.retrieval.gold_and_metrics.sanity import Tokens, ordinals_of
from ragdatakit.schemas.search.gold_causes import GoldCause, gold_cause

if TYPE_CHECKING:
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion
    from ragdatakit.retrieval.passages import Passages
    from ragdatakit.schemas.evaluations import QuestionResult, RunResult

BY_TERMS = ("bm25", "hybrid")
"""Modes of which it matters whether a passage has a term of the question."""
MOST_WORST, SHOWN_GOLD = 1000, 3
"""Questions of a run, and gold of each, whose causes are looked for."""
_NEAR = 0.9
_KEPT = 4096


class GoldCauses:
    """Why gold targets are not among the first ``k`` results of a run that was looked at down to ``depth``.

    ``places`` are the passages of each target (`ordinals_of`); a document that is searched as chunks has several.
    Copies above a target are looked for among the first ``k``, where passages are ranked and ``copies`` is true.
    """

    def __init__(
        self,
        passages: Passages,
        tokenizer: Tokens,
        places: Mapping[str, Sequence[int]],
        unit: str,
        mode: str,
        *,
        k: int,
        depth: int,
        copies: bool = True,
    ) -> None:
        self._passages, self._tokenizer, self._places = passages, tokenizer, places
        self._by_document = unit == "document" and passages.unit == "chunk"
        self._nodes = unit == "node"
        self._by_terms, self._k, self._depth = mode in BY_TERMS, k, depth
        self._copies = copies and not self._by_document and not self._nodes
        self._tokens = lru_cache(_KEPT)(self._read_tokens)

    def of(self, question: GoldQuestion, ranked: Sequence[str], most: int = 0) -> tuple[GoldCause | None, ...]:
        """The causes of the gold of a question (its first ``most``, 0: all), given the ids that were found for it."""
        gold = question.gold[:most] if most else question.gold
        ranks = {target: rank for rank, target in reversed([*enumerate(ranked, 1)])}
        return tuple(self.cause(question, target, ranks.get(target), ranked[: self._k]) for target in gold)

    def cause(self, question: GoldQuestion, target: str, rank: int | None, first: Sequence[str]) -> GoldCause | None:
        """The cause of one target, of which ``rank`` is known; ``first`` are the ids that were found first."""
        if rank is not None and rank <= self._k:
            return None
        places = () if self._nodes else self._places.get(target, ())
        if not self._nodes:
            if not places:
                return gold_cause("no-chunks" if self._by_document else "missing")
            tokens = self._tokens_of(places)
            if not tokens and not any(same_text(self._passages[place].searched) for place in places):
                return gold_cause("no-text")
            if rank is None and self._by_terms and tokens.keys().isdisjoint(self._tokenizer.tokens(question.text)):
                return gold_cause("no-term")
        copy = self._copy_above(question, places, first) if self._copies else None
        if copy is not None:
            return copy
        if rank is None:
            return gold_cause("beyond", depth=self._depth)
        return gold_cause("below", rank=rank, k=self._k)

    def _copy_above(self, question: GoldQuestion, places: Sequence[int], first: Sequence[str]) -> GoldCause | None:
        """The first of the results whose text is that of the target, or nearly so."""
        own, gold = self._tokens_of(places), set(question.gold)
        text = ""
        for above, (name, ordinal) in enumerate(zip(first, self._passages.ordinals(first), strict=True), 1):
            if ordinal is None or name in gold:
                continue
            other = self._tokens(ordinal)
            if (own & other).total() < _NEAR * (own | other).total():
                continue
            text = text or same_text(self._passages[places[0]].searched)
            near = same_text(self._passages[ordinal].searched) != text
            return gold_cause("copy", copy=name, above=above, near=near)
        return None

    def _tokens_of(self, places: Iterable[int]) -> Counter[str]:
        return sum(map(self._tokens, places), Counter())

    def _read_tokens(self, ordinal: int) -> Counter[str]:
        return Counter(self._tokenizer.tokens(self._passages[ordinal].searched))


def with_causes(run: RunResult, gold: Gold, passages: Passages, tokenizer: Tokens) -> RunResult:
    """The run with why the first gold of its worst questions was not found at all."""
    worst = {q.question_id for q in run.worst(MOST_WORST)}
    asked = {q.question_id: q for q in gold.judged if q.question_id in worst}
    if gold.unit == "node" or not asked:
        return run
    places = ordinals_of(gold.unit, passages, (t for q in asked.values() for t in q.gold[:SHOWN_GOLD]))
    causes = GoldCauses(passages, tokenizer, places, gold.unit, run.name, k=run.depth, depth=run.depth, copies=False)

    def explained(result: QuestionResult) -> QuestionResult:
        question = asked.get(result.question_id)
        if question is None:
            return result
        ranked = zip(question.gold[:SHOWN_GOLD], result.gold_ranks, strict=False)
        return replace(result, causes=tuple(causes.cause(question, target, rank, ()) for target, rank in ranked))

    return replace(run, questions=tuple(map(explained, run.questions)))
