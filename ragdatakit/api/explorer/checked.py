"""What validation finds in the datasets that are explored, with the lines of the files that it is about."""

from __future__ import annotations

import gzip
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.reports.html.explorer.values import FixShown, Region
from ragdatakit.schemas.findings import Finding

if TYPE_CHECKING:
    from ragdatakit.schemas.results import Report

_AROUND, _MOST = 2_000, 16_000
"""Bytes before and after what is at fault that are looked at, and in all."""
_LINES = 3
_NEXT_FIELD = re.compile(r", (?=[\w-]+=)")
_KINDS = {
    "questions": ("quer", "question", "topic"),
    "documents": ("doc", "corpus", "passage"),
    "chunks": ("chunk", "text_unit", "text-unit"),
    "nodes": ("node", "entit"),
    "communities": ("communit",),
}
"""Words in the kinds of files whose records are those of a table."""


class Checked:
    """The findings of a run, by number; ``boundary`` says which files may be opened for their lines."""

    def __init__(self, report: Report, boundary: Boundary) -> None:
        self.report, self.boundary = report, boundary

    @cached_property
    def _kinds(self) -> dict[str, str]:
        return {f"{one.path}/{file.path}": file.kind for one in self.report.datasets for file in one.files} | {
            one.path: one.files[0].kind for one in self.report.datasets if len(one.files) == 1
        }

    def kind(self, path: str) -> str:
        """The kind of a file, as its format calls it; empty where it is not known."""
        return self._kinds.get(path, "")

    def listed(self, severity: str, rule: str, path: str, words: str) -> list[tuple[int, Finding]]:
        """The findings that are wanted, with their numbers; what is empty of the words leaves all."""
        return [
            (number, finding)
            for number, finding in enumerate(self.report.findings)
            if severity in ("", finding.severity)
            and rule in ("", finding.code)
            and path in ("", finding.path)
            and (not words or words.lower() in f"{finding.message} {finding.key} {finding.path}".lower())
        ]

    def keys(self, table: str, root: str) -> dict[str, list[tuple[int, str]]]:
        """The findings about records of a table of the dataset at ``root``: numbers and ids, by rule."""
        found: dict[str, list[tuple[int, str]]] = {}
        words = _KINDS.get(table, ())
        for number, finding in enumerate(self.report.findings):
            kind = self._kinds.get(finding.path, "").lower()
            if finding.key and "=" in finding.key and is_below(finding.path, root) and any(w in kind for w in words):
                found.setdefault(finding.code, []).append((number, finding.key.partition("=")[2]))
        return found


def named_ids(key: str | None) -> list[tuple[str, str]]:
    """The fields and values by which a finding names its record (`record_key`)."""
    pairs = (part.partition("=") for part in _NEXT_FIELD.split(key or ""))
    return [(name, value) for name, equals, value in pairs if equals]


def is_below(path: str, root: str) -> bool:
    """Whether a file is the dataset at ``root``, or in it."""
    return path == root or root == "." or path.startswith(f"{root.rstrip('/')}/")


def region(finding: Finding, boundary: Boundary) -> Region | None:
    """The lines of the file around what is at fault; None where there are none to show."""
    if finding.span is None or finding.line is None:
        return None
    before = max(finding.span.start - _AROUND, 0)
    last = min(finding.span.end + _AROUND, before + _MOST)
    data = _read(boundary, finding.path, before, last)
    if data is None:
        return None
    start = data.rfind(b"\n", 0, finding.span.start - before) + 1
    for _ in range(_LINES - 1):
        start = data.rfind(b"\n", 0, max(start - 1, 0)) + 1
    end = finding.span.end - before
    for _ in range(_LINES):
        end = data.find(b"\n", end + 1) if data.find(b"\n", end + 1) >= 0 else len(data)
    skipped = data[start : finding.span.start - before].count(b"\n")
    head, fault, tail = (
        part.decode("utf-8", "replace")
        for part in (
            data[start : finding.span.start - before],
            data[finding.span.start - before : finding.span.end - before],
            data[finding.span.end - before : end],
        )
    )
    head = f"…{head}" if before and not start else head
    tail = f"{tail}…" if end == len(data) == last - before else tail.rstrip("\n")
    return Region(finding.line - skipped, head + fault + tail, len(head), len(head) + len(fault))


def fix_shown(finding: Finding, boundary: Boundary) -> FixShown | None:
    """What would repair it; None where nothing is known."""
    fix = finding.fix
    if fix is None:
        return None
    command = {"safe": "--fix", "unsafe": "--fix --unsafe-fixes"}.get(fix.applicability, "")
    if fix.withheld:
        return FixShown(f"{fix.message}; it is not made: {fix.withheld}", "")
    if not fix.edits:
        return FixShown(fix.message, command)
    first, last = min(edit.start for edit in fix.edits), max(edit.end for edit in fix.edits)
    begin = max(first - _AROUND, 0)
    path = fix.path or finding.path
    data = _read(boundary, path, begin, min(last + _AROUND, begin + _MOST)) if last - first < _MOST else None
    if data is None or last - begin > len(data):
        return FixShown(fix.message, command)
    start = data.rfind(b"\n", 0, first - begin) + 1
    found = data.find(b"\n", max(last - begin - 1, 0))
    end = found if found >= 0 else len(data)
    pieces, at = [], start
    for edit in sorted(fix.edits, key=lambda edit: edit.start):
        pieces += [data[at : edit.start - begin], edit.text.encode("utf-8", "surrogatepass")]
        at = edit.end - begin
    pieces.append(data[at:end] if at < end else b"")
    before, after = data[start:end].decode("utf-8", "replace"), b"".join(pieces).decode("utf-8", "replace")
    return FixShown(fix.message, command, before, after.removesuffix("\n"))


def _read(boundary: Boundary, path: str, start: int, end: int) -> bytes | None:
    """Bytes of a file that is checked, unpacked; None where they cannot be read."""
    try:
        with boundary.open(Path(path)) as packed:
            file: BinaryIO = gzip.GzipFile(fileobj=packed) if path.endswith(".gz") else packed  # type: ignore[assignment]
            file.seek(start)
            return file.read(end - start)
    except (OSError, EOFError, ValueError):
        return None
