"""What an evaluation returns: metrics with their sanity checks, the ceiling of the dataset, and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, ClassVar, Literal

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.bounds import Place, Share
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.notebooks.tabular import Tabular
from ragdatakit.schemas.search.claims import ClaimScores
from ragdatakit.schemas.search.gold_causes import GoldCause


@dataclass(frozen=True, slots=True)
class Score:
    """The mean of a metric over ``count`` questions, and the 95 % confidence interval of the mean."""

    mean: Share
    low: Share
    high: Share
    count: int


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """One question in one run: its metrics, its gold, what was found instead.

    ``found`` are the ids at the top of the run, best first; ``first_rank`` is the 1-based rank of the first gold, None
    where none was found within the depth. ``gold_ranks`` are the ranks of all its gold, in the order of ``gold``;
    ``causes`` says of the first of it why it was not found (None: it was), where that was looked for: of the questions
    that may be shown as the worst.
    """

    question_id: str
    text: str
    type: str | None
    values: Mapping[str, Share]
    gold: tuple[str, ...]
    found: tuple[str, ...]
    first_rank: Place | None
    gold_ranks: tuple[Place | None, ...] = ()
    causes: tuple[GoldCause | None, ...] = ()

    @property
    def cause(self) -> str:
        """The kind of cause of the first gold that was not found; empty where it is not known."""
        return next((cause.kind for cause in self.causes if cause is not None), "")


@dataclass(frozen=True, slots=True)
class Sanity:
    """Checks besides the metrics of one run: numbers that say whether the metrics mean anything.

    ``shuffled`` has the metrics of the same run against gold dealt to other questions; ``ratio`` is that of nDCG@10 to
    its shuffled value, ``aligned`` whether it is at least 3 (None: too few questions to tell).
    ``self_retrieval`` is the share of ``self_retrieval_count`` passages that are found first by their own first words.
    ``no_common_token`` is the share of gold pairs whose question and passage share no token,
    ``no_common_token_shuffled`` that share with the gold dealt to other questions.
    ``without_token`` and ``without_seed`` count questions that have no token in the index, or no start node.
    """

    shuffled: Mapping[str, Share]
    ratio: float | None
    aligned: bool | None
    self_retrieval: Share | None = None
    self_retrieval_count: int = 0
    no_common_token: Share | None = None
    without_token: int = 0
    without_seed: int | None = None
    no_common_token_shuffled: Share | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """One run (a mode of the reference retriever, or a stage of a run file) against the gold."""

    name: str
    scores: Mapping[str, Score]
    by_type: Mapping[str, Mapping[str, Score]]
    questions: tuple[QuestionResult, ...] = field(repr=False)
    sanity: Sanity
    depth: int
    seconds: float | None = None
    notes: tuple[str, ...] = ()

    def worst(self, number: int) -> list[QuestionResult]:
        """The questions with the lowest values of the first metric, none that is perfect. Of equal ones come first one
        of each cause, then a second of each, and so on, and then those that are found last."""
        name = next(iter(self.scores), "")
        flawed = [q for q in self.questions if q.values.get(name, 1.0) < 1]
        flawed.sort(key=lambda q: (q.values[name], -(q.first_rank or 1 << 60)))
        seen: Counter[tuple[float, str]] = Counter()
        turns: list[tuple[float, int]] = []
        for question in flawed:
            place = (question.values[name], question.cause)
            turns.append((question.values[name], seen[place]))
            seen[place] += 1
        order = sorted(range(len(flawed)), key=turns.__getitem__)
        return [flawed[place] for place in order[: max(number, 0)]]


@dataclass(frozen=True, slots=True)
class CeilingCause:
    """Something in the dataset that no retriever can make good: how many questions and gold pairs it concerns.

    ``cost`` is what the ceiling of each metric would gain without it, ``alone`` what it would lose if there were
    nothing else; ``examples`` are ids, as ``question: passage``.
    """

    name: str
    words: str
    questions: int
    pairs: int
    cost: Mapping[str, float]
    examples: tuple[str, ...] = ()
    alone: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The best that any retriever could reach on this dataset, by metric; 1.0 where nothing is in the way."""

    scores: Mapping[str, Share]
    causes: tuple[CeilingCause, ...]


@dataclass(frozen=True, slots=True)
class AnswerInTop:
    """How often the answer's text is in the first k passages; a measure for datasets without gold.

    ``at`` is by k; ``ceiling`` is the share of questions whose answer is anywhere in the corpus; ``asked`` counts
    the questions with an answer that can be looked for (yes and no cannot).
    """

    run: str
    at: Mapping[int, Share]
    ceiling: Share
    asked: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs on the same questions, by metric: a paired test of their difference (b minus a)."""

    a: str
    b: str
    metric: str
    mean_a: Share
    mean_b: Share
    difference: float
    low: float
    high: float
    p_value: Share
    wins: int
    losses: int
    ties: int
    test: Literal["randomisation", "t"]
    count: int


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Answers of a system against gold answers. ``scores`` is by metric name (``exact_match``, ``f1_datamind`` …).

    ``missing`` counts the questions of the dataset with a gold answer of which the answers know nothing.
    """

    name: str
    scores: Mapping[str, Score]
    answered: int
    unanswered: int
    without_gold: int
    worst: tuple[tuple[str, str, str], ...] = ()
    missing: int = 0


@dataclass(slots=True, repr=False)
class Evaluation(Tabular):
    """The result of `ragdatakit.evaluate`.

    ``unit`` is what the gold judges: ``document``, ``chunk`` or ``node``. ``judged`` counts the questions with gold,
    which are those that are scored; ``without_gold`` the others. ``minimums`` are the demands that were made, by
    metric. ``findings`` are in order, ``by_rule`` counts them all by code, shown or not; ``ok`` is true where none is
    an error. ``titles`` are those of the passages that the worst questions of the runs name.
    """

    dataset: str
    name: str
    format: str
    unit: str
    split: str | None
    passages: int
    questions: int
    judged: int
    without_gold: int
    runs: list[RunResult] = field(default_factory=list)
    ceiling: Ceiling | None = None
    answers_in_top: list[AnswerInTop] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    answers: list[AnswerScores] = field(default_factory=list)
    claims: list[ClaimScores] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    by_rule: Mapping[str, int] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    minimums: Mapping[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    _COLUMNS: ClassVar[Mapping[str, type]] = {
        **dict.fromkeys(("run", "metric"), str),
        **dict.fromkeys(("mean", "low", "high"), float),
        "questions": int,
    }

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """The scores of runs and of answers, each with its interval of confidence."""
        scored = [(run.name, run.scores) for run in self.runs] + [(each.name, each.scores) for each in self.answers]
        for name, scores in scored:
            for metric, score in scores.items():
                yield name, metric, score.mean, score.low, score.high, score.count
        for claims in self.claims:
            for group in claims.groups.values():
                for metric, value in group.items():
                    yield claims.name, metric, value, None, None, claims.rows

    def __repr__(self) -> str:
        """One line: what was evaluated, each run's first metric, how many findings there are."""
        runs = [f"{run.name} {name} {score.mean:.3f}" for run in self.runs for name, score in [*run.scores.items()][:1]]
        parts = [f"{self.judged:,} judged questions", *runs, f"findings {dict(self.by_rule)}" if self.by_rule else ""]
        return f"<Evaluation of {self.dataset!r} ({self.format}): {', '.join(filter(None, parts))}>"

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return not any(f.severity == "error" for f in self.findings)
