"""Finds out why gold is not among the first results: its passage, its terms, and what is above it are looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING

from ragdatakit.retrieval.gold_and_metrics.gold_facts import same_text
from ragdatakit.retrieval.gold_and_metrics.sanity import Tokens, ordinals_of
from ragdatakit.schemas.search.gold_causes import GoldCause, gold_cause

if TYPE_CHECKING:
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion
    from ragdatakit.retrieval.passages import Passages
    from ragdatakit.schemas.evaluations import QuestionResult, RunResult

_BY_TERMS = ("bm25", "hybrid")
"""Modes of which it matters whether a passage has a term of the question."""
MOST_WORST, SHOWN_GOLD = 1000, 3
"""Questions of a run, and gold of each, whose causes are looked for."""
_NEAR = 0.9
_KEPT, _LONG = 8192, 500
"""Passages whose terms are kept, and terms beyond which they are not."""
_Above = tuple[int, str, int]
"""A result: rank, id and passage."""


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
        self._by_terms, self._k, self._depth = mode in _BY_TERMS, k, depth
        self._copies = copies and not self._by_document and not self._nodes
        self._kept: dict[int, Counter[str]] = {}

    def asked(self, question: GoldQuestion, first: Sequence[str]) -> Callable[[str, int | None], GoldCause | None]:
        """What finds the cause of a target of the question, of which the rank is known; ``first`` are the ids that were
        found first."""
        tokens = frozenset(self._tokenizer.tokens(question.text)) if self._by_terms else frozenset[str]()
        gold = set(question.gold)
        placed = zip(first, self._passages.ordinals(first) if self._copies else (), strict=False)
        above = [(n, name, o) for n, (name, o) in enumerate(placed, 1) if o is not None and name not in gold]

        def cause(target: str, rank: int | None) -> GoldCause | None:
            if rank is not None and rank <= self._k:
                return None
            return (None if self._nodes else self._of_texts(target, rank, tokens, above)) or (
                gold_cause("beyond", depth=self._depth) if rank is None else gold_cause("below", rank=rank, k=self._k)
            )

        return cause

    def _of_texts(
        self, target: str, rank: int | None, tokens: AbstractSet[str], above: Sequence[_Above]
    ) -> GoldCause | None:
        """The cause that the texts of the target and of those above it have."""
        places = self._places.get(target, ())
        if not places:
            return gold_cause("no-chunks" if self._by_document else "missing")
        own = [self._terms(place) for place in places]
        if not any(own) and not any(same_text(self._passages[place].searched) for place in places):
            return gold_cause("no-text")
        if rank is None and self._by_terms and all(tokens.isdisjoint(terms) for terms in own):
            return gold_cause("no-term")
        return self._copy_above(places[0], own[0], above)

    def _copy_above(self, place: int, own: Counter[str], above: Sequence[_Above]) -> GoldCause | None:
        """The first of the results whose text is that of the target, or nearly so."""
        for rank, name, ordinal in above:
            other = self._terms(ordinal)
            if min(len(own), len(other)) < _NEAR * max(len(own), len(other)) - 1:  # this is quick, and most are so
                continue
            if (own & other).total() >= _NEAR * (own | other).total():
                texts = {same_text(self._passages[each].searched) for each in (place, ordinal)}
                return gold_cause("copy", copy=name, above=rank, near=len(texts) > 1)
        return None

    def _terms(self, ordinal: int) -> Counter[str]:
        """How often a passage has each term; those of long ones are not kept."""
        found = self._kept.get(ordinal)
        if found is None:
            found = Counter(self._tokenizer.tokens(self._passages[ordinal].searched))
            if len(found) <= _LONG:
                if len(self._kept) >= _KEPT:
                    self._kept.clear()
                self._kept[ordinal] = found
        return found


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
        cause = causes.asked(question, ())
        return replace(result, causes=tuple(cause(target, rank) for target, rank in ranked))

    return replace(run, questions=tuple(map(explained, run.questions)))
