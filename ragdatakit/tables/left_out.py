"""Folders whose data is of no known format, beside datasets that are of one."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path

from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.summaries import LeftOut
from ragdatakit.tables.detection import detect
from ragdatakit.tables.plain_sources import is_about


def left_out_folders(path: Path) -> list[LeftOut]:
    """The folders below ``path`` with data files that no dataset has, each with those of its subfolders: the topmost
    ones that neither are a dataset nor hold one.

    What lies in the folder of a dataset is not told (`ragdata validate` does that), nor are files about the data, such
    as a README. Empty where nothing is recognised at all.
    """
    if not path.is_dir():
        return []
    with suppress(RagdataError):
        found = detect(path)
        roots = {dataset.root for dataset in found.datasets}
        holding = {folder for root in roots for folder in (root, *root.parents)}
        counts: Counter[Path] = Counter()
        for name in found.unrecognised:
            file = Path(name)
            if not is_about(file) and roots.isdisjoint(file.parents):
                counts[_topmost(file.parent, path, holding)] += 1
        return [LeftOut(str(folder), number) for folder, number in sorted(counts.items())]
    return []


def _topmost(folder: Path, path: Path, holding: set[Path]) -> Path:
    """The folder, or the highest one above it, still below ``path``, that holds no dataset."""
    while folder != path and folder.parent not in holding:
        folder = folder.parent
    return folder
