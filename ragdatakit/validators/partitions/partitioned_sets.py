"""Set checks whose keys are in files, cut into partitions: the process that asked holds none of them."""

from __future__ import annotations

import errno
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ragdatakit.arrays.code_tables import HashTable
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.scratch import ScratchFolder
from ragdatakit.schemas.declarations import Format
from ragdatakit.schemas.errors import EngineError
from ragdatakit.validators.partitions.comparing import GroupKeys, KeyJob
from ragdatakit.validators.partitions.key_runs import (
    KeylessRows,
    PackedKeys,
    Run,
    RunBatch,
    RunWriter,
    columns_of,
    partition_of,
)
from ragdatakit.validators.pending import RowMap
from ragdatakit.validators.row_problems import RowProblems
from ragdatakit.validators.run_options import Engine
from ragdatakit.validators.set_plan import plan_sets
from ragdatakit.validators.sets import Batch, SetChecks

PARTITION_BYTES = 64 << 20
"""Of files whose keys are in one partition, about: who compares them needs some memory for each."""
MOST_PARTITIONS = 1 << 12
_RUN_ROWS = 1 << 20
"""Of records whose keys are written at once, where they are read here."""


@dataclass(frozen=True, slots=True)
class WantedKeys:
    """Which keys of a range are to be written, and where: into ``folder``, or (empty) sent to who asked. ``alone``:
    nobody else wants its key columns."""

    split: str | None
    kinds: frozenset[str]
    rules: frozenset[str]
    several: bool
    partitions: int
    folder: str
    name: str
    alone: bool

    def writer(self, fmt: Format, kind: str) -> RunWriter:
        """Who gathers them."""
        plan = plan_sets(fmt, self.split, set(self.kinds), self.rules.__contains__, self.several)
        return RunWriter(plan, kind, self.partitions)

    def kept(self, packed: PackedKeys, key: tuple[int, int]) -> tuple[Run | PackedKeys, KeylessRows]:
        """The keys of a range, written where they are wanted. Raises `EngineError` where that is not possible."""
        keyless, packed.keyless = packed.keyless, KeylessRows()
        if not self.folder:
            return packed, keyless
        return _written(packed, Path(self.folder) / "-".join((self.name, *map(str, key)))), keyless


def _written(packed: PackedKeys, path: Path) -> Run:
    try:
        packed.write(path)
    except OSError as error:
        advice = "the folder that `scratch` names has to be there for all workers"
        if error.errno in _FULL:
            advice = "free some space, or name a folder with more in TMPDIR, of a cluster in `scratch`"
        words = f"{path.parent} on {platform.node()} cannot be written ({error.strerror})"
        raise EngineError(f"{words}; {advice}") from None
    return Run(str(path), packed.bounds)


_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}


