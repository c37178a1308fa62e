"""Where the id at a place of a file leads: the records of the dataset that have it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragdatakit.api.configuration import configuration_of
from ragdatakit.files.containers.positions import byte_positions
from ragdatakit.files.containers.strict_json import escape
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.whole_datasets import whole_datasets
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quality.located_records import LocatedRecord, LocatedRecords
from ragdatakit.schemas.declarations import Reference

MOST_BYTES = 50_000_000
"""A larger file is neither searched for a record nor checked for an editor."""


@dataclass(frozen=True, slots=True)
class Target:
    """Bytes of a file: where a record has its id."""

    path: Path
    start: int
    end: int


def targets(path: Path, offset: int) -> list[Target]:
    """The records that the value at this byte of a file refers to; none where it refers to nothing."""
    records = LocatedRecords(4 * MOST_BYTES)
    for dataset in whole_datasets([path], plugged=configuration_of(path).formats).datasets:
        for file in dataset.files:
            if file.path == path:
                declared = [each for each in dataset.format.references if each.kind == file.kind]
                for reference, value in _values_at(records, dataset, file, declared, offset):
                    return list(_having(records, dataset, reference, value, file.split))
    return []


def _values_at(
    records: LocatedRecords, dataset: Dataset, file: DataFile, declared: list[Reference], offset: int
) -> Iterator[tuple[Reference, Any]]:
    """The value of a field that refers to others, where it is at this byte."""
    if not declared:
        return
    record = _record_at(records, dataset, file, offset)
    if record is None:
        return
    for reference in declared:
        name = reference.field.lstrip("@")
        value = record[2].get(name) if isinstance(record[2], dict) else None
        items = enumerate(value) if isinstance(value, list) else [("", value)]
        for place, item in items:
            pointer = f"/{escape(name)}" + (f"/{place}" if place != "" else "")
            span = _bytes_of(record, pointer)
            if span is not None and span[0] <= offset <= span[1]:
                yield reference, item


def _record_at(records: LocatedRecords, dataset: Dataset, file: DataFile, offset: int) -> LocatedRecord | None:
    for found in records.of(dataset, file):
        located = found[1]
        if located.byte_offset > offset:
            return None
        if offset <= located.byte_offset + len(located.raw):
            return found
    return None


def _having(
    records: LocatedRecords, dataset: Dataset, reference: Reference, value: Any, split: str | None
) -> Iterator[Target]:
    """Where the records are that have the value in the field that is referred to; of this split, if files have one."""
    name = reference.to_field.lstrip("@")
    for file in dataset.files:
        other_split = split and file.split and file.split != split
        if file.kind != reference.to_kind or other_split or too_large(file.path):
            continue
        for found in records.of(dataset, file):
            record = found[2]
            if isinstance(record, dict) and type(record.get(name)) is type(value) and record[name] == value:
                span = _bytes_of(found, f"/{escape(name)}")
                if span is not None:
                    yield Target(file.path, *span)


def _bytes_of(record: LocatedRecord, pointer: str) -> tuple[int, int] | None:
    """Which bytes of the file the value at a pointer is."""
    form, located, _ = record
    text = located.raw.decode("utf-8", "replace")
    span = form.span(text, pointer)
    if span is None:
        return None
    start, end = byte_positions(located.raw, text, (span[0], sum(span)))
    return located.byte_offset + start, located.byte_offset + end


def too_large(path: Path) -> str:
    """Why a file is passed over: it is too large, or not there; ``""`` where it is not."""
    try:
        size = path.stat().st_size
    except OSError as error:
        return error.strerror or str(error)
    return f"it has more than {MOST_BYTES // 1_000_000} MB; `ragdata validate` checks it" if size > MOST_BYTES else ""
