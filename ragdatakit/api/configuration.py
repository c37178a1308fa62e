"""The configuration of a project for whoever reads what is at a path: one resolution for all commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.schemas.options import PathLike

if TYPE_CHECKING:
    from ragdatakit.files.configuration.chosen import Configuration, Configurations


def configurations(config: PathLike | bool) -> Configurations:
    """Those of the paths of a run: ``config`` is a file, or whether the nearest upwards from each path counts.

    Raises `RagdataError` where the file is missing or wrong.
    """
    from ragdatakit.files.configuration.chosen import Configurations

    return Configurations(config if isinstance(config, bool) else Path(config))


def configuration_of(path: PathLike, config: PathLike | bool = True) -> Configuration:
    """That of one path: ``file`` is the nearest file with settings (None: there is none), ``path("baseline")`` the
    file that its key ``baseline`` names. Raises `RagdataError` where a file is wrong."""
    return configurations(config).of(Path(path))
