"""`ragdata eval`: the words of the command line become options, one evaluation, its screen, the exit code."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.dataset_options import (
    MODE_WORDS,
    SHARED_SECTIONS,
    SectionedCommand,
    dataset_name_option,
    dataset_options,
    not_empty,
    read_words,
    repeated_words,
    retriever_words,
    search_options,
)
from ragdatakit.cli.declared_options import DataPath, Known, given, old_spelling, options_of
from ragdatakit.cli.output_format import check_place, chosen_form, output_options
from ragdatakit.cli.standard_output import terminal_columns, write_output
from ragdatakit.schemas.options import MOST_RESULTS, EvaluateOptions
from ragdatakit.schemas.search.modes import ALL_MODES

if TYPE_CHECKING:
    from ragdatakit.schemas.evaluations import Evaluation

_THERE = click.Path(exists=True, path_type=Path)
_FILE = click.Path(dir_okay=False, path_type=Path)
_FORMS = ("text", "json")
_LEAST_WIDTH, _MOST_WIDTH = 60, 140
_option = options_of(EvaluateOptions)


class _Command(SectionedCommand):
    """Says where modes are given with blanks between them."""

    sections: ClassVar = {
        "What is measured": ("modes", "cutoffs", "metrics", "depth", "split", "unit", "minimums", "by_type", "worst"),
        "Runs, answers and gold from files": ("runs", "compare", "answers", "qrels", "questions"),
        "Output": (
            *("output_format", "as_json", "output_file", "per_question", "quiet", "most_findings", "seed"),
            "help",
        ),
        **SHARED_SECTIONS,
    }

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        places = [n for n, word in enumerate(given[:-1]) if word == "--mode" or word.startswith("--mode=")]
        behind = {n + (2 if given[n] == "--mode" else 1) for n in places}
        for n in (n for n in behind if n < len(given) and given[n] in ALL_MODES and not Path(given[n]).exists()):
            modes = f"{given[n - 1].removeprefix('--mode=')},{given[n]}"
            raise click.UsageError(f"several modes have a comma between them, and no blank: --mode {modes}", ctx)
        return super().parse_args(ctx, args)


@click.command("eval", cls=_Command, short_help="Measure retrieval on a dataset.")
@click.argument("path", default=".", type=DataPath(readable=False, path_type=Path), metavar="[PATH]")
@click.option(
    "--mode", "modes", multiple=True, type=Known("mode"), metavar="MODE,…", callback=not_empty, help=MODE_WORDS
)
@click.option(
    "-k",
    "cutoffs",
    multiple=True,
    metavar="K,…",
    callback=not_empty,
    help="Cut-offs (default: recall at 1,2,5,10,20,100).",
)
@click.option(
    "--metrics",
    multiple=True,
    metavar="NAME,…",
    help="recall@K, ndcg@K, success@K, precision@K, pass@K, mrr, mrr@K, map, map@K.",
)
@_option("--depth", show_default=True, help="Results per question (at least the largest K).")
@_option("--split", metavar="NAME", callback=not_empty, help="The questions of this split (default: test, or all).")
@_option("--unit", help="What is judged (default: what is searched).")
@click.option("--runs", type=_THERE, multiple=True, metavar="FILE", help="Evaluate runs: TREC, SAGE records, …")
@click.option(
    "--compare", nargs=2, metavar="A B", help="A paired test of two modes, runs or run files (is B better than A?)."
)
@click.option("--answers", type=_THERE, multiple=True, metavar="FILE", help="Score answers: A-RAG, DataMind, SAGE.")
@click.option("--qrels", type=_THERE, metavar="FILE", help="Judgements in a separate file: TREC, BEIR, JSON.")
@click.option("--questions", type=_THERE, metavar="FILE", help="Questions in a separate file (with gold, or without).")
@click.option(
    "--min",
    "minimums",
    multiple=True,
    metavar="NAME=VALUE",
    help="Exit 1 below it: --min recall@10=0.8 (the best run).",
)
@click.option("--by-type/--no-by-type", default=None, help="By type of question (default: for up to 8 types).")
@_option("--worst", show_default=True, help="How many worst questions.")
@_option("--max-per-rule", "most_findings", show_default=True, help="Findings per rule; 0: all.")
@_option("--seed", metavar="N", show_default=True, help="For draws.")
@click.option(
    "--per-question", type=_FILE, metavar="FILE", help="Write each question of each run there: .csv or .jsonl."
)
@output_options(_FORMS)
@old_spelling("--report", "--output-file", "report", type=_FILE)
@click.option("-q", "--quiet", is_flag=True, help="No types, no worst questions, findings by rule only.")
@dataset_name_option
@dataset_options
@search_options
def command(**words: Any) -> int:
    """Measure how well the questions of the dataset at PATH (default: here) find their gold.

    Metrics come with the best that any retriever could reach on this data, and with checks of whether they mean
    anything: the same run against shuffled gold, passages that should find themselves. Faults of the dataset are
    findings; it is read leniently, so run `ragdata validate` first. Without gold it is counted how often the answer
    is in what is found.
    Exit code: 0 done, 1 findings that are errors (gold that is not aligned, a --min that is not met), 2 failed.

    \b
    ragdata eval scifact/
    ragdata eval scifact/ --mode bm25 --min recall@10=0.8
    ragdata eval scifact/ --runs bm25.run --runs splade.run --compare bm25.run splade.run
    ragdata eval arag/ --answers results/predictions.jsonl
    """
    words.setdefault("report", None)
    words["output_format"] = chosen_form(words, _FORMS)
    for name in ("per_question", "report", "output_file"):
        given = (words["path"], *words["runs"], *words["answers"], words["qrels"], words["questions"])
        check_place(words[name], filter(None, given), f"--{name.replace('_', '-')}", read_words(words))
    if words["per_question"] is not None and words["per_question"].suffix not in (".csv", ".jsonl"):
        raise click.UsageError("--per-question writes .csv or .jsonl; name the file so")
    done = _evaluated(words)
    _write(done, words)
    return 0 if done.ok else 1


def _evaluated(words: dict[str, Any]) -> Evaluation:
    from ragdatakit.api.evaluate import evaluate
    from ragdatakit.cli.progress import terminal_progress

    with terminal_progress() as progress:
        options = given(
            EvaluateOptions,
            words,
            **retriever_words(words),
            modes=_listed(words["modes"]),
            metrics=_listed(words["metrics"]),
            k=[_whole(word) for word in _listed(words["cutoffs"])],
            minimums=_minimums(words["minimums"]),
            progress=progress,
        )
        return evaluate(words["path"], **options)


def _listed(given: tuple[str, ...]) -> list[str]:
    return [word.strip() for text in given for word in text.split(",") if word.strip()]


def _whole(word: str) -> int:
    if not word.isascii() or not word.isdigit() or not 1 <= int(word) <= MOST_RESULTS:
        raise click.UsageError(f"-k {word}: expected numbers from 1 to {MOST_RESULTS:,}, as 5,10")
    return int(word)


def _minimums(given: tuple[str, ...]) -> dict[str, float]:
    found: dict[str, float] = {}
    for empty in (text for text in given if not _listed((text,))):  # such as that of a variable that is not set
        raise click.UsageError(f"--min {empty!r}: expected NAME=VALUE, as recall@10=0.8")
    for whole in given:
        for text in _listed((whole,)):
            name, _, value = text.partition("=")
            try:
                asked = float(value)
            except ValueError:
                asked = math.nan
            if math.isnan(asked) or name.rstrip().endswith(("<", ">", "!")):
                point = "" if "=" in text else " (with a point in the value)" if "," in whole else ""
                raise click.UsageError(f"--min {whole}: expected NAME=VALUE, as recall@10=0.8{point}")
            found[name.strip()] = max(asked, found.get(name.strip(), asked))
    return found


def _write(done: Evaluation, words: dict[str, Any]) -> None:
    from ragdatakit.api.output_files import write_file
    from ragdatakit.reports.evaluation import EvaluationOptions, evaluation_lines
    from ragdatakit.reports.evaluation_files import evaluation_json, question_lines, question_table

    place = words["per_question"]
    if place is not None:
        write_file(place, [question_table(done)] if place.suffix == ".csv" else question_lines(done))
    if words["report"] is not None:
        write_file(words["report"], [evaluation_json(done, words["worst"])])
    if words["output_format"] == "json":
        write_output([evaluation_json(done, words["worst"])], words["output_file"], "json")
    else:
        options = EvaluationOptions(
            colour=words["output_file"] is None and wants_colour(),
            width=min(max(terminal_columns(), _LEAST_WIDTH), _MOST_WIDTH),
            quiet=words["quiet"],
            by_type=words["by_type"],
            worst=words["worst"],
            retrieve=_retrieve(words) if done.passages else "",
        )
        lines = evaluation_lines(done, options)
        write_output((f"{line}\n".encode("utf-8", "backslashreplace") for line in lines), words["output_file"])


def _retrieve(words: dict[str, Any]) -> str:
    """The command that searches the same dataset; empty where its questions are from another folder."""
    if words["questions"] is not None and words["questions"].is_dir():
        return ""
    given = {"--split": words["split"], "--questions": words["questions"], "--qrels": words["qrels"]}
    split = [word for name, value in given.items() if value for word in (name, str(value))]
    repeated = [shlex.quote(word) for word in (*split, *repeated_words())]
    return " ".join(["ragdata retrieve", shlex.quote(str(words["path"])), *repeated])
