"""The options of an output: its form, which is what was asked for or what the name of the file says, and its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from ragdatakit.cli.declared_options import Names, given
from ragdatakit.late_patterns import late_pattern
from ragdatakit.reports.findings.output_forms import OUTPUT_FORMS
from ragdatakit.schemas.options import SourceOptions

_Function = TypeVar("_Function", bound=Callable[..., Any])

_ENDINGS: dict[str, tuple[str, ...]] = {
    **{name: form.endings for name, form in OUTPUT_FORMS.items() if form.endings},
    "html": (".html", ".htm"),
    "markdown": (".md", ".markdown"),
    "csv": (".csv",),
    "parquet": (".parquet",),
    "trec": (".run", ".trec"),
}
_TEXT = frozenset(("", ".txt", ".text", ".log", ".out", ".lst", ".tmp"))
"""Endings of any text, and none."""
_ENDING = late_pattern(r"\.[a-z]\w*")
"""What is an ending, and not a part of a name, such as a number or a day."""


class FormChoice(Names):
    """One of some forms; ``old`` are names that older versions had for some, in no help."""

    def __init__(self, forms: Sequence[str], old: Mapping[str, str] | None = None) -> None:
        super().__init__(forms, "output format")
        self._old = old or {}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The form of this name."""
        return super().convert(self._old.get(value, value), param, ctx)


def output_options(
    forms: Sequence[str], what: str = "How to print", old: Mapping[str, str] | None = None
) -> Callable[[_Function], _Function]:
    """The options ``--output-format``, ``--json`` and ``--output-file`` of a command that has these forms, the usual
    one first, and some of them under ``old`` names. ``what`` begins the help. `chosen_form` takes their values."""
    options = (
        click.option(
            "--output-format",
            type=FormChoice(forms, old),
            help=f"{what} (default: as the name of --output-file says, or {forms[0]}).",
        ),
        click.option("--json", "as_json", is_flag=True, help="The same as --output-format json."),
        click.option(
            "--output-file",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Write there instead.",
        ),
    )

    def add(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def chosen_form(words: dict[str, Any], forms: Sequence[str], usual: str = "") -> str:
    """One of ``forms``, by the options of `output_options`; ``usual`` where these say nothing. Raises
    `click.UsageError`."""
    form: str | None = words["output_format"]
    if words["as_json"]:
        if form not in (None, "json"):
            raise click.UsageError(f"give --json or --output-format {form}, not both")
        return "json"
    return output_form(form, words["output_file"], forms, usual)


def output_form(chosen: str | None, file: Path | None, forms: Sequence[str], usual: str = "") -> str:
    """One of ``forms``: ``chosen``, else what the ending of ``file`` stands for, else the ``usual`` one, or the first.

    Raises `click.UsageError` for an ending that stands for a form that is not among them. The name of a pipe, or of a
    file that is there and empty, is not the user's choice, but (say) that of ``mktemp``.
    """
    if chosen is not None:
        return chosen
    ending = file.suffix.lower() if file is not None else ""
    found = next((form for form in forms if ending in _ENDINGS.get(form, ())), None)
    if found is None and ending not in _TEXT and _ENDING.fullmatch(ending) and not _is_made(file):
        known = ", ".join(_ENDINGS[form][0] for form in forms if form in _ENDINGS)
        raise click.UsageError(
            f"--output-file {file}: the ending {ending} is not an output format of this command; name the file "
            f"{known} or .txt, or choose one with --output-format {'|'.join(forms)}"
        )
    return found or usual or forms[0]


def _is_made(file: Path | None) -> bool:
    """Whether something empty is already there, such as a temporary file or a pipe."""
    return file is not None and file.exists() and not file.stat().st_size


def check_place(
    out: Path | None, paths: Iterable[Path | str], option: str = "--output-file", read: dict[str, Any] | None = None
) -> None:
    """Raise `click.UsageError` where ``out`` is in no folder, or is a file of the datasets at ``paths``: it would be
    replaced. ``read`` says how these are read (`read_words`)."""
    if out is None:
        return
    if not out.absolute().parent.is_dir():
        raise click.UsageError(f"{option}: there is no folder {out.absolute().parent}")
    if not out.is_file():
        return
    from ragdatakit.api.output_files import is_of_data

    if is_of_data(out, map(Path, paths), SourceOptions(**given(SourceOptions, read or {}))):
        raise click.UsageError(f"{option}: {out} is a file of the data itself")
