"""Who reads a file, by its container."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragdatakit.validators.reading.file_runs import FileRun

_RUNS = {
    "ndjson": ("ragdatakit.validators.reading.file_runs", "LinesRun"),
    "json-array": ("ragdatakit.validators.reading.file_runs", "ElementsRun"),
    "json-object": ("ragdatakit.validators.reading.file_runs", "ElementsRun"),
    "json-single": ("ragdatakit.validators.reading.file_runs", "ElementsRun"),
    "json-wrapped": ("ragdatakit.validators.reading.file_runs", "ElementsRun"),
    "csv": ("ragdatakit.validators.reading.csv_runs", "CsvRun"),
    "columns": ("ragdatakit.validators.reading.file_runs", "LinesRun"),
    "tagged": ("ragdatakit.validators.reading.tagged_runs", "TaggedRun"),
}
"""By container: module and class, imported when a dataset has such a file."""
_BIG_RUNS = dict.fromkeys(
    ("json-array", "json-object", "json-wrapped"),
    ("ragdatakit.validators.reading.scanned_elements", "ScannedElementsRun"),
) | {
    "ndjson": ("ragdatakit.validators.reading.scanned_items", "ScannedLineRun"),
    "json-single": ("ragdatakit.validators.reading.scanned_items", "ScannedItemsRun"),
    "csv": ("ragdatakit.validators.reading.csv_scans", "ScannedCsvRun"),
    "tagged": ("ragdatakit.validators.reading.scanned_tagged", "ScannedTaggedRun"),
}
"""The same for big datasets, where that is another one."""


_IN_RANGES = dict.fromkeys(
    ("ndjson", "columns"), ("ragdatakit.validators.ranges.replaying", "RangedLinesRun")
) | dict.fromkeys(
    ("json-array", "json-object", "json-wrapped"),
    ("ragdatakit.validators.ranges.element_replaying", "RangedElementsRun"),
)
_IN_RANGES["tagged"] = "ragdatakit.validators.ranges.tagged_replaying", "RangedTaggedRun"
"""The same where files are judged range by range; other containers are read as one range."""
_BIG_IN_RANGES = {"csv": ("ragdatakit.validators.ranges.csv_replaying", "RangedCsvRun")}
"""Those of which only big datasets are."""


@cache
def reader_of(container: str, big: bool, in_ranges: bool = False) -> type[FileRun]:
    """The class whose objects read a file of a small or a big dataset."""
    module, name = _BIG_RUNS.get(container, _RUNS[container]) if big else _RUNS[container]
    if in_ranges:
        ranged = _IN_RANGES | _BIG_IN_RANGES if big else _IN_RANGES
        module, name = ranged.get(container, (module, name))
    kind: type[FileRun] = getattr(import_module(module), name)
    return kind
