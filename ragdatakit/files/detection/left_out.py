"""What lies at a path and is read by nobody: folders whose data is of no known format, and single files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path

from ragdatakit.files.detection.find import detect
from ragdatakit.files.detection.odd_beginnings import PACKED
from ragdatakit.files.detection.plain_names import is_about
from ragdatakit.files.paths.folders import Tree, size_of
from ragdatakit.schemas.errors import skip_unreadable
from ragdatakit.schemas.summaries import LeftOut, NotRead

_MOST_NAMED = 5


def left_out_folders(path: Path, follow_links: bool = False, plugged: Collection[str] = ()) -> list[LeftOut]:
    """The folders below ``path`` with data files that no dataset has, each with those of its subfolders: the topmost
    ones that neither are a dataset nor hold one. And those that may not be looked into, except for the folders of
    datasets, which these report.

    Files that lie in ``path`` itself or in the folder of a dataset are not listed (`files_not_read` does that), nor are
    those about the data, such as a README. Empty where nothing is recognised at all.
    """
    if not path.is_dir():
        return []
    with skip_unreadable():
        found = detect(path, follow_links=follow_links, plugged=plugged)
        roots = {dataset.root for dataset in found.datasets}
        holding = {folder for root in roots for folder in (root, *root.parents)}
        counts: Counter[Path] = Counter()
        for name in found.unrecognised:
            file = Path(name)
            if file.parent not in holding and roots.isdisjoint(file.parents):
                counts[_topmost(file.parent, path, holding)] += 1
        reported = {name for dataset in found.datasets for name in dataset.unreadable}
        locked = [LeftOut(name, None) for name in found.unreadable if name not in reported]
        return [LeftOut(str(folder), number) for folder, number in sorted(counts.items())] + locked
    return []


def _topmost(folder: Path, path: Path, holding: set[Path]) -> Path:
    """The folder, or the highest one above it, still below ``path``, that holds no dataset."""
    while folder != path and folder.parent not in holding:
        folder = folder.parent
    return folder


def files_not_read(path: Path, read: Collection[Path]) -> list[NotRead]:
    """The files below a folder that are none of those that are ``read``, whatever their names are, in their order.

    Hidden files are not listed, nor those about the data, such as a README, and what ragdata puts next to a dataset.
    Empty where ``path`` is no folder.
    """
    if not path.is_dir():
        return []
    known = {file.absolute() for file in read}
    tree = Tree(path)
    return [
        NotRead(str(path), file.relative_to(path).as_posix(), size_of(file))
        for folder in tree.folders()
        for file in (folder / name for name in tree.names(folder)[0] if not name.startswith("."))
        if not is_about(file) and file.absolute() not in known
    ]


def what_lies_there(path: Path) -> str:
    """In words, the files of a folder in which there is no dataset, the first of them by name; what to do with an
    archive. Empty where there are none."""
    tree = Tree(path)
    names = [
        (folder / name).relative_to(path).as_posix()
        for folder in tree.folders()
        for name in tree.names(folder)[0]
        if not name.startswith(".")
    ]
    if not names:
        return ""
    names.sort(key=lambda name: is_about(Path(name)))
    packed = next((name for name in names if name.lower().endswith(PACKED)), "")
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    words = f"it holds {', '.join(names[:_MOST_NAMED])}{more}"
    return f"{words}; unpack {packed} first" if packed else words
