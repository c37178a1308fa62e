"""Runs against gold: the modes of the reference retriever are run, any run is measured, question by question.

What is judged decides what is ranked. Where documents are judged and chunks are searched, a document's rank is that of
its best chunk among documents; where nodes are judged, the graph ranks them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.gold_and_metrics.metrics import mean_score, measure, metric
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.evaluations import QuestionResult, RunResult, Sanity, Score

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion
    from ragdatakit.retrieval.index_parts import GraphLike, Progress, Ranking
    from ragdatakit.retrieval.passages import Passages
    from ragdatakit.schemas.retrieved import Query

Ranked = Mapping[str, Sequence[str]]
"""A run: ids by question, best first, none twice."""

SHOWN = 10
"""How many ids of what was found are kept for a question."""
NO_TYPE = "(none)"
_BATCH = 128
_WIDER, _WIDEST, _MOST = 4, 64, 100_000


class Searcher(Protocol):
    """What runs the modes; `ragdatakit.retrieval.retriever.Retriever` does."""

    @property
    def graph(self) -> GraphLike | None:
        """The graph, where there is one."""
        ...

    def rank(self, queries: Sequence[Query], mode: str, k: int) -> list[Ranking]:
        """For each query the ``k`` best passages."""
        ...


@dataclass(frozen=True, slots=True)
class NamedRun:
    """A run before it is measured. ``ranked`` may have more questions than the gold; ``notes`` are for the user.

    ``seconds`` is what the searches took, None where nobody knows. ``depth`` is how deep it was searched, None: as deep
    as was asked for.
    """

    name: str
    ranked: Ranked
    seconds: float | None = None
    notes: tuple[str, ...] = ()
    depth: int | None = None


def search_run(
    searcher: Searcher,
    passages: Passages,
    mode: str,
    questions: Sequence[GoldQuestion],
    unit: str,
    depth: int,
    progress: Progress | None = None,
) -> NamedRun:
    """Run one mode over the questions, ``depth`` results for each.

    ``unit`` is what is ranked. Raises `RagdataError` for another mode than graph where that are nodes.
    """
    if unit == "node" and (mode != "graph" or searcher.graph is None):
        raise RagdataError(f"nodes are judged, which graph mode alone ranks, not {mode}")
    names = _Names(passages, unit)
    ranked: dict[str, Sequence[str]] = {}
    seconds, cut = 0.0, 0
    for start in range(0, len(questions), _BATCH):
        if progress is not None:
            progress(f"searching, {mode}", start, len(questions))
        batch = questions[start : start + _BATCH]
        queries = [q.query for q in batch]
        began = time.perf_counter()
        if unit == "node" and searcher.graph is not None:
            found = [tuple(dict.fromkeys(n for n, _ in nodes)) for nodes in searcher.graph.rank_nodes(queries, depth)]
        else:
            found = [names.of(ranking) for ranking in searcher.rank(queries, mode, depth)]
            cut += _deepen(searcher, queries, mode, depth, names, found)
        seconds += time.perf_counter() - began
        ranked.update((q.question_id, targets) for q, targets in zip(batch, found, strict=True))
    notes = (f"{cut:,} questions have fewer than {depth} {unit}s in their first thousands of passages",)
    return NamedRun(mode, ranked, seconds, notes if cut else ())


class _Names:
    """Ids by ordinal, each made once."""

    def __init__(self, passages: Passages, unit: str) -> None:
        self.total = len(passages)
        self.by_document = unit == "document" and passages.unit == "chunk"
        self._name = passages.document_id if self.by_document else passages.id
        self._known: dict[int, str] = {}
        self._same: dict[str, str] = {}

    def of(self, ranking: Ranking) -> tuple[str, ...]:
        """The ids of a ranking, each at its first place."""
        return tuple(dict.fromkeys(map(self._one, ranking.ordinals.tolist())))

    def _one(self, ordinal: int) -> str:
        name = self._known.get(ordinal)
        if name is None:
            name = self._name(ordinal)
            name = self._known[ordinal] = self._same.setdefault(name, name)
        return name


def _deepen(
    searcher: Searcher, queries: Sequence[Query], mode: str, depth: int, names: _Names, found: list[tuple[str, ...]]
) -> int:
    """Search deeper where several passages have one id, until there are enough; returns for how many it was not."""
    short = [n for n, targets in enumerate(found) if len(targets) < depth]
    k = depth
    while short and names.by_document and k < names.total:
        if k >= min(depth * _WIDEST, _MOST):
            return len(short)
        k = min(k * _WIDER, names.total, _MOST)
        rankings = searcher.rank([queries[n] for n in short], mode, k)
        for n, ranking in zip(short, rankings, strict=True):
            found[n] = names.of(ranking)[:depth]
        full = {n for n, ranking in zip(short, rankings, strict=True) if len(ranking.ordinals) == k}
        short = [n for n in short if n in full and len(found[n]) < depth]
    return 0


def search_ordinals(
    searcher: Searcher, mode: str, questions: Sequence[GoldQuestion], k: int, progress: Progress | None = None
) -> dict[str, list[int]]:
    """The ordinals of the first passages for each question, by its id."""
    found: dict[str, list[int]] = {}
    for start in range(0, len(questions), _BATCH):
        if progress is not None:
            progress(f"searching, {mode}", start, len(questions))
        batch = questions[start : start + _BATCH]
        for question, ranking in zip(batch, searcher.rank([q.query for q in batch], mode, k), strict=True):
            found[question.question_id] = ranking.ordinals.tolist()
    return found


def run_result(
    run: NamedRun,
    gold: Gold,
    names: Sequence[str],
    depth: int,
    sanity: Sanity,
    seed: int = 13,
    same: Mapping[str, str] | None = None,
) -> RunResult:
    """Measure a run over the questions that have gold; those it does not have count 0. ``same`` is for `measure`.

    The mean of ``pass@k`` is over all questions: one without gold counts as missed, as the cookbook has it.

    ``names`` are metrics in their usual form, the first of them is the one that orders the worst questions. Raises
    `RagdataError` and `MissingExtraError` as `measure` does.
    """
    judged = gold.judged
    ranked = {q.question_id: run.ranked.get(q.question_id, ())[:depth] for q in judged}
    values = measure(ranked, {q.question_id: q.grades for q in judged}, names, same)
    lists = {name: column.tolist() for name, column in values.items()}
    questions = tuple(
        question_result(q, ranked[q.question_id], {name: column[n] for name, column in lists.items()})
        for n, q in enumerate(judged)
    )
    return RunResult(
        run.name,
        {name: mean_score(_over_all(name, column, gold), seed) for name, column in values.items()} if judged else {},
        _by_type(judged, values, seed),
        questions,
        sanity,
        depth if run.depth is None else min(run.depth, depth),
        run.seconds,
        (*run.notes, *_not_asked(run, judged)),
    )


def _over_all(name: str, column: npt.NDArray[np.float64], gold: Gold) -> npt.NDArray[np.float64]:
    """The values that the mean is taken of."""
    if metric(name).family != "pass":
        return column
    return np.concatenate((column, np.zeros(len(gold.questions) - len(column))))


def question_result(question: GoldQuestion, ranked: Sequence[str], values: Mapping[str, float]) -> QuestionResult:
    """One question with its values, its gold and the ranks of that."""
    gold = question.gold
    wanted = set(gold)
    ranks = {target: rank for rank, target in enumerate(ranked, 1) if target in wanted}
    return QuestionResult(
        question.question_id,
        question.text,
        question.type,
        values,
        gold,
        tuple(ranked[:SHOWN]),
        min(ranks.values(), default=None),
        tuple(ranks.get(target) for target in gold),
    )


def _by_type(
    judged: Sequence[GoldQuestion], values: Mapping[str, npt.NDArray[np.float64]], seed: int
) -> dict[str, dict[str, Score]]:
    """The means by type of question, types in order of their names; empty where no question has one."""
    types: dict[str, list[int]] = {}
    for n, question in enumerate(judged):
        types.setdefault(question.type or NO_TYPE, []).append(n)
    if not types.keys() - {NO_TYPE}:
        return {}
    found = {}
    for name in sorted(types, key=lambda name: (name == NO_TYPE, name)):
        members = np.array(types[name])
        found[name] = {metric: mean_score(column[members], seed) for metric, column in values.items()}
    return found


def _not_asked(run: NamedRun, judged: Sequence[GoldQuestion]) -> Iterator[str]:
    missing = sum(q.question_id not in run.ranked for q in judged)
    if missing and run.ranked:
        yield f"{missing:,} of {len(judged):,} questions with gold are not in the run; they count 0"
