"""`ragdata validate`: words into options, the check, a reporter, the exit code."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.dataset_options import file_hint, follow_links_option
from ragdatakit.cli.old_spellings import old_spelling
from ragdatakit.cli.output_format import chosen_form, output_options
from ragdatakit.cli.output_place import check_place
from ragdatakit.cli.standard_output import write_output

if TYPE_CHECKING:
    from ragdatakit.quality.run import Quality
    from ragdatakit.schemas.findings import Finding, Severity
    from ragdatakit.schemas.results import Report
    from ragdatakit.validators.collector import Selection

_FORMS = ("text", "json", "ndjson")
_WRITTEN = 1 << 16
"""Bytes that are written at once."""
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


class MemorySize(click.ParamType[int]):
    """A number of bytes such as ``512MB`` or ``1GiB``."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmg]?i?)b?\s*", str(value).lower())
        if match is None or match.group(2) not in _UNITS:
            self.fail(f"{value!r} is not a size such as 512MB or 1GiB", param, ctx)
        number = int(float(match.group(1)) * _UNITS[match.group(2)])
        if number < 16 << 20:
            self.fail(f"{value!r} is too little to work with; give at least 16MiB", param, ctx)
        return number


class DataPath(click.Path):
    """A path that is not empty (as one from an unset variable is)."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            self.fail("an empty path was given (an unset variable?)", param, ctx)
        return super().convert(value, param, ctx)


@click.command("validate", short_help="Check datasets.")
@click.argument("paths", nargs=-1, type=DataPath(readable=False, path_type=Path), metavar="[PATH]...")
@click.option(
    "--from", "source_format", metavar="FORMAT", help="Take the files as this format (default: auto-detected)."
)
@old_spelling("--format", "--from", "source_format")
@click.option(
    "--profile", "profiles", multiple=True, metavar="NAME", help="Check for this loader only; may be repeated."
)
@click.option("--select", multiple=True, metavar="RULE", help="Only these rules: codes, prefixes (SP2) or names.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Not these rules.")
@click.option(
    "--severity",
    type=click.Choice(["error", "warning", "info"]),
    default="warning",
    show_default=True,
    help="The least severe findings to report.",
)
@click.option(
    "--max-per-rule",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Print at most so many findings of one rule (0: all); all are counted.",
)
@output_options(_FORMS)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are errors.")
@click.option("--statistics", is_flag=True, help="Count the findings by rule.")
@click.option(
    "--memory-limit",
    type=MemorySize(),
    default="1GiB",
    show_default=True,
    help="About how much memory to use: smaller blocks, and a limit for the longest record.",
)
@click.option(
    "--max-hops",
    type=click.IntRange(1, 64),
    default=3,
    show_default=True,
    help="In graphs: how many edges the target nodes of a question may be away from its start nodes.",
)
@click.option(
    "--quality",
    is_flag=True,
    help="Also check what loads but lowers the quality (rules QU…), in plain data, too.",
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
@click.option("--strict-files", is_flag=True, help="Exit with 1 when data files below PATH were not checked.")
@click.option("-q", "--quiet", is_flag=True, help="Only the summary line.")
@click.option("-v", "--verbose", is_flag=True, help="Also the files, info findings and every hint.")
def command(**words: Any) -> int:
    """Check every dataset at PATH (folders or files).

    Says what the framework's loader would reject, drop or misread, at which file and line, and what to do about it.
    Exit code: 0 no errors, 1 errors found (with --strict-files: or files not checked), 2 the check could not run.

    \b
    ragdata validate data/
    ragdata validate config/data/toy_triplet_data.yaml
    ragdata validate data/ --profile v1 --output-format json
    """
    import gc

    from ragdatakit.cli.progress import terminal_progress
    from ragdatakit.validators.collector import Selection, known_rules
    from ragdatakit.validators.run import check_paths
    from ragdatakit.validators.run_options import RunOptions

    gc.set_threshold(200_000, 50, 100)  # millions of small records and hardly a cycle: collecting would be waste
    select, ignore = known_rules(words["select"]), known_rules(words["ignore"])
    severity: Severity = "info" if words["verbose"] and words["severity"] == "warning" else words["severity"]
    out = words["output_file"]
    words["paths"] = words["paths"] or (Path(),)
    check_place(out, words["paths"])
    words["output_format"] = chosen_form(words, _FORMS)
    selection = Selection(select=select, ignore=ignore, severity=severity, max_per_rule=words["max_per_rule"])
    quality = _quality(words, selection)
    with terminal_progress() as progress:
        report, findings = check_paths(
            words["paths"],
            words["source_format"],
            words["profiles"],
            selection,
            RunOptions(
                memory_limit=words["memory_limit"],
                follow_links=words["follow_links"],
                strict_files=words["strict_files"],
                max_hops=words["max_hops"],
                progress=progress,
                quality=quality,
            ),
        )
    with closing(findings):
        _print(report, findings, words, out)
    return 0 if report.ok or words["exit_zero"] else 1


def _quality(words: dict[str, Any], selection: Selection) -> Quality | None:
    """The quality to check, by thresholds of the project's settings and of the command line; None where nobody asks."""
    from ragdatakit.api.quality import asks_for_quality, checked_quality

    if not words["quality"] and not asks_for_quality(selection):
        for name in ("quality_options", "options"):
            if words[name]:
                option = name[:-1].replace("_", "-")
                raise click.UsageError(f"--{option} needs --quality{file_hint(next(iter(words[name])))}")
        return None
    from ragdatakit.files.configuration import project_settings
    from ragdatakit.quality.options import QualityOptions

    given = _pairs("--quality-option", words["quality_options"])
    reading = _pairs("--option", words["options"])
    settings, file = project_settings("quality")
    QualityOptions.of_words(given, "--quality-option")
    QualityOptions.of_words(settings, "setting", file)
    thresholds = {str(name).replace("_", "-"): value for name, value in (*settings.items(), *given.items())}
    return checked_quality(selection, thresholds, reading)


def _pairs(option: str, texts: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"{option} {text}: expected NAME=VALUE")
        found[name.strip()] = value.strip()
    return found


def _print(report: Report, findings: Iterable[Finding], words: dict[str, Any], out: Path | None) -> None:
    write_output(_together(_rendered(report, findings, words, out)), out, words["output_format"])


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


def _rendered(report: Report, findings: Iterable[Finding], words: dict[str, Any], out: Path | None) -> Iterator[bytes]:
    form = words["output_format"]
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
