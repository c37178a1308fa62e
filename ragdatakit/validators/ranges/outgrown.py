"""Whether the keys of a dataset would take too much memory: then its files are judged range by range, as by an engine
that was asked for, and the keys are compared in partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.arrays import element_source
from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.containers.parquet_tables import opened_parquet
from ragdatakit.files.containers.sources import file_state
from ragdatakit.files.paths.folders import size_of
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.validators import checks_of
from ragdatakit.validators.dataset_run import DatasetRun
from ragdatakit.validators.ranges.plan import Range, plan_ranges
from ragdatakit.validators.ranges.range_judges import ELEMENTS, NoSets, RangeJudge, is_ranged, judge_of
from ragdatakit.validators.run_options import RunOptions
from ragdatakit.validators.set_plan import plan_sets

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.validators.python_keys import PythonBatch
    from ragdatakit.validators.set_plan import SetPlan

PART_OF_KEYS = 2
"""Of the memory limit, the part that keys may take."""
BYTES_OF_KEY = 48
"""Of memory, at most, for a code, its row, and what finds those that repeat."""
MOST_OF_BYTE = 16
"""Of memory, for the keys in one byte of a file, about: no record is so short that it takes more."""
_PACKED = 4
"""Bytes that were packed into one, about."""
_SAMPLE_BYTES = 1 << 14
_PLACES = (1, 2)
"""Of three parts of a file, behind which samples are taken."""


@contextmanager
def in_parts_where_large(run: DatasetRun) -> Iterator[None]:
    """A context in which a run has processes here judge its files range by range, if its keys would outgrow their part
    of the memory limit, and nobody else was asked to."""
    if not _outgrow(run):
        yield
        return
    from ragdatakit.engines.local_engine import LocalEngine

    engine = LocalEngine(run.options.jobs)
    run.options = replace(run.options, engine=engine)
    try:
        yield
    finally:
        engine.close()


def _outgrow(run: DatasetRun) -> bool:
    files = sorted(run.dataset.files, key=lambda file: (file.kind, file.split or ""))
    left = run.options.memory_limit // PART_OF_KEYS
    if sum(map(_size, files)) * MOST_OF_BYTE <= left or any(
        run.checks.needs(file.kind, file.split).looks_up for file in files
    ):
        return False
    for _, alike in groupby(files, key=lambda file: (file.kind, file.split)):
        left -= _bytes_of_keys(run, [*alike], left)
    return left < 0


def _size(file: DataFile) -> int:
    """Of a file, in bytes, about as it is unpacked."""
    return size_of(file.path) * (_PACKED if file.path.name.endswith(".gz") or is_parquet(file.path) else 1)


def _bytes_of_keys(run: DatasetRun, files: list[DataFile], most: int) -> int:
    """What the keys of files of one kind and split take, by samples of the largest one; 0 where that is too little to
    matter, or they are not judged in ranges."""
    largest, total = max(files, key=_size), sum(map(_size, files))
    if not run.checks.needs(largest.kind, largest.split).in_ranges or not is_ranged(run.container(largest)):
        return 0
    if total * MOST_OF_BYTE * len(run.dataset.format.files) <= most:
        return 0
    with suppress(OSError, RagdataError):  # what is wrong with the file is found when it is read
        keys, length = _sampled(run, largest)
        return int(BYTES_OF_KEY * keys * total / length) if length else 0
    return 0


def _sampled(run: DatasetRun, file: DataFile) -> tuple[int, float]:
    """How many keys samples of a file have, and how many of its bytes, unpacked, they are."""
    kinds = {other.kind for other in run.dataset.files if other.split in (file.split, None)}
    several = len({other.split for other in run.dataset.files} - {None}) > 1
    plan = plan_sets(run.dataset.format, file.split, kinds, run.collector.looks_for, several)
    size, keys, length = _size(file), 0, 0.0
    of_rows, packed = is_parquet(file.path), run.source(file).gz
    for part in _parts(run, file, size):
        judge = _judge(run, file)
        records = 0
        for checked in judge.begun(part, 1 if of_rows or packed else None):
            values = [value for _, _, some, _ in checked.batches for value in some]
            keys += _keys_of(plan, file.kind, judge.columns.of_values(values, 0), len(values)) if judge.columns else 0
            records += checked.records
        if of_rows:
            with opened_parquet(file.path, file.boundary) as table:
                length += size * records / max(table.rows, 1)
        else:
            length += judge.source.bytes_read if packed else part.end - part.start
    return keys, length


def _judge(run: DatasetRun, file: DataFile) -> RangeJudge:
    """Who reads a file as if it were to be checked, as one of a small dataset, and tells nobody."""
    checks = checks_of(run.dataset.format.name)(run.dataset, run.checks.profiles)
    options = RunOptions(memory_limit=run.options.memory_limit, jobs=1)
    selection = replace(run.collector.selection, enough=None)
    mine = DatasetRun(run.dataset, checks, run.collector.profiles, selection, options, Counter(), big=False)
    checks.start_file(file)
    sets: Any = NoSets()
    return judge_of(run.container(file))(mine, sets, file, True)


def _parts(run: DatasetRun, file: DataFile, size: int) -> list[Range]:
    """Ranges to look at: all of what can only be read from its beginning."""
    source, container = run.source(file), run.container(file)
    number = run.dataset.number_of(file)
    if source.gz or is_parquet(file.path) or size < len(_PLACES) * _SAMPLE_BYTES:
        return [Range(number, 0, 0, size, file_state(file.path.stat()), whole=True)]
    first = Range(number, 0, 0, size, file_state(file.path.stat()))
    if container in ELEMENTS:
        plan = plan_ranges(source, number, element_source(container, source, run.kind(file)), size)
        first = (plan.ranges or [first])[0]
    cuts = [size * place // (len(_PLACES) + 1) for place in _PLACES]
    return [replace(first, number=1, start=cut, end=cut + _SAMPLE_BYTES, exact=None) for cut in cuts]


def _keys_of(plan: SetPlan, kind: str, batch: PythonBatch, records: int) -> int:
    """How many keys of so many records are held."""
    of_kind = [fields for of, fields in (*plan.indexed, *plan.headed) if of == kind]
    pairs = sum(len(one.names) for one in plan.consistencies if one.kind == kind)
    spelled = sum(len(one.fields) for one in plan.variants if one.kind == kind)
    return sum(len(batch.codes(fields)[0]) for fields in of_kind) + (pairs + spelled) * records
