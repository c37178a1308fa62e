"""`ragdata gate`: a dataset passes suites of expectations or does not; the exit code says which."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.dataset_options import dataset_name_option, dataset_options, read_words
from ragdatakit.cli.declared_options import DataPath, Names, Whole, given, options_of
from ragdatakit.cli.output_format import check_place, chosen_form, output_options
from ragdatakit.cli.standard_output import terminal_columns, write_output
from ragdatakit.schemas.options import GateOptions, SuiteOptions

if TYPE_CHECKING:
    from ragdatakit.schemas.gates import GateResult

_FORMS = ("text", "json", "html")
_LEAST_WIDTH, _MOST_WIDTH = 60, 160
_option = options_of(GateOptions)
_RUNS = ("suites", "output_format", "as_json", "data_docs", "sample_rows", "fail_on", "quiet", "verbose")


@click.command("gate", short_help="Check a dataset against expectations.")
@click.argument("path", default=".", type=DataPath(readable=False, path_type=Path), metavar="[PATH]")
@click.option(
    "--suite",
    "suites",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A suite of Great Expectations as JSON; may be given several times.",
)
@click.option("--init", is_flag=True, help="Write a suite from today's data instead.")
@options_of(SuiteOptions)(
    "--tolerance",
    default=None,
    metavar="SHARE",
    help=f"--init: how far numbers may move (default: {SuiteOptions.tolerance}).",
)
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="TABLE",
    help="The table of a suite that names none, as documents or files.corpus; --init: only these tables.",
)
@output_options(_FORMS)
@click.option("--overwrite", is_flag=True, help="--init: replace the suite that is there.")
@_option(
    "--data-docs",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Great Expectations' own pages, too; they load their styles from the network.",
)
@click.option(
    "--fail-on",
    type=Names(["info", "warning", "critical"], "level"),
    help="Exit with 1 from this severity on (default: info, which is all).",
)
@_option("--sample-rows", type=Whole(1), default=None, metavar="N", help="Check at most N rows of a table.")
@_option("--memory-limit", show_default=True, help="The most that the columns of one expectation may take.")
@click.option("-q", "--quiet", is_flag=True, help="Only the summary line.")
@click.option("-v", "--verbose", is_flag=True, help="Also the expectations that hold.")
@dataset_name_option
@dataset_options
def command(**words: Any) -> int:
    """Run suites of Great Expectations over the tables of the dataset at PATH (default: here; extra gates).

    An expectation is about the table that its meta names ("ragdata_table": "documents"). Beside its own columns, a
    table has COLUMN_length and, where a column refers to another table, COLUMN_found (1 or 0).
    Exit code: 0 all hold, 1 some fail, 2 failed.

    \b
    ragdata gate data/ --init --output-file suite.json
    ragdata gate data/ --suite suite.json
    ragdata gate data/ --suite suite.json --output-file gate.html
    """
    _check(words)
    return _write_suite(words) if words["init"] else _run(words)


def _check(words: dict[str, Any]) -> None:
    out = words["output_file"]
    check_place(out, (words["path"],), read=read_words(words))
    if words["init"]:
        for name in _RUNS:
            if words[name]:
                option = "suite" if name == "suites" else name.removeprefix("as_").replace("_", "-")
                raise click.UsageError(f"--init writes a suite; --{option} is for running one")
        if out is not None and out.exists() and not words["overwrite"]:
            raise click.UsageError(f"{out} is there; --overwrite replaces it")
        return
    if not words["suites"]:
        raise click.UsageError("which suite? Give --suite FILE; --init writes a first one")
    if words["tolerance"] is not None or words["overwrite"]:
        raise click.UsageError("--tolerance and --overwrite are for --init")
    if len(words["tables"]) > 1:
        raise click.UsageError("--table is given more than once; a suite that names no table is about one")
    if words["quiet"] and words["verbose"]:
        raise click.UsageError("give --quiet or --verbose, not both")
    if _form(words) == "html" and out is None and sys.stdout.isatty():
        raise click.UsageError("a page is not for the terminal: give --output-file gate.html")
    if out is not None and out.exists() and any(out.samefile(suite) for suite in words["suites"]):
        raise click.UsageError("--output-file names the suite itself")


def _form(words: dict[str, Any]) -> str:
    return chosen_form(words, _FORMS)


def _write_suite(words: dict[str, Any]) -> int:
    import orjson

    from ragdatakit.api.gate import first_suite
    from ragdatakit.cli.progress import terminal_progress
    from ragdatakit.reports.terminal import one_line

    with terminal_progress() as progress:
        suite = first_suite(words["path"], **given(SuiteOptions, words, **read_words(words), progress=progress))
    for reason in suite["meta"].get("ragdata_left_out", ()):
        click.echo(f"! {one_line(reason)}", err=True)
    out = words["output_file"]
    write_output([orjson.dumps(suite, option=orjson.OPT_INDENT_2) + b"\n"], out, "json")
    if out is not None:
        click.echo(f"{len(suite['expectations']):,} expectations written to {out}", err=True)
    return 0


def _run(words: dict[str, Any]) -> int:
    from ragdatakit.api.gate import gate
    from ragdatakit.cli.progress import terminal_progress

    with terminal_progress("loading Great Expectations") as progress:
        result = gate(
            words["path"],
            words["suites"],
            **given(GateOptions, words, **read_words(words), table=next(iter(words["tables"]), ""), progress=progress),
        )
    write_output([_rendered(result, words)], words["output_file"], _form(words))
    return result.exit_code(words["fail_on"] or "info")


def _rendered(result: GateResult, words: dict[str, Any]) -> bytes:
    from ragdatakit.reports.gates.output import gate_json, gate_lines, gate_page

    form, out = _form(words), words["output_file"]
    if form == "json":
        return gate_json(result)
    if form == "html":
        return gate_page(result)
    width = terminal_columns(100) if out is None else 100
    lines = gate_lines(
        result,
        colour=out is None and wants_colour(),
        width=min(max(width, _LEAST_WIDTH), _MOST_WIDTH),
        quiet=words["quiet"],
        verbose=words["verbose"],
    )
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
