"""The ids of triplets and positive lists as arrays of integers, as the scanner has them; lines that it has left open
are read as the reader reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import numpy as np
import numpy.typing as npt

from ragdatakit.converters.light_splade.reading import note_unread, positive_ids, triplet_ids
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.database.id_tables import integer_of
from ragdatakit.files.containers.json_text import Raw
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading.noted_rows import Note
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.blocks import BlockScanner, ScannedBlock, can_scan
from ragdatakit.scanner.notes import REFUSED
from ragdatakit.schemas.light_splade.format import LIGHT_SPLADE

Ids = tuple[str, ...]


@dataclass(slots=True)
class IdBlock:
    """``numbers`` are the columns; ``odd`` has, by row, the ids that are no integers, and None for the others."""

    numbers: list[npt.NDArray[np.int64]]
    odd: dict[int, tuple[str | None, ...]] = field(default_factory=dict)


def id_blocks(records: RecordReader, file: DataFile, notes: list[Note], jobs: int = 0) -> Iterator[IdBlock]:
    """The rows of a file of triplets or positive lists, block by block, scanned in so many threads. Raises `Unproved`
    where there is no scanner."""
    record = LIGHT_SPLADE.file(file.kind).record
    if not can_scan((record,)):
        raise Unproved
    scanner = BlockScanner(record, {f.name: f.name for f in record.fields})
    is_list = file.kind == "positives"

    def rows_of(fields: dict[str, Raw] | None) -> list[Ids]:
        if fields is None:
            return []
        triplet, listed = (None, positive_ids(fields)) if is_list else (triplet_ids(fields), None)
        if triplet is None and listed is None:
            note_unread(notes, "qrels" if is_list else "triplets", fields)
        if triplet is not None:
            return [triplet]
        return [(listed[0], one) for one in listed[1]] if listed is not None else []

    for taken in records.taken(file, scanner.scan, jobs):
        if isinstance(taken, list):
            columns = [np.empty(0, np.int64)] * (2 if is_list else 3)
            yield _with(columns, [(0, ids) for _, fields in taken for ids in rows_of(fields)])
            continue
        first, _, data, scanned, _ = taken
        numbers, owners = _plain(scanned, [f.name for f in record.fields], is_list)
        refused = [note for note in scanned.notes if note[0] == REFUSED]
        more = [
            (int(place), ids)
            for (_, row, line, start, end), place in zip(
                refused, np.searchsorted(owners, [note[1] for note in refused]).tolist(), strict=True
            )
            for ids in rows_of(records.fields_at(file, first + line, data[start:end]))
        ]
        yield _with(numbers, more)


def _plain(
    scanned: ScannedBlock, names: list[str], is_list: bool
) -> tuple[list[npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
    """The columns of the records that the scanner has read, and the record of each row."""
    columns = [scanned.columns[name].codes.view(np.int64) for name in names]
    if is_list:
        owners = scanned.columns[names[1]].owners
        return [columns[0][owners], columns[1]], owners
    left = [note[1] for note in scanned.notes if note[0] == REFUSED]
    owners = np.arange(scanned.rows)
    if left:
        columns, owners = [np.delete(column, left) for column in columns], np.delete(owners, left)
    return columns, owners


def _with(columns: list[npt.NDArray[np.int64]], more: list[tuple[int, Ids]]) -> IdBlock:
    """Columns with more rows before the rows of these numbers."""
    if not more:
        return IdBlock(columns)
    odd: dict[int, tuple[str | None, ...]] = {}
    places, values = [], []
    for number, (place, ids) in enumerate(more):
        known = [integer_of(text) for text in ids]
        places.append(place)
        values.append([value or 0 for value in known])
        if None in known:
            odd[place + number] = tuple(t if v is None else None for t, v in zip(ids, known, strict=True))
    return IdBlock([np.insert(column, places, [value[i] for value in values]) for i, column in enumerate(columns)], odd)
