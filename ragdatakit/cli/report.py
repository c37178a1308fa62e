"""`ragdata report`: words into options, the summaries, the output that was asked for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.dataset_options import (
    chosen_engine,
    dataset_names_option,
    dataset_options,
    engine_options,
    read_words,
)
from ragdatakit.cli.declared_options import DataPath, given, options_of
from ragdatakit.cli.output_format import check_place, chosen_form, output_options
from ragdatakit.cli.standard_output import terminal_columns, write_output
from ragdatakit.schemas.options import ReportOptions

if TYPE_CHECKING:
    from ragdatakit.api.results import Summaries

_FILE = click.Path(dir_okay=False, path_type=Path)
_FORMS = ("text", "json", "markdown", "html")
_USUAL_WIDTH, _LEAST_WIDTH, _MOST_WIDTH = 100, 60, 120
_SIGNS = "▁▂▃▅▇…·–"
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
    data = _rendered(_made(words, form), words, form)
    write_output([data], words["output_file"], form)
    return 0


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


def _made(words: dict[str, Any], form: str) -> Summaries:
    from ragdatakit.api.report import report
    from ragdatakit.cli.progress import terminal_progress

    is_page = form == "html"
    with terminal_progress() as progress:
        options = given(
            ReportOptions,
            words,
            **read_words(words),
            **chosen_engine(words),
            save=words["save_database"],
            neighbourhoods=is_page,
            findings=words["findings"] if words["findings"] is not None or is_page else False,
            progress=progress,
        )
        if not is_page:
            options["max_per_rule"] = 1  # they are counted
        return report(list(words["paths"]) or [Path()], **options)


def _rendered(summaries: Summaries, words: dict[str, Any], form: str) -> bytes:
    findings = summaries.findings
    if form == "json":
        from ragdatakit.reports.summary.json import summary_json

        return summary_json(summaries, findings, summaries.left_out, summaries.not_read, summaries.sources)
    if form == "html":
        from ragdatakit.reports.html.page import summary_page

        return summary_page(summaries, findings, left_out=summaries.left_out, not_read=summaries.not_read)
    if form == "markdown":
        from ragdatakit.reports.summary.markdown import summary_markdown

        lines = summary_markdown(summaries, words["details"], findings, summaries.left_out, summaries.not_read)
        return "".join(f"{line}\n" for line in lines).encode()
    from ragdatakit.reports.summary.text import summary_lines
    from ragdatakit.reports.summary.text_sections import SummaryTextOptions

    to_file = words["output_file"] is not None
    encoding = "utf-8" if to_file else sys.stdout.encoding or "utf-8"
    columns = _USUAL_WIDTH if to_file else terminal_columns(_USUAL_WIDTH)
    options = SummaryTextOptions(
        colour=not to_file and wants_colour(),
        width=min(max(columns, _LEAST_WIDTH), _MOST_WIDTH),
        quiet=words["quiet"],
        verbose=words["verbose"],
        details=words["details"],
        plain=not _encodes(encoding),
        whole=to_file or not sys.stdout.isatty(),
    )
    lines = summary_lines(summaries, options, findings, summaries.left_out, summaries.not_read)
    return "".join(f"{line}\n" for line in lines).encode(encoding, "backslashreplace")


def _encodes(encoding: str) -> bool:
    try:
        _SIGNS.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
