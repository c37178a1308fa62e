"""The check of what is to be converted: before the conversion, or (of a big source) alongside it in another process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ragdatakit.files.reading.record_reading import Progress
from ragdatakit.files.reading.refused_records import Refused
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.results import Report
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.run import validate_paths
from ragdatakit.validators.run_options import RunOptions
from ragdatakit.validators.side_process import SideProcess

WORTH_A_PROCESS = 64 << 20
"""Bytes of a source from which on a second process gains more than its start costs."""

Repairs = Callable[[Finding, Mapping[str, Any]], bool]


def check_source(
    path: Path,
    format_name: str,
    repairs: Repairs | None,
    values: Mapping[str, Any],
    memory_limit: int,
    follow_links: bool = False,
    progress: Progress | None = None,
    refused: Refused | None = None,
) -> Report:
    """The report on a source, without the findings that reading repairs (``values`` are its options).

    The records with errors go to ``refused``.
    """
    faults: Counter[str] = Counter()

    def note(finding: Finding) -> None:
        if repairs is not None and repairs(finding, values):
            return
        faults[finding.code] += 1
        if refused is not None:
            refused.add(finding.path, finding.line, finding.record, f"{finding.code} {finding.rule}")

    options = RunOptions(memory_limit=memory_limit, follow_links=follow_links, progress=progress, on_finding=note)
    report = validate_paths([path], format_name, (), Selection(severity="error"), options)
    report.findings = [f for f in report.findings if repairs is None or not repairs(f, values)]
    report.counts["error"] = faults.total()
    report.by_rule = dict(faults)
    return report


class SourceRefusedError(Exception):
    """The source has errors, so that continuing is useless. Does not leave the conversion."""


class SourceCheck:
    """A context in which the check of a source runs alongside its conversion; arguments as for `check_source`."""

    def __init__(
        self,
        path: Path,
        format_name: str,
        repairs: Repairs | None,
        values: Mapping[str, Any],
        memory_limit: int,
        follow_links: bool = False,
    ) -> None:
        self._args = (path, format_name, repairs, values, memory_limit, follow_links)
        self._stack = ExitStack()
        self._process: SideProcess[Report] | None = None
        self._report: Report | None = None

    def __enter__(self) -> Self:
        self._process = self._stack.enter_context(SideProcess(check_source, *self._args))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def report(self) -> Report:
        """The report, waited for. Raises what `validate_paths` raises."""
        if self._report is None:
            found = self._process.result() if self._process is not None else None
            self._report = found if found is not None else check_source(*self._args)
        return self._report

    def watched(self, progress: Progress | None) -> Progress:
        """Progress of the conversion that raises `SourceRefusedError` once it is known that the source has errors."""

        def show(path: str, done: int, total: int) -> None:
            if self._process is not None and self._process.ended and not self.report().ok:
                raise SourceRefusedError
            if progress is not None:
                progress(path, done, total)

        return show
