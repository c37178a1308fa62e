"""A dataset as it is described to others: its files, and the columns of their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ragdatakit.late_dataclasses import dataclass

FileForm = Literal["ndjson", "json", "csv", "tsv", "parquet", ""]
"""How the records of a file are read by others; empty: by ragdata and its framework only."""
ValueType = Literal["string", "integer", "number", "boolean", "object", "array", "any"]


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """A column of a file's records; ``repeated``: a list of such values. ``always``: no record lacks it."""

    name: str
    type: ValueType
    repeated: bool = False
    always: bool = True
    description: str = ""


@dataclass(frozen=True, slots=True)
class DescribedReference:
    """Values of a column name records of another file by its column."""

    column: str
    to_file: str
    to_column: str


@dataclass(frozen=True, slots=True)
class DescribedFile:
    """A file by its path below the dataset; ``size`` in bytes and ``sha256`` are of the file as it lies there.
    ``key`` are the columns that identify a record."""

    path: str
    kind: str
    title: str
    split: str | None
    form: FileForm
    packed: bool
    size: int
    sha256: str
    records: int | None
    columns: Sequence[DescribedColumn] = ()
    key: Sequence[str] = ()
    references: Sequence[DescribedReference] = ()


@dataclass(frozen=True, slots=True)
class DescribedDataset:
    """A dataset; ``said`` is what its user says of it: ``description``, ``license``, ``url`` and the like."""

    name: str
    format: str
    files: Sequence[DescribedFile]
    said: Mapping[str, str]


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, with a number behind those that another one before has, too."""
    taken: set[str] = set()
    found = []
    for name in names:
        new, number = name, 2
        while new in taken:
            new, number = f"{name}-{number}", number + 1
        taken.add(new)
        found.append(new)
    return found
