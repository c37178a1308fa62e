"""What was found about keys in partitions, reported in the order in which set checks without them report it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from ragdatakit.files.datasets import DataFile
from ragdatakit.validators.partitions.comparing import (
    PROBES,
    REPEATS,
    GroupKeys,
    Hits,
    Section,
    Verdicts,
    probe_range,
    reduce_keys,
)
from ragdatakit.validators.partitions.partitioned_sets import KeyStore, PartitionedSets
from ragdatakit.validators.pending import whole_copies
from ragdatakit.validators.row_problems import RowProblems, unreliable_keys

if TYPE_CHECKING:
    from ragdatakit.validators.run_context import Group, RunContext


def settle(run: RunContext, store: KeyStore, groups: Sequence[Group]) -> None:
    """Compare the keys of all groups, and report what that gives."""
    checks = [group.sets for group in groups if isinstance(group.sets, PartitionedSets)]
    keys = [
        sets.keys(dict.fromkeys(file.kind for file in group.files)) for sets, group in zip(checks, groups, strict=True)
    ]
    job = checks[0].job(keys)
    verdicts = list(store.engine.map(partial(reduce_keys, job), range(store.partitions)))
    for one in verdicts:
        for sets, missed, unchecked in zip(checks, one.missed, one.unchecked, strict=True):
            sets.missed |= missed
            sets.unchecked |= unchecked
    hits = _hits(verdicts)
    found = zip(hits, store.engine.map(partial(probe_range, job), hits) if hits else (), strict=True)
    for section, those in groupby(found, key=lambda pair: pair[0].section):
        sets, of_group = checks[section[0]], keys[section[0]]
        problems: Iterator[Iterable[RowProblems]] = (of_run for _, of_run in those)
        if section[1] == PROBES:
            problems = (_askable(sets, of_run) for of_run in problems)
        elif section[1] == REPEATS:
            is_fresh = of_group.kinds[section[2]] in groups[section[0]].fresh
            copies = _copies(run, of_group, section, verdicts) if is_fresh else None
            problems = (_reported(run, of_run, copies) for of_run in problems)
        for of_run in problems:
            run.report(of_run)
    for sets, group in zip(checks, groups, strict=True):
        for kind, field, rows in sets.doubtful():
            run.report([unreliable_keys(kind, field, rows.first, rows.count)])
        run.report_unchecked(group)


def _hits(verdicts: Sequence[Verdicts]) -> list[Hits]:
    """By section and run, in the order of the report."""
    found: dict[tuple[Section, int], list[tuple[str, int, int]]] = {}
    for one in verdicts:
        for key, (start, end) in one.pieces.items():
            found.setdefault(key, []).append((one.path, start, end))
    return [Hits(section, run, tuple(pieces)) for (section, run), pieces in sorted(found.items())]


def _askable(sets: PartitionedSets, found: Iterable[RowProblems]) -> Iterator[RowProblems]:
    """Problems of references, of which it can be asked what else they may mean."""
    to = {(ref.rule, ref.kind, ref.field): (ref.to_kind, ref.to_field) for ref in sets.plan.references}
    for one in found:
        if (one.rule, one.kind, one.field) in to:
            one.are_keys = sets.are_keys_of(*to[one.rule, one.kind, one.field])
        yield one


def _copies(
    run: RunContext, keys: GroupKeys, section: Section, verdicts: Sequence[Verdicts]
) -> dict[DataFile, DataFile]:
    """The files that have nothing but the records of another, which is one finding each."""
    counted: dict[tuple[str, str, str], Counter[tuple[DataFile, DataFile]]] = {}
    for one in verdicts:
        for (of_section, question), numbers in one.repeats.items():
            if of_section == section and run.collector.state(question[0]).severity == "error":
                runs, counts = keys.runs[question[1]], counted.setdefault(question, Counter())
                for (here, there), number in numbers.items():
                    files = (run.rows.find(question[1], runs[which].first_row)[0] for which in (here, there))
                    counts[tuple(files)] += number  # type: ignore[index]
    copies = whole_copies(counted.values())
    run.report_copies(copies)
    return copies


def _reported(
    run: RunContext, found: Iterable[RowProblems], copies: dict[DataFile, DataFile] | None
) -> Iterator[RowProblems]:
    """What is reported of repeats: nothing of files that were reported with an earlier split (None), and of copies."""
    if copies is not None:
        yield from (run.rows.outside(one, copies) for one in found) if copies else found
