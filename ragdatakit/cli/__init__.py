"""The command `ragdata`: one module per sub-command, imported when it is called."""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import suppress
from typing import Any

import click

from ragdatakit.late_modules import put_off, without
from ragdatakit.version import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "validate": ("validate", "Check datasets: what a framework would reject, drop or misread, and where."),
    "convert": ("convert", "Convert a dataset to another format, and report what was lost."),
    "report": ("report", "Say what is in datasets: tables, shares, lengths, graphs, examples."),
    "index": ("index", "Build the search index of a dataset."),
    "retrieve": ("retrieve", "Search a dataset: what a retriever finds, and why it misses what it should find."),
    "eval": ("eval", "Measure retrieval on a dataset, compared with its ceiling and with chance."),
    "query": ("query", "Query a dataset with SQL."),
    "explore": ("servers.explore", "Look into datasets in a browser: records, findings, what a retriever finds."),
    "diff": ("diff", "Compare two datasets, or two states of one: records, files and numbers."),
    "gate": ("gate", "Check a dataset against expectations (Great Expectations), or write a first suite of them."),
    "export": ("schema:export_command", "Describe a dataset for catalogues and loaders: Croissant, Data Package."),
    "fetch": ("fetch", "Fetch a public dataset."),
    "push": ("push", "Upload a dataset to the Hugging Face hub."),
    "verify": ("verify", "Check converted or fetched files against their manifest."),
    "formats": ("formats", "List the formats, their files and profiles."),
    "rules": ("rules", "List the rules."),
    "explain": ("rules:explain_command", "Explain one rule: what it means, what the framework does, how to fix it."),
    "schema": ("schema", "Print the JSON Schema of a format's records."),
    "init": ("init", "Write a minimal valid dataset to start from."),
    "config": ("config", "Show which settings of the project hold for a path, and where each comes from."),
    "lsp": ("servers.lsp", "Answer an editor: findings, fixes, and where ids lead (language server)."),
    "init-config": ("config:init_command", "Write a ragdata.toml for the datasets that lie in a folder."),
}

_DECODING = ("report", "convert")
"""Commands that decode records into objects of ours."""
_TWO_LINES = 160
_MEANT = {
    "--output": ("--output-file",),
    "--out": ("--output-file",),
    "--report": ("--output-file",),
    "--format": ("--from (the format of the data)", "--output-format"),
    "--queries": ("--questions",),
    "--json": ("--output-format json",),
    "--html": ("--output-format html",),
    "--csv": ("--output-format csv",),
    "--encoding": ("--option encoding=…",),
    "--delimiter": ("--option delimiter=…",),
    "--top-k": ("-k",),
    "--k": ("-k",),
}
"""Options that a command may lack, and what it has instead, the likeliest first."""


