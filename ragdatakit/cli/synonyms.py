"""Other names: of commands in other tools, for people who type the name they know, and of options in older versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_Function = TypeVar("_Function", bound=Callable[..., Any])

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


def old_spelling(old: str, new: str, name: str, **attributes: Any) -> Callable[[_Function], _Function]:
    """The option ``old``, in no help: sets the parameter ``name`` of the option ``new``, and says to use that one."""

    def note(context: click.Context, option: click.Parameter, value: Any) -> Any:
        if value is not None and not context.resilient_parsing:
            context.params[name] = value
            click.echo(f"ragdata: {old} is deprecated: use {new}", err=True)

    return click.option(old, f"old_{name}", hidden=True, expose_value=False, callback=note, default=None, **attributes)
