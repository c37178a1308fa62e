"""What the codes of one partition show: distinct values, and which ids are named by others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.arrays.codes import are_among, distinct
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.parts.key_files import KeyFile, KeyWriter, PackedKeys, Partition, Role
from ragdatakit.reports.summary.training import PASSAGES

if TYPE_CHECKING:
    from ragdatakit.reports.parts.key_files import Codes

POSITIVES: tuple[Role, ...] = (("qrels", "question_id", "positive"), ("triplets", "question_id", ""))
"""What says that a question has a positive."""
QUESTIONS: Role = ("questions", "question_id", "")
FOUND: Role = ("qrels", "question_id", "found")
OTHERS: Role = ("qrels", "question_id", "others")
_NAMING: tuple[Role, ...] = (
    ("triplets", "positive_id", ""),
    ("triplets", "negative_id", ""),
    ("pair_scores", "doc_id", ""),
)


@dataclass(frozen=True, slots=True)
class Counting:
    """Which files of codes are counted, in how many partitions; ``held``: the tables that have rows."""

    files: tuple[KeyFile, ...]
    partitions: int
    held: frozenset[str]


@dataclass(slots=True)
class KeyCounts:
    """Of a partition, or several: ``distinct`` values by role, ``named`` rows by table. ``lacking`` positives judge
    what is not there; ``found`` are the codes of questions with one that is."""

    distinct: Counter[Role] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    lacking: int = 0
    found: PackedKeys | KeyFile | None = None


def counted_partition(counting: Counting, number: int) -> KeyCounts:
    """What one partition shows."""
    partition, counts = Partition(counting.files, number, counting.partitions), KeyCounts()
    roles = partition.roles()
    for role in roles:
        if role[2] in ("", "integer"):
            counts.distinct[role] += len(partition.codes(role))
    counts.named["questions"] = partition.rows_in(QUESTIONS, _all_of(partition, POSITIVES))
    found: list[Codes] = []
    for table, key, kind in PASSAGES:
        if (table, key, "") in roles:
            named = _all_of(partition, (("qrels", "target_id", kind), *_NAMING))
            counts.named[table] = partition.rows_in((table, key, ""), named)
        pairs = partition.columns(("qrels", "pairs", kind))
        if pairs:
            there = are_among(pairs[0], partition.codes((table, key, ""))) if table in counting.held else None
            found.append(pairs[1][there] if there is not None else pairs[1])
            counts.lacking += 0 if there is None else int(np.count_nonzero(~there))
    keys = KeyWriter()
    if found:
        keys.add(FOUND, distinct(np.concatenate(found)))
    counts.found = keys.packed()
    return counts


def questions_without_gold(counting: Counting, number: int) -> int:
    """How many questions of a partition have positives, none of which is there."""
    partition = Partition(counting.files, number, counting.partitions)
    positive = partition.codes(POSITIVES[0])
    lost = np.setdiff1d(positive, _all_of(partition, (FOUND, OTHERS)), assume_unique=True)
    return partition.rows_in(QUESTIONS, lost)


def _all_of(partition: Partition, roles: Sequence[Role]) -> Codes:
    return distinct(np.concatenate([partition.codes(role) for role in roles]))
