"""Findings as reviewdog reads them: one document, or one diagnostic per line. Columns count bytes of UTF-8."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from ragdatakit.reports.findings.output_forms import Found
from ragdatakit.reports.findings.places import Paths, unicode_text
from ragdatakit.reports.rule_addresses import address_of
from ragdatakit.schemas.findings import Finding

_SOURCE = {"name": "ragdata"}
_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}


def rdjson(found: Found) -> Iterator[bytes]:
    """One object with all diagnostics."""
    paths, code_of = Paths(Path.cwd()), cache(_code)
    before = b'{"source": ' + orjson.dumps(_SOURCE) + b', "diagnostics": ['
    comma = b""
    for finding in found.findings:
        yield before + comma + b"\n  " + orjson.dumps(_diagnostic(finding, paths, code_of))
        before, comma = b"", b","
    yield before + b"]}\n" if before else b"\n]}\n"


def rdjsonl(found: Found) -> Iterator[bytes]:
    """One diagnostic per line."""
    paths, code_of = Paths(Path.cwd()), cache(_code)
    for finding in found.findings:
        diagnostic = _diagnostic(finding, paths, code_of)
        diagnostic["source"] = _SOURCE
        yield orjson.dumps(diagnostic, option=orjson.OPT_APPEND_NEWLINE)


def _code(code: str) -> dict[str, str]:
    return {"value": code, **({"url": url} if (url := address_of(code)) else {})}


def _diagnostic(finding: Finding, paths: Paths, code_of: Callable[[str], dict[str, str]]) -> dict[str, Any]:
    location: dict[str, Any] = {"path": unicode_text(paths.name(finding.path))}
    if finding.line is not None:
        location["range"] = _range(finding, finding.line)
    message = finding.before + (f"{finding.message}\n→ {finding.hint}" if finding.hint else finding.message)
    diagnostic: dict[str, Any] = {
        "message": unicode_text(message),
        "location": location,
        "severity": _SEVERITIES[finding.severity],
        "code": code_of(finding.code),
    }
    if suggestion := _suggestion(finding):
        diagnostic["suggestions"] = [suggestion]
    if finding.related:
        diagnostic["related_locations"] = [
            {
                "message": unicode_text(f"{other.message}: {other.row}" if other.row else other.message),
                "location": {
                    "path": unicode_text(paths.name(other.path)),
                    **({"range": {"start": {"line": other.line}}} if other.line is not None else {}),
                },
            }
            for other in finding.related
        ]
    return diagnostic


def _suggestion(finding: Finding) -> dict[str, Any]:
    """What would repair it, where that is one change within the value at fault, or the line that goes."""
    fix, span, line, columns = finding.fix, finding.span, finding.line, finding.byte_columns
    if fix is None or fix.withheld or fix.path or len(fix.edits) != 1 or line is None:
        return {}
    (edit,) = fix.edits
    if edit.part == "line" and edit.start == finding.byte_offset:
        return {"range": {"start": {"line": line, "column": 1}, "end": {"line": line + 1, "column": 1}}, "text": ""}
    if span is None or columns is None or edit.part or finding.end_line != line:
        return {}
    if not span.start <= edit.start <= edit.end <= span.end:
        return {}
    first = columns[0] + edit.start - span.start
    place = {"start": {"line": line, "column": first}, "end": {"line": line, "column": first + edit.end - edit.start}}
    return {"range": place, "text": unicode_text(edit.text)}


def _range(finding: Finding, line: int) -> dict[str, Any]:
    """Without columns where the bytes before it are not known, or where the record as a whole is meant."""
    columns = finding.byte_columns
    if columns is None or finding.column is None:
        return {"start": {"line": line}}
    return {"start": {"line": line, "column": columns[0]}, "end": {"line": finding.end_line, "column": columns[1]}}
