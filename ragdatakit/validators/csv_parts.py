"""What is known of a CSV file as a whole, and of consecutive rows of it, while it is read."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import Any

from ragdatakit.files.containers.csv_cells import ColumnScan, Kind
from ragdatakit.files.containers.positions import Located
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.declarations import Field, Record
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.row_problems import RowProblems

Scans = dict[str, ColumnScan]


@dataclass(frozen=True, slots=True)
class CsvColumns:
    """The declared columns that a file has, and what is expected of them.

    ``replaced`` are those in whose stead another one is there. ``inferred`` ones hold keys, whose type pandas infers;
    ``key`` is the one by which others refer to the rows. A row needs at least the cells up to ``last_needed``.
    ``places`` are the numbers of the columns in the header.
    """

    fields: list[Field]
    replaced: set[str]
    key: str
    required: list[Field]
    inferred: list[str]
    places: dict[str, int]
    last_needed: int

    @classmethod
    def of(cls, record: Record, header: list[str]) -> CsvColumns:
        """The columns of a file with this header."""
        fields = [f for f in record.fields if f.name in header]
        replaced = {f.replaces for f in fields if f.replaces}
        keys = [f.name for f in fields if f.replaces] or [f.name for f in fields if f.inferred]
        required = [f for f in fields if (f.required or f.replaces) and f.name not in replaced]
        return cls(
            fields=fields,
            replaced=replaced,
            key=keys[0] if keys else "",
            required=required,
            inferred=[f.name for f in fields if f.inferred and f.name not in replaced],
            places={f.name: header.index(f.name) for f in fields},
            last_needed=max((header.index(f.name) for f in required), default=0),
        )


@dataclass(slots=True)
class CsvTable:
    """What a CSV file is as a whole.

    ``kinds`` are, by declared column, what pandas turns it into, chunk by chunk of ``chunk_rows`` rows; ``bare_kinds``
    the same where the cells that pandas takes for missing by default are left out. ``inferred`` are the columns that
    hold keys; ``scans`` what was seen of all cells of a column; ``numbers`` how many of them look like numbers, so far
    as they were counted. ``first_row`` is the number that the first row has among all rows of its kind.
    """

    kind: str
    header: list[str]
    key: str
    first_row: int
    rows: int = 0
    chunk_rows: int = 1
    kinds: dict[str, list[Kind]] = field(default_factory=dict)
    bare_kinds: dict[str, list[Kind]] = field(default_factory=dict)
    inferred: list[str] = field(default_factory=list)
    scans: Scans = field(default_factory=dict)
    numbers: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class CsvPart:
    """Consecutive rows of one chunk: scanned (``values`` are the refused ones) or decoded; perhaps already as codes."""

    first_row: int
    rows: int
    chunk: int
    scans: Scans
    faulty: list[tuple[Located, list[Problem]]] = field(default_factory=list)
    doubtful: list[int] = field(default_factory=list)
    excess: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    values: list[dict[str, str]] = field(default_factory=list)
    scanned: Any = None
    batch: Any = None
    found: list[RowProblems] = field(default_factory=list)
    numbers: Counter[str] = field(default_factory=Counter)
