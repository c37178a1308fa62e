"""The engines that a grid is judged by: that of small datasets, and that of large ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ragdatakit.arrays import code_tables, keys
from ragdatakit.scanner import library
from ragdatakit.validators import dataset_run
from ragdatakit.validators.graphrag import row_faults, sql_tables
from ragdatakit.validators.reading import blocks

SMALL, SCANNED = "small", "scanned"
Settings = dict[tuple[object, str], Any]
BLOCK, PART = 2500, 1000


def engine(name: str) -> AbstractContextManager[None]:
    """Validate with the small engine, or with the scanner in tiny blocks whatever the size."""
    return settings(SCANNED_SETTINGS) if name == SCANNED else nullcontext()


SCANNED_SETTINGS: Settings = {
    (dataset_run, "SMALL_DATASET"): -1,
    (dataset_run, "BLOCK_BYTES"): BLOCK,
    (dataset_run, "TEXT_BLOCK_BYTES"): BLOCK,
    (blocks, "PART_BYTES"): PART,
    # Small tables: their pages cost more than the data here, and names share more places, which must be compared.
    (code_tables.RepeatSieve, "_BITS"): 12,
    (code_tables.RepeatSieve, "_BLOCK_BITS"): 6,
    (keys.NumpyConsistency, "_BITS"): 6,
    # Halves of codes are the same everywhere: the other halves tell the texts apart.
    (library, "KEPT"): 1,
    (sql_tables, "_SMALL"): 0,
    (row_faults, "LARGE"): 0,
}


@contextmanager
def settings(wanted: Settings) -> Iterator[None]:
    """With these constants of modules and classes."""
    before = {(home, name): getattr(home, name) for home, name in wanted}
    try:
        for (home, name), value in wanted.items():
            setattr(home, name, value)
        yield
    finally:
        for (home, name), value in before.items():
            setattr(home, name, value)
