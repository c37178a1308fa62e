"""The run of the quality rules over one dataset: its tables are checked, and what is found gets its place in the files.

`Quality` is what the caller of a validation hands in: thresholds, and a function that reads datasets as tables, because
validators do not know the converters that can.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.plain_sources import NO_DATA, PLAIN_SOURCES
from ragdatakit.files.machine import refuse_little_space, refuse_machine_fault
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.record_reading import Progress
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quality.answers import check_answers
from ragdatakit.quality.findings import Checked, Doing, QualityCollector, QualityFindings, RecordLookup
from ragdatakit.quality.graph import check_graph
from ragdatakit.quality.questions import check_questions
from ragdatakit.quality.record_finder import RecordFinder
from ragdatakit.quality.training import check_negatives
from ragdatakit.schemas.errors import MachineError, MissingExtraError, RagdataError
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.rules.quality import RULES
from ragdatakit.schemas.settings.thresholds import QualityOptions
from ragdatakit.validators.collector import Collector, Place, Selection
from ragdatakit.validators.run_options import NO_THRESHOLDS, RunOptions

_SHOWN = 120
"""Characters that a message shows of one fact."""
_LIBRARY, _ITS_RULE = "ftfy", "garbled-text"

ReadTables = Callable[
    [Sequence[Dataset], Progress | None], Iterable[tuple[Sequence[Dataset], CanonicalTables | RagdataError]]
]
"""Datasets as tables: those that are read as one together; the error where one of several cannot be read. Raises
`RagdataError` where the only one cannot."""
FindPlain = Callable[[Path, str, bool], list[Dataset]]
"""The plain texts and tables at a path, of a format or (empty name) of any, with or without those that
links lead out to. Raises `RagdataError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """That quality is to be checked, by what, how datasets are read, and how those are found of which nothing is
    declared."""

    read: ReadTables
    plain: FindPlain
    given: Mapping[str, object] = field(default_factory=dict)

    def check(
        self,
        parts: Sequence[Dataset],
        options: RunOptions,
        selection: Selection,
        carried: Counter[str],
        alone: bool,
        thresholds: Mapping[str, float] = NO_THRESHOLDS,
    ) -> Collector:
        """Check datasets of one format, as `QualityCheck` says."""
        refuse_little_space("numbers")
        chosen = QualityOptions.of_words({**thresholds, **self.given})
        collector = QualityCollector(parts[0].format, (), selection, options.on_finding, carried)
        doing = Doing(options.progress) if options.progress is not None else None
        try:
            for together, tables in self.read(parts, doing):
                found = QualityFindings(together, collector)
                if isinstance(tables, RagdataError):
                    _not_checked(found, str(tables))
                    continue
                _guarded(found, partial(_check, found, tables, chosen, doing, options.jobs))
                if together[0].format.name in PLAIN_SOURCES:
                    _report_left_out(found, tables)
                complete_findings(found, options.memory_limit, doing)
        except (MissingExtraError, MachineError):
            raise
        except RagdataError as error:
            reason = str(error)
            if parts[0].format.name in PLAIN_SOURCES:
                reason = reason.replace("--map ", "--option map=")
                if alone:
                    raise RagdataError(reason) from None
            _not_checked(QualityFindings(parts, collector), reason)
        collector.finish()
        return collector


def refuse_missing_library(selection: Selection) -> None:
    """Raise `MissingExtraError` where a rule that is wanted needs a library that is not there."""
    is_wanted = any(rule.name == _ITS_RULE and selection.takes_rule(rule) for rule in RULES)
    if is_wanted and importlib.util.find_spec(_LIBRARY) is None:
        raise MissingExtraError("quality", _LIBRARY)


def _check(
    found: QualityFindings, tables: CanonicalTables, options: QualityOptions, progress: Doing | None, jobs: int
) -> None:
    from ragdatakit.quality.texts import check_question_texts, check_texts

    run = Checked(tables, options, found, progress, jobs)
    checks = (check_texts, check_question_texts, check_questions, check_answers, check_negatives, check_graph)
    for check in checks:
        _guarded(found, partial(check, run))


def _guarded(found: QualityFindings, check: Callable[[], object]) -> None:
    """A check that fails on the data hides no other."""
    try:
        check()
    except (MissingExtraError, MachineError):
        raise
    except RagdataError as error:
        _not_checked(found, str(error))
    except Exception as error:  # noqa: BLE001 - what the other checks find must be reported, too
        refuse_machine_fault(error)
        _not_checked(found, f"ragdata's own check failed, {type(error).__name__}: {error}")


def _report_left_out(found: QualityFindings, tables: CanonicalTables) -> None:
    """What was not read of plain data: no other check reports it."""
    for loss in tables.losses:
        if loss.kind == "dropped" and loss.reason not in NO_DATA:
            number = f"{loss.count:,} × " if loss.count > 1 else ""
            more = f" and {loss.count - len(loss.examples):,} more" if loss.count > len(loss.examples) else ""
            _not_checked(
                found, f"{number}{loss.reason}" + (f": {', '.join(loss.examples)}{more}" if loss.examples else "")
            )


def _not_checked(found: QualityFindings, reason: str) -> None:
    """Report each reason once: several checks read the same tables."""
    reason = reason.removeprefix(f"{found.parts[0].display}: ")
    if reason in found.failed:
        return
    found.failed.add(reason)
    parts = {f"part{n}": reason[_SHOWN * n : _SHOWN * (n + 1)] for n in range(3)}
    found.collector.add(found.named_in(reason), Problem("quality-not-checked", facts=parts), Place())


def complete_findings(found: QualityFindings, memory_limit: int, progress: Doing | None) -> None:
    """Look up the records of all that is kept, and make the findings."""
    if progress is not None:
        progress.doing = "looking up lines"
    lookups = [one for pending in found.kept for one in (pending.record, pending.other) if one is not None]
    try:
        records = RecordFinder(found, memory_limit, progress).find(lookups)
    except Exception as error:  # noqa: BLE001 - findings without a line are better than none
        refuse_machine_fault(error)
        records = {}
        _not_checked(found, f"ragdata could not look up the lines, {type(error).__name__}: {error}")
    for pending in found.kept:
        there = records.get(pending.record)
        if there is not None:
            pending.problem.pointer = there.pointer
        file = there.file if there is not None else _file_of(found, pending.record)
        place = there.place(pending.fragment, found.format) if there is not None else Place()
        other = records.get(pending.other) if pending.other is not None else None
        related = (other.related(pending.note),) if other is not None else ()
        found.collector.complete(file, pending.problem, place, related)
    found.kept = []


def _file_of(found: QualityFindings, lookup: RecordLookup) -> DataFile:
    """What a finding without a line names: a file of the split that it is about, else the dataset."""
    if lookup.split is not None and not lookup.values:
        return found.file(lookup.split)
    return found.whole()
