"""Existing runs, read from the canonical tables of a run file: TREC runs, stages of SAGE records, any table of runs.

Questions are matched with those that are judged by their ids, or else by their texts; results by their ids, or else by
their texts. What cannot be matched keeps its rank, and is counted.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from hashlib import blake2b
from math import inf
from typing import TYPE_CHECKING, Any

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.gold_and_metrics.evaluation import NamedRun
from ragdatakit.schemas.texts import many

if TYPE_CHECKING:
    from pathlib import Path

    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold
    from ragdatakit.retrieval.index_parts import Progress
    from ragdatakit.retrieval.passages import Passages

TEXT = "text: "
"""Begins what stands for a result that has a text only, which no passage has."""
_SLACK, _MORE = 4, 64
_PROGRESS_EVERY = 10_000


class _Results:
    """The results of one run for one question. Scores are floats of 32 bits, as in trec_eval."""

    __slots__ = ("ranks", "scores", "targets", "texts")

    def __init__(self) -> None:
        self.ranks, self.scores = array("q"), array("f")
        self.targets: list[str | None] = []
        self.texts: dict[int, str] = {}

    def add(self, rank: int, score: float | None, target: str | None, text: str | None) -> None:
        """Add a result; what was added before keeps its number."""
        if text is not None:
            self.texts[len(self.targets)] = text
        self.ranks.append(rank)
        self.scores.append(score if score is not None and score == score else -inf)
        self.targets.append(target)

    def order(self, as_trec: bool) -> list[int]:
        """The numbers of the results, best first."""
        if not as_trec:
            return sorted(range(len(self.ranks)), key=self.ranks.__getitem__)
        names = [target or "" for target in self.targets]
        found = sorted(range(len(names)), key=names.__getitem__, reverse=True)
        found.sort(key=self.scores.__getitem__, reverse=True)
        return found

    def best(self, number: int, as_trec: bool) -> _Results:
        """Those results alone that are the best."""
        kept = _Results()
        for n in self.order(as_trec)[:number]:
            kept.add(self.ranks[n], self.scores[n], self.targets[n], self.texts.get(n))
        return kept


@dataclass(slots=True)
class _Stage:
    """The results of one run, by question of the gold."""

    results: dict[str, _Results] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    strange: set[str] = field(default_factory=set)


def read_runs(
    tables: CanonicalTables,
    gold: Gold,
    passages: Passages | None = None,
    depth: int = 100,
    label: str = "",
    progress: Progress | None = None,
) -> list[NamedRun]:
    """The runs of a dataset over the questions that have gold, one for each stage or tag, in their order.

    TREC runs are put in the order that trec_eval gives them: by score as a float of 32 bits, of equal scores the
    greater id first. Other runs keep their own. ``passages`` is the corpus: without it ids are taken as they are.
    ``label`` goes before the names of the runs. ``notes`` of the runs say what could not be matched.
    """
    as_trec = tables.format == "trec"
    stages = _stages(tables, gold, depth, as_trec)
    wanted = {text for s in stages.values() for results in s.results.values() for text in results.texts.values()}
    targets = _Targets(gold, passages, wanted, progress)
    return [_run(f"{label}{name}", stage, targets, depth, as_trec) for name, stage in stages.items()]


def names_apart(runs: Sequence[tuple[Path, NamedRun]], taken: Iterable[str] = ()) -> list[str]:
    """A name of its own for each run: its tag; where others have the same that of its file, then folder and file. The
    tag stays next to it for a file with several runs."""
    names = [run.name for _, run in runs]
    of_file = Counter(place for place, _ in runs)
    for spelling in (lambda p: p.name, lambda p: f"{p.parent.name}/{p.name}", str):
        uses = Counter([*taken, *names])
        names = [
            f"{spelling(place)}{f':{run.name}' if of_file[place] > 1 else ''}" if uses[name] > 1 else name
            for name, (place, run) in zip(names, runs, strict=True)
        ]
    return names


def _stages(tables: CanonicalTables, gold: Gold, depth: int, as_trec: bool) -> dict[str, _Stage]:
    questions = _questions(tables, gold)
    judged = {q.question_id for q in gold.judged}
    stages: dict[str, _Stage] = {}
    ids: dict[str, str] = {}
    for row in tables.peek("runs"):
        stage = stages.setdefault(row.stage, _Stage())
        question = questions(row.question_id)
        if question not in judged:
            stage.strange.add(row.question_id)
            continue
        results = stage.results.setdefault(question, _Results())
        target = ids.setdefault(row.target_id, row.target_id) if row.target_id is not None else None
        results.add(row.rank, row.score, target, row.text)
        if len(results.targets) > _SLACK * depth + _MORE:
            stage.results[question] = results.best(depth + _MORE, as_trec)
        if row.seconds is not None:
            stage.seconds[question] = row.seconds
    return stages


def _questions(tables: CanonicalTables, gold: Gold) -> Callable[[str], str]:
    """Which question of the gold a question of the run is: the one of its id, or else the only one of its text."""
    known = {q.question_id for q in gold.questions}
    strange = {q.question_id: q.text for q in tables.peek("questions") if q.question_id and q.question_id not in known}
    by_text: dict[str, str | None] = {}
    if strange:
        for question in gold.questions:
            text = " ".join(question.text.split())
            by_text[text] = None if text in by_text else question.question_id
    by_text.pop("", None)
    other = {name: found for name, text in strange.items() if (found := by_text.get(" ".join(text.split())))}
    return lambda name: other.get(name, name)


class _Targets:
    """Finds what a result names: a target of the gold's unit."""

    def __init__(
        self, gold: Gold, passages: Passages | None, texts: Sequence[str] | set[str], progress: Progress | None
    ) -> None:
        self._unit, self._passages = gold.unit, passages
        self._gold = {target for q in gold.questions for target in q.grades}
        self._known: dict[str, str | None] = {}
        self._documents: set[str] | None = None
        self._texts = _by_text(passages, texts, progress) if passages is not None and texts else {}

    def most(self, depth: int) -> int:
        """So many results of a question there may be, as far as is known."""
        return min(depth, len(self._passages)) if self._passages is not None and self._unit != "node" else depth

    def of(self, target: str | None, text: str | None, counts: Counter[str]) -> str:
        """The id of the target; where it is not known, what stands for it."""
        if target is not None:
            found = self._of_id(target)
            if found is not None:
                return found
        if text is not None:
            ordinal = self._texts.get(_digest(text))
            if ordinal is not None and self._passages is not None:
                counts["by text"] += 1
                return self._name(ordinal, self._passages)
        counts["unknown"] += 1
        return target if target is not None else TEXT + " ".join((text or "").split())

    def _of_id(self, target: str) -> str | None:
        if target not in self._known:
            self._known[target] = self._looked_up(target)
        return self._known[target]

    def _looked_up(self, target: str) -> str | None:
        if target in self._gold or self._passages is None or self._unit == "node":
            return target
        ordinal = self._passages.ordinal(target)
        if ordinal is not None:
            return target if self._passages.unit == self._unit else self._name(ordinal, self._passages)
        if self._unit == "document" and self._passages.unit == "chunk":
            if self._documents is None:
                self._documents = set(self._passages.documents())
            return target if target in self._documents else None
        return None

    def _name(self, ordinal: int, passages: Passages) -> str:
        return passages.document_id(ordinal) if self._unit == "document" else passages.id(ordinal)


