"""Metrics of rankings, computed by trec_eval's own code: per question, and as means with a confidence interval."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import MissingExtraError, RagdataError, UnknownNameError
from ragdatakit.schemas.evaluations import Score

if TYPE_CHECKING:
    import numpy.typing as npt

DEFAULT_CUTOFFS = (1, 2, 5, 10, 20, 100)
MOST_GRADE = 10_000
"""trec_eval counts the judgements of every grade up to the highest: a grade of a billion would take its memory."""
RESAMPLES = 2000
_BATCH = 2000
_MOST_DISTINCT = 2000
"""Beyond that, values are rounded to 3 digits to draw from them: their mean is moved by far less than its interval."""
_FAMILIES = {
    "recall": "recall",
    "ndcg": "ndcg_cut",
    "success": "success",
    "precision": "P",
    "map": "map_cut",
    "mrr": "recip_rank",
    "pass": "recall",
}
_WHOLE = {"mrr": "recip_rank", "map": "map", "ndcg": "ndcg"}
"""Metrics that may be named without a cut-off: they take the whole run."""
_ALIASES = {"hit": "success", "p": "precision", "r": "recall", "rr": "mrr"}
_NAME = re.compile(r"([a-z]+)(?:@([0-9]{1,7}))?")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric by its name (``recall@10``, ``mrr``); ``k`` is its cut-off, None where the whole run counts."""

    name: str
    family: str
    k: int | None = None

    @property
    def measure(self) -> str:
        """What trec_eval calls it."""
        if self.k is None or self.family == "mrr":
            return _WHOLE[self.family]
        return f"{_FAMILIES[self.family]}.{self.k}"

    @property
    def key(self) -> str:
        """Under which name trec_eval gives its value."""
        return self.measure.replace(".", "_")


@cache
def metric(name: str) -> Metric:
    """The metric of this name: ``recall@k``, ``ndcg@k``, ``success@k``, ``precision@k``, ``map@k``, ``mrr@k``,
    ``pass@k``; mrr, map and ndcg also without a cut-off. Case does not matter; ``hit``, ``p`` and ``r`` are understood.

    Raises `UnknownNameError` for other names.
    """
    found = _NAME.fullmatch(name.strip().lower())
    family = _ALIASES.get(found[1], found[1]) if found else ""
    cut = found[2] if found else None
    if family not in _FAMILIES or (cut is None and family not in _WHOLE) or (cut is not None and int(cut) < 1):
        near = cut if cut and int(cut) else "10"
        raise UnknownNameError("metric", name, [*(f"{f}@{near}" for f in _FAMILIES), *_WHOLE])
    k = int(cut) if cut is not None else None
    return Metric(f"{family}@{k}" if k is not None else family, family, k)


def metric_names(words: Iterable[str] = (), cutoffs: Iterable[int] = ()) -> tuple[str, ...]:
    """The names of the metrics to compute, in their usual form and without repetition.

    Without ``words``: nDCG and success at 10 (or at the ``cutoffs`` that are given), recall at each cut-off (default:
    1, 2, 5, 10, 20, 100), the mean reciprocal rank of the first 10 and of all, and the mean average precision. Words
    without a cut-off that need one are taken at each. Raises `UnknownNameError`, `RagdataError` for a bad cut-off.
    """
    given = tuple(dict.fromkeys(cutoffs))
    for k in given:
        if k < 1:
            raise RagdataError(f"the cut-off {k} is below 1")
    asked = [w for word in words for w in word.split(",") if w.strip()]
    if not asked:
        gains, recalls = given or (10,), given or DEFAULT_CUTOFFS
        families = (("ndcg", gains), ("recall", recalls), ("success", gains))
        return (*(f"{family}@{k}" for family, cuts in families for k in cuts), "mrr@10", "mrr", "map")
    names: list[str] = []
    for word in asked:
        family = _ALIASES.get(word.strip().lower(), word.strip().lower())
        if family in _FAMILIES and (given or family not in _WHOLE):
            names += [f"{family}@{k}" for k in given or (10,)]
        else:
            names.append(metric(word).name)
    return tuple(dict.fromkeys(names))


def depth_of(names: Iterable[str]) -> int:
    """How deep a ranking has to be for these metrics: the largest cut-off, 0 where none has one."""
    return max((metric(name).k or 0 for name in names), default=0)