class KeyStore:
    """The files of keys of a dataset. ``engine`` is who compares them: its workers where they see the folder, else
    processes of this machine."""

    def __init__(self, engine: Engine, total_bytes: int) -> None:
        wanted = min(max(total_bytes // PARTITION_BYTES, 1), MOST_PARTITIONS)
        self.partitions: int = 1 << (wanted - 1).bit_length()
        try:
            self._scratch = ScratchFolder(engine.shared)
        except OSError as error:
            raise EngineError(
                f"no folder for keys can be made ({error.strerror}); set TMPDIR to one that can be written to"
            ) from None
        self.is_shared = engine.shared is not None
        self.engine = engine if self.is_shared else engine.here
        self.folder = self._scratch.path
        self._runs = 0

    def put(self, keys: PackedKeys) -> Run:
        """Write a run of this process, or of one that could not."""
        self._runs += 1
        return _written(keys, self.folder / f"run-{self._runs}")

    def remove(self) -> None:
        """They are needed no more."""
        self._scratch.remove()


class PartitionedSets(SetChecks):
    """The set checks of one split: keys are written as they come, and compared at the end."""

    def __init__(
        self,
        fmt: Format,
        split: str | None,
        kinds: set[str],
        wanted: Callable[[str], bool],
        several: bool,
        store: KeyStore,
    ) -> None:
        super().__init__(fmt, split, kinds, wanted, several, lambda *key: None, lambda: None)
        self._format, self._several, self._store = fmt, several, store
        self._rules = frozenset(rule.name for rule in fmt.rules if wanted(rule.name))
        self._runs: dict[str, list[Run]] = {}
        self._rows: dict[str, KeylessRows] = {}
        self._writers: dict[str, tuple[RunWriter, int]] = {}

    def wanted(self, alone: bool) -> WantedKeys:
        """What is asked of ranges."""
        kinds, folder = frozenset(self.kinds), str(self._store.folder) if self._store.is_shared else ""
        partitions = self._store.partitions
        return WantedKeys(self.split, kinds, self._rules, self._several, partitions, folder, f"{id(self):x}", alone)

    def probe(self, kind: str, batch: Batch) -> list[RowProblems]:
        """Nothing is known yet."""
        return []

    def absorb(self, kind: str, batch: Any) -> None:
        """Write down the keys of these records, which were read here."""
        if kind not in self._writers:
            self._writers[kind] = RunWriter(self.plan, kind, self._store.partitions), batch.first_row
        writer, first_row = self._writers[kind]
        here = batch.first_row
        if named := self.plan.named.get(kind):
            self.keyless.setdefault(kind, []).extend(batch.without(named))
        writer.add(batch, here - first_row)
        batch.first_row = here
        if writer.length > _RUN_ROWS:
            self._write(kind)

    def _write(self, kind: str) -> None:
        writer, first_row = self._writers.pop(kind)
        packed = writer.packed()
        self.take(kind, self._store.put(packed), None, first_row)

    def take(self, kind: str, run: Run | PackedKeys, keyless: KeylessRows | None, first_row: int) -> None:
        """The keys of the next records of a kind, the first of which has this row."""
        written = self._store.put(run) if isinstance(run, PackedKeys) else run
        self._runs.setdefault(kind, []).append(replace(written, first_row=first_row))
        if keyless is not None and keyless.count:
            rows = self._rows.setdefault(kind, KeylessRows(0, keyless.first + first_row))
            rows.count += keyless.count

    def freeze(self, kind: str) -> list[RowProblems]:
        """Nothing is known yet."""
        if kind in self._writers:
            self._write(kind)
        return []

    def finish(self) -> list[RowProblems]:
        """Nothing is known yet."""
        return []

    def compare(self, earlier: SetChecks) -> list[RowProblems]:
        """Nothing is known yet."""
        return []

    def lookup(self, kind: str, field: str) -> Any | None:
        """No key is at hand."""
        raise NotImplementedError("these checks look keys up while files are read")

    def keys(self, kinds: Iterable[str], rows: RowMap) -> GroupKeys:
        """What partitions are compared by; ``kinds`` are in the order in which they were read."""
        order = tuple(kinds)
        files = {kind: rows.first_rows(kind) for kind in order}
        doubts = frozenset(self.unreliable), frozenset(self.partial)
        return GroupKeys(self.split, order, self._runs, files, *doubts)

    def job(self, groups: Sequence[GroupKeys], most: int) -> KeyJob:
        """The job of comparing the keys of this and other groups; ``most`` problems of a rule and file may be shown."""
        return KeyJob(self._format, self._rules, self._several, str(self._store.folder), most, tuple(groups))

    def doubtful(self) -> list[tuple[str, str, KeylessRows]]:
        """The kinds that references missed and whose keys cannot be relied on, with their key and those rows."""
        found = []
        for kind in sorted(self.missed):
            rows = self._rows.get(kind, KeylessRows())
            rows.add(sorted(set(self.keyless.get(kind, ()))))
            if rows.count:
                found.append((kind, self.plan.named.get(kind, ""), rows))
        return found

    def are_keys_of(self, kind: str, field: str) -> Callable[[Sequence[str]], list[bool]]:
        """Who says of texts whether they are keys."""
        return partial(_are_keys, columns_of(self.plan, kind), self._runs.get(kind, []), field, self._store.partitions)


def _are_keys(columns: list[Any], runs: list[Run], field: str, partitions: int, texts: Sequence[str]) -> list[bool]:
    codes = codes_of_texts(texts)
    numbers = partition_of(codes, partitions)
    table, found = HashTable(codes), np.zeros(len(codes) + 1, np.bool_)  # the last one is for keys that nobody asks for
    for number in np.unique(numbers).tolist():
        for run in runs:
            found[table.positions(RunBatch(columns, run, number).codes((field,))[0])] = True
    known: list[bool] = found[table.positions(codes)].tolist()
    return known
