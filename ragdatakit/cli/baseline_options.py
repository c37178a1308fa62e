"""The options of `ragdata validate` about findings that are known: of a baseline, and of a git revision."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ragdatakit.schemas.baselines import BASELINE_NAME

_Function = TypeVar("_Function", bound=Callable[..., Any])


def baseline_options(option: Callable[..., Callable[[_Function], _Function]]) -> Callable[[_Function], _Function]:
    """The options, made by ``option`` (`options_of`); `chosen_baseline` takes the values of two of them."""
    options = (
        click.option(
            "--baseline",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help=f"Findings that this file accepts do not count (default: {BASELINE_NAME} beside or above PATH).",
        ),
        click.option("--no-baseline", is_flag=True, help="All findings count."),
        option("--write-baseline", help="Accept all findings: write them to the baseline."),
        option("--update-baseline", help="Remove from the baseline what is no longer found."),
        option("--show-baselined", help='In JSON, also accepted findings, with "baselined": true.'),
        option("--strict-baseline", help="Exit with 1 when the baseline has more than is found."),
        option("--since", metavar="REV", help="Only findings that are not in this git revision, too, count."),
    )

    def add(function: _Function) -> _Function:
        for each in reversed(options):
            function = each(function)
        return function

    return add


def chosen_baseline(words: dict[str, Any]) -> dict[str, Any]:
    """The field ``baseline`` of the options. Raises `click.UsageError` for options that exclude each other."""
    if words["no_baseline"]:
        others = ("baseline", "write_baseline", "update_baseline", "show_baselined", "strict_baseline")
        if other := next((name for name in others if words[name]), None):
            raise click.UsageError(f"give --no-baseline or --{other.replace('_', '-')}, not both")
        return {"baseline": False}
    if words["write_baseline"] and words["update_baseline"]:
        raise click.UsageError("give --write-baseline or --update-baseline, not both")
    return {"baseline": words["baseline"] or True}
