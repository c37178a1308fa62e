"""The metric ceiling: the best that any retriever could reach on a dataset, given its defects.

Definition. A retriever may give any ranking for a question. It cannot return a target that is not in the corpus, or one
without text; it cannot tell identical texts apart, so each of them is the gold one with equal probability; and where
the text of the question itself is a passage, and not gold, this one comes first. The ceiling of a question is the
maximum, over all rankings, of the expected value of the metric; gold that cannot be found stays in the denominators.
The ceiling of a metric is the mean over the judged questions. It is exact, except for the average precision of a
question whose gold has many different identical texts: that is an upper bound (`MOST_STATES`).

A single run may lie above the ceiling by luck: where the gold copy happens to be first in the file, for example.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from math import log2, prod
from typing import TYPE_CHECKING

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.gold_and_metrics.metrics import metric
from ragdatakit.schemas.evaluations import Ceiling, CeilingCause

if TYPE_CHECKING:
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion
    from ragdatakit.retrieval.gold_and_metrics.gold_facts import GoldFacts

MISSING = "gold-not-in-corpus"
EMPTY = "gold-without-text"
IDENTICAL = "identical-texts"
ASKED = "question-in-corpus"
REPEATED = "repeated-judgements"
CUT = "cut-off"
WORDS = {
    MISSING: "gold that is not in the corpus",
    EMPTY: "gold without a letter or digit in its text",
    IDENTICAL: "identical texts under several ids, not all of them gold (or of different grades)",
    ASKED: "the question itself is in the corpus and is not gold",
    REPEATED: "judgements that appear more than once (counted once here; loaders that count rows lose by them)",
    CUT: "more gold than results that are looked at (for precision: less); arithmetic, no defect",
}
MOST_STATES = 20_000
"""Beyond so many states the best order for the average precision is not searched but bounded."""
_MOST_DRAWN = 400
_MOST_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class _Situation:
    """All that decides about a question's ceiling: the grades of its gold, by what became of it.

    ``texts`` are the texts that can be found, with the number of their copies and the grades of the gold among them.
    ``before`` is the number of passages that come first.
    """

    missing: tuple[int, ...]
    empty: tuple[int, ...]
    texts: tuple[tuple[int, tuple[int, ...]], ...]
    before: int


@dataclass(frozen=True, slots=True)
class _Text:
    """A text with ``copies``, of which ``gold`` are gold, with ``gain`` as the sum of their grades."""

    copies: int
    gold: int
    gain: int

    @property
    def share(self) -> float:
        """The probability that a copy is gold."""
        return self.gold / self.copies


@dataclass(frozen=True, slots=True)
class _Case:
    """A question as some of the causes leave it; ``uncut``: cut-offs are wide enough for all gold."""

    grades: tuple[int, ...]
    texts: tuple[_Text, ...]
    before: int
    uncut: bool


def ceiling(
    gold: Gold,
    facts: GoldFacts | None,
    metrics: Sequence[str],
    depth: int = 100,
    repeated: Mapping[str, int] | None = None,
) -> Ceiling:
    """The best mean of each metric over the judged questions; ``facts`` None: there is no corpus to look at.

    ``metrics`` are names that `metrics.metric` knows; ``depth`` is the number of results that are looked at.
    ``repeated`` counts by question the judgements that appear again. Causes without a question are left out.
    Raises `UnknownNameError` for an unknown metric.
    """
    names = [metric(name).name for name in metrics]
    if not gold.judged:
        return Ceiling({}, ())
    counted, concerned = _situations(gold, facts, repeated or {})
    parsed = [metric(name) for name in names]
    least = min((min(depth, m.k or depth) for m in parsed if m.family in ("recall", "map")), default=None)
    most = max((m.k or 0 for m in parsed if m.family == "precision"), default=0)
    for question in gold.judged:
        number = len(question.gold)
        if number < most or (least is not None and number > least):
            concerned[CUT].add(question.question_id, (), number)
    return _Costs(counted, names, depth).ceiling({name: c for name, c in concerned.items() if c.questions})


@dataclass(slots=True)
class _Concern:
    """The questions that a cause concerns."""

    questions: int = 0
    pairs: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, question_id: str, targets: Iterable[str], pairs: int) -> None:
        """Count a question with its pairs; keep some as examples."""
        self.questions += 1
        self.pairs += pairs
        if len(self.examples) < _MOST_EXAMPLES:
            target = next(iter(targets), "")
            self.examples.append(f"{question_id}: {target}" if target else question_id)


def _situations(
    gold: Gold, facts: GoldFacts | None, repeated: Mapping[str, int]
) -> tuple[Counter[_Situation], dict[str, _Concern]]:
    """How often each situation occurs, and which questions the causes concern."""
    counted: Counter[_Situation] = Counter()
    concerned = {name: _Concern() for name in WORDS}
    for question in gold.judged:
        counted[_situation(question, facts, concerned)] += 1
        if number := repeated.get(question.question_id):
            concerned[REPEATED].add(question.question_id, (), number)
    return counted, concerned


def _situation(question: GoldQuestion, facts: GoldFacts | None, concerned: Mapping[str, _Concern]) -> _Situation:
    if facts is None:
        return _Situation((), (), tuple((1, (grade,)) for grade in _sorted(question.grades.values())), 0)
    lost: dict[str, list[str]] = {MISSING: [], EMPTY: []}
    copies: dict[int, list[str]] = {}
    single: list[int] = []
    for target in question.gold:
        if target in facts.missing:
            lost[MISSING].append(target)
        elif target in facts.empty:
            lost[EMPTY].append(target)
        elif target in facts.copies:
            copies.setdefault(id(facts.copies[target]), []).append(target)
        else:
            single.append(question.grades[target])
    for name, targets in lost.items():
        if targets:
            concerned[name].add(question.question_id, targets, len(targets))
    texts = [(max(facts.copies[t[0]].count, len(t)), _sorted(question.grades[x] for x in t)) for t in copies.values()]
    mixed = [
        t for t in copies.values() if len(t) < facts.copies[t[0]].count or len({question.grades[x] for x in t}) > 1
    ]
    if mixed:
        shown = (" = ".join((t[0], *(i for i in facts.copies[t[0]].ids if i not in t))) for t in mixed)
        concerned[IDENTICAL].add(question.question_id, shown, sum(map(len, mixed)))
    own = facts.questions.get(question.question_id)
    before = 0
    if (
        own is not None
        and own.ids[0] not in question.gold
        and not any(facts.copies[t[0]] is own for t in copies.values())
    ):
        before = own.count
        concerned[ASKED].add(question.question_id, own.ids, before)
    every = sorted([*texts, *((1, (grade,)) for grade in single)])
    return _Situation(
        _sorted(question.grades[t] for t in lost[MISSING]),
        _sorted(question.grades[t] for t in lost[EMPTY]),
        tuple(every),
        before,
    )


def _sorted(grades: Iterable[int]) -> tuple[int, ...]:
    """The grades of gold, the best first."""
    return tuple(sorted((grade for grade in grades if grade > 0), reverse=True))


class _Costs:
    """The ceilings with all causes, without each, and with each alone."""

    def __init__(self, counted: Counter[_Situation], names: Sequence[str], depth: int) -> None:
        self._counted, self._names, self._depth = counted, names, depth
        self._best = lru_cache(maxsize=100_000)(_best)

    def ceiling(self, concerned: Mapping[str, _Concern]) -> Ceiling:
        """The ceiling and its causes, the dearest first."""
        every = frozenset(concerned)
        joint = self._means(every)
        found = []
        for name, concern in concerned.items():
            without, alone = self._means(every - {name}), self._means(frozenset((name,)))
            cost = {m: max(0.0, without[m] - joint[m]) for m in self._names}
            lone = {m: max(0.0, 1 - alone[m]) for m in self._names}
            examples = tuple(concern.examples)
            found.append(CeilingCause(name, WORDS[name], concern.questions, concern.pairs, cost, examples, lone))
        return Ceiling(joint, tuple(sorted(found, key=lambda c: -max(c.cost.values(), default=0.0))))

    def _means(self, causes: frozenset[str]) -> dict[str, float]:
        cases: Counter[_Case] = Counter()
        for situation, number in self._counted.items():
            cases[_case(situation, causes)] += number
        total = cases.total()
        return {
            name: sum(self._best(name, case, self._depth) * number for case, number in cases.items()) / total
            for name in self._names
        }


def _case(situation: _Situation, causes: frozenset[str]) -> _Case:
    """The question, if only these causes were there."""
    texts: list[_Text] = []
    for copies, grades in situation.texts:
        if IDENTICAL in causes:
            texts.append(_Text(copies, len(grades), sum(grades)))
        else:
            texts += [_Text(1, 1, grade) for grade in grades]
    for name, lost in ((MISSING, situation.missing), (EMPTY, situation.empty)):
        if name not in causes:
            texts += [_Text(1, 1, grade) for grade in lost]
    every = [*situation.missing, *situation.empty, *(grade for _, grades in situation.texts for grade in grades)]
    return _Case(
        _sorted(every),
        tuple(sorted(texts, key=lambda t: (-t.share, -t.gain / t.copies, t.copies))),
        situation.before if ASKED in causes else 0,
        CUT not in causes,
    )


def _best(name: str, case: _Case, depth: int) -> float:
    """The best expected value of a metric for a question."""
    wanted = metric(name)
    last = min(depth, wanted.k or depth)
    relevant = len(case.grades)
    if case.uncut and wanted.family in ("recall", "map"):
        last = max(last, relevant)
    if wanted.family == "precision":
        looked = wanted.k or 1
        return _found(case, last) / (min(looked, relevant) if case.uncut else looked)
    if wanted.family == "recall":
        return _found(case, last) / relevant
    if wanted.family == "ndcg":
        ideal = sum(map(_discounted, range(1, relevant + 1 if wanted.k is None else wanted.k + 1), case.grades))
        return _gain(case, last) / ideal
    if wanted.family == "map":
        return _precisions(case, last) / relevant
    of_text: Callable[[_Text, int, int], float] = _first if wanted.family == "mrr" else _any
    return max((of_text(text, case.before, last) for text in case.texts), default=0.0)


def _discounted(rank: int, gain: float) -> float:
    return gain / log2(rank + 1)


def _ranks(case: _Case, last: int, value: Callable[[_Text], float]) -> Iterator[tuple[int, float]]:
    """The ranks behind what comes first, with the value that is expected there: the greatest values at the best."""
    rank = case.before
    for text in sorted(case.texts, key=value, reverse=True):
        for _ in range(min(text.copies, last - rank)):
            rank += 1
            yield rank, value(text)


def _found(case: _Case, last: int) -> float:
    """How many gold targets are expected up to a rank."""
    return sum(share for _, share in _ranks(case, last, lambda text: text.share))


def _gain(case: _Case, last: int) -> float:
    """The discounted cumulative gain that is expected up to a rank."""
    return sum(_discounted(rank, gain) for rank, gain in _ranks(case, last, lambda text: text.gain / text.copies))


def _any(text: _Text, before: int, last: int) -> float:
    """The probability that gold is among the copies of a text that are ranked up to a rank."""
    none = 1.0
    for drawn in range(min(text.copies, last - before)):
        none *= max(0.0, 1 - text.gold / (text.copies - drawn))
    return 1 - none


def _first(text: _Text, before: int, last: int) -> float:
    """The reciprocal rank that is expected of the first gold copy of a text."""
    none, found = 1.0, 0.0
    for drawn in range(min(text.copies, last - before)):
        here = min(1.0, text.gold / (text.copies - drawn))
        found += none * here / (before + drawn + 1)
        none *= 1 - here
    return found


def _precisions(case: _Case, last: int) -> float:
    """The greatest expected sum of the precisions at the ranks of gold.

    What is gold for sure comes first. The order of the others is searched: the precision at a rank depends on what
    comes before, and of copies of one text fewer are gold together than of different texts.
    """
    sure = sum(text.copies for text in case.texts if text.gold == text.copies)
    total = sum(number / (case.before + number) for number in range(1, min(sure, last - case.before) + 1))
    rank = case.before + sure
    mixed = [text for text in case.texts if text.gold < text.copies]
    if not mixed or rank >= last:
        return total
    if len(mixed) == 1:
        return total + _alone(mixed[0], sure, rank, last)
    drawn = [min(text.copies, last - rank) for text in mixed]
    searched = prod(number + 1 for number in drawn) <= MOST_STATES and sum(drawn) <= _MOST_DRAWN
    return total + (_searched if searched else _bound)(mixed, sure, rank, last)


def _alone(text: _Text, sure: int, rank: int, last: int) -> float:
    """One text: there is no order to choose."""
    beside = (text.gold - 1) / (text.copies - 1)
    drawn = range(min(text.copies, last - rank))
    return sum(text.share * (1 + sure + before * beside) / (rank + before + 1) for before in drawn)


def _searched(texts: Sequence[_Text], sure: int, rank: int, last: int) -> float:
    """The best of all orders."""
    known: dict[tuple[tuple[int, int, int], ...], float] = {}

    def best(state: tuple[tuple[int, int, int], ...], at: int) -> float:
        if at > last:
            return 0.0
        if state not in known:
            before = sure + sum(used * gold / copies for copies, gold, used in state)
            known[state] = max(
                (
                    gold / copies * (1 + before - used * gold / copies + used * (gold - 1) / (copies - 1)) / at
                    + best(tuple(sorted([*state[:place], (copies, gold, used + 1), *state[place + 1 :]])), at + 1)
                    for place, (copies, gold, used) in enumerate(state)
                    if used < copies
                ),
                default=0.0,
            )
        return known[state]

    return best(tuple(sorted((text.copies, text.gold, 0) for text in texts)), rank + 1)


def _bound(texts: Sequence[_Text], sure: int, rank: int, last: int) -> float:
    """At least the best of all orders: as if copies were gold independently of each other, the likeliest first."""
    before, found = float(sure), 0.0
    for text in sorted(texts, key=lambda t: -t.share):
        for _ in range(min(text.copies, last - rank)):
            rank += 1
            found += text.share * (1 + before) / rank
            before += text.share
    return found
