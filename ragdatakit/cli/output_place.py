"""Where an output goes: a folder that is there, and never a file of the data itself."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from ragdatakit.cli.declared_options import given


def check_place(
    out: Path | None, paths: Iterable[Path | str], option: str = "--output-file", read: dict[str, Any] | None = None
) -> None:
    """Raise `click.UsageError` where ``out`` is in no folder, or is a file of the datasets at ``paths``: it would be
    replaced. ``read`` says how these are read (`read_words`)."""
    if out is None:
        return
    if not out.absolute().parent.is_dir():
        raise click.UsageError(f"{option}: there is no folder {out.absolute().parent}")
    if not out.is_file():
        return
    from ragdatakit.api.output_files import is_of_data
    from ragdatakit.schemas.options import SourceOptions

    if is_of_data(out, map(Path, paths), SourceOptions(**given(SourceOptions, read or {}))):
        raise click.UsageError(f"{option}: {out} is a file of the data itself")
