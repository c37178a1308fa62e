"""What is known of a CSV file as a whole, and of consecutive rows of it, while it is read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragdatakit.files.csv_cells import ColumnScan, Kind
from ragdatakit.files.csv_rows import RawRow
from ragdatakit.schemas.findings import Problem

if TYPE_CHECKING:
    from ragdatakit.validators.row_problems import RowProblems

Scans = dict[str, ColumnScan]


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
    """Consecutive rows of one chunk: decoded, or as Arrow columns, or already as a batch of codes."""

    first_row: int
    rows: int
    chunk: int
    scans: Scans
    faults: list[tuple[int, RawRow, list[Problem]]] = field(default_factory=list)
    doubtful: list[int] = field(default_factory=list)
    excess: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    values: list[dict[str, str]] = field(default_factory=list)
    table: Any = None
    batch: Any = None
    found: list[RowProblems] = field(default_factory=list)
    numbers: Counter[str] = field(default_factory=Counter)
