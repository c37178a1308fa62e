"""Command lines as most are: ``validate`` or ``report``, paths, the format, how much to say. They are read without
click: to import it and to give it all options takes longer than a small dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ragdatakit.late_modules import import_decoder, import_usual

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = "--from"
_SWITCHES = {"-q": "quiet", "--quiet": "quiet", "-v": "verbose", "--verbose": "verbose"}
SWITCHES = {
    "validate": {**_SWITCHES, "--statistics": "statistics", "--exit-zero": "exit_zero", "--quality": "quality"},
    "report": _SWITCHES,
}
"""Of each command that is read here: its options without a value, and what their parameters are called."""
VARIABLES = ("RAGDATA_CONFIG", "RAGDATA_NO_PLUGINS", "RAGDATA_OUTPUT_FORMAT", "_RAGDATA_COMPLETE")
"""Variables of the environment that stand for options."""


def plain_words(words: Sequence[str]) -> partial[int] | None:
    """What the words behind ``ragdata`` ask for, as click reads them: a call that does it, and gives the exit code.
    None where there are others than are known here. On Windows click replaces patterns and variables in them."""
    command = words[0] if words else ""
    if command not in SWITCHES or os.name == "nt" or any(name in os.environ for name in VARIABLES):
        return None
    rest = iter(words[1:])
    paths: list[str] = []
    format_, given = "", set()
    for word in rest:
        if word in SWITCHES[command]:
            given.add(SWITCHES[command][word])
            continue
        value = next(rest, "") if word == FORMAT else word
        if not value or value.startswith("-") or "://" in value:
            return None
        if word == FORMAT:
            format_ = value
        else:
            paths.append(value)
    import_usual()
    from pathlib import Path

    return _ASKED[command](tuple(map(Path, paths)) or (Path(),), format_, given)


def _check(paths: tuple[Path, ...], format_: str, given: set[str]) -> partial[int]:
    if "quality" in given:
        import_decoder()
    from ragdatakit.cli.without_click.validate_run import Asked, run
    from ragdatakit.reports.findings.output_forms import OUTPUT_FORMS
    from ragdatakit.reports.findings.text import TextOptions
    from ragdatakit.schemas.options import SHOWN_SEVERITY, ValidateOptions

    return partial(
        run,
        Asked(
            paths=paths,
            options={
                "baseline": True,
                "config": True,
                "format": format_ or None,
                "severity": "info" if "verbose" in given else SHOWN_SEVERITY,
                "quality": "quality" in given,
            },
            form=next(iter(OUTPUT_FORMS)),
            most=ValidateOptions.max_per_rule,
            shown=TextOptions(quiet="quiet" in given, verbose="verbose" in given, statistics="statistics" in given),
            exit_zero="exit_zero" in given,
        ),
    )


def _report(paths: tuple[Path, ...], format_: str, given: set[str]) -> partial[int] | None:
    quiet, verbose = "quiet" in given, "verbose" in given
    if quiet and verbose:
        return None
    import_decoder()
    from ragdatakit.cli.standard_output import say_printable
    from ragdatakit.cli.without_click.report_run import ReportAsked, run

    options = {"source_format": format_, "config": True, "max_per_rule": 1, "tell": say_printable}
    return partial(run, ReportAsked(paths=paths, options=options, form="text", quiet=quiet, verbose=verbose))


_ASKED: dict[str, Callable[[tuple[Path, ...], str, set[str]], partial[int] | None]] = {
    "validate": _check,
    "report": _report,
}
