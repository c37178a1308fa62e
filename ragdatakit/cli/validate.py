"""`ragdata validate`: its options, and what they ask for together. Those of most command lines `plain_words` reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from ragdatakit.cli.baseline_options import baseline_options, chosen_baseline
from ragdatakit.cli.dataset_options import (
    cache_dir_option,
    chosen_engine,
    config_options,
    configured,
    engine_options,
    file_hint,
    follow_links_option,
    named_value,
)
from ragdatakit.cli.declared_options import DataPath, Known, given, is_given, old_spelling, options_of
from ragdatakit.cli.fix_options import asks_for_fixes, fix_options
from ragdatakit.cli.output_format import check_place, chosen_form, output_options
from ragdatakit.cli.without_click.validate_run import Asked, run
from ragdatakit.reports.findings.output_forms import OLD_NAMES, OUTPUT_FORMS
from ragdatakit.reports.findings.text import TextOptions
from ragdatakit.schemas.errors import UnknownNameError
from ragdatakit.schemas.options import SHOWN_SEVERITY, ValidateOptions

_FORMS = tuple(OUTPUT_FORMS)
_USUAL_FORM = "RAGDATA_OUTPUT_FORMAT"  # the variable that says how to print where no option does
_IN_FILES = 1000
"""Findings of a rule in a file that a program reads, where nobody says how many."""


class _ReportFile(click.ParamType[tuple[str, Path]]):
    """A format and the file to write it to."""

    name = "report"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Path]:
        form, equals, file = str(value).partition("=")
        form = OLD_NAMES.get(form, form)
        if not equals or not file:
            self.fail(f"{value!r} is not FORMAT=FILE, such as sarif=ragdata.sarif", param, ctx)
        if form not in OUTPUT_FORMS:
            self.fail(str(UnknownNameError("output format", form, OUTPUT_FORMS)), param, ctx)
        return form, Path(file)


_option = options_of(ValidateOptions)


@click.command("validate", short_help="Check datasets.")
@click.argument("paths", nargs=-1, type=DataPath(readable=False, path_type=Path), metavar="[PATH]...")
@_option(
    "--from",
    "format",
    type=Known("format"),
    metavar="FORMAT",
    help="Take the files as this format (default: auto-detected).",
)
@old_spelling("--format", "--from", "format")
@_option(
    "--profile",
    multiple=True,
    type=Known("profile"),
    metavar="NAME",
    help="Check for this loader only; may be repeated.",
)
@_option(
    "--select",
    multiple=True,
    type=Known("rule"),
    metavar="RULE",
    help="Only these rules: codes, their beginnings (SP2) or names.",
)
@_option("--ignore", multiple=True, type=Known("rule"), metavar="RULE", help="Not these rules.")
@_option("--severity", default=SHOWN_SEVERITY, show_default=True, help="The least severe findings to report.")
@_option(
    "--max-per-rule",
    show_default=True,
    help="Print at most this many findings of one rule (0: all; without it, files of --report for programs have up to"
    f" {_IN_FILES:,}); all are counted.",
)
@_option("--each-record", help="Report every record of what is otherwise reported once a file.")
@output_options(_FORMS, old=OLD_NAMES)
@click.option(
    "--report",
    "reports",
    multiple=True,
    type=_ReportFile(),
    metavar="FORMAT=FILE",
    help="Also write the findings in this format to a file; may be repeated.",
)
@_option("--fail-on", help="The least severe findings for which to exit with 1 (default: error).")
@config_options
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are errors.")
@click.option("--statistics", is_flag=True, help="Count the findings by rule.")
@baseline_options(_option)
@_option(
    "--memory-limit",
    show_default=True,
    help="About how much memory to use: smaller blocks, and a limit for the longest record.",
)
@engine_options(
    _option,
    "Check N blocks of a large file, or N small datasets, at a time (default: one for each processor, at most 8).",
    "local: check large files of lines in parts, in as many processes as --jobs says; ray, spark: on the workers"
    " of a cluster. The report is the same.",
)
@_option(
    "--max-hops",
    metavar="N",
    help="In graphs: how many edges the target nodes of a question may be away from its start nodes (default: 3).",
)
@_option(
    "--quality", is_flag=True, help="Also check what loads but lowers the quality (rules QU…), in plain data, too."
)
@click.option(
    "--quality-option",
    "quality_options",
    multiple=True,
    metavar="NAME=VALUE",
    help="A threshold of the quality rules, as most-tokens=512.",
)
@click.option(
    "-o",
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="With --quality: an option of the format's reader, as for `ragdata convert`.",
)
@follow_links_option
@cache_dir_option
@_option("--whole-datasets", help="Of a file, check the whole dataset that it belongs to (for hooks).")
@_option("--skip-unrecognised", help="Pass over files of no known format; Git LFS pointers are warnings (for hooks).")
@_option(
    "--skip-unchanged", help="Do not check a dataset again that was valid and has not changed since (in --cache-dir)."
)
@_option("--strict-files", help="Exit with 1 when data files below PATH were not checked.")
@fix_options
@click.option("-q", "--quiet", is_flag=True, help="Only the summary line.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Also the files, info findings, and consequence and hint of every finding."
)
def command(**words: Any) -> int:
    """Check every dataset at PATH (folders or files).

    Says what the framework's loader would reject, drop or misread, at which file and line, and what to do about it.
    Exit code: 0 no errors, 1 errors found (with --strict-files: or files not checked), 2 the check could not run.

    \b
    ragdata validate data/
    ragdata validate config/data/toy_triplet_data.yaml
    ragdata validate data/ --profile v1 --output-format json
    """
    out, paths = words["output_file"], words["paths"] or (Path(),)
    check_place(out, paths)
    form = chosen_form(words, _FORMS, _usual_form())
    _check_reports(words["reports"], out, paths)
    if words["verbose"] and words["severity"] == SHOWN_SEVERITY:
        words["severity"] = "info"
    quality, reading = _quality(words)
    fixes, most = asks_for_fixes(words), words["max_per_rule"]
    if any(OUTPUT_FORMS[form].for_programs for form, _ in words["reports"]) and not (fixes or is_given("max_per_rule")):
        words["max_per_rule"] = _IN_FILES
    options = given(
        ValidateOptions,
        words,
        quality=quality,
        options=reading,
        **configured(words),
        **chosen_engine(words),
        **chosen_baseline(words),
    )
    names = ("quiet", "verbose", "statistics", "unsafe_fixes")
    return run(
        Asked(
            paths=paths,
            options=options,
            form=form,
            out=out,
            reports=words["reports"],
            most=most,
            shown=TextOptions(**{name: words[name] for name in names}, says_why_not=not fixes),
            fixes=words if fixes else None,
            exit_zero=words["exit_zero"],
        )
    )


def _quality(words: dict[str, Any]) -> tuple[bool | dict[str, object], dict[str, str]]:
    """The thresholds of quality (False where nobody asks for it), and the options of the readers."""
    from ragdatakit.api.quality import asks_for_quality, checked_thresholds

    if not words["quality"] and not (words["select"] and asks_for_quality(words["select"])):
        for name in ("quality_options", "options"):
            if words[name]:
                option = name[:-1].replace("_", "-")
                raise click.UsageError(f"--{option} needs --quality{file_hint(next(iter(words[name])))}")
        return False, {}
    thresholds = checked_thresholds(dict(named_value("--quality-option", text) for text in words["quality_options"]))
    return thresholds or True, dict(named_value("--option", text) for text in words["options"])


def _usual_form() -> str:
    """What the environment says; raises `click.UsageError` for a format that there is not."""
    named = os.environ.get(_USUAL_FORM, "")
    form = OLD_NAMES.get(named, named)
    if form and form not in _FORMS:
        raise click.UsageError(f"{_USUAL_FORM} is {named!r}, expected one of {', '.join(_FORMS)}")
    return form


def _check_reports(reports: Sequence[tuple[str, Path]], out: Path | None, paths: Iterable[Path]) -> None:
    """Raise `click.UsageError` where one of the files cannot be written, or is given twice."""
    places = [out.resolve()] if out is not None else []
    for _, file in reports:
        check_place(file, paths, "--report")
        if file.resolve() in places:
            raise click.UsageError(f"--report: {file} is given twice")
        places.append(file.resolve())
