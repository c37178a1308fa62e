"""The settings of the project, looked at before a command runs: none of them is passed over silently."""

from __future__ import annotations

from pathlib import Path


def check_settings() -> None:
    """Raise `RagdataError` for a setting that does not exist, or whose value is wrong."""
    from ragdatakit.api.configuration import configuration_of

    configuration_of(Path.cwd())
