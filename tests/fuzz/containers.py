"""Very many damaged records of each container, wherever blocks are cut, in 1, 2 or 7 threads: both engines report the
same, byte by byte; what repairs a fault is compared in one case of four, as to work it out takes long.

A case is a set of some hundred or thousand records of one container. ``python -m tests.fuzz --part csv --records
1000000 --share 0.9 --seed 7`` goes on until a million damaged ones were tried, 9 of 10 in a set.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from random import Random

import ragdatakit
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.findings import Finding
from ragdatakit.validators import dataset_run
from ragdatakit.validators.reading import blocks
from tests.faults.engines import SCANNED_SETTINGS, Settings, settings
from tests.fuzz import made_sets
from tests.fuzz.cases import Case
from tests.fuzz.draft_sets import draw_draft, files_of
from tests.fuzz.made_sets import Maker

JOBS = (1, 2, 7)
_PLAIN: Settings = {(dataset_run, "SMALL_DATASET"): 1 << 40}
_WITHOUT_FIXES: Settings = {(dataset_run.DatasetRun, "find_fix"): lambda *_: None}
_all_of = attrgetter(*(each.name for each in fields(Finding)))
_LARGEST = 23
"""Blocks are of 1 byte to 8 MB."""
_MADE: dict[str, tuple[tuple[str, str, Maker], ...]] = {
    "ndjson": (
        ("light-splade", "", made_sets.splade),
        ("sage", "", made_sets.sage),
        ("arag", "", made_sets.predictions),
    ),
    "json-array": (
        ("hipporag", "", made_sets.hipporag),
        ("arag", "chunks.json", made_sets.arag),
        ("hipporag", "", made_sets.openie),
    ),
    "json-object": (("hipporag", "", made_sets.legacy),),
    "csv": (("gfm-rag", "", made_sets.stage1),),
    "tsv": (("beir", "", made_sets.beir),),
    "tagged": (("trec", "", made_sets.trec),),
    "gz": (),
}
"""Format, the file that is validated in place of the folder, and what makes the files."""
CONTAINERS = tuple(_MADE)


def _write_set(case: Case, container: str, many: int) -> tuple[str | None, str]:
    """Write a set; its format, and the file that is validated in place of the folder."""
    rng, made = case.rng, _MADE[container]
    name: str | None
    if made and rng.random() < 0.15:
        name, entry, make = rng.choice(made)
        files = make(rng, many // 4)  # with a fault in most records, which take long
        case.damaged = many // 8
    else:
        draft = draw_draft(container, rng)
        files, case.damaged = files_of(draft, container, rng, many, case.share)
        name, entry = draft.notes.get("format"), str(draft.notes.get("entry", ""))
        entry = entry if entry in files else ""
    for place, data in files.items():
        path = case.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    case.history = [f"{name}: {', '.join(files)}"]
    return name, entry


def _size(container: str, rng: Random) -> int:
    """How large blocks are: tiny ones take long, and are for small sets."""
    least = rng.choice((0, 9, 12, 12, 12))
    if container == "gz":  # what is unpacked first has a byte-order mark as a whole
        least = max(least, 2)
    return int(2 ** rng.uniform(least, _LARGEST))


def check(container: str, case: Case) -> Iterator[str]:
    """Where the engines differ on a set of the container."""
    rng = case.rng
    size, jobs = _size(container, rng), JOBS[case.number % len(JOBS)]
    most = 150 if size < 300 else 1000 if size < 3000 else 4000
    name, entry = _write_set(case, container, rng.randrange(most // 3, most))
    most = rng.choice((0, 0, 0, 0, 3, 20))
    case.note("plain")
    fixes: Settings = {} if rng.random() < 0.25 else _WITHOUT_FIXES
    plain, case.records = report(case.folder / entry, name, {**_PLAIN, **fixes}, 1, most)
    case.damaged = min(case.damaged, case.records)  # little is read behind some faults
    how = f"blocks of {size}, {jobs} jobs"
    case.note(how)
    found, _ = report(case.folder / entry, name, {**_scanned(size, rng), **fixes}, jobs, most)
    case.compared += len(plain)
    if found != plain:
        yield f"{how}: {_difference(plain, found)}"


def _scanned(size: int, rng: Random) -> Settings:
    """Settings for the scanner, with blocks of that size; half the time with tables as small as they can be."""
    sizes = ("BLOCK_BYTES", "TEXT_BLOCK_BYTES", "ARRAY_PART_BYTES")
    small = SCANNED_SETTINGS if rng.random() < 0.5 else {}
    wanted = {**small, (dataset_run, "SMALL_DATASET"): -1, (blocks, "PART_BYTES"): rng.choice((size, 1000, 1 << 16))}
    return {**wanted, **{(dataset_run, each): size for each in sizes}}


@contextmanager
def _without_collections() -> Iterator[None]:
    """Without a search for garbage among very many findings, all of which are kept."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@_without_collections()
def report(place: Path, name: str | None, wanted: Settings, jobs: int, most: int) -> tuple[list[str], int]:
    """All that is reported, a text each finding, and how many records there were."""
    with settings(wanted):
        try:
            found = ragdatakit.validate(place, format=name, severity="info", jobs=jobs, max_per_rule=most)
        except RagdataError as error:  # nothing is recognised
            return [str(error)], 0
        findings = [repr(_all_of(each)) for each in found.findings]
    document = replace(found, findings=[]).as_dict()
    return [*findings, repr(document)], sum(f.records or 0 for d in found.datasets for f in d.files)


def _difference(plain: list[str], found: list[str]) -> str:
    more, fewer = [f for f in found if f not in plain], [f for f in plain if f not in found]
    if not more and not fewer:
        return "the same findings in another order"
    words = f"{len(more)} more, {len(fewer)} fewer"
    if len(more) != len(fewer):
        return f"{words}: more {more[:1]}, fewer {fewer[:1]}"
    at = next((i for i, (a, b) in enumerate(zip(more[0], fewer[0], strict=False)) if a != b), 0)
    return f"{words}: {more[0][:60]} {more[0][max(at - 150, 0) : at + 150]} for {fewer[0][max(at - 150, 0) : at + 150]}"


CHECKS: dict[str, Callable[[Case], Iterator[str]]] = {name: partial(check, name) for name in CONTAINERS}
