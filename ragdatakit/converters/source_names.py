"""What a dataset that is converted is called."""

from __future__ import annotations

from pathlib import Path

from ragdatakit.converters.sources import ConversionSettings, Source, converted_root
from ragdatakit.files.paths.boundary import Boundary, real_path
from ragdatakit.files.paths.manifest import read_manifest
from ragdatakit.schemas.texts import as_text


def name_of(source: Source) -> str:
    """What a dataset is called where the user gives no name: its folder, or the file's name where it is a lone file."""
    dataset = source.parts[0]
    if dataset.layout == "file" and dataset.files:
        name = dataset.files[0].path.name
        for ending in (".gz", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".txt"):
            name = name.removesuffix(ending)
        return as_text(name) or "dataset"
    root = real_path(dataset.root)
    while root.name in ("data", "raw", "processed", "stage1", "dataset", "profiles") and root.parent.name:
        root = root.parent
    return as_text(root.name) or "dataset"


def read_name(source: Source, options: ConversionSettings) -> str:
    """What a dataset is called when it is read: as it is asked for, else as the conversion that wrote it did, else by
    its folder or file."""
    return options.name or _recorded_name(converted_root(source.parts[0]), source.parts[0].boundary) or name_of(source)


def _recorded_name(folder: Path | None, boundary: Boundary) -> str:
    """What the dataset that a conversion wrote was called; empty where this is not known."""
    manifest = read_manifest(folder, boundary.with_root(folder)) if folder is not None else None
    name = manifest.target.get("name") if manifest is not None else None
    return name if isinstance(name, str) else ""
