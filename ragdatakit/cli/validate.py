"""`ragdata validate`: words into options, the check, a reporter, the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli import printable, wants_colour
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
from ragdatakit.cli.declared_options import DataPath, Known, given, is_given, options_of
from ragdatakit.cli.fix_options import asks_for_fixes, fix_options, say, show_difference
from ragdatakit.cli.output_format import check_place, chosen_form, output_options
from ragdatakit.cli.standard_output import terminal_columns, write_output
from ragdatakit.cli.synonyms import old_spelling
from ragdatakit.reports.findings.known_notes import known_notes
from ragdatakit.reports.findings.output_forms import OLD_NAMES, OUTPUT_FORMS, Found, written
from ragdatakit.reports.findings.text import TextOptions
from ragdatakit.schemas.errors import UnknownNameError
from ragdatakit.schemas.options import SHOWN_SEVERITY, FixOptions, ValidateOptions
from ragdatakit.schemas.results import FixResult

if TYPE_CHECKING:
    from ragdatakit.schemas.errors import RagdataError
    from ragdatakit.schemas.findings import Finding
    from ragdatakit.schemas.results import Report

_FORMS = tuple(OUTPUT_FORMS)
_USUAL_FORM = "RAGDATA_OUTPUT_FORMAT"  # the variable that says how to print where no option does
_WRITTEN = 1 << 16
"""Bytes that are written at once."""
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


_HOW_TO_FIX = {"unsafe": "unsafe_fixes", "diff": "diff", "removed": "removed"}
"""What the options of fixes are called in words."""
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

    from ragdatakit.api.engine import slow_words
    from ragdatakit.api.validating.check import check
    from ragdatakit.cli.progress import terminal_progress

    out, paths = words["output_file"], words["paths"] or (Path(),)
    check_place(out, paths)
    words["output_format"] = chosen_form(words, _FORMS, _usual_form())
    _check_reports(words["reports"], out, paths)
    if words["verbose"] and words["severity"] == SHOWN_SEVERITY:
        words["severity"] = "info"
    quality, reading = _quality(words)
    fixes, most = asks_for_fixes(words), words["max_per_rule"]
    if any(OUTPUT_FORMS[form].for_programs for form, _ in words["reports"]) and not (fixes or is_given("max_per_rule")):
        words["max_per_rule"] = _IN_FILES
    refused: list[RagdataError] = []
    with terminal_progress() as progress:
        known = chosen_baseline(words)
        options = given(
            ValidateOptions,
            words,
            quality=quality,
            options=reading,
            progress=progress,
            tell=lambda text: say([text]),
            **configured(words),
            **chosen_engine(words),
            **known,
        )
        result = FixResult()
        if fixes:
            from ragdatakit.api.validating.repair import repair

            how = {name: words[word] for name, word in _HOW_TO_FIX.items()}
            result, findings = repair(paths, FixOptions(**options, **how), refused.append)
            report = result.report
        else:
            counted = _are_counted(words)
            report, findings = check(paths, ValidateOptions(**options), refused.append, counted=counted, forks=True)
    with closing(findings):
        notes: list[str] = []
        if words["diff"]:
            show_difference(result, out)
        elif not words["fix_only"]:
            notes = _write(report, findings, words, most, says_why_not=not fixes)
    if fixes:
        from ragdatakit.reports.findings.fixes_made import fix_notes

        notes += fix_notes(result, words["diff"], words["show_fixes"])
    say((*notes, *known_notes(report)))
    if slow := slow_words(report):
        say([slow])
    if refused:
        for error in refused[:-1]:
            click.echo(f"ragdata: {printable(str(error))}", err=True)
        raise refused[-1]
    if result.changed and (words["diff"] or words["exit_non_zero_on_fix"]):
        return 0 if words["exit_zero"] else 1
    return 0 if report.ok or words["exit_zero"] or words["diff"] or words["fix_only"] else 1


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


def _are_counted(words: dict[str, Any]) -> bool:
    """Whether nothing is printed of the findings but how many there are."""
    printed = OUTPUT_FORMS[words["output_format"]]
    return printed.quiet and words["quiet"] and not (words["statistics"] or words["reports"])


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


def _write(
    report: Report, findings: Iterable[Finding], words: dict[str, Any], most: int, says_why_not: bool
) -> list[str]:
    """All outputs, the files of ``--report`` first: whoever reads the printed one may go. What is to be said
    besides. People and the printed output have ``most`` findings of a rule."""
    out = words["output_file"]
    names = ("quiet", "verbose", "statistics", "unsafe_fixes")
    kept = TextOptions(**{name: words[name] for name in names}, says_why_not=says_why_not)
    width = terminal_columns() if out is None and sys.stdout.isatty() else 0
    printed = replace(kept, colour=out is None and wants_colour(), width=width)
    outputs = [*((form, file, kept) for form, file in words["reports"]), (words["output_format"], out, printed)]
    notes: list[list[str]] = [[] for _ in outputs]

    def writing(number: int) -> Callable[[Iterable[Finding]], None]:
        form, file, options = outputs[number]

        def write(found: Iterable[Finding]) -> None:
            is_whole = number < len(outputs) - 1 and OUTPUT_FORMS[form].for_programs
            few = Found(report, found, options, notes[number], 0 if is_whole else most)
            write_output(_together(written(form, few)), file, form)

        return write

    if files := [number for number, (_, file, _) in enumerate(outputs) if file is not None]:
        from ragdatakit.reports.findings.read_once import read_once

        read_once(findings, [writing(number) for number in files])
    if out is None:
        writing(len(outputs) - 1)(findings)
    return list(dict.fromkeys(note for of_output in notes for note in of_output))


def _together(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces, as many joined as are written well at once."""
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _WRITTEN:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)
