"""Tables that a first configuration should not name, as their check would fail at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ragdatakit.files.configuration.chosen import Configurations
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.plain_names import READ_AS
from ragdatakit.files.paths.folders import size_of
from ragdatakit.quality.named_tables import NamedTables
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.run_options import RunOptions

_MOST_BYTES = 64 << 20
"""Of all tables that are looked into, the small ones first: it takes three seconds."""
_OF_OTHERS = "TB202"
"""The rule that cannot be checked where some tables are not looked into."""


def first_errors(datasets: Iterable[Dataset], chosen: Configurations) -> dict[Path, str]:
    """What is wrong first in each table among datasets that were found with a configuration."""
    tables, options = NamedTables(), RunOptions(configurations=chosen)
    found: dict[Path, str] = {}
    for dataset in datasets:
        if READ_AS not in dataset.options:
            continue
        small = _small(dataset.files)
        ignored = () if len(small) == len(dataset.files) else (_OF_OTHERS,)
        dataset.files = [file for file in dataset.files if file.path in small]
        selection = Selection(severity="error", ignore=ignored, max_per_rule=0, enough=lambda code, path: 1)
        errors = tables.check_tables(dataset, options, selection, Counter()).kept
        paths = {file.display: file.path for file in dataset.files}
        for error in sorted(errors, key=lambda one: (one.line or 0, one.code)):
            place = f"line {error.line:,}: " if error.line else ""
            found.setdefault(paths[error.path], f"{place}{error.fault} ({error.code})")
    return found


def _small(files: Iterable[DataFile]) -> set[Path]:
    found, left = set[Path](), _MOST_BYTES
    for size, path in sorted((size_of(file.path), file.path) for file in files):
        left -= size
        if left < 0:
            break
        found.add(path)
    return found
