"""Command lines as most are: ``validate``, paths, the format, quality, how much to say. They are read without click: to
import it and to give it all options takes longer than a small dataset."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragdatakit.late_modules import import_decoder, import_usual

if TYPE_CHECKING:
    from ragdatakit.cli.validating.run import Asked

FORMAT = "--from"
SWITCHES = {
    "-q": "quiet",
    "--quiet": "quiet",
    "-v": "verbose",
    "--verbose": "verbose",
    "--statistics": "statistics",
    "--exit-zero": "exit_zero",
    "--quality": "quality",
}
"""The options without a value that are read here, and what their parameters are called."""
VARIABLES = ("RAGDATA_CONFIG", "RAGDATA_NO_PLUGINS", "RAGDATA_OUTPUT_FORMAT", "_RAGDATA_COMPLETE")
"""Variables of the environment that stand for options."""


def plain_words(words: Sequence[str]) -> Asked | None:
    """What the words behind ``ragdata`` ask for, as click reads them; None where there are others than are known here.
    On Windows click replaces patterns and variables in them."""
    if words[:1] != ["validate"] or os.name == "nt" or any(name in os.environ for name in VARIABLES):
        return None
    rest = iter(words[1:])
    paths: list[str] = []
    options: dict[str, Any] = {"baseline": True, "config": True}
    given = set()
    for word in rest:
        if word in SWITCHES:
            given.add(SWITCHES[word])
            continue
        value = next(rest, "") if word == FORMAT else word
        if not value or value.startswith("-") or "://" in value:
            return None
        if word == FORMAT:
            options["format"] = value
        else:
            paths.append(value)
    import_usual()
    if "quality" in given:
        import_decoder()
    from pathlib import Path

    from ragdatakit.cli.validating.run import Asked
    from ragdatakit.reports.findings.output_forms import OUTPUT_FORMS
    from ragdatakit.reports.findings.text import TextOptions
    from ragdatakit.schemas.options import SHOWN_SEVERITY, ValidateOptions

    return Asked(
        paths=tuple(map(Path, paths)) or (Path(),),
        options={
            **options,
            "severity": "info" if "verbose" in given else SHOWN_SEVERITY,
            "quality": "quality" in given,
        },
        form=next(iter(OUTPUT_FORMS)),
        most=ValidateOptions.max_per_rule,
        shown=TextOptions(quiet="quiet" in given, verbose="verbose" in given, statistics="statistics" in given),
        exit_zero="exit_zero" in given,
    )
