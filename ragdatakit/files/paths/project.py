"""Where the project is that a run belongs to, and what files are called in it: the same whoever runs it from where."""

from __future__ import annotations

import os
from pathlib import Path

from ragdatakit.files.paths.boundary import real_path
from ragdatakit.files.paths.mirrors import as_given

_CHECKOUTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BUILD_SOURCESDIRECTORY", "WORKSPACE")
"""Variables in which CI services name the folder of the checkout, where it has no ``.git``."""


def project_root() -> Path:
    """The nearest folder with ``.git``, from the current one upwards; else the checkout that a CI service names and
    the current folder is in; else the current folder."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / ".git").exists():
            return folder
    for name in _CHECKOUTS:
        place = os.environ.get(name)
        if place and here.is_relative_to(folder := Path(place).resolve()):
            return folder
    return here


def path_within(root: Path, path: str) -> str:
    """The path of a file from ``root``, links followed, with ``/``; the absolute path of one that is elsewhere, and the
    URL of one that was fetched."""
    if (url := as_given(path)) != path:
        return url
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - without following links
    for place in (real_path(Path(path)), absolute):
        if place.is_relative_to(root):
            return place.relative_to(root).as_posix()
    return absolute.as_posix()
