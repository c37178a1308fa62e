"""The options of `ragdata validate` that repair what it finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ragdatakit.cli.standard_output import say
from ragdatakit.schemas.fixes import REMOVED

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--fix", is_flag=True, help="Repair what can be repaired safely, in the files, and report the rest."),
    click.option("--unsafe-fixes", is_flag=True, help="With --fix: also by removing, renaming or choosing something."),
    click.option("--diff", is_flag=True, help="Show what --fix would change, write nothing; exit with 1 if anything."),
    click.option("--fix-only", is_flag=True, help="Repair, and do not report the rest; exit with 0."),
    click.option("--show-fixes", is_flag=True, help="List what was repaired, by file and rule."),
    click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 when anything was repaired."),
    click.option(
        "--removed",
        type=click.Path(dir_okay=False, path_type=Path),
        default=REMOVED,
        show_default=True,
        metavar="FILE",
        help="Where to put what --unsafe-fixes removes, at the end of what is there.",
    ),
)


def fix_options(function: _Function) -> _Function:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def asks_for_fixes(words: dict[str, Any]) -> bool:
    """Whether files are to be repaired, or that is to be shown."""
    asked = bool(words["fix"] or words["fix_only"] or words["diff"])
    for name in ("show_fixes", "exit_non_zero_on_fix"):
        if words[name] and not asked:
            raise click.UsageError(f"--{name.replace('_', '-')} needs --fix")
    if words["unsafe_fixes"] and not asked:
        say(["--unsafe-fixes repairs nothing by itself: add --fix, or --diff to look first"])
    if words["diff"] and words["fix_only"]:
        raise click.UsageError("--diff writes nothing, so it cannot be used with --fix-only")
    return asked
