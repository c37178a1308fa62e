"""Checks besides the metrics: numbers that say whether a metric means anything."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import log2
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ragdatakit.retrieval.gold_and_metrics.answers_in_texts import answer_in_top
from ragdatakit.retrieval.gold_and_metrics.metrics import measure, metric
from ragdatakit.schemas.evaluations import Sanity

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion
    from ragdatakit.retrieval.gold_and_metrics.gold_facts import GoldFacts
    from ragdatakit.retrieval.passages import Passages

    _Table = npt.NDArray[np.float32]

__all__ = ["answer_in_top", "check_run", "dealt_gold", "no_common_token", "ordinals_of", "without_token"]

DEALS = 5
"""So often the gold is dealt to other questions."""
PERMUTATIONS = 999
MOST_QUESTIONS = 2000
"""Of more questions a sample is dealt."""
ENOUGH = 20
"""With fewer questions, a low value alone is no proof that the gold is not aligned."""
PLENTY = 100
"""With fewer questions, a value above chance is none."""
RATIO = 3.0
_SIGNIFICANT = 0.05
_SURE = 0.002
"""With `PLENTY` of questions a sound set reaches the least value there is; a few left right by a wrong join do not."""
_LOOKED_AT = 10
"""So many results are looked at: among more copies of one text, nothing leads to the one that is gold."""
_LOW, _HIGH = 0.05, 0.25
"""What dealt gold gives in a corpus of about a hundred, and of about 18 documents."""


class Tokens(Protocol):
    """What cuts texts into the tokens that are indexed."""

    def tokens(self, text: str) -> list[str]:
        """The tokens, in order."""
        ...


class Spans(Tokens, Protocol):
    """The same, which also says where they are."""

    def spans(self, text: str) -> list[tuple[str, int, int]]:
        """The tokens with the places of their words, in order."""
        ...


def check_run(
    run: Mapping[str, Sequence[str]],
    gold: Gold,
    metrics: Sequence[str] = ("ndcg@10",),
    facts: GoldFacts | None = None,
    seed: int = 13,
) -> Sanity:
    """The metrics of a run (question id → target ids, best first) against gold dealt to other questions.

    Gold is dealt `DEALS` times so that no question keeps its own; the means are averaged. ``ratio`` compares nDCG@10
    with that; None where the dealt gold gives 0. Gold is aligned where nDCG@10 is at least 3 times that (or lies a
    tenth of the way from there to 1, where chance is high because the corpus is small or questions share gold), and
    higher than 95 % of random permutations of the gold give (from `PLENTY` questions on 99.8 %, so that the few that a
    wrong join leaves right are no proof). It is not aligned where that fails with at least `ENOUGH`
    questions, or where most questions find the gold of other questions first and hardly any their own. Else
    ``aligned`` is None: it cannot be known. Questions whose gold is not in the corpus, or is there more than ten
    times (``facts``), do not count; of more than `MOST_QUESTIONS` a sample is taken.

    The other members of `Sanity` are left at their defaults: fill them with `dataclasses.replace`.
    """
    hopeless: set[str] = set()
    if facts is not None:
        hopeless |= facts.lost | {target for target, copies in facts.copies.items() if copies.count > _LOOKED_AT}
    usable = [q for q in gold.judged if not hopeless.issuperset(q.gold)]
    rng = random.Random(seed)
    if len(usable) > MOST_QUESTIONS:
        usable = [usable[place] for place in sorted(rng.sample(range(len(usable)), MOST_QUESTIONS))]
    names = list(dict.fromkeys(metric(name).name for name in metrics))
    if len(usable) < 2:
        return Sanity({}, None, None)
    dealt = _dealt(run, usable, [*dict.fromkeys([*names, "ndcg@10"])], rng)
    table = _gains([run.get(q.question_id, ()) for q in usable], usable)
    own, chance = float(table.diagonal().mean()), dealt["ndcg@10"]
    ratio = own / chance if chance else None
    aligned = _aligned(table, run, usable, own, chance, seed)
    return Sanity({name: dealt[name] for name in names}, ratio, aligned)


def _dealt(
    run: Mapping[str, Sequence[str]], questions: Sequence[GoldQuestion], names: Sequence[str], rng: random.Random
) -> dict[str, float]:
    """The mean of each metric over several deals of the gold."""
    sums = dict.fromkeys(names, 0.0)
    for _ in range(DEALS):
        order = _derangement(len(questions), rng)
        grades = {q.question_id: questions[order[place]].grades for place, q in enumerate(questions)}
        for name, values in measure(run, grades, names).items():
            sums[name] += float(values.mean()) / DEALS
    return sums


def dealt_gold(gold: Gold, seed: int = 13) -> Gold | None:
    """The judged questions, each with the gold of another; None where there are less than two."""
    judged = gold.judged
    if len(judged) < 2:
        return None
    order = _derangement(len(judged), random.Random(seed))
    dealt = (replace(q, grades=judged[order[place]].grades) for place, q in enumerate(judged))
    return replace(gold, questions=tuple(dealt))


def _derangement(size: int, rng: random.Random) -> list[int]:
    """A random permutation that leaves nothing in its place: a random cycle through all."""
    order = list(range(size))
    for place in range(size - 1, 0, -1):
        other = rng.randrange(place)
        order[place], order[other] = order[other], order[place]
    return order


def _gains(found: Sequence[Sequence[str]], questions: Sequence[GoldQuestion]) -> _Table:
    """nDCG@10 of each list of results (row) against the gold of each question (column)."""
    places: dict[str, list[int]] = {}
    grades: dict[str, list[float]] = {}
    ideal = np.ones(len(questions))
    for number, question in enumerate(questions):
        best = sorted((g for g in question.grades.values() if g > 0), reverse=True)[:10]
        ideal[number] = sum(grade / log2(rank + 2) for rank, grade in enumerate(best))
        for target, grade in question.grades.items():
            if grade > 0:
                places.setdefault(target, []).append(number)
                grades.setdefault(target, []).append(grade)
    columns = {target: (np.array(listed), np.array(grades[target])) for target, listed in places.items()}
    table = np.zeros((len(found), len(questions)), np.float32)
    for row, targets in enumerate(found):
        for rank, target in enumerate(list(dict.fromkeys(targets))[:10]):
            if target in columns:
                where, gain = columns[target]
                table[row, where] += gain / log2(rank + 2)
    table /= ideal
    return table


def _aligned(
    table: _Table,
    run: Mapping[str, Sequence[str]],
    questions: Sequence[GoldQuestion],
    own: float,
    chance: float,
    seed: int,
) -> bool | None:
    least = min(RATIO * chance, chance + (1 - chance) / 10)
    surely = _SIGNIFICANT if len(questions) < PLENTY else _SURE
    significant = _probability(table, own, seed) <= surely
    if own > 0 and own >= least:
        return True if significant else None
    perfect = _gains([q.gold for q in questions], questions)
    if RATIO * _off_diagonal(perfect) > 1:
        return None  # the questions share so much gold that even a perfect run would not stand out
    if len(questions) < PLENTY and (significant or chance > _HIGH):
        return None
    if len(questions) >= ENOUGH:
        return False
    wide = chance < _LOW + 1 / (len(questions) - 1)  # what gold that was dealt right again may add
    return False if _fits_others(run, questions, 2 if wide else 1) else None


def _off_diagonal(table: _Table) -> float:
    size = len(table)
    return float(table.sum(dtype=float) - table.trace(dtype=float)) / (size * (size - 1))


def _probability(table: _Table, own: float, seed: int) -> float:
    """How probable at least this mean is if gold is permuted at random: the share of permutations, its own included."""
    rng = np.random.default_rng(seed)
    rows = np.arange(len(table))
    means = (float(table[rows, rng.permutation(len(table))].mean()) for _ in range(PERMUTATIONS))
    return (1 + sum(mean >= own - 1e-9 for mean in means)) / (PERMUTATIONS + 1)


def _fits_others(run: Mapping[str, Sequence[str]], questions: Sequence[GoldQuestion], k: int) -> bool:
    """Whether the first ``k`` results fit the questions' gold well if it is dealt otherwise, and hardly as it is."""
    from scipy.optimize import linear_sum_assignment

    firsts = [set(run.get(q.question_id, ())[:k]) for q in questions]
    fits = np.array([[not first.isdisjoint(q.gold) for q in questions] for first in firsts], np.int64)
    rows, columns = linear_sum_assignment(fits, maximize=True)
    best, own, size = fits[rows, columns].sum(), fits.trace(), len(questions)
    return bool(size >= 5 and best >= 0.6 * size and own <= best / 6)


