"""The files that a section of the configuration requires of its datasets."""

from __future__ import annotations

from collections.abc import Iterator
from glob import has_magic
from pathlib import Path

from ragdatakit.files.configuration.chosen import Configuration
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.collector import Collector, Place
from ragdatakit.validators.run_settings import place_of


def report_missing(dataset: Dataset, configuration: Configuration, collector: Collector) -> None:
    """Report each path and pattern of ``required`` that is that of no file in the dataset's folder."""
    given = configuration.at(place_of(dataset)).get(("required",))
    for number, pattern in enumerate(given.value if given is not None else ()):
        assert given is not None
        if not any(_files(dataset.root, pattern)):
            facts = {"wanted": repr(pattern), "place": given.file.place((*given.keys, number))}
            whole = DataFile(dataset.root, dataset.display, "", "")
            collector.add(whole, Problem("missing-required-file", facts=facts), Place())
    collector.finish()


def _files(root: Path, pattern: str) -> Iterator[bool]:
    found = root.glob(pattern) if has_magic(pattern) else iter((root / pattern,))
    yield from (path.is_file() for path in found)
