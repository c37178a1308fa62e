"""A check as the command line asks for it: the check, a reporter, the exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from ragdatakit.cli import printable, wants_colour
from ragdatakit.cli.progress import terminal_progress
from ragdatakit.cli.standard_output import say, terminal_columns, write_output
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.findings.known_notes import known_notes
from ragdatakit.reports.findings.output_forms import OUTPUT_FORMS, Found, written
from ragdatakit.reports.findings.text import TextOptions
from ragdatakit.schemas.options import FixOptions, ValidateOptions
from ragdatakit.schemas.results import FixResult

if TYPE_CHECKING:
    from pathlib import Path

    from ragdatakit.schemas.errors import RagdataError
    from ragdatakit.schemas.findings import Finding
    from ragdatakit.schemas.results import Report

_WRITTEN = 1 << 16
"""Bytes that are written at once."""
_HOW_TO_FIX = {"unsafe": "unsafe_fixes", "diff": "diff", "removed": "removed"}
"""What the options of fixes are called in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a command line asks for: a check of ``paths`` under ``options``, which are of `ValidateOptions`.

    Its output has the ``form`` of that name and at most ``most`` findings of a rule (0: all), and goes to the file
    ``out`` (None: it is printed); ``reports`` are the forms and files of others. ``fixes``: the words about fixes by
    their names, where there are to be some.
    """

    paths: tuple[Path | str, ...]
    options: Mapping[str, Any]
    form: str
    out: Path | None = None
    reports: tuple[tuple[str, Path], ...] = ()
    most: int
    shown: TextOptions = field(default_factory=TextOptions)
    fixes: Mapping[str, Any] | None = None
    exit_zero: bool = False


def run(asked: Asked) -> int:
    """The exit code of the command. Raises `RagdataError`."""
    from ragdatakit.api.engine import slow_words
    from ragdatakit.api.validating.check import check

    refused: list[RagdataError] = []
    fixes, says_diff, is_silent = asked.fixes, False, False
    with terminal_progress() as progress:
        options = {**asked.options, "progress": progress, "tell": lambda text: say([text])}
        result = FixResult()
        if fixes is not None:
            from ragdatakit.api.validating.repair import repair

            says_diff, is_silent = fixes["diff"], fixes["fix_only"]
            how = {name: fixes[word] for name, word in _HOW_TO_FIX.items()}
            result, findings = repair(asked.paths, FixOptions(**options, **how), refused.append)
            report = result.report
        else:
            counted = _are_counted(asked)
            check_options = ValidateOptions(**options)
            report, findings = check(asked.paths, check_options, refused.append, counted=counted, forks=True)
    with closing(findings):
        notes: list[str] = []
        if says_diff:
            write_output(
                (f"{line}\n".encode("utf-8", "backslashreplace") for line in result.difference), asked.out, "text"
            )
        elif not is_silent:
            notes = _write(report, findings, asked)
    if fixes is not None:
        from ragdatakit.reports.findings.fixes_made import fix_notes

        notes += fix_notes(result, says_diff, fixes["show_fixes"])
    say((*notes, *known_notes(report)))
    if slow := slow_words(report):
        say([slow])
    if refused:
        say(printable(str(error)) for error in refused[:-1])
        raise refused[-1]
    if fixes is not None and result.changed and (says_diff or fixes["exit_non_zero_on_fix"]):
        return 0 if asked.exit_zero else 1
    return 0 if report.ok or asked.exit_zero or says_diff or is_silent else 1


def _are_counted(asked: Asked) -> bool:
    """Whether nothing is printed of the findings but how many there are."""
    is_summary = OUTPUT_FORMS[asked.form].quiet and asked.shown.quiet
    return is_summary and not (asked.shown.statistics or asked.reports)


def _write(report: Report, findings: Iterable[Finding], asked: Asked) -> list[str]:
    """All outputs, the files of ``--report`` first: whoever reads the printed one may go. What is to be said
    besides. People and the printed output have ``most`` findings of a rule."""
    out, kept = asked.out, asked.shown
    width = terminal_columns() if out is None and sys.stdout.isatty() else 0
    printed = replace(kept, colour=out is None and wants_colour(), width=width)
    outputs = [*((form, file, kept) for form, file in asked.reports), (asked.form, out, printed)]
    notes: list[list[str]] = [[] for _ in outputs]

    def writing(number: int) -> Callable[[Iterable[Finding]], None]:
        form, file, options = outputs[number]

        def write(found: Iterable[Finding]) -> None:
            is_whole = number < len(outputs) - 1 and OUTPUT_FORMS[form].for_programs
            few = Found(report, found, options, notes[number], 0 if is_whole else asked.most)
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
