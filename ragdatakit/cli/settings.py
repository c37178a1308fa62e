"""The settings of the project, looked at before a command runs: none of them is passed over silently."""

from __future__ import annotations

from collections.abc import Iterator


def check_settings() -> None:
    """Raise `RagdataError` for a setting that does not exist, or whose value is wrong."""
    from ragdatakit.files.configuration import checked_tables

    for file, _, values in checked_tables(_options_of_validate()):
        from ragdatakit.quality.options import QualityOptions

        QualityOptions.of_words(values, "setting", file)


def _options_of_validate() -> Iterator[str]:
    from ragdatakit.cli.validate import command

    for param in command.params:
        yield from param.opts