def _digest(text: str) -> bytes:
    return blake2b(" ".join(text.split()).encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _by_text(passages: Passages, texts: Sequence[str] | set[str], progress: Progress | None) -> Mapping[bytes, int]:
    """Passages by the digests of these texts, the first of each: by their texts, or with title and context."""
    wanted = {_digest(text) for text in texts}
    found: dict[bytes, int] = {}
    for ordinal, passage in enumerate(passages):
        for text in dict.fromkeys((passage.text, passage.searched)):
            digest = _digest(text)
            if digest in wanted:
                found.setdefault(digest, ordinal)
        if progress is not None and ordinal % _PROGRESS_EVERY == 0:
            progress("matching texts", ordinal, len(passages))
    return found


def _run(name: str, stage: _Stage, targets: _Targets, depth: int, as_trec: bool) -> NamedRun:
    ranked: dict[str, Sequence[str]] = {}
    counts: Counter[str] = Counter()
    for question, results in stage.results.items():
        numbers = results.order(as_trec)
        found = [targets.of(results.targets[n], results.texts.get(n), counts) for n in numbers]
        ranked[question] = tuple(dict.fromkeys(found))[:depth]
        counts["results"] += len(found)
        counts["repeated"] += len(found) - len(set(found))
    seconds = sum(stage.seconds.values()) if stage.seconds else None
    longest = max(map(len, ranked.values()), default=0)
    short = (f"it has at most {many(longest, 'result')} for a question",) if 0 < longest < targets.most(depth) else ()
    return NamedRun(name, ranked, seconds, (*_notes(stage, counts, as_trec), *short), longest or None)


def _notes(stage: _Stage, counts: Mapping[str, Any], as_trec: bool) -> Iterator[str]:
    if as_trec:
        yield "ordered as trec_eval does: by score, of equal scores the greater id first"
    if counts["unknown"]:
        words = f"{counts['unknown']:,} of {many(counts['results'], 'result')} not in the corpus"
        yield f"{words}: their ranks are kept, they count as not relevant"
    if counts["by text"]:
        yield f"{many(counts['by text'], 'result')} matched with the corpus by text"
    if counts["repeated"]:
        why = (
            "; perhaps several runs have this name: give them one by one"
            if 4 * counts["repeated"] > counts["results"] and as_trec
            else ""
        )
        words = f"{many(counts['repeated'], 'result')} left out: an earlier one is the same, or of the same document"
        yield words + why
    if stage.strange:
        yield f"{many(len(stage.strange), 'question')} of the run left out: there is no gold for them here"
