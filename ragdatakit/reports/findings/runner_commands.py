"""Findings as commands to the runners of GitHub and Azure, which make annotations of them; before them, the text.

Both keep ten of a kind for each step and drop the others silently. So the ten that say most are written, and how many
there are besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ragdatakit.files.paths.project import project_root
from ragdatakit.reports.findings.choice import Choice, choose
from ragdatakit.reports.findings.ci_commands import broken_up
from ragdatakit.reports.findings.for_people import full
from ragdatakit.reports.findings.output_forms import Found
from ragdatakit.reports.findings.places import Paths, unicode_text
from ragdatakit.schemas.findings import SEVERITIES, Finding, Severity
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.texts import many
from ragdatakit.visible_text import without_commands

_MOST = 10
"""Annotations of a kind that a runner keeps."""
_LONGEST = 4000
"""Characters of a message; GitHub cuts it at 4,096."""
_GITHUB = {"error": "error", "warning": "warning", "info": "notice"}


class _Annotated:
    """The findings that are annotated, taken from those that pass."""

    def __init__(self) -> None:
        self._of: dict[Severity, Choice] = {severity: Choice(_MOST) for severity in SEVERITIES}

    def passing(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """The findings as they are."""
        of = self._of
        for finding in findings:
            choice = of[finding.severity]
            if (finding.severity, finding.code) not in choice.full:
                choice.add(finding)
            yield finding

    def of(self, severity: Severity) -> list[Finding]:
        """Those of a severity."""
        return self._of[severity].chosen()


def github(found: Found) -> Iterator[bytes]:
    """The text, then ``::error file=…::message`` and so on; a last notice counts those that were left out."""
    annotated = _Annotated()
    yield from _text(found, annotated)
    paths = Paths(project_root())
    chosen = {severity: annotated.of(severity) for severity in SEVERITIES}
    if _left_out(found.report, chosen.values()):
        chosen["info"] = choose(chosen["info"], _MOST - 1)  # the notice is one of them
    for severity, findings in chosen.items():
        for finding in findings:
            words = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in _facts(finding, paths).items())
            yield _line(f"::{_GITHUB[severity]} {words}::{_escaped(_message(finding))}")
    if more := _left_out(found.report, chosen.values()):
        yield _line(f"::notice title=ragdata::{_escaped(more)}")


def azure(found: Found) -> Iterator[bytes]:
    """The text, then ``##vso[task.logissue type=error;…]message`` and so on; infos are in the text alone."""
    annotated = _Annotated()
    yield from _text(found, annotated)
    paths = Paths(project_root())
    chosen = {severity: annotated.of(severity) for severity in SEVERITIES if severity != "info"}
    for severity, findings in chosen.items():
        for finding in findings:
            facts = {"type": severity, "sourcepath": _path(finding, paths)}
            if finding.line is not None:
                facts |= {"linenumber": str(finding.line), "columnnumber": str(finding.column or 1)}
            facts["code"] = finding.code
            words = "".join(f"{name}={_escaped(value, ';]', '%AZP25')};" for name, value in facts.items())
            yield _line(f"##vso[task.logissue {words}]{_escaped(_message(finding), percent='%AZP25')}")
    if more := _left_out(found.report, chosen.values()):
        yield _line(f"{more}")


def _text(found: Found, annotated: _Annotated) -> Iterator[bytes]:
    """The full text, in which nothing is a command."""
    for piece in full(replace(found, findings=annotated.passing(found.findings))):
        yield broken_up(piece)[0]


def _left_out(report: Report, chosen: Iterable[list[Finding]]) -> str:
    """How many findings are not annotated, in words; empty where all are."""
    more = sum(report.counts.values()) - sum(map(len, chosen))
    return f"{many(more, 'more finding')}: the log has the text, --report writes all of them to a file" if more else ""


def _facts(finding: Finding, paths: Paths) -> dict[str, str]:
    """Columns only where all is on one line: the runner drops both otherwise."""
    facts = {"file": _path(finding, paths)}
    if finding.line is not None:
        facts |= {"line": str(finding.line), "endLine": str(finding.end_line or finding.line)}
        if finding.column and finding.end_column and finding.end_line == finding.line:
            facts |= {"col": str(finding.column), "endColumn": str(finding.end_column)}
    return {**facts, "title": f"{finding.code} {finding.rule}"}


def _path(finding: Finding, paths: Paths) -> str:
    return without_commands(paths.name(finding.path))


def _message(finding: Finding) -> str:
    message = without_commands(finding.before + finding.message)
    return f"{message[:_LONGEST]}\n→ {finding.hint}" if finding.hint else message


def _escaped(text: str, signs: str = "", percent: str = "%25") -> str:
    """The text as runners decode it; ``signs`` are those that end a property, ``percent`` is how ``%`` is written."""
    text = text.replace("%", percent)
    for sign in ("\r", "\n", *signs):
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


def _line(text: str) -> bytes:
    return unicode_text(text).encode() + b"\n"
