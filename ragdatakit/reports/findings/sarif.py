"""Findings as SARIF 2.1.0, with all that GitHub asks for and nothing that it takes amiss.

GitHub refuses a run of more than 25,000 results and keeps 5,000 of them: no more are written. It makes a security alert
of a rule that has a ``security-severity``, and an open alert of a result that is suppressed: neither is written. Which
of its alerts is which it knows by ``primaryLocationLineHash``, which is our fingerprint. Jenkins takes results of one
line, rule and message for one, unless their ``correlationGuid`` differs. There are no
``automationDetails``: GitHub's upload action would then pass over the category that a workflow gives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import orjson

from ragdatakit.files.paths.project import project_root
from ragdatakit.reports.findings.choice import choose
from ragdatakit.reports.findings.output_forms import Found
from ragdatakit.reports.findings.places import Paths, is_relative, region, unicode_text, uri_of
from ragdatakit.reports.rule_addresses import address_of
from ragdatakit.schemas import FORMATS, all_rules, get_format
from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.findings import Finding, Severity
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.rules import QUALITY, SHARED, TABLES
from ragdatakit.version import __version__

MOST_RESULTS = 5_000
"""Results of a run that GitHub keeps."""
_LONGEST = 1024
"""Characters of a description of a rule that GitHub takes."""
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_PROBLEMS = {"error": "error", "warning": "warning", "info": "recommendation"}
_ROOT = "%SRCROOT%"


def sarif(found: Found) -> Iterator[bytes]:
    """One document with one run."""
    findings = choose(found.findings, MOST_RESULTS)
    known = _rules(found.report, {finding.code for finding in findings})
    codes = {code: number for number, code in enumerate(sorted({finding.code for finding in findings}))}
    severities = {finding.code: finding.severity for finding in findings}
    paths = Paths(project_root())
    driver = {
        "name": "ragdata",
        "semanticVersion": __version__,
        "rules": [_rule(*known[code], severities[code]) for code in codes],
    }
    invocation: dict[str, Any] = {"executionSuccessful": True}
    total = sum(found.report.counts.values())
    if len(findings) < total:
        words = f"{len(findings):,} of {total:,} findings are here"
        if len(findings) == MOST_RESULTS:
            words += f", as GitHub keeps no more than {MOST_RESULTS:,}: errors first, of each rule about as many"
            found.notes.append(f"sarif: {words}")
        else:
            words += ": --max-per-rule 0 writes all"
        invocation["toolExecutionNotifications"] = [{"level": "note", "message": {"text": words}}]
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder of the project."}}},
        "results": [_result(finding, codes[finding.code], paths) for finding in findings],
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    yield orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _rules(report: Report, codes: set[str]) -> dict[str, tuple[Rule, str]]:
    """The rules of the formats that were checked, by code, and what they are of; all rules if these are not enough."""
    found = {rule.code: (rule, "any-format") for rule in SHARED} | {rule.code: (rule, "quality") for rule in QUALITY}
    if any(dataset.format == "table" for dataset in report.datasets):
        found |= {rule.code: (rule, "table") for rule in TABLES}
    for name in {dataset.format for dataset in report.datasets} & FORMATS.keys():
        found |= {rule.code: (rule, name) for rule in get_format(name).rules}
    found |= {code: (rule, "own") for code, rule in report.own_rules.items()}
    if not codes <= found.keys():
        found |= {rule.code: (rule, fmt.name) for rule, fmt in all_rules() if fmt is not None}
    return found


def _rule(rule: Rule, tag: str, severity: Severity) -> dict[str, Any]:
    """What GitHub shows of a rule; ``severity`` is what it has in this run."""
    description = f"{rule.summary} {_sentence(rule.consequence())}"
    what_to_do = _sentence(rule.hint)
    examples = "".join(
        f"\n\n{name}:\n\n{_block(example)}" for name, example in (("Bad", rule.bad), ("Good", rule.good)) if example
    )
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary[:_LONGEST]},
        "fullDescription": {"text": description[:_LONGEST]},
        "help": {
            "text": f"{what_to_do} Run `ragdata explain {rule.code}` for details.",
            "markdown": f"{description}\n\n{what_to_do}{examples}\n\nRun `ragdata explain {rule.code}` for details.",
        },
        **({"helpUri": address} if (address := address_of(rule.code)) else {}),
        "defaultConfiguration": {"level": _LEVELS[severity]},
        "properties": {
            "tags": ["data", tag],
            "precision": "medium" if tag == "quality" else "very-high",
            "problem.severity": _PROBLEMS[severity],
        },
    }


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _block(example: str) -> str:
    return "\n".join(f"    {line}" for line in example.splitlines())


def _result(finding: Finding, rule: int, paths: Paths) -> dict[str, Any]:
    line, column, end_line, end_column = region(finding)
    place = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    message = _plain(finding.before + finding.message)
    related = []
    for number, other in enumerate(finding.related, 1):
        where = f"{other.path}:{other.line}" if other.line is not None else other.path
        where += f", {other.row}" if other.row else ""
        message += f" ({_plain(other.message)}: [{_plain(where).translate(_NO_BRACKETS)}]({number}))"
        there = {"region": {"startLine": other.line}} if other.line is not None else {}
        related.append({"id": number, "physicalLocation": {**_artifact(other.path, paths), **there}})
    facts = {"pointer": finding.pointer, "key": finding.key, "count": finding.count if finding.count > 1 else None}
    properties = {name: _plain(value) if isinstance(value, str) else value for name, value in facts.items() if value}
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": message},
        "locations": [{"physicalLocation": {**_artifact(finding.path, paths), "region": place}}],
        "correlationGuid": str(UUID(finding.fingerprint * 2, version=5)),
        "partialFingerprints": {
            "primaryLocationLineHash": f"{finding.fingerprint}:1",
            "ragdata/v1": finding.fingerprint,
        },
        **({"relatedLocations": related} if related else {}),
        **({"fixes": [fix]} if (fix := _fix(finding, paths)) else {}),
        **({"properties": properties} if properties else {}),
    }


def _fix(finding: Finding, paths: Paths) -> dict[str, Any]:
    """What would repair it, for other viewers than GitHub; nothing where no bytes of the file itself are named."""
    fix = finding.fix
    if (
        fix is None
        or fix.withheld
        or not fix.edits
        or any(edit.part for edit in fix.edits)
        or (fix.path or finding.path).endswith(".gz")
    ):
        return {}
    replacements = [
        {
            "deletedRegion": {"byteOffset": edit.start, "byteLength": edit.end - edit.start},
            "insertedContent": {"text": unicode_text(edit.text)},
        }
        for edit in fix.edits
    ]
    change = {**_artifact(fix.path or finding.path, paths), "replacements": replacements}
    return {"description": {"text": _plain(fix.message)}, "artifactChanges": [change]}


_NO_BRACKETS = str.maketrans("[]", "()")


def _plain(text: str) -> str:
    """A text in which nothing is a link, such as ``[text](1)``."""
    return unicode_text(text).replace("](", "] (")


def _artifact(path: str, paths: Paths) -> dict[str, Any]:
    name = paths.name(path)
    base = {"uriBaseId": _ROOT} if is_relative(name) else {}
    return {"artifactLocation": {"uri": uri_of(name), **base}}
