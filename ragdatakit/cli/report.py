"""`ragdata report`: its options, and what they ask for together. Those of most command lines `plain_words` reads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ragdatakit.cli.dataset_options import (
    chosen_engine,
    dataset_names_option,
    dataset_options,
    engine_options,
    read_words,
)
from ragdatakit.cli.declared_options import DataPath, given, options_of
from ragdatakit.cli.output_format import check_place, chosen_form, output_options
from ragdatakit.cli.without_click.report_run import ReportAsked, run
from ragdatakit.schemas.options import ReportOptions

_FILE = click.Path(dir_okay=False, path_type=Path)
_FORMS = ("text", "json", "markdown", "html")
_option = options_of(ReportOptions)


@click.command("report", short_help="Say what is in datasets.")
@click.argument("paths", nargs=-1, type=DataPath(readable=False, path_type=Path), metavar="[PATH]...")
@output_options(_FORMS)
@click.option("--save-database", type=_FILE, metavar="FILE", help="Leave the tables in a DuckDB file, too.")
@click.option("--overwrite", is_flag=True, help="Replace the database that is there.")
@click.option(
    "--findings/--no-findings", default=None, help="Also what `ragdata validate` finds (default: in HTML only)."
)
@click.option(
    "--details/--no-details", default=None, help="Show each dataset whole (default: where there are at most 3)."
)
@_option(
    "--examples",
    show_default=True,
    metavar="N",
    help="Random rows of each table to look at, besides the first, the longest and the shortest.",
)
@_option("--seed", show_default=True, metavar="N", help="Chooses those rows.")
@_option("--node", metavar="NAME", help="Show this node of the graph with its neighbours; a page begins with it.")
@_option("--memory-limit", metavar="SIZE", help="What tables may take before they go to the disk.")
@engine_options(
    _option,
    "With --engine local: so many processes (default: one for each processor, at most 8).",
    "The key numbers only, measured in parts of large files: by processes here (local), or by the workers of a cluster"
    " (ray, spark).",
)
@click.option("-q", "--quiet", is_flag=True, help="Only what there is, and the warnings.")
@click.option("-v", "--verbose", is_flag=True, help="Also all files, values and examples.")
@dataset_names_option
@dataset_options
def command(**words: Any) -> int:
    """Say what is in the datasets at PATH (folders or files; default: here).

    Files and tables, shares of missing, empty and repeated values, lengths, frequencies, ids, graphs, examples. Nothing
    is judged (`ragdata validate` does that): data that is wrong gives a report anyway, which says what could not
    be read.
    Exit code: 0 done, 2 failed.

    \b
    ragdata report data/
    ragdata report data/ --output-file report.html
    ragdata report data/ --output-format markdown >> README.md
    ragdata report data/ --save-database data.duckdb
    """
    _check_places(words)
    form = chosen_form(words, _FORMS)
    _refuse_places(words, form)
    is_page = form == "html"
    options = given(
        ReportOptions,
        words,
        **read_words(words),
        **chosen_engine(words),
        save=words["save_database"],
        neighbourhoods=is_page,
        findings=words["findings"] if words["findings"] is not None or is_page else False,
    )
    if not is_page:
        options["max_per_rule"] = 1  # they are counted
    shown = {name: words[name] for name in ("quiet", "verbose", "details")}
    return run(
        ReportAsked(paths=words["paths"] or (Path(),), options=options, form=form, out=words["output_file"], **shown)
    )


def _check_places(words: dict[str, Any]) -> None:
    for name in ("output_file", "save_database"):
        check_place(words[name], words["paths"] or (Path(),), f"--{name.replace('_', '-')}", read_words(words))


def _refuse_places(words: dict[str, Any], form: str) -> None:
    """Raise where the outputs cannot go where they are to go, before anything is read."""
    saved, out = words["save_database"], words["output_file"]
    if saved is not None and saved.exists() and not words["overwrite"]:
        raise click.UsageError(f"--save-database: {saved} is there; --overwrite replaces it")
    if saved is not None and out is not None and saved.absolute() == out.absolute():
        raise click.UsageError("--save-database and --output-file name the same file")
    if words["overwrite"] and saved is None:
        raise click.UsageError("--overwrite is for --save-database; an --output-file is replaced without it")
    if form == "html" and out is None and sys.stdout.isatty():
        raise click.UsageError("a page is not for the terminal: give --output-file report.html")
    if words["quiet"] and words["verbose"]:
        raise click.UsageError("give --quiet or --verbose, not both")
