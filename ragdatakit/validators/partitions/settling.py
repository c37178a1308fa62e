"""What was found about keys in partitions, reported in the order in which set checks without them report it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from ragdatakit.files.datasets import DataFile
from ragdatakit.validators.partitions.comparing import (
    PROBES,
    REPEATS,
    Hits,
    Section,
    Verdicts,
    probe_range,
    reduce_keys,
)
from ragdatakit.validators.partitions.key_store import KeyStore
from ragdatakit.validators.partitions.known_keys import Question
from ragdatakit.validators.partitions.partitioned_sets import PartitionedSets
from ragdatakit.validators.pending import whole_copies
from ragdatakit.validators.row_problems import RowProblems

if TYPE_CHECKING:
    from ragdatakit.validators.run_context import Group, RunContext


def settle(run: RunContext, store: KeyStore, groups: Sequence[Group]) -> None:
    """Compare the keys of all groups, and report what that gives."""
    checks = [group.sets for group in groups if isinstance(group.sets, PartitionedSets)]
    keys = [
        sets.keys(dict.fromkeys(file.kind for file in group.files), run.rows)
        for sets, group in zip(checks, groups, strict=True)
    ]
    job = checks[0].job(keys, most_shown(run))
    verdicts = list(store.engine.map(partial(reduce_keys, job), range(store.partitions)))
    for one in verdicts:
        for sets, missed, unchecked in zip(checks, one.missed, one.unchecked, strict=True):
            sets.missed |= missed
            sets.unchecked |= unchecked
    hits = _hits(verdicts)
    found = zip(hits, store.engine.map(partial(probe_range, job), hits) if hits else (), strict=True)
    for section, pairs in groupby(found, key=lambda pair: pair[0].section):
        sets, of_group = checks[section[0]], keys[section[0]]
        copies: Mapping[DataFile, DataFile] = {}
        if section[1] == REPEATS:
            if of_group.kinds[section[2]] not in groups[section[0]].fresh:  # reported with an earlier split
                continue
            copies = _copies(run, section, verdicts)
        more = Counter[tuple[Question, int]]()
        for _, of_run in pairs:
            those: Iterable[RowProblems] = of_run.problems
            if section[1] == PROBES:
                those = sets.askable(those)
            run.report(run.rows.outside(one, copies) if copies else one for one in those)
            more.update(of_run.more)
        for one in verdicts:
            more.update(one.more.get(section, {}))
        for (question, number), count in more.items():
            if (file := run.rows.file(question[1], number)) not in copies:
                run.collector.count(question[0], file, count)
    for sets, group in zip(checks, groups, strict=True):
        run.report(sets.doubtful())
        run.report_unchecked(group)


def _hits(verdicts: Sequence[Verdicts]) -> list[Hits]:
    """By section and run, in the order of the report."""
    found: dict[tuple[Section, int], list[tuple[str, int, int]]] = {}
    for one in verdicts:
        for key, (start, end) in one.pieces.items():
            found.setdefault(key, []).append((one.path, start, end))
    return [Hits(section, run, tuple(pieces)) for (section, run), pieces in sorted(found.items())]


def _copies(run: RunContext, section: Section, verdicts: Sequence[Verdicts]) -> dict[DataFile, DataFile]:
    """The files that have nothing but the records of another, which is one finding each."""
    counted: dict[Question, Counter[tuple[DataFile, DataFile]]] = {}
    for one in verdicts:
        for (of_section, question), numbers in one.repeats.items():
            if of_section == section and run.collector.state(question[0]).severity == "error":
                counts = counted.setdefault(question, Counter())
                for pair, number in numbers.items():
                    here, there = (run.rows.file(question[1], which) for which in pair)
                    counts[here, there] += number
    copies = whole_copies(counted.values())
    run.report_copies(copies)
    return copies


def most_shown(run: RunContext) -> int:
    """How many problems of a rule may be shown, or named, of a file (0: all)."""
    selection = run.collector.selection
    mosts = selection.max_per_rule, selection.most_records
    return max(mosts) if all(mosts) else 0
