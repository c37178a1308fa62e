"""Where the baseline of a path is: the file that its configuration names, or the nearest upwards."""

from __future__ import annotations

import os
from pathlib import Path

from ragdatakit.files.configuration.chosen import Configuration
from ragdatakit.schemas.baselines import BASELINE_NAME


def baseline_of(path: Path, configuration: Configuration) -> Path | None:
    """The baseline for a path: the one that the configuration names, or the nearest upwards."""
    named = configuration.path("baseline")
    if named is not None:
        return from_here(named)
    for folder in folders_upwards(path):
        if os.path.isfile(folder / BASELINE_NAME):  # noqa: PTH113 - False, too, where nothing may be looked at
            return from_here(folder / BASELINE_NAME)
    return None


def folders_upwards(path: Path) -> list[Path]:
    """The folder of a path, and those above it up to that of the git repository; outside of one, up to the current
    folder, or no further if that is not above it."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - links are not followed
    folder = absolute if os.path.isdir(absolute) else absolute.parent  # noqa: PTH112 - see above
    above = [folder, *folder.parents]
    for number, place in enumerate(above, 1):
        if os.path.exists(place / ".git"):  # noqa: PTH110 - see above
            return above[:number]
    here = Path.cwd()
    return above[: above.index(here) + 1] if here in above else [folder]


def from_here(file: Path) -> Path:
    """The file as the user would call it."""
    here = Path.cwd()
    return file.relative_to(here) if file.is_relative_to(here) else file
