"""The settings of the project, looked at before a command runs: none of them is passed over silently."""

from __future__ import annotations

from collections.abc import Iterable


def check_settings(options: Iterable[str]) -> None:
    """Raise `RagdataError` for a setting that does not exist, or whose value is wrong; ``options`` are those of the
    command line, which are no settings."""
    from ragdatakit.files.configuration import checked_tables

    for file, _, values in checked_tables(options):
        from ragdatakit.quality.options import QualityOptions

        QualityOptions.of_words(values, "setting", file)
