"""The commands, one module each, imported when it is called; and what they are called elsewhere."""

from __future__ import annotations

import importlib
from typing import Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.late_modules import import_decoder, import_usual
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

_SYNONYMS = {
    "validate": "check lint test scan audit verify-data valid doctor",
    "validate --fix": "fix repair clean",
    "convert": "transform import translate migrate to",
    "report": "stats statistics describe info inspect summary summarize summarise profile show count",
    "index": "build embed",
    "retrieve": "search find ask lookup rag",
    "eval": "evaluate benchmark score measure metrics bench",
    "query": "sql select duckdb",
    "diff": "compare changes",
    "gate": "expect expectations suite",
    "fetch": "download pull get",
    "push": "upload publish",
    "verify": "checksum checksums manifest",
    "formats": "format list ls",
    "rules": "rule codes checks",
    "explain": "why doc docs man",
    "schema": "schemas jsonschema json-schema",
    "init": "new create scaffold example start",
    "--help": "help",
    "--version": "version",
}

COMMAND_OF = {word: command for command, words in _SYNONYMS.items() for word in words.split()}
"""The command that is meant by a word which is none."""

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
        import_usual()
        if cmd_name in _DECODING:
            import_decoder()
        name, _, attribute = COMMANDS[cmd_name][0].partition(":")
        module = importlib.import_module(f"ragdatakit.cli.{name}")
        command: click.Command = getattr(module, attribute or "command")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name and name not in COMMANDS and not name.startswith("-"):
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


def with_meant(error: click.NoSuchOption) -> str:
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
