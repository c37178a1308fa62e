"""Held to numbers that others published: ``python benchmarks/reference.py DATA`` writes docs/reference-results.md.

``DATA`` is a folder with the public sets (see ``reference_sets.py``); those that are not there are reported.
Every value comes of ragdata's own evaluation; a second library (ranx, in an environment of its own, 0.7 GB) measures
the same rankings.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from reference_sets import EXPERIMENTS, Experiment, Row
from reference_steps import METRIC, Step, steps
from sets.names import default_folder

from ragdatakit import __version__
from ragdatakit.api.evaluate import evaluate
from ragdatakit.api.search import dataset_tables, open_retriever
from ragdatakit.retrieval.gold_and_metrics.evaluation import search_run
from ragdatakit.retrieval.gold_and_metrics.gold import Gold, read_gold
from ragdatakit.retrieval.gold_and_metrics.metrics import depth_of
from ragdatakit.schemas.evaluations import Evaluation, RunResult
from ragdatakit.schemas.options import DatasetOptions, SearchOptions

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "reference-results.md"
COMPARED = ("ndcg@10", "recall@10", "recall@100", "success@10", "mrr", "map")
LIBRARIES = ("tantivy", "PyStemmer", "pytrec-eval-terrier", "numpy", "scipy", "fugashi", "unidic-lite", "bm25s")


@dataclass(slots=True)
class Result:
    """One experiment: what was measured, the steps to it; by mode its rankings and what the second library says."""

    experiment: Experiment
    evaluation: Evaluation
    steps: list[Step] = field(default_factory=list)
    rankings: dict[str, Path] = field(default_factory=dict)
    theirs: dict[str, dict[str, float]] = field(default_factory=dict)

    def run(self, mode: str) -> RunResult:
        """The run of a mode."""
        return next(run for run in self.evaluation.runs if run.name == mode)

    def value(self, row: Row) -> float:
        """What was reached."""
        return self.run(row.mode).scores[row.metric].mean


def main() -> None:
    """Run all, write the page; exit 1 where a bar is missed."""
    words = _parser().parse_args()
    data: Path = words.data
    chosen = [e for e in EXPERIMENTS if not words.only or any(t.lower() in e.title.lower() for t in words.only)]
    there = [e for e in chosen if (data / e.folder).is_dir()]
    if not there:
        names = ", ".join(sorted({e.folder for e in chosen}))
        raise SystemExit(f"none of the sets is below {data}: {names or 'no set is called so'}")
    judge = None if words.no_second_library else _second_library(words.folder)
    with tempfile.TemporaryDirectory(prefix="ragdata-reference-") as scratch:
        results = [_measured(e, data, Path(scratch)) for e in there]
        if judge is not None:
            _say("asking the second library")
            _ask(judge, results)
    absent = sorted({e.folder for e in chosen} - {e.folder for e in there})
    words.output.write_text("\n".join(_page(results, absent, judge)) + "\n", encoding="utf-8")
    print(words.output)
    missed = [f"{r.experiment.title}, {row.mode} {row.metric}" for r in results for row in _missed(r)]
    if missed:
        raise SystemExit(f"missed: {'; '.join(missed)}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the sets")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="sets with this in their title")
    parser.add_argument("--no-second-library", action="store_true", help="do not install and ask ranx")
    parser.add_argument("--folder", type=Path, default=default_folder(), help="where the environment of ranx lies")
    parser.add_argument("--output", type=Path, default=PAGE, help="the page to write")
    return parser


def _second_library(folder: Path) -> Path:
    """The interpreter of an environment that has ranx."""
    home = folder / "ranx-venv"
    wanted = (HERE / "peers" / "requirements-ranx.txt").read_text()
    stamp = home / "installed.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        _say("installing the second library")
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", str(HERE / "peers" / "requirements-ranx.txt")], check=True)
        stamp.write_text(wanted)
    return home / "bin" / "python"


def _measured(experiment: Experiment, data: Path, scratch: Path) -> Result:
    _say(experiment.title)
    path = data / experiment.folder
    if experiment.prepare is not None:
        path = experiment.prepare(path, scratch)
    place = scratch / str(EXPERIMENTS.index(experiment))
    place.mkdir()
    search = SearchOptions(**experiment.search)  # type: ignore[arg-type]
    depth = max(100, depth_of(experiment.metrics))
    given: dict[str, Any] = {"options": dict(experiment.options), "search": search, "index_dir": place / "index"}
    metrics = list(dict.fromkeys((*experiment.metrics, *COMPARED)))
    result = Result(experiment, evaluate(path, modes=experiment.modes, metrics=metrics, depth=depth, **given))
    gold = read_gold(dataset_tables(path, DatasetOptions(options=dict(experiment.options)))[1])
    retriever = open_retriever(path, **given)
    if experiment.steps:
        result.steps = steps(gold, retriever.index.passages)
    for mode in experiment.modes if not experiment.misread else ():
        found = search_run(retriever, retriever.index.passages, mode, gold.judged, gold.unit, depth).ranked
        result.rankings[mode] = place / f"{mode}.json"
        _write(result.rankings[mode], gold, found, metrics)
    return result


def _write(file: Path, gold: Gold, run: Mapping[str, Sequence[str]], metrics: list[str]) -> None:
    """What the second library is to measure."""
    given = {
        "qrels": {q.question_id: dict(q.grades) for q in gold.judged},
        "run": {q.question_id: list(run.get(q.question_id, ())) for q in gold.judged},
        "metrics": metrics,
    }
    file.write_text(json.dumps(given), encoding="utf-8")


def _ask(judge: Path, results: list[Result]) -> None:
    """The means of all runs by the second library."""
    asked = [(result, mode, file) for result in results for mode, file in result.rankings.items()]
    command = [str(judge), str(HERE / "peers" / "ranx_metrics.py"), *(str(file) for _, _, file in asked)]
    done = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    for (result, mode, _), line in zip(asked, done[-len(asked) :], strict=True):
        result.theirs[mode] = json.loads(line)


def _missed(result: Result) -> list[Row]:
    return [r for r in result.experiment.rows if r.bar is not None and result.value(r) < r.bar]


def _page(results: list[Result], absent: list[str], judge: Path | None) -> Iterator[str]:
    yield "# Reference results"
    yield ""
    yield "Written by `make reference DATA=FOLDER`; do not edit. The folder holds the public sets, which are not part"
    yield "of this repository. Every value is ragdata's own evaluation of its own retriever, in a new index."
    yield ""
    yield f"ragdatakit {__version__}, Python {sys.version.split()[0]}, {_versions(judge)}."
    if absent:
        yield ""
        yield f"Left out, as they were not in the folder: {', '.join(f'`{name}`' for name in absent)}."
    yield ""
    yield from _bars(results)
    for result in results:
        yield from _section(result)
    if judge is not None:
        yield from _agreement(results)


def _bars(results: list[Result]) -> Iterator[str]:
    yield "## Bars"
    yield ""
    yield "| set | mode | metric | at least | reached | |"
    yield "|---|---|---|--:|--:|---|"
    for result in results:
        title = result.experiment.title
        for row in result.experiment.rows:
            if row.bar is not None:
                value = result.value(row)
                word = "met" if value >= row.bar else f"**missed** by {row.bar - value:.4f}"
                yield f"| {title} | {row.mode} | {_metric(row.metric)} | {row.bar:.3f} | {value:.4f} | {word} |"
        if result.experiment.misread:
            found = _flagged(result)
            word = "reported" if found else "not reported"
            yield f"| {title} | bm25 | not aligned | is reported | {word} | {_verdict(found)} |"
    yield ""


def _flagged(result: Result) -> bool:
    """Whether the evaluation says that the judgements belong to other questions."""
    return not result.evaluation.ok and result.run("bm25").sanity.aligned is False


def _verdict(good: bool) -> str:
    return "met" if good else "**missed**"


def _section(result: Result) -> Iterator[str]:
    experiment, done = result.experiment, result.evaluation
    yield f"## {experiment.title}"
    yield ""
    counts = f"{done.passages:,} passages, {done.judged:,} judged questions, gold: {done.unit}s"
    yield f"{counts}{f', split {done.split}' if done.split else ''}."
    yield ""
    yield f"    {experiment.command}"
    yield ""
    if experiment.misread:
        run = result.run("bm25")
        shuffled = run.sanity.shuffled.get("ndcg@10", 0.0)
        word = "`ragdata eval` says that the gold is not aligned, and exits 1" if _flagged(result) else "not reported"
        yield (
            f"nDCG@10 is {run.scores['ndcg@10'].mean:.4f}, and {shuffled:.4f} with the gold of other questions: {word}."
        )
        yield ""
        return
    yield "| mode | metric | ours | 95 % | published | difference | by | source | cause |"
    yield "|---|---|--:|---|--:|--:|---|---|---|"
    for row in experiment.rows:
        yield _row(row, result)
    yield ""
    if result.steps:
        yield from _steps(result)


def _row(row: Row, result: Result) -> str:
    score = result.run(row.mode).scores[row.metric]
    published = difference = "–"
    if row.published is not None:
        published = f"{'> ' if row.at_least else ''}{row.published:.4f}"
        difference = f"{score.mean - row.published:+.4f}"
    interval = f"{score.low:.3f} – {score.high:.3f}"
    cells = (row.mode, _metric(row.metric), f"{score.mean:.4f}", interval, published, difference, row.system or "–")
    return f"| {' | '.join((*cells, row.source or '–', row.cause))} |"


def _steps(result: Result) -> Iterator[str]:
    """What each change makes, and what is left to the engine."""
    ours = result.run("bm25").scores[METRIC].mean
    published = next(r for r in result.experiment.rows if r.metric == METRIC and r.published is not None)
    found = [*result.steps, Step("tantivy instead of bm25s: ours", ours)]
    yield f"The steps from there to here, {_metric(METRIC)} (bm25s, an engine of others, but for the last):"
    yield ""
    yield "| | value | change |"
    yield "|---|--:|--:|"
    yield f"| {published.system}, as published | {published.published:.4f} | |"
    before = published.published or 0.0
    for step in found:
        yield f"| {step.title} | {step.value:.4f} | {step.value - before:+.4f} |"
        before = step.value
    yield ""


def _agreement(results: list[Result]) -> Iterator[str]:
    """The same rankings by a second library."""
    yield "## The same rankings, measured by a second library"
    yield ""
    yield "Ours are trec_eval's, ranx computes its own. The difference is the largest of the metrics in the row."
    yield ""
    yield "| set | mode | metrics | largest difference |"
    yield "|---|---|---|--:|"
    largest = 0.0
    for result in results:
        for mode, theirs in result.theirs.items():
            ours = result.run(mode).scores
            differences = {name: abs(ours[name].mean - value) for name, value in theirs.items()}
            largest = max(largest, *differences.values())
            names = ", ".join(f"{_metric(n)} {v:.4f}" for n, v in theirs.items())
            yield f"| {result.experiment.title} | {mode} | {names} | {max(differences.values()):.1e} |"
    yield ""
    yield f"The largest difference of all: {largest:.1e}."


def _metric(name: str) -> str:
    shown = {"ndcg": "nDCG", "mrr": "MRR", "map": "MAP", "recall": "Recall", "success": "Success"}
    family, at, cutoff = name.partition("@")
    return f"{shown.get(family, family)}{at}{cutoff}"


def _versions(judge: Path | None) -> str:
    found = []
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    if judge is not None:
        script = "from importlib.metadata import version\nprint('ranx ' + version('ranx'))"
        found.append(
            subprocess.run([str(judge), "-c", script], check=True, capture_output=True, text=True).stdout.strip()
        )
    return ", ".join(found)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
