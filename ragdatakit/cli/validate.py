"""`ragdata validate`: words into options, the check, a reporter, the exit code."""

from __future__ import annotations

import gc
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli import printable, wants_colour
from ragdatakit.cli.dataset_options import file_hint, follow_links_option
from ragdatakit.cli.declared_options import DataPath, given, options_of
from ragdatakit.cli.output_format import check_place, chosen_form, output_options
from ragdatakit.cli.standard_output import write_output
from ragdatakit.cli.synonyms import old_spelling
from ragdatakit.schemas.options import SHOWN_SEVERITY, ValidateOptions

if TYPE_CHECKING:
    from ragdatakit.schemas.errors import RagdataError
    from ragdatakit.schemas.findings import Finding
    from ragdatakit.schemas.results import Report

_FORMS = ("text", "json", "ndjson")
_REPORTS = (*_FORMS, "github-summary")
_WRITTEN = 1 << 16
"""Bytes that are written at once."""

_option = options_of(ValidateOptions)


@click.command("validate", short_help="Check datasets.")
@click.argument("paths", nargs=-1, type=DataPath(readable=False, path_type=Path), metavar="[PATH]...")
@_option("--from", "format", metavar="FORMAT", help="Take the files as this format (default: auto-detected).")
@old_spelling("--format", "--from", "format")
@_option("--profile", multiple=True, metavar="NAME", help="Check for this loader only; may be repeated.")
@_option("--select", multiple=True, metavar="RULE", help="Only these rules: codes, prefixes (SP2) or names.")
@_option("--ignore", multiple=True, metavar="RULE", help="Not these rules.")
@_option("--severity", default=SHOWN_SEVERITY, show_default=True, help="The least severe findings to report.")
@_option(
    "--max-per-rule", show_default=True, help="Print at most this many findings of one rule (0: all); all are counted."
)
@output_options(_FORMS)
@click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="FORMAT=FILE",
    help=f"Also write the findings in this format to a file ({', '.join(_REPORTS)}); may be repeated.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are errors.")
@click.option("--statistics", is_flag=True, help="Count the findings by rule.")
@_option(
    "--memory-limit",
    show_default=True,
    help="About how much memory to use: smaller blocks, and a limit for the longest record.",
)
@_option(
    "--jobs", metavar="N", help="Check N blocks of a large file at a time (default: one for each processor, at most 8)."
)
@_option(
    "--max-hops",
    show_default=True,
    help="In graphs: how many edges the target nodes of a question may be away from its start nodes.",
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
@_option("--whole-datasets", help="Of a file, check the whole dataset that it belongs to (for hooks).")
@_option("--skip-unrecognised", help="Pass over files of no known format; Git LFS pointers are warnings (for hooks).")
@_option("--strict-files", help="Exit with 1 when data files below PATH were not checked.")
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
    from ragdatakit.api.validate import check
    from ragdatakit.cli.progress import terminal_progress

    gc.set_threshold(200_000, 50, 100)  # millions of small records and hardly a cycle: collecting would be waste
    out, paths = words["output_file"], words["paths"] or (Path(),)
    check_place(out, paths)
    reports = _reports(words["reports"], paths)
    words["output_format"] = chosen_form(words, _FORMS)
    if words["verbose"] and words["severity"] == SHOWN_SEVERITY:
        words["severity"] = "info"
    quality, reading = _quality(words)
    refused: list[RagdataError] = []
    with terminal_progress() as progress:
        options = given(ValidateOptions, words, quality=quality, options=reading, progress=progress)
        report, findings = check(paths, ValidateOptions(**options), refused.append)
    with closing(findings):
        _print(report, findings, words, out, words["output_format"])
        for form, file in reports:
            _print(report, findings, words, file, form)
    if slow := slow_words(report):
        click.echo(f"ragdata: {slow}", err=True)
    if refused:
        for error in refused[:-1]:
            click.echo(f"ragdata: {printable(str(error))}", err=True)
        raise refused[-1]
    return 0 if report.ok or words["exit_zero"] else 1


def _quality(words: dict[str, Any]) -> tuple[bool | dict[str, object], dict[str, str]]:
    """The thresholds of quality (False where nobody asks for it), and the options of the readers."""
    from ragdatakit.api.quality import asks_for_quality, project_thresholds

    if not words["quality"] and not (words["select"] and asks_for_quality(words["select"])):
        for name in ("quality_options", "options"):
            if words[name]:
                option = name[:-1].replace("_", "-")
                raise click.UsageError(f"--{option} needs --quality{file_hint(next(iter(words[name])))}")
        return False, {}
    thresholds = project_thresholds(_pairs("--quality-option", words["quality_options"]))
    return thresholds, _pairs("--option", words["options"])


def _pairs(option: str, texts: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"{option} {text}: expected NAME=VALUE")
        found[name.strip()] = value.strip()
    return found


def _reports(texts: tuple[str, ...], paths: Iterable[Path]) -> list[tuple[str, Path]]:
    found: list[tuple[str, Path]] = []
    for text in texts:
        form, equals, file = text.partition("=")
        if not equals or not file or form not in _REPORTS:
            raise click.UsageError(f"--report {text}: expected FORMAT=FILE, with one of {', '.join(_REPORTS)}")
        check_place(Path(file), paths, "--report")
        found.append((form, Path(file)))
    return found


def _print(report: Report, findings: Iterable[Finding], words: dict[str, Any], out: Path | None, form: str) -> None:
    write_output(_together(_rendered(report, findings, words, out, form)), out, form)


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


def _rendered(
    report: Report, findings: Iterable[Finding], words: dict[str, Any], out: Path | None, form: str
) -> Iterator[bytes]:
    if form == "github-summary":
        from ragdatakit.reports.step_summary import step_summary

        return (f"{line}\n".encode("utf-8", "backslashreplace") for line in step_summary(report, findings))
    if form == "text":
        from ragdatakit.reports.text import TextOptions, text_lines

        options = TextOptions(
            colour=out is None and wants_colour(),
            quiet=words["quiet"],
            verbose=words["verbose"],
            statistics=words["statistics"],
            width=shutil.get_terminal_size().columns if out is None and sys.stdout.isatty() else 0,
        )
        return (f"{line}\n".encode("utf-8", "backslashreplace") for line in text_lines(report, options, findings))
    from ragdatakit.reports.json import finding_line, json_pieces, summary_lines

    if form == "json":
        return json_pieces(report, findings)
    return chain(map(finding_line, findings), summary_lines(report))
