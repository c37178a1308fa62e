"""The Python interface of the evaluation: how good the reference retriever, runs and answers are on a dataset."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.api.arguments import several_words
from ragdatakit.api.keywords import takes
from ragdatakit.api.remote import renamed
from ragdatakit.api.results import Shown
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.evaluations import Evaluation
from ragdatakit.schemas.options import MOST_RESULTS, DatasetOptions, EvaluateOptions, PathLike
from ragdatakit.schemas.search.modes import ALL_MODES, mode_hint

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.gold_and_metrics.evaluation import NamedRun
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold
    from ragdatakit.retrieval.gold_and_metrics.gold_facts import GoldFacts
    from ragdatakit.retrieval.index.store import IndexSource
    from ragdatakit.retrieval.passages import Passages
    from ragdatakit.retrieval.retriever import Retriever
    from ragdatakit.schemas.evaluations import RunResult, Sanity

_ANSWER_DEPTHS = (1, 2, 5, 10, 20)


class EvaluationResult(Shown, Evaluation):
    """The result of `ragdatakit.evaluate`."""

    __slots__ = ()

    def _json(self) -> bytes:
        from ragdatakit.reports.evaluation_files import evaluation_json

        return evaluation_json(self)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The options of `evaluate` that had to be looked at, besides the others."""

    options: EvaluateOptions
    modes: tuple[str, ...]
    names: tuple[str, ...]
    depth: int
    runs: tuple[Path, ...]
    answers: tuple[Path, ...]
    qrels: Path | None
    questions: Path | None
    minimums: Mapping[str, float]
    answer_depths: tuple[int, ...]

    @property
    def beside(self) -> DatasetOptions:
        """How the files that are named next to the dataset are read."""
        return DatasetOptions(follow_links=self.options.follow_links)


@takes(EvaluateOptions)
def evaluate(options: EvaluateOptions, path: PathLike) -> EvaluationResult:
    """Measure retrieval (and answers) on the dataset at ``path``, with checks of whether the numbers mean anything.

    Faults of the data are findings. Raises `RagdataError` where it cannot be done, `UnknownNameError` for unknown
    names, `MissingExtraError` where the libraries of the extra ``retrieval`` are missing.
    """
    from ragdatakit.files.machine import refuse_little_space

    refuse_little_space("numbers")
    from ragdatakit.api.search import dataset_tables
    from ragdatakit.retrieval.gold_and_metrics.metrics import depth_of, metric_names

    started = time.perf_counter()
    demands = _demands(options.minimums or {})
    cutoffs = (options.k,) if isinstance(options.k, int) else tuple(options.k)
    names = tuple(dict.fromkeys((*metric_names(several_words(options.metrics), cutoffs), *demands)))
    needed = max(options.depth, depth_of(names))
    if needed > MOST_RESULTS:
        raise RagdataError(f"a depth of {needed:,} is too much; at most {MOST_RESULTS:,}")
    wanted = _Wanted(
        options,
        modes=_known_modes(options.modes),
        names=names,
        depth=needed,
        runs=_paths(options.runs),
        answers=_paths(options.answers),
        qrels=Path(options.qrels) if options.qrels is not None else None,
        questions=Path(options.questions) if options.questions is not None else None,
        minimums=demands,
        answer_depths=cutoffs or _ANSWER_DEPTHS,
    )
    source, tables = dataset_tables(path, options)
    done = _Evaluating(source.path, source, tables, wanted).run()
    done.seconds = time.perf_counter() - started
    return renamed(done)


def _paths(given: PathLike | Iterable[PathLike]) -> tuple[Path, ...]:
    return (Path(given),) if isinstance(given, str | os.PathLike) else tuple(Path(p) for p in given)


def _known_modes(modes: str | Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(several_words(modes)))
    for mode in found:
        if mode not in ALL_MODES:
            raise UnknownNameError("mode", mode, ALL_MODES, hint=mode_hint(mode))
    return found


def _demands(minimums: Mapping[str, float]) -> dict[str, float]:
    from ragdatakit.retrieval.gold_and_metrics.metrics import metric

    found: dict[str, float] = {}
    for name, value in minimums.items():
        if not 0 <= value <= 1:
            raise RagdataError(f"the minimum of {name} is {value}, expected a number from 0 to 1")
        known = metric(name).name
        found[known] = max(value, found.get(known, value))
    return found


