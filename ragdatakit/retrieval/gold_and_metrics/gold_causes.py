"""Finds out why gold is not among the first results: its passage, its terms, and what is above it are looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragdatakit.retrieval.gold_and_metrics.alike_ids import alike_ids
from ragdatakit.retrieval.gold_and_metrics.answers_in_texts import is_number
from ragdatakit.retrieval.gold_and_metrics.gold_facts import same_text
from ragdatakit.retrieval.gold_and_metrics.sanity import Spans, ordinals_of
from ragdatakit.schemas.search.gold_causes import GoldCause, gold_cause

if TYPE_CHECKING:
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion
    from ragdatakit.retrieval.passages import Passages
    from ragdatakit.schemas.evaluations import QuestionResult, RunResult

_BY_TERMS = ("bm25", "hybrid")
"""Modes of which it matters whether a passage has a term of the question."""
MOST_WORST, SHOWN_GOLD = 1000, 3
"""Questions of a run, and gold of each, whose causes are looked for."""
_FIRST = 10
"""Results of a run among which copies of the gold are looked for."""
_NEAR, _LIKE = 0.9, 0.7
"""The share of the terms that nearly equal texts have in common, and the least ratio of their lengths."""
_KEPT, _LONG = 8192, 500
"""Passages whose terms are kept, and terms beyond which they are not."""
_FEWEST_UNKNOWN = 3
"""Words of a question in no passage that are no chance, where they are most of its words."""
_STUB, _STUB_LENGTH = 5, 100
"""Words and characters of a text that hardly is one."""
_Above = tuple[int, str, int]
"""A result: rank, id and passage."""


class GoldCauses:
    """Why gold ``targets`` are not among the first ``k`` results of a run that was looked at down to ``depth``, or have
    a copy above them there.

    ``places`` has the passages of each target; a document that is searched as chunks has several. Copies above a
    target are looked for among those that were found first, where passages are ranked. ``known`` says whether a passage
    has a term, ``alike`` which ids there are for those that are missing (None: that is looked for).
    """

    def __init__(
        self,
        passages: Passages,
        tokenizer: Spans,
        known: Callable[[str], bool],
        targets: Iterable[str],
        unit: str,
        mode: str,
        *,
        k: int,
        depth: int,
        alike: Mapping[str, str] | None = None,
    ) -> None:
        self._passages, self._tokenizer, self._known = passages, tokenizer, known
        wanted = list(targets)
        self.places = ordinals_of(unit, passages, wanted)
        self._by_document = unit == "document" and passages.unit == "chunk"
        self._nodes = unit == "node"
        self._by_terms, self._k, self._depth = mode in _BY_TERMS, k, depth
        self._copies = not self._by_document and not self._nodes
        self._kept: dict[int, Counter[str]] = {}
        if alike is None:
            missing = [target for target in wanted if target not in self.places and not self._nodes]
            there = passages.documents() if self._by_document else map(passages.id, range(len(passages)))
            alike = alike_ids(missing, there)
        self._alike = alike

    def asked(self, question: GoldQuestion, first: Sequence[str]) -> Callable[[str, int | None], GoldCause | None]:
        """What finds the cause of a target of the question, of which the rank is known; ``first`` are the ids that were
        found first."""
        words = self._words(question.text)
        unknown = [word for token, word in words.items() if self._by_terms and not self._known(token)]
        unknown.sort(key=len, reverse=True)  # the long ones say more than a, can and my
        is_foreign = len(unknown) >= _FEWEST_UNKNOWN and 2 * len(unknown) > len(words)
        gold = set(question.gold)
        placed = zip(first, self._passages.ordinals(first) if self._copies else (), strict=False)
        above = [(n, name, o) for n, (name, o) in enumerate(placed, 1) if o is not None and name not in gold]

        def cause(target: str, rank: int | None) -> GoldCause | None:
            places = () if self._nodes else self.places.get(target, ())
            copy = self._copy_above(places[0], rank, above, words) if places else None
            if rank is not None and rank <= self._k:
                return copy
            lost = None if self._nodes else self._lost(target)
            if lost is not None:
                return lost
            stub = self._stub(places)
            if places and rank is None and self._by_terms and self._shares_none(places, words):
                foreign = is_foreign and stub is None
                return gold_cause("no-words", unknown=unknown) if foreign else gold_cause("no-term", stub=stub)
            return copy or (
                gold_cause("beyond", depth=self._depth, stub=stub)
                if rank is None
                else gold_cause("below", rank=rank, k=self._k, stub=stub)
            )

        return cause

    def _words(self, text: str) -> dict[str, str]:
        """The terms of a question, each with how it is first written there."""
        words: dict[str, str] = {}
        for token, start, end in self._tokenizer.spans(text):
            words.setdefault(token, text[start:end])
        return words

    def _lost(self, target: str) -> GoldCause | None:
        """Why no retriever can find the target."""
        places = self.places.get(target, ())
        if not places:
            return gold_cause("no-chunks" if self._by_document else "missing", alike=self._alike.get(target, ""))
        is_empty = not any(map(self._terms, places))
        if is_empty and not any(same_text(self._passages[place].searched) for place in places):
            return gold_cause("no-text")
        return None

    def _shares_none(self, places: Sequence[int], words: Collection[str]) -> bool:
        return all(self._terms(place).keys().isdisjoint(words) for place in places)

    def _stub(self, places: Sequence[int]) -> str | None:
        """The text of a passage that has hardly any; None for others."""
        if len(places) != 1:
            return None
        text = " ".join(self._passages[places[0]].text.split())
        return text if len(text.split()) <= _STUB and len(text) <= _STUB_LENGTH else None

    def _copy_above(
        self, place: int, rank: int | None, above: Sequence[_Above], words: Collection[str]
    ) -> GoldCause | None:
        """The first of the results above the target whose text is the same, or nearly so: it differs neither in a
        number nor in a term of the question, which may be what decides between the two."""
        nearer = [one for one in above if rank is None or one[0] < rank]
        long = len(self._passages[place].searched)
        own = self._terms(place) if nearer and long else Counter[str]()
        for higher, name, ordinal in nearer if own else ():
            length = len(self._passages[ordinal].searched)
            if min(long, length) < _LIKE * max(long, length):
                continue
            other = self._terms(ordinal)
            if min(len(own), len(other)) < _NEAR * max(len(own), len(other)) - 1:  # this is quick, and most are so
                continue
            if (own & other).total() < _NEAR * (own | other).total():
                continue
            if not any(term in words or is_number(term) for term in own.keys() ^ other.keys()):
                texts = {same_text(self._passages[each].searched) for each in (place, ordinal)}
                return gold_cause("copy", copy=name, above=higher, near=len(texts) > 1)
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


def with_causes(
    run: RunResult,
    gold: Gold,
    passages: Passages,
    tokenizer: Spans,
    known: Callable[[str], bool],
    alike: Mapping[str, str],
) -> RunResult:
    """The run with why the first gold of its worst questions was not found at all, or has a copy above it."""
    worst = {q.question_id for q in run.worst(MOST_WORST)}
    asked = {q.question_id: q for q in gold.judged if q.question_id in worst}
    if gold.unit == "node" or not asked:
        return run
    targets = (t for q in asked.values() for t in q.gold[:SHOWN_GOLD])
    places = (passages, tokenizer, known, targets, gold.unit, run.name)
    causes = GoldCauses(*places, k=run.depth, depth=run.depth, alike=alike)

    def explained(result: QuestionResult) -> QuestionResult:
        question = asked.get(result.question_id)
        if question is None:
            return result
        ranked = zip(question.gold[:SHOWN_GOLD], result.gold_ranks, strict=False)
        cause = causes.asked(question, result.found[:_FIRST])
        return replace(result, causes=tuple(cause(target, rank) for target, rank in ranked))

    return replace(run, questions=tuple(map(explained, run.questions)))