def measure(
    run: Mapping[str, Sequence[str]],
    grades: Mapping[str, Mapping[str, int]],
    names: Sequence[str],
    same: Mapping[str, str] | None = None,
) -> dict[str, npt.NDArray[np.float64]]:
    """The value of each metric for each question of ``grades``, in its order.

    ``same`` names, for passages whose text another one has, the first of these: ``pass@k`` is the share of the gold
    whose text is among the first ``k``.

    ``run`` has ids for a question, best first: their order is what counts, so there are no ties; of an id that comes
    twice the first counts. A question that is not in ``run`` has 0. Grades above 0 are relevant, others are not.
    Give questions without relevant targets only if 0 is what they shall have. Raises `RagdataError` for a grade above
    10,000, and `MissingExtraError` where pytrec_eval is not installed.
    """
    wanted = [metric(name) for name in names]
    values = {m.name: np.zeros(len(grades)) for m in wanted}
    questions = iter(grades)
    start = 0
    while batch := list(islice(questions, _BATCH)):
        measured = _measured([(run.get(q, ()), grades[q], q) for q in batch], {m.measure for m in wanted})
        for number, found in measured:
            for m in wanted:
                values[m.name][start + number] = _cut(found[m.key], m)
        start += len(batch)
    for m in wanted:
        if m.family == "pass":
            values[m.name] = _passed(run, grades, m.k or 0, same or {})
    return values


def _passed(
    run: Mapping[str, Sequence[str]], grades: Mapping[str, Mapping[str, int]], k: int, same: Mapping[str, str]
) -> npt.NDArray[np.float64]:
    """The share of each question's gold that is found among the first, by text."""
    found = np.zeros(len(grades))
    for number, (question, judged) in enumerate(grades.items()):
        gold = [same.get(target, target) for target, grade in judged.items() if grade > 0]
        first = {same.get(target, target) for target in run.get(question, ())[:k]}
        found[number] = sum(target in first for target in gold) / len(gold) if gold else 0.0
    return found


def _cut(value: float, wanted: Metric) -> float:
    """The reciprocal rank is 0 below the cut-off, which trec_eval does not know."""
    if wanted.family == "mrr" and wanted.k is not None and value and round(1 / value) > wanted.k:
        return 0.0
    return value


def _measured(
    batch: Sequence[tuple[Sequence[str], Mapping[str, int], str]], measures: set[str]
) -> Iterator[tuple[int, Mapping[str, float]]]:
    """What trec_eval says of a batch of questions, by number. Ids are given as ranks: any text may be one."""
    try:
        import pytrec_eval
    except ImportError:
        raise MissingExtraError("retrieval", "pytrec_eval") from None
    judged: dict[str, dict[str, int]] = {}
    ranked: dict[str, dict[str, float]] = {}
    for number, (found, grades, question) in enumerate(batch):
        if len(set(found)) != len(found):
            found = tuple(dict.fromkeys(found))
        ranks = {target: str(rank) for rank, target in enumerate(found) if target in grades}
        judged[str(number)] = {
            ranks.get(target, f"-{place}"): _grade(grade, question)
            for place, (target, grade) in enumerate(grades.items())
        }
        ranked[str(number)] = _scores(len(found))
    for name, values in pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(ranked).items():
        yield int(name), values


def _grade(grade: int, question: str) -> int:
    if grade > MOST_GRADE:
        raise RagdataError(f"question {question!r} has a judgement of grade {grade:,}; at most {MOST_GRADE:,} works")
    return max(grade, 0)


@lru_cache(maxsize=64)
def _scores(length: int) -> dict[str, float]:
    """Ranks with falling scores, which floats of 32 bits hold exactly up to 16 million."""
    return {str(rank): float(-rank) for rank in range(length)}


def mean_score(values: npt.NDArray[np.float64], seed: int = 13) -> Score:
    """The mean, and its 95 % confidence interval: the percentile bootstrap over questions, with 2,000 resamples.

    How often each distinct value is drawn has a multinomial distribution, which is drawn directly. One value has no
    interval: it is its own bounds. Raises ValueError where there are no values.
    """
    if not len(values):
        raise ValueError("no values")
    mean = float(np.mean(values))
    distinct, counts = np.unique(np.round(values, 12), return_counts=True)
    if len(distinct) > _MOST_DISTINCT:
        distinct, counts = np.unique(np.round(values, 3), return_counts=True)
    if len(distinct) == 1:
        return Score(mean, mean, mean, len(values))
    low, high = np.percentile(resampled_means(distinct, counts, seed), (2.5, 97.5))
    return Score(mean, min(float(low), mean), max(float(high), mean), len(values))


def resampled_means(
    distinct: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], seed: int
) -> npt.NDArray[np.float64]:
    """The means of 2,000 resamples of values that are given with their counts."""
    rng = np.random.default_rng(seed)
    total = int(counts.sum())
    means = np.empty(RESAMPLES)
    step = max(1, 4_000_000 // len(distinct))
    for start in range(0, RESAMPLES, step):
        size = min(step, RESAMPLES - start)
        means[start : start + size] = rng.multinomial(total, counts / total, size=size) @ distinct / total
    return means
