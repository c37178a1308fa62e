"""The check of what is to be converted: before the conversion, or (of a big source) alongside it in another process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ragdatakit.engines import Engine
from ragdatakit.engines.side_process import SideProcess
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading.record_reading import Progress
from ragdatakit.files.reading.refused_records import Refused
from ragdatakit.schemas import get_format
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.options import ValidateOptions
from ragdatakit.schemas.results import Report
from ragdatakit.validators import checks_of
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.dataset_run import DatasetRun
from ragdatakit.validators.run import check_paths
from ragdatakit.validators.run_options import RunOptions

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
    engine: Engine | None = None,
) -> Report:
    """The report on a source, without the findings that reading repairs (``values`` are its options).

    The records with errors go to ``refused``, of those that the framework takes the last of all but that one.
    """
    options = RunOptions(memory_limit=memory_limit, follow_links=follow_links, progress=progress, engine=engine)
    all_of_them = Selection(severity="error", max_per_rule=0, each_record=refused is not None)
    some_suffice = repairs is None and refused is None
    selection = Selection(severity="error") if some_suffice else all_of_them
    report, findings = check_paths([path], format_name, (), selection, options)
    faults: Counter[str] = Counter()
    replaced = _Replaced(frozenset(rule.name for rule in get_format(format_name).rules if rule.keeps_last))
    for finding in findings:
        if repairs is not None and repairs(finding, values):
            continue
        faults[finding.code] += 1
        if faults[finding.code] <= ValidateOptions.max_per_rule:
            report.findings.append(finding)
        if refused is not None and not replaced.takes(finding):
            refused.add(finding.path, finding.line, finding.record, f"{finding.code} {finding.rule}")
    findings.close()
    if refused is not None:
        replaced.leave_out(refused)
    if not some_suffice:
        report.counts["error"] = faults.total()
        report.by_rule = dict(faults)
    return report


def unread_files(dataset: Dataset, memory_limit: int) -> list[DataFile]:
    """The files of a dataset of which more than single lines cannot be read. Fills in the files, as a check does."""
    checks = checks_of(dataset.format.name)(dataset, dataset.format.profiles)
    documents = [kind for kind in dataset.format.files if kind.container.startswith("json")]
    broken = {record.rules["syntax"] for kind in documents for record in kind.records if "syntax" in record.rules}
    only = Selection(select=("unreadable-file", *broken), severity="error")
    found: set[str] = set()
    run = DatasetRun(
        dataset, checks, (), only, RunOptions(memory_limit=memory_limit), Counter(), lambda f: found.add(f.path)
    )
    run.run()
    return [file for file in dataset.files if not file.to_end or file.display in found]


_Record = tuple[str, int | None, int | None]
"""The file of a record, its line and its number."""


class _Replaced:
    """Records of which (by the names of ``rules``) the last one replaces the others: that one stays, of those that have
    no other error."""

    def __init__(self, rules: frozenset[str]) -> None:
        self._rules = rules
        self._found: dict[tuple[str, _Record], list[_Record]] = {}

    def takes(self, finding: Finding) -> bool:
        """Whether a finding is about such records; findings come in the order of their records."""
        if finding.rule not in self._rules or not finding.related:
            return False
        other = finding.related[0]
        first = other.path, other.line, other.record
        records = self._found.setdefault((f"{finding.code} {finding.rule}", first), [first])
        records.append((finding.path, finding.line, finding.record))
        return True

    def leave_out(self, refused: Refused) -> None:
        """Refuse the others, when all that have another error are refused."""
        for (why, _), records in self._found.items():
            stays = next((record for record in reversed(records) if not refused.has(*record)), None)
            for record in records:
                if record != stays:
                    refused.add(*record, why)


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
        """The report, waited for. Raises what `check_paths` raises."""
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
