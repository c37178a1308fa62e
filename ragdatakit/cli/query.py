"""`ragdata query`: SQL over a dataset; the rows on the screen or in a file."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.dataset_options import dataset_name_option, dataset_options, read_words
from ragdatakit.cli.declared_options import DataPath, Whole, given, is_url, options_of, words_after_path
from ragdatakit.cli.output_format import check_place, chosen_form, output_options
from ragdatakit.cli.standard_output import terminal_columns, write_output
from ragdatakit.schemas.errors import QueryError
from ragdatakit.schemas.options import QueryOptions

if TYPE_CHECKING:
    from ragdatakit.api.query_process import Answer
    from ragdatakit.reports.query_output import Chunks

_FORMS = ("table", "csv", "json", "ndjson", "markdown", "parquet")
_LEAST_WIDTH, _USUAL_LIMIT = 40, 100
_option = options_of(QueryOptions)


@click.command("query", short_help="Query a dataset with SQL.")
@click.argument("path", required=False, type=DataPath(readable=False, path_type=Path), metavar="[PATH]")
@click.argument("sql", required=False, metavar="[SQL]")
@click.option("--tables", "show_tables", is_flag=True, help="List the tables, their columns and rows.")
@output_options(_FORMS)
@click.option(
    "--limit",
    type=Whole(0),
    metavar="N",
    help=f"At most this many rows (0: all; default: {_USUAL_LIMIT} for a printed table, else all).",
)
@_option("--timeout", metavar="SECONDS", help="Stop the query after so long.")
@_option(
    "--memory-limit", show_default=True, help="How much the database may hold in memory; the rest goes to the disk."
)
@click.option(
    "--defuse-formulas", is_flag=True, help="CSV: put an apostrophe before texts that a spreadsheet would run."
)
@dataset_name_option
@dataset_options
def command(**words: Any) -> int:
    """Run one SELECT over the datasets at PATH (default: here; SQL as DuckDB has it; -: from standard input).

    The canonical tables (documents, chunks, questions, qrels, edges, …) are under their names, the files as they
    are in schema files; where PATH holds several datasets, behind their names (train.documents). Only what the query
    names is read; it can write nothing, and reach no other file and no network.

    \b
    ragdata query scifact/ --tables
    ragdata query scifact/ "select count(*) from documents where length(text) < 100"
    ragdata query scifact/ "from qrels" --output-file qrels.parquet
    """
    from ragdatakit.api.query_datasets import Question
    from ragdatakit.api.query_process import asked
    from ragdatakit.cli.progress import terminal_progress

    sql = _check(words)
    as_batches = words["output_format"] == "parquet"
    try:
        with ExitStack() as stack:
            with terminal_progress() as progress:
                options = QueryOptions(**given(QueryOptions, words, **read_words(words), progress=progress))
                answer = stack.enter_context(asked(Question(words["path"], sql, options, as_batches=as_batches)))
            _tell_losses(answer, words["output_format"] == "table")
            if sql is None:
                write_output(_tables(answer.tables, words), words["output_file"], words["output_format"])
            else:
                _answer(answer, words)
    except QueryError as error:
        _show(error)
        return 2
    return 0


def _check(words: dict[str, Any]) -> str | None:
    """The query; None where the tables are asked for. Raises `click.UsageError`."""
    words_after_path(words, "sql")
    out = words["output_file"]
    check_place(out, (words["path"],), read=read_words(words))
    words["output_format"] = chosen_form(words, _FORMS)
    if words["defuse_formulas"] and words["output_format"] != "csv":
        raise click.UsageError("--defuse-formulas goes with --output-format csv")
    if words["show_tables"]:
        if words["sql"] is not None:
            raise click.UsageError("give SQL or --tables, not both")
        if words["output_format"] not in ("table", "json"):
            raise click.UsageError("--tables goes with --output-format table or json")
        return None
    if words["sql"] is None:
        raise click.UsageError('what to ask? Give SQL ("select …"), - for standard input, or --tables')
    path, sql = words["path"], words["sql"]
    is_path = is_url(sql) or os.path.lexists(sql)
    if is_path and (is_url(path) or (is_url(sql) and os.path.lexists(path))):
        raise click.UsageError(f"ask one path at a time: {sql} is no SQL")
    if is_path and not os.path.lexists(path):
        raise click.UsageError(f'the path comes first: ragdata query {shlex.quote(sql)} "select …"')
    if words["output_format"] == "parquet" and out is None and sys.stdout.isatty():
        raise click.UsageError("--output-format parquet is not for a terminal; give --output-file FILE")
    if words["limit"] is None:
        words["limit"] = _USUAL_LIMIT if words["output_format"] == "table" and out is None else 0
    if words["sql"] != "-":
        return str(words["sql"])
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise click.UsageError("the query on standard input is not UTF-8") from None


def _answer(answer: Answer, words: dict[str, Any]) -> None:
    from ragdatakit.reports.query_output import WRITERS, limited, table_lines, without_formulas

    out, kind, limit = words["output_file"], words["output_format"], words["limit"]
    names, types = [c.name for c in answer.columns], [c.type for c in answer.columns]
    if kind == "parquet":
        from ragdatakit.api.query import parquet_pieces

        write_output(parquet_pieces(answer, limit), out, kind)
    elif kind == "table":
        lines = table_lines(
            names, types, answer.pieces, width=_width(out), limit=limit, colour=out is None and wants_colour()
        )
        write_output((f"{line}\n".encode() for line in lines), out)
    else:
        rows: Chunks = limited(answer.pieces, limit)
        if words["defuse_formulas"]:
            names, rows = without_formulas(names, rows)
        write_output(WRITERS[kind](names, types, rows), out, kind)


def _tables(found: list[Any], words: dict[str, Any]) -> Iterable[bytes]:
    """What there is to ask."""
    from ragdatakit.reports.query_output import example_queries, tables_json, tables_lines

    if words["output_format"] == "json":
        yield tables_json(found)
        return
    named = os.fspath(words["path"])
    shown = named if named.replace("/", "").replace(".", "").replace("-", "").isalnum() else "PATH"
    lines = tables_lines(
        ((t.called, t.rows, t.fault, [(c.name, c.type) for c in t.columns]) for t in found),
        [f"ragdata query {shown} {_in_shell(sql)}" for sql in example_queries(found)],
        width=_width(words["output_file"]),
        colour=words["output_file"] is None and wants_colour(),
    )
    yield from (f"{line}\n".encode() for line in lines)


def _in_shell(sql: str) -> str:
    return shlex.quote(sql) if '"' in sql else f'"{sql}"'


def _width(out: Path | None) -> int:
    columns = terminal_columns(100) if out is None else 100
    return max(columns, _LEAST_WIDTH)


def _tell_losses(answer: Answer, shows_faults: bool) -> None:
    """What is missing in the answer, on stderr: records and datasets that could not be read; not what the list of the
    tables itself shows, where it is one that ``shows_faults``."""
    from ragdatakit.reports.query_output import cell_text

    faults = tuple(table.fault for table in answer.tables if table.fault and shows_faults)
    for loss in answer.lost:
        if not (faults and loss.endswith(faults)):
            click.echo(f"! {cell_text(loss)}", err=True)


def _show(error: QueryError) -> None:
    """The fault, and where in the query it is."""
    from ragdatakit.reports.query_output import cell_text
    from ragdatakit.reports.terminal import width_of

    click.echo(f"ragdata: {cell_text(str(error))}", err=True)
    if error.line is None:
        return
    before, inside = error.excerpt[: error.start], error.excerpt[error.start : error.start + error.length]
    number = f"{error.line} | "
    click.echo(f"  {number}{cell_text(error.excerpt)}", err=True)
    blanks = " " * (len(number) + width_of(cell_text(before)))
    click.echo(f"  {blanks}{'^' * max(width_of(cell_text(inside)), 1)}", err=True)
