"""Findings as XML: test cases as JUnit writes them, for the test reports of CI services, and checkstyle's form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from ragdatakit.files.paths.project import project_root
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.findings.output_forms import Found
from ragdatakit.reports.findings.places import Paths, unicode_text
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.results import DatasetSummary
from ragdatakit.schemas.rules.shared import NOT_CHECKED
from ragdatakit.schemas.texts import many

_MOST_LINES = 100
"""Findings that the text of a test case lists."""
_MOST_TEXT = 20 << 20
"""Characters of all texts together: GitLab reads files of up to 30 MB."""
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n'


@dataclass(slots=True)
class _Case:
    """All findings of one rule in one file."""

    rule: str
    severity: str
    is_error: bool
    count: int = 0
    lines: list[str] = field(default_factory=list)


def junit(found: Found) -> Iterator[bytes]:
    """A suite for each file, in it a case for each rule that it breaks, or one that passed. Infos are no cases."""
    paths = Paths(project_root())
    suites: dict[str, dict[str, _Case]] = {}
    listed: Counter[str] = Counter()
    room = _MOST_TEXT
    for finding in found.findings:
        if finding.severity == "info":
            continue
        listed[finding.code] += 1
        cases = suites.setdefault(paths.name(finding.path), {})
        case = cases.get(finding.code)
        if case is None:
            is_error = finding.rule in NOT_CHECKED
            case = cases[finding.code] = _Case(f"{finding.code} {finding.rule}", finding.severity, is_error)
        case.count += 1
        if len(case.lines) < _MOST_LINES and room > 0:
            case.lines.append(_listed(finding))
            room -= len(case.lines[-1])
    capped = {code: number for code, number in found.report.by_rule.items() if listed[code] and number > listed[code]}
    for dataset in found.report.datasets:
        for path in _files(dataset):
            suites.setdefault(paths.name(path), {})
    yield from _suites(suites, capped, found.report.seconds)


def _suites(suites: dict[str, dict[str, _Case]], capped: dict[str, int], seconds: float) -> Iterator[bytes]:
    cases = [case for of_file in suites.values() for case in of_file.values()]
    tests = sum(max(1, len(of_file)) for of_file in suites.values())
    errors = sum(case.is_error for case in cases)
    numbers = f'tests="{tests}" failures="{len(cases) - errors}" errors="{errors}" time="{seconds:.2f}"'
    yield _HEAD + f'<testsuites name="ragdata" {numbers}>\n'.encode()
    for path, of_file in suites.items():
        errors = sum(case.is_error for case in of_file.values())
        numbers = f'tests="{max(1, len(of_file))}" failures="{len(of_file) - errors}" errors="{errors}" skipped="0"'
        yield f"  <testsuite name={_attribute(path)} {numbers}>\n".encode()
        for code, case in of_file.items():
            yield _case(path, case, capped.get(code, 0))
        if not of_file:
            yield f"    <testcase {_named(path, 'valid')}/>\n".encode()
        yield b"  </testsuite>\n"
    yield b"</testsuites>\n"


def _case(path: str, case: _Case, of_all: int) -> bytes:
    lines = [*case.lines]
    if case.count > len(lines):
        lines.append(f"… and {case.count - len(lines):,} more")
    if of_all:
        lines.append(f"{many(of_all, 'finding')} of this rule in all files; --max-per-rule 0 lists all")
    name = "error" if case.is_error else "failure"
    body = _text("\n".join(lines))
    head = f'<{name} type="{case.severity}" message={_attribute(many(case.count, "finding"))}>'
    return f"    <testcase {_named(path, case.rule)}>\n      {head}{body}</{name}>\n    </testcase>\n".encode()


def _named(path: str, name: str) -> str:
    return f'classname={_attribute(path)} name={_attribute(name)} file={_attribute(path)} time="0"'


def _listed(finding: Finding) -> str:
    place = finding.before if finding.line is None else f"{finding.line}:{finding.column or 1} "
    return f"{place}{finding.message}" + (f"\n    → {finding.hint}" if finding.hint else "")


def _files(dataset: DatasetSummary) -> Iterator[str]:
    """The paths of the files of a dataset, which are within its folder unless it is a file itself."""
    folder = Path(dataset.path)
    for file in dataset.files:
        within = folder / file.path
        yield str(within) if folder.is_dir() and within.exists() else file.path


def checkstyle(found: Found) -> Iterator[bytes]:
    """An element for each file with findings, in it one for each finding."""
    paths = Paths(Path.cwd())
    yield _HEAD + b'<checkstyle version="4.3">\n'
    for path, findings in groupby(found.findings, key=lambda finding: finding.path):
        yield f"  <file name={_attribute(paths.name(path))}>\n".encode()
        yield from map(_error, findings)
        yield b"  </file>\n"
    yield b"</checkstyle>\n"


def _error(finding: Finding) -> bytes:
    place = f'line="{finding.line or 1}"' + (f' column="{finding.column}"' if finding.column else "")
    message = _attribute(finding.before + finding.message)
    words = f'severity="{finding.severity}" message={message} source="ragdata.{finding.code}"'
    return f"    <error {place} {words}/>\n".encode()


def _text(text: str) -> str:
    return escape(_allowed(text), {"\r": "&#13;"})


def _attribute(text: str) -> str:
    return quoteattr(_allowed(text), {"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})


def _allowed(text: str) -> str:
    """A text that XML 1.0 can hold: other characters are named by their codes."""
    return _FORBIDDEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", unicode_text(text))