class _Formatter(click.HelpFormatter):
    """Help as wide as the terminal, which click measures with more."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        from ragdatakit.cli.standard_output import terminal_columns

        widest = max(min(terminal_columns(), max_width or 80) - 2, 50)
        super().__init__(indent_increment, width or widest, max_width)


class _Context(click.Context):
    formatter_class = _Formatter


class _LazyGroup(click.Group):
    """Sub-commands by name; help texts come from the list, so that `--help` imports none of them."""

    context_class = _Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        with put_off("copy", "inspect", "ntpath", "urllib.parse"):  # all commands need these, or what imports them
            import dataclasses  # noqa: F401
            import pathlib  # noqa: F401
        if cmd_name in _DECODING:
            with without("typing_extensions"):  # which takes as long, for types that we do not use
                import msgspec  # noqa: F401

        name, _, attribute = COMMANDS[cmd_name][0].partition(":")
        module = importlib.import_module(f"ragdatakit.cli.{name}")
        command: click.Command = getattr(module, attribute or "command")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name and name not in COMMANDS and not name.startswith("-"):
            from ragdatakit.cli.synonyms import COMMAND_OF
            from ragdatakit.schemas.errors import UnknownNameError

            if name.lower() in COMMAND_OF:
                ctx.fail(f"unknown command {name!r}, did you mean {COMMAND_OF[name.lower()]}?")
            ctx.fail(str(UnknownNameError("command", name, COMMANDS)))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, param, value: _show_version(ctx) if value else None,
    help="Show the version and exit; with -v also the engine.",
)
@click.option("-v", "verbose", is_flag=True, is_eager=True, hidden=True)
@click.pass_context
def group(ctx: click.Context, verbose: bool) -> None:
    """Find out what a RAG framework would reject, drop or misread in your data, before it does.

    \b
    Start with:  ragdata validate path/to/dataset
    """
    ctx.color = wants_colour()
    if verbose:
        raise click.UsageError(f"-v belongs behind the command: ragdata {ctx.invoked_subcommand} -v", ctx)


def _show_version(ctx: click.Context) -> None:
    lines = [f"ragdata {__version__}"]
    if ctx.params["verbose"]:  # read first, because it is eager
        from ragdatakit.api.engine import installation_lines

        lines += installation_lines()
    click.echo("\n".join(lines))
    ctx.exit()


def wants_colour() -> bool:
    """Whether to write ANSI colours to stdout: on a terminal, unless NO_COLOR or FORCE_COLOR says otherwise."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") not in (None, "", "0"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def main() -> None:
    """Run the command; errors about the run are one line on stderr and exit code 2."""
    from ragdatakit.cli.standard_output import guard_streams
    from ragdatakit.stopping import EndedBySignal, leave

    guard_streams()
    ending = EndedBySignal()
    code: Any = 0
    try:
        with ending:
            code = group.main(standalone_mode=False, prog_name="ragdata")
            sys.stdout.flush()
    except SystemExit as error:
        code = error.code  # of the shell's completion, or of a signal
    except BaseException as error:  # noqa: BLE001 - what is unknown is raised again
        if not ending.code:
            code = _failed(error)
    if ending.code:  # whatever became of the exception that the signal raised
        _tell_stopped()
        leave(ending.code, at_once=True)
    leave(code if isinstance(code, int) else 0)


def _failed(error: BaseException) -> int:
    """The exit code for what was raised, once it was said on stderr."""
    from ragdatakit.api.failures import failure_words
    from ragdatakit.stopping import is_interrupted

    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, (click.Abort, KeyboardInterrupt)) or is_interrupted(error):
        _tell_stopped()
        return 130
    if isinstance(error, click.ClickException):
        _show(error)
    elif message := failure_words(error):
        click.echo(f"ragdata: {in_lines(printable(message))}", err=True)
    elif os.environ.get("RAGDATA_DEBUG") or not isinstance(error, Exception):
        raise error
    else:
        click.echo(f"ragdata: failed on its own: {printable(f'{type(error).__name__}: {error}')}", err=True)
        click.echo("ragdata: please report it; RAGDATA_DEBUG=1 shows where", err=True)
    return 2


def _tell_stopped() -> None:
    with suppress(OSError):  # a terminal that was closed
        click.echo("ragdata: stopped", err=True)


def _show(error: click.ClickException) -> None:
    """The error on one line, below the usage of the command; what was typed may hold anything."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return
    message = _with_meant(error) if isinstance(error, click.NoSuchOption) else error.format_message()
    click.UsageError(printable(message), error.ctx if isinstance(error, click.UsageError) else None).show()


def _with_meant(error: click.NoSuchOption) -> str:
    """The message with what is called so elsewhere, rather than with what is spelt alike."""
    there = {opt for param in error.ctx.command.params for opt in param.opts} if error.ctx is not None else set()
    if error.option_name == "--from" and error.ctx is not None and error.ctx.command.name == "init":
        return f"{error.message} `ragdata init-config DIR` writes the settings for what lies in a folder."
    if error.ctx is not None:
        hidden = {opt for param in error.ctx.command.params if getattr(param, "hidden", False) for opt in param.opts}
        near = [opt for opt in error.possibilities or () if opt not in hidden]
        error = click.NoSuchOption(error.option_name, possibilities=near, ctx=error.ctx)
    meant = [words for words in _MEANT.get(error.option_name, ()) if words.split()[0] in there]
    return f"{error.message} Did you mean {' or '.join(meant)}?" if meant else error.format_message()


def in_lines(text: str) -> str:
    """A message for a terminal: where it is longer than two lines, each of the things that it says has its own."""
    is_long = len(text) > _TWO_LINES and sys.stderr.isatty()
    return text.replace("; ", ";\n  ") if is_long else text


def printable(text: str) -> str:
    """A message, not too long, with what does not print made visible."""
    from ragdatakit.visible_text import visible_text

    text = text if len(text) <= 1000 else text[:999] + "…"
    return visible_text(text)
