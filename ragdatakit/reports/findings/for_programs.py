"""Findings as JSON: our own document, our own lines, and what GitLab reads as a code quality report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from ragdatakit.files.paths.project import project_root
from ragdatakit.reports.findings.json import finding_line, json_pieces, summary_lines
from ragdatakit.reports.findings.output_forms import Found
from ragdatakit.reports.findings.places import Paths, unicode_text
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.rules.shared import NOT_CHECKED

_GITLAB = {"error": "major", "warning": "minor", "info": "info"}


def document(found: Found) -> Iterator[bytes]:
    """One JSON document (docs/output-schema.json)."""
    return json_pieces(found.report, found.findings)


def lines(found: Found) -> Iterator[bytes]:
    """One JSON object per line: findings, datasets, the counts."""
    yield from map(finding_line, found.findings)
    yield from summary_lines(found.report)


def gitlab(found: Found) -> Iterator[bytes]:
    """GitLab's report of code quality: its parser stops at the first entry that does not fit."""
    paths = Paths(project_root())
    before = b"["
    for finding in found.findings:
        yield before + b"\n  " + orjson.dumps(_entry(finding, paths))
        before = b","
    yield b"[]\n" if before == b"[" else b"\n]\n"


def _entry(finding: Finding, paths: Paths) -> dict[str, Any]:
    severity = "critical" if finding.rule in NOT_CHECKED else _GITLAB[finding.severity]
    return {
        "description": unicode_text(f"{finding.code}: {finding.before}{finding.message}"),
        "check_name": finding.code,
        "fingerprint": finding.fingerprint,
        "severity": severity,
        "location": {"path": unicode_text(paths.name(finding.path)), "lines": {"begin": finding.line or 1}},
    }
