"""The form of an output: the one that was asked for, else the one that the name of its file tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

_Function = TypeVar("_Function", bound=Callable[..., Any])

_ENDINGS = {
    "html": (".html", ".htm"),
    "json": (".json",),
    "markdown": (".md", ".markdown"),
    "ndjson": (".ndjson", ".jsonl"),
    "csv": (".csv",),
    "parquet": (".parquet",),
    "trec": (".run", ".trec"),
}


def output_format_option(forms: Sequence[str], what: str = "How to print") -> Callable[[_Function], _Function]:
    """The option ``--output-format`` of a command that has these forms, the usual one first.

    ``what`` begins the help. `output_form` takes the value.
    """
    return click.option(
        "--output-format",
        type=click.Choice(forms),
        help=f"{what} (default: as the name of --output-file says, or {forms[0]}).",
    )


def output_form(given: str | None, file: Path | None, forms: Sequence[str]) -> str:
    """One of ``forms``: ``given``, else what the ending of ``file`` stands for, else the first."""
    if given is not None:
        return given
    ending = file.suffix.lower() if file is not None else ""
    return next((form for form in forms if ending in _ENDINGS.get(form, ())), forms[0])
