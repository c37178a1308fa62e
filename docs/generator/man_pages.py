"""Writes a man page for ragdata and one for each command: ``python -m docs.generator.man_pages [FOLDER]``."""

from __future__ import annotations

import sys
from inspect import cleandoc
from pathlib import Path

import click
from click_man.core import write_man_pages

from docs.generator.workspaces import ROOT
from ragdatakit.cli.commands import COMMANDS, group
from ragdatakit.version import __version__


def main() -> None:
    """Write them into build/man, or where the first word says."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/man"
    folder.mkdir(parents=True, exist_ok=True)
    context = click.Context(group)
    # The group imports a command when it is called: the writer of the pages wants them all at hand.
    commands = {name: command for name in COMMANDS if (command := group.get_command(context, name)) is not None}
    for command in commands.values():
        command.help = _with_breaks(command.help or "")
    whole = click.Group("ragdata", commands=commands, params=group.params, help=group.help)
    write_man_pages("ragdata", whole, version=__version__, target_dir=str(folder))
    print(f"{len(list(folder.glob('*.1')))} pages are in {folder}; read one with `man {folder}/ragdata-validate.1`")


def _with_breaks(text: str) -> str:
    """A help text in which lines that stay lines, below a ``\\b``, are marked so for man, as which it is written."""
    parts = cleandoc(text).split("\n\n")
    return "\n\n".join(part.replace("\b", ".nf", 1) + "\n.fi" if part.startswith("\b") else part for part in parts)


if __name__ == "__main__":
    main()
