"""`ragdata diff`: how two datasets, or two states of one, differ; the exit code says whether they do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.dataset_options import dataset_name_option, dataset_options, read_words
from ragdatakit.cli.declared_options import DataPath, Known, given, options_of
from ragdatakit.cli.output_format import check_place, chosen_form, output_options
from ragdatakit.cli.standard_output import terminal_columns, write_output
from ragdatakit.schemas.options import DiffOptions

if TYPE_CHECKING:
    from ragdatakit.schemas.diffs import DatasetDiff

_FORMS = ("text", "json", "markdown", "html")
_LEAST_WIDTH, _MOST_WIDTH = 40, 160
_option = options_of(DiffOptions)


@click.command("diff", short_help="Compare two datasets.")
@click.argument("before", type=DataPath(readable=False), metavar="A")
@click.argument("after", type=DataPath(readable=False), metavar="B")
@_option(
    "--after-from", "after_format", type=Known("format"), metavar="FORMAT", help="The format of B, where it is another."
)
@_option("--ignore", multiple=True, metavar="COLUMN", help="A column that does not count, also as TABLE.COLUMN.")
@_option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    help="Files next to the datasets that do not count, such as README.md, '*.log' or 'notes/*'.",
)
@click.option(
    "--key", "keys", multiple=True, metavar="TABLE=COLUMN,…", help="Find the records of a table again by these columns."
)
@_option(
    "--max-records",
    "records",
    show_default=True,
    metavar="N",
    help="Show at most this many added, removed and changed records of a table; all are counted.",
)
@_option("--metrics/--no-metrics", "metrics", help="Compare the numbers of the two reports, too (default: do).")
@output_options(_FORMS)
@click.option("-q", "--quiet", is_flag=True, help="Only the summary line.")
@_option(
    "--fail-on",
    multiple=True,
    metavar="CONDITION",
    help="Exit with 1 only then, as 'documents.removed > 5%' or 'edges.rows < -10%'; may be repeated.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when they differ.")
@_option(
    "--memory-limit", show_default=True, help="How much each database may hold in memory; the rest goes to the disk."
)
@dataset_name_option
@dataset_options
def command(**words: Any) -> int:
    """Compare the dataset at A with that at B: records by key, files, and the numbers that moved.

    A and B are paths, or a git revision and a path in it, as HEAD~1:data. They may be of different formats.
    Exit code: 0 they are the same, 1 they differ (with --fail-on: a condition is met), 2 failed, or not all could be
    read.

    \b
    ragdata diff old/ new/
    ragdata diff HEAD~1:data data
    ragdata diff scifact/ converted/ --ignore metadata
    """
    from ragdatakit.api.diff import diff
    from ragdatakit.cli.progress import terminal_progress

    out = words["output_file"]
    check_place(out, (words["before"], words["after"]), read=read_words(words))
    form = chosen_form(words, _FORMS)
    if form == "html" and out is None and sys.stdout.isatty():
        raise click.UsageError("a page is not for the terminal: give --output-file diff.html")
    keys = _keys(words["keys"])
    with terminal_progress() as progress:
        found = diff(
            words["before"],
            words["after"],
            **given(
                DiffOptions,
                words,
                **read_words(words),
                ignore=[name.strip() for text in words["ignore"] for name in text.split(",") if name.strip()],
                keys=keys,
                metrics=words["metrics"] and not words["quiet"],
                progress=progress,
            ),
        )
    data = _render(found, form, words["quiet"], out)
    write_output([data], out, form)
    if found.unread:
        from ragdatakit.reports.diff.text import unread_words

        which = "" if form == "text" and out is None else f": {unread_words(found)}"  # the last line shows it
        click.echo(f"ragdata: not everything was compared{which}", err=True)
        return 2
    return 1 if found.fails and not words["exit_zero"] else 0


def _keys(given: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in given:
        table, equals, columns = text.partition("=")
        names = [name.strip() for name in columns.split(",") if name.strip()]
        if not equals or not table.strip() or not names:
            raise click.UsageError(f"--key {text}: expected TABLE=COLUMN,…, as edges=source,target")
        found[table.strip()] = names
    return found


def _render(found: DatasetDiff, form: str, quiet: bool, out: Path | None) -> bytes:
    if form == "text":
        from ragdatakit.reports.diff.text import condition_lines, diff_lines, summary_line
        from ragdatakit.reports.terminal import painter

        colour = out is None and wants_colour()
        width = terminal_columns(100) if out is None else 100
        width = min(max(width, _LEAST_WIDTH), _MOST_WIDTH)
        last = [*condition_lines(found, painter(colour)), summary_line(found, painter(colour))]
        lines = last if quiet else diff_lines(found, colour=colour, width=width)
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    if form == "html":
        from ragdatakit.reports.html.diff import diff_html

        return diff_html(found)
    from ragdatakit.reports.diff.files import diff_json, diff_markdown

    return {"json": diff_json, "markdown": diff_markdown}[form](found)