class _Evaluating:
    """One call of `evaluate`."""

    def __init__(self, path: Path, source: IndexSource, tables: CanonicalTables, wanted: _Wanted) -> None:
        self._path, self._source, self._wanted = path, source, wanted
        self._has_corpus = tables.any(tables.passages)
        self._retriever: Retriever | None = None
        self._of_files: dict[Path, list[str]] = {}
        self._corpus = tables
        self._tables = self._overlaid(tables)
        self._gold = self._read_gold()
        passages = len(self._passages) if self._passages is not None else 0
        judged = len(self._gold.judged)
        self._done = EvaluationResult(
            str(path),
            tables.name,
            tables.format,
            self._gold.unit or (self._passages.unit if self._passages is not None else ""),
            self._gold.split,
            passages,
            len(self._gold.questions),
            judged,
            len(self._gold.questions) - judged,
            minimums=dict(wanted.minimums),
        )

    @property
    def _passages(self) -> Passages | None:
        return self._opened.index.passages if self._has_corpus else None

    @property
    def _opened(self) -> Retriever:
        if self._retriever is None:
            from ragdatakit.api.search import opened_index
            from ragdatakit.retrieval.retriever import Retriever

            options = self._wanted.options
            self._retriever = Retriever(opened_index(self._source, options), options.search)
        return self._retriever

    def _overlaid(self, tables: CanonicalTables) -> CanonicalTables:
        from ragdatakit.api.search import with_gold

        w = self._wanted
        return with_gold(tables, w.questions, w.qrels, w.beside, unit=w.options.unit, passages=lambda: self._passages)

    def _read_gold(self) -> Gold:
        from ragdatakit.retrieval.gold_and_metrics.gold import read_gold

        return read_gold(self._tables, self._wanted.options.split, self._wanted.options.unit)

    def run(self) -> EvaluationResult:
        """Everything that was asked for, in its order."""
        from ragdatakit.retrieval.gold_and_metrics.evaluated_gold import lenient_notes, notes_on

        done, gold = self._done, self._gold
        faults = self._opened.index.document["faults"] if self._has_corpus else {}
        done.notes += [*notes_on(gold), *lenient_notes(self._tables, faults), *self._notes_on_reading()]
        modes = self._modes()
        if gold.judged:
            self._measure(modes)
        elif self._passages is not None and modes:
            self._look_for_answers(modes)
        self._score_answers()
        self._refuse_nothing()
        return done

    def _notes_on_reading(self) -> Iterator[str]:
        """What was not read of the questions and their gold, and what would read the texts better."""
        from ragdatakit.retrieval.index.notes import GOLD, left_out

        for text in left_out(self._tables, GOLD if self._gold.judged else (*GOLD, "table")):
            gold = "" if self._gold.judged else "; where that is the gold, name the file: --qrels FILE"
            yield f"left out: {text}{gold}"
        if self._has_corpus and (advice := self._opened.advice):
            yield advice

    def _modes(self) -> tuple[str, ...]:
        """The modes to run."""
        w = self._wanted
        compared = tuple(name for name in w.options.compare or () if name in ALL_MODES)
        asked = tuple(dict.fromkeys((*w.modes, *compared)))
        if not self._has_corpus:
            if asked:
                raise RagdataError(f"{self._path} has no documents and no chunks to search; --runs evaluates a run")
            return ()
        for mode in asked:
            self._opened.refuse_lacking(mode)
        if asked or w.runs or w.answers or w.options.compare:
            return asked
        if not any(q.text.strip() for q in self._gold.questions):
            return ()
        modes = self._opened.modes()
        return tuple(m for m in modes if m == "graph") if self._gold.unit == "node" else modes

    def _measure(self, modes: Sequence[str]) -> None:
        """Runs against gold, what could be reached, what is wrong."""
        from ragdatakit.retrieval.gold_and_metrics.ceiling import ceiling
        from ragdatakit.retrieval.gold_and_metrics.evaluated_gold import repeated_judgements, titles_of
        from ragdatakit.retrieval.gold_and_metrics.evaluation import run_result
        from ragdatakit.retrieval.gold_and_metrics.gold_facts import read_gold_facts
        from ragdatakit.retrieval.gold_and_metrics.sanity import check_run
        from ragdatakit.retrieval.passages import repeated_texts

        w, gold, done, passages = self._wanted, self._gold, self._done, self._passages
        nodes = (n.name for n in self._tables.peek("nodes")) if gold.unit == "node" else ()
        facts = read_gold_facts(gold, passages, nodes) if passages is not None else None
        done.ceiling = ceiling(gold, facts, w.names, w.depth, repeated_judgements(self._tables, gold.unit))
        by_text = passages is not None and any(name.startswith("pass@") for name in w.names)
        same = repeated_texts(passages) if passages is not None and by_text else {}
        for run in self._named_runs(modes):
            sanity = check_run(run.ranked, gold, w.names, facts, w.options.seed)
            sanity = self._with_search_checks(sanity, run.name) if run.name in modes else sanity
            result = run_result(run, gold, w.names, w.depth, sanity, w.options.seed, same)
            done.runs.append(self._with_causes(result, facts.alike) if facts is not None else result)
        if w.options.compare is not None and done.runs:
            done.comparisons = self._compared(done.runs, w.options.compare)
        shown = {t for run in done.runs for q in run.worst(w.options.worst) for t in (*q.found[:3], *q.gold[:3])}
        done.titles = titles_of(passages, self._tables, gold.unit, shown) if passages is not None else {}
        self._check(facts)

    def _with_causes(self, run: RunResult, alike: Mapping[str, str]) -> RunResult:
        """The run with why the gold of its worst questions was not found."""
        from ragdatakit.retrieval.gold_and_metrics.gold_causes import with_causes

        opened = self._opened
        passages, tokenizer = opened.index.passages, opened.tokenizer
        return with_causes(run, self._gold, passages, tokenizer, opened.lexical.known, alike)

    def _check(self, facts: GoldFacts | None = None) -> None:
        from ragdatakit.retrieval.gold_and_metrics.checks import check_evaluation
        from ragdatakit.retrieval.gold_and_metrics.evaluated_gold import files_by_table

        w, done, counts = self._wanted, self._done, Counter[str]()
        done.findings = check_evaluation(
            self._gold,
            done.runs,
            str(self._path),
            facts=facts,
            ceiling=done.ceiling,
            passages=self._passages,
            tables=self._tables,
            minimums=w.minimums,
            files=files_by_table(self._source.files, self._gold.split) | self._given_files(),
            most=w.options.most_findings,
            counts=counts,
        )
        done.by_rule = dict(sorted(counts.items()))

    def _given_files(self) -> dict[str, str]:
        w = self._wanted
        given = {"questions": w.questions, "qrels": w.qrels or w.questions}
        return {table: str(place) for table, place in given.items() if place is not None}

    def _named_runs(self, modes: Sequence[str]) -> Iterator[NamedRun]:
        from ragdatakit.retrieval.gold_and_metrics.evaluation import search_run
        from ragdatakit.retrieval.gold_and_metrics.run_reading import names_apart

        w, gold, passages = self._wanted, self._gold, self._passages
        for mode in modes:
            if passages is not None:
                self._opened.prepare(mode)
                run = search_run(self._opened, passages, mode, gold.judged, gold.unit, w.depth, w.options.progress)
                made = self._opened.graph_note(mode)
                yield replace(run, notes=(*run.notes, made)) if made else run
        found = [(place, run) for place, tables in self._run_tables() for run in self._runs_of(place, tables)]
        for (place, run), name in zip(found, names_apart(found, modes), strict=True):
            self._of_files.setdefault(place.resolve(), []).append(name)
            yield replace(run, name=name)

    def _run_tables(self) -> Iterator[tuple[Path, CanonicalTables]]:
        from ragdatakit.api.search import dataset_tables
        from ragdatakit.retrieval.gold_and_metrics.evaluated_gold import run_files, tables_words
        from ragdatakit.retrieval.index.notes import RUNS, left_out

        w = self._wanted
        compared = [Path(name) for name in w.options.compare or () if name not in ALL_MODES and Path(name).exists()]
        given = {path.resolve(): path for path in (*w.runs, *compared)}
        for place in given.values():
            tables = dataset_tables(place, w.beside)[1]
            if not tables.any("runs"):
                reason = "; ".join(left_out(tables, RUNS)) or tables_words(tables)
                raise RagdataError(f"{place} has no runs ({tables.format}: {reason})")
            yield place, tables
        own = {path.resolve(): path for path in run_files(self._source.files)}
        if not w.modes and self._corpus.any("runs") and (not own or own.keys() - given.keys()):
            yield next(iter(own.values())) if len(own) == 1 else self._path, self._corpus

    def _runs_of(self, place: Path, tables: CanonicalTables) -> list[NamedRun]:
        from ragdatakit.retrieval.gold_and_metrics.run_reading import read_runs
        from ragdatakit.retrieval.index.notes import RUNS, left_out

        w = self._wanted
        found = read_runs(tables, self._gold, self._passages, w.depth, progress=w.options.progress)
        self._done.notes += [f"left out of {place.name}: {reason}" for reason in left_out(tables, RUNS)]
        if not any(run.ranked for run in found):
            if tables is self._corpus:
                return []
            some = next((row.question_id for row in tables.peek("runs")), "")
            raise RagdataError(f"no question of {place} (such as {some!r}) has gold in {self._path}")
        return found

    def _with_search_checks(self, sanity: Sanity, mode: str) -> Sanity:
        """The checks that need the index; the lexical ones go with bm25."""
        from ragdatakit.retrieval.gold_and_metrics.sanity import dealt_gold, no_common_token, without_token
        from ragdatakit.retrieval.gold_and_metrics.self_retrieval import self_retrieval

        retriever, passages, gold = self._opened, self._opened.index.passages, self._gold
        if mode == "graph" and retriever.graph is not None:
            graph = retriever.graph
            return replace(sanity, without_seed=sum(not graph.seeds(q.query) for q in gold.judged))
        if mode != "bm25":
            return sanity
        share, count = self_retrieval(
            lambda queries, k: retriever.rank(queries, mode, k), passages, seed=self._wanted.options.seed
        )
        tokenizer, dealt = retriever.tokenizer, dealt_gold(gold, self._wanted.options.seed)
        of_texts = gold.unit != "node"
        return replace(
            sanity,
            self_retrieval=share,
            self_retrieval_count=count,
            no_common_token=no_common_token(gold, passages, tokenizer) if of_texts else None,
            no_common_token_shuffled=no_common_token(dealt, passages, tokenizer) if of_texts and dealt else None,
            without_token=without_token(gold, retriever.lexical.known, tokenizer),
        )

    def _compared(self, runs: Sequence[RunResult], names: tuple[str, str]) -> list[Any]:
        from ragdatakit.retrieval.gold_and_metrics.comparisons import compare

        a, b = (self._run_called(runs, name) for name in names)
        return compare(a, b, self._wanted.names, self._wanted.options.seed)

    def _run_called(self, runs: Sequence[RunResult], name: str) -> RunResult:
        by_name = {run.name: run for run in runs}
        of_file = self._of_files.get(Path(name).resolve(), []) if name not in ALL_MODES else []
        if name in by_name or len(of_file) == 1:
            return by_name[of_file[0] if len(of_file) == 1 else name]
        if of_file:
            raise RagdataError(
                f"{name} has {len(of_file):,} runs ({', '.join(of_file[:5])}); name two of them, with --runs {name}"
            )
        raise UnknownNameError("mode, run or run file to compare", name, by_name)

    def _look_for_answers(self, modes: Sequence[str]) -> None:
        """What can be measured without gold."""
        from ragdatakit.retrieval.gold_and_metrics.answers_in_texts import answer_in_top
        from ragdatakit.retrieval.gold_and_metrics.evaluation import search_ordinals

        w, gold, passages = self._wanted, self._gold, self._opened.index.passages
        questions = [q for q in gold.questions if q.answers]
        for mode in modes if questions else ():
            self._opened.prepare(mode)
            found = search_ordinals(self._opened, mode, questions, max(w.answer_depths), w.options.progress)
            share = answer_in_top(mode, found, gold, passages, sorted(w.answer_depths))
            if share is not None:
                self._done.answers_in_top.append(share)
        if self._done.answers_in_top:
            self._check()

    def _score_answers(self) -> None:
        from ragdatakit.api.search import dataset_tables
        from ragdatakit.retrieval.gold_and_metrics.answer_metrics import score_answers
        from ragdatakit.retrieval.gold_and_metrics.claim_metrics import score_claims
        from ragdatakit.retrieval.gold_and_metrics.evaluated_gold import tables_words

        w = self._wanted
        for place in w.answers:
            tables = dataset_tables(place, w.beside)[1]
            if not tables.any("answers"):
                raise RagdataError(f"{place} has no answers ({tables.format}: {tables_words(tables)})")
            label = f"{place.name}:" if len(w.answers) > 1 else ""
            self._done.answers += score_answers(tables, self._tables, label, w.options.seed)
            self._done.claims += score_claims(tables, place.name if label else "")
        if not w.answers and self._corpus.any("answers"):
            self._done.answers += score_answers(self._corpus, self._tables, seed=w.options.seed)
            self._done.claims += score_claims(self._corpus)

    def _refuse_nothing(self) -> None:
        done, w, gold = self._done, self._wanted, self._gold
        if w.minimums and not gold.judged and not gold.nameless and done.answers_in_top:
            reason = "its questions have no gold, so no metric can be held to a minimum; --qrels FILE gives judgements"
            raise RagdataError(f"{self._path}: {reason}")
        if w.minimums and not done.runs:
            raise RagdataError(f"{self._path}: nothing was measured that could be held to a minimum: {self._lack()}")
        if w.options.compare is not None and not done.runs:
            raise RagdataError(f"{self._path}: there is nothing to compare: {self._lack()}")
        if not done.runs and not done.answers_in_top and not done.answers and not done.claims:
            raise RagdataError(f"{self._path}: nothing can be evaluated: {self._lack()}")

    def _lack(self) -> str:
        from ragdatakit.retrieval.gold_and_metrics.evaluated_gold import what_is_lacking

        return what_is_lacking(self._gold, self._tables, None if self._has_corpus else self._corpus)