def no_common_token(
    gold: Gold, passages: Passages, tokenizer: Tokens, most: int = 5000, seed: int = 13
) -> float | None:
    """The share of gold pairs whose question and passage share no token; None where no gold is in the corpus.

    Of more than ``most`` pairs a sample is taken. A document that is searched as chunks has the tokens of them all.
    """
    pairs = [(q, target) for q in gold.judged for target in q.gold]
    if len(pairs) > most:
        pairs = [pairs[place] for place in sorted(random.Random(seed).sample(range(len(pairs)), most))]
    ordinals = ordinals_of(gold.unit, passages, {target for _, target in pairs})
    of_target: dict[str, frozenset[str]] = {}
    without = asked = 0
    for question, target in pairs:
        if target not in ordinals:
            continue
        if target not in of_target:
            texts = (passages[ordinal].searched for ordinal in ordinals[target])
            of_target[target] = frozenset(token for text in texts for token in tokenizer.tokens(text))
        asked += 1
        without += of_target[target].isdisjoint(tokenizer.tokens(question.text))
    return without / asked if asked else None


def ordinals_of(unit: str, passages: Passages, targets: Iterable[str]) -> dict[str, list[int]]:
    """The passages of each target that is in the corpus."""
    wanted = dict.fromkeys(targets)
    found: dict[str, list[int]] = {}
    if unit == "document" and passages.unit == "chunk":
        for ordinal, document in enumerate(passages.documents()):
            if document in wanted:
                found.setdefault(document, []).append(ordinal)
    elif unit != "node":
        placed = zip(wanted, passages.ordinals(list(wanted)), strict=True)
        found = {target: [place] for target, place in placed if place is not None}
    return found


def without_token(gold: Gold, known: Callable[[str], bool], tokenizer: Tokens) -> int:
    """How many judged questions have no token that the index knows (``known``: `LexicalRanker.known`)."""
    cached: dict[str, bool] = {}

    def is_known(token: str) -> bool:
        if token not in cached:
            cached[token] = known(token)
        return cached[token]

    return sum(not any(map(is_known, tokenizer.tokens(question.text))) for question in gold.judged)
