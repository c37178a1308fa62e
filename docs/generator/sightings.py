"""A rule as users see it: the finding in the fixture that breaks it."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import ragdatakit
from ragdatakit.reports.findings.text import TextOptions, text_lines
from ragdatakit.schemas.declarations import Format, Rule
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.rules.quality import LETTERS as QUALITY

ROOT = Path(__file__).parents[2]


def sighting(rule: Rule, fmt: Format | None) -> str:
    """The finding, as text; empty where no fixture shows it the same on every machine."""
    of_quality = rule.code.startswith(QUALITY)
    below = "quality" if of_quality else f"{fmt.name if fmt is not None else 'shared'}/broken"
    folder = ROOT / "fixtures" / below / rule.name
    # The reason is worded by Python or SQLite, and differs between their versions.
    if "{reason}" in rule.message or not (folder / "expected.json").is_file():
        return ""
    finding = _finding(folder, rule.code, of_quality)
    if finding is None:
        return ""
    report = ragdatakit.Report(findings=[replace(finding, hint="")])
    lines = list(text_lines(report, TextOptions()))
    return "\n".join(lines[1 : lines.index("")])


@cache
def _finding(folder: Path, code: str, of_quality: bool) -> Finding | None:
    expected = json.loads((folder / "expected.json").read_text())
    if "modified" in expected:  # the times of files, which a clone does not keep
        return None
    words = expected["args"]
    profiles = [words[i + 1] for i, word in enumerate(words) if word == "--profile"]
    formats = [words[i + 1] for i, word in enumerate(words) if word == "--format"]
    thresholds = dict(words[i + 1].split("=") for i, word in enumerate(words) if word == "--quality-option")
    with contextlib.chdir(folder):
        try:
            report = ragdatakit.validate(
                expected.get("target", "data"),
                profile=profiles,
                format=formats[0] if formats else None,
                select=[code] if of_quality else (),
                quality=thresholds or of_quality,
            )
        except ragdatakit.RagdataError:
            return None
    return next((f for f in report.findings if f.code == code), None)
