"""A report as the command line asks for it: the summaries, the output."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragdatakit.cli import wants_colour
from ragdatakit.cli.progress import terminal_progress
from ragdatakit.cli.standard_output import terminal_columns, write_output
from ragdatakit.late_dataclasses import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from ragdatakit.api.results import Summaries

_USUAL_WIDTH, _LEAST_WIDTH, _MOST_WIDTH = 100, 60, 120
_SIGNS = "▁▂▃▅▇…·–"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportAsked:
    """What a command line asks for: a report of ``paths`` under ``options``, which are of `ReportOptions`, in the
    ``form`` of that name. It goes to the file ``out`` (None: it is printed). The others say how much it has, as in
    `SummaryTextOptions`."""

    paths: tuple[Path | str, ...]
    options: Mapping[str, Any]
    form: str
    out: Path | None = None
    quiet: bool = False
    verbose: bool = False
    details: bool | None = None


def run(asked: ReportAsked) -> int:
    """The exit code of the command. Raises `RagdataError`."""
    from ragdatakit.api.report import report

    with terminal_progress() as progress:
        summaries = report([*asked.paths], **asked.options, progress=progress)
    write_output([_rendered(summaries, asked)], asked.out, asked.form)
    return 0


def _rendered(summaries: Summaries, asked: ReportAsked) -> bytes:
    form, findings = asked.form, summaries.findings
    if form == "json":
        from ragdatakit.reports.summary.json import summary_json

        return summary_json(summaries, findings, summaries.left_out, summaries.not_read, summaries.sources)
    if form == "html":
        from ragdatakit.reports.html.page import summary_page

        return summary_page(summaries, findings, left_out=summaries.left_out, not_read=summaries.not_read)
    if form == "markdown":
        from ragdatakit.reports.summary.markdown import summary_markdown

        lines = summary_markdown(summaries, asked.details, findings, summaries.left_out, summaries.not_read)
        return "".join(f"{line}\n" for line in lines).encode()
    from ragdatakit.reports.summary.text import summary_lines
    from ragdatakit.reports.summary.text_sections import SummaryTextOptions

    to_file = asked.out is not None
    encoding = "utf-8" if to_file else sys.stdout.encoding or "utf-8"
    columns = _USUAL_WIDTH if to_file else terminal_columns(_USUAL_WIDTH)
    options = SummaryTextOptions(
        colour=not to_file and wants_colour(),
        width=min(max(columns, _LEAST_WIDTH), _MOST_WIDTH),
        quiet=asked.quiet,
        verbose=asked.verbose,
        details=asked.details,
        plain=not _encodes(encoding),
        whole=to_file or not sys.stdout.isatty(),
    )
    lines = summary_lines(summaries, options, findings, summaries.left_out, summaries.not_read)
    return "".join(f"{line}\n" for line in lines).encode(encoding, "backslashreplace")


def _encodes(encoding: str) -> bool:
    try:
        _SIGNS.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
