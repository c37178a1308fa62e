"""`ragdata retrieve`: search a dataset by one question or many; on the screen, as JSON, as a run for other tools."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.dataset_options import dataset_name_option, dataset_options, not_empty, read_words, search_options
from ragdatakit.cli.declared_options import DataPath, given, old_spelling, options_of, words_after_path
from ragdatakit.cli.index import opened
from ragdatakit.cli.output_format import check_place, chosen_form, output_options
from ragdatakit.cli.standard_output import say_printable, terminal_columns, write_output
from ragdatakit.schemas.options import RetrieveOptions
from ragdatakit.schemas.retrieved import Query
from ragdatakit.schemas.search.modes import EXPLAINED_MODES

if TYPE_CHECKING:
    from ragdatakit.api.questions import AskedQuestions, Gold, Retriever
    from ragdatakit.schemas.retrieved import GoldPlace

_FORMATS = ["text", "json", "trec", "sage"]
_LEAST_WIDTH, _MOST_WIDTH = 40, 120
_option = options_of(RetrieveOptions)
_ALL = "\0"
"""What ``--questions`` has without a FILE: it meant all questions of the dataset."""


class _QuestionFile(click.Path):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == _ALL else super().convert(value, param, ctx)


@click.command("retrieve", short_help="Search a dataset.")
@click.argument("path", required=False, type=DataPath(readable=False, path_type=Path), metavar="[PATH]")
@click.argument("question", required=False, metavar="[QUESTION]")
@_option("-k", "k", show_default=True, help="How many passages.")
@_option(
    "--mode",
    show_default=True,
    help="How to search: terms, learned-sparse or dense vectors, the graph, several of these, or as LightRAG or "
    "GraphRAG does.",
)
@click.option(
    "--id", "question_id", metavar="ID", help="Search by this question of the dataset (or of FILE), and mark its gold."
)
@click.option(
    "--explain",
    is_flag=True,
    help="With --id: why gold passages are not found: their ranks, texts and terms. "
    "Modes of trees, LightRAG and GraphRAG: why each candidate was found, and what budgets leave out.",
)
@click.option("--all-questions", is_flag=True, help="Search by all questions of the dataset.")
@click.option(
    "--split", default="", metavar="NAME", callback=not_empty, help="With --all-questions: only those of this split."
)
@click.option(
    "--questions",
    type=_QuestionFile(exists=True, dir_okay=False, path_type=Path),
    is_flag=False,
    flag_value=_ALL,
    metavar="FILE",
    help="Search by the questions of a file: one a line, or JSON lines with id and text (*.jsonl).",
)
@old_spelling("--queries", "--questions", "questions", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--qrels",
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE",
    help="With --id: judgements to take instead of the dataset's own.",
)
@output_options(_FORMATS, "How to print: for people, as JSON, as a TREC run, as records of SAGE")
@click.option("--tag", default="", metavar="NAME", help="The name of a TREC run (default: ragdata-MODE).")
@dataset_name_option
@dataset_options
@search_options
def command(**words: Any) -> int:
    """Search the dataset at PATH (default: here) and show the passages that were found, best first.

    The index is built at the first search and found again while the dataset is the same (see `ragdata index`).

    \b
    ragdata retrieve scifact/ "do statins lower the risk of stroke"
    ragdata retrieve scifact/ --id 1132 --explain
    ragdata retrieve scifact/ --all-questions -k 100 --output-file bm25.run
    """
    _check(words)
    explained = [] if words["question_id"] is None else ["bm25"]  # terms are counted by it
    retriever = opened(words["path"], words, [words["mode"], *explained])
    gold = _gold(retriever, words)
    queries = _queries(words, gold)
    _head(retriever, words)
    write = {"text": _text, "json": _json, "trec": _trec, "sage": _sage}[words["output_format"]]
    pieces = write(retriever, queries, gold, words)
    if words["output_file"] is None:
        write_output(pieces, None, words["output_format"])
        return 0
    from ragdatakit.cli.progress import terminal_progress

    with terminal_progress() as progress:
        write_output(_watched(pieces, len(queries), progress), words["output_file"])
    return 0


def _watched(pieces: Iterable[bytes], total: int, progress: Callable[[str, int, int], None] | None) -> Iterator[bytes]:
    """The pieces, about one a question, while it is shown how many there were."""
    for number, piece in enumerate(pieces):
        if progress is not None:
            progress("searching", number, total)
        yield piece


def _check(words: dict[str, Any]) -> None:
    """Raise `click.UsageError` for options that do not go together."""
    words_after_path(words, "question")
    _take_questions(words)
    data = (words["path"], *([words["qrels"]] if words["qrels"] is not None else []))
    check_place(words["output_file"], data, read=read_words(words))
    words["output_format"] = chosen_form(words, _FORMATS)
    asked = {
        "QUESTION": words["question"] is not None,
        "--id": words["question_id"] is not None,
        "--all-questions": words["all_questions"],
        "--questions": words["questions"] is not None,
    }
    if asked["--id"] and asked["--questions"]:  # the question of the file
        del asked["--questions"]
    given = [name for name, there in asked.items() if there]
    if not given:
        raise click.UsageError('what to search for? Give a question ("…"), --id, --all-questions or --questions FILE')
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} do not go together; give one")
    if words["question"] is not None and not words["question"].strip():
        raise click.UsageError("the question is empty")
    if words["explain"] and words["question_id"] is None and words["mode"] not in EXPLAINED_MODES:
        raise click.UsageError(
            "--explain goes with --id (only a question of the dataset has gold), or with a mode of a tree or framework"
        )
    if words["qrels"] is not None and words["question_id"] is None:
        raise click.UsageError("--qrels goes with --id: gold is marked for one question")
    if words["split"] and not words["all_questions"] and words["question_id"] is None:
        raise click.UsageError("--split goes with --all-questions or --id")
    if words["tag"] and (words["output_format"] != "trec" or words["tag"].split() != [words["tag"]]):
        raise click.UsageError("--tag is one word, for --output-format trec")


def _take_questions(words: dict[str, Any]) -> None:
    """``--questions`` without a FILE is what ``--all-questions`` is called today."""
    if words["questions"] == _ALL:
        words["questions"], words["all_questions"] = None, True
        click.echo("ragdata: --questions without FILE is deprecated: use --all-questions", err=True)


def _gold(retriever: Retriever, words: dict[str, Any]) -> Gold | None:
    """The questions of the dataset with their gold, where they are asked for."""
    if words["question_id"] is None and not words["all_questions"]:
        return None
    from ragdatakit.api.questions import gold_of

    return gold_of(retriever, _asked(words), say_printable)


def _asked(words: dict[str, Any]) -> AskedQuestions:
    from ragdatakit.api.questions import AskedQuestions

    return AskedQuestions(**given(AskedQuestions, words))


def _queries(words: dict[str, Any], gold: Gold | None) -> list[Query]:
    from ragdatakit.api.questions import file_queries, gold_question

    if words["question"] is not None:
        return [Query(words["question"])]
    if words["questions"] is not None and words["question_id"] is None:
        return file_queries(words["questions"])
    assert gold is not None
    if words["question_id"] is None:
        return [question.query for question in gold.questions]
    return [gold_question(gold, _asked(words)).query]


def _head(retriever: Retriever, words: dict[str, Any]) -> None:
    """What is searched, besides the hits."""
    if words["output_format"] == "text" and words["output_file"] is None:
        from ragdatakit.reports.retrieval import head_line

        click.echo(head_line(retriever.index.summary(), words["mode"]), err=True)


def _text(retriever: Retriever, queries: list[Query], gold: Gold | None, words: dict[str, Any]) -> Iterator[bytes]:
    from ragdatakit.reports.retrieval import retrieval_lines, time_line

    colour = wants_colour() and words["output_file"] is None
    width = min(max(terminal_columns(100), _LEAST_WIDTH), _MOST_WIDTH)
    for number, query in enumerate(queries):
        found = retriever.search(query, words["mode"], words["k"], words["explain"])
        places = _places(retriever, gold, words)
        lines = retrieval_lines(found, places, colour=colour, width=width, explain=words["explain"])
        yield "".join(f"{line}\n" for line in (*([""] if number else []), *lines)).encode("utf-8", "backslashreplace")
        if len(queries) == 1 and words["output_file"] is None:
            sys.stdout.flush()
            click.echo(time_line(found), err=True)


def _json(retriever: Retriever, queries: list[Query], gold: Gold | None, words: dict[str, Any]) -> Iterator[bytes]:
    from ragdatakit.reports.retrieval import JSON_TAIL, json_head, json_query

    yield json_head(retriever.index.summary(), words["mode"], words["k"])
    for number, query in enumerate(queries):
        found = retriever.search(query, words["mode"], words["k"], words["explain"])
        yield json_query(found, _places(retriever, gold, words), number == 0)
    yield JSON_TAIL


def _places(retriever: Retriever, gold: Gold | None, words: dict[str, Any]) -> tuple[GoldPlace, ...] | None:
    """Where the gold of a question is, for the one question that is asked by its id."""
    if gold is None or words["question_id"] is None:
        return None
    from ragdatakit.api.questions import gold_places

    return gold_places(retriever, gold, _asked(words), words["mode"], words["k"])


def _trec(retriever: Retriever, queries: list[Query], gold: Gold | None, words: dict[str, Any]) -> Iterator[bytes]:
    from ragdatakit.api.questions import trec_run

    return trec_run(retriever, queries, words["mode"], words["k"], words["tag"] or f"ragdata-{words['mode']}")


def _sage(retriever: Retriever, queries: list[Query], gold: Gold | None, words: dict[str, Any]) -> Iterator[bytes]:
    from ragdatakit.api.questions import sage_run

    return sage_run(retriever, queries, words["mode"], words["k"], gold)
