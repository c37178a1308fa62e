"""Where an output goes: a folder that is there, and never a file of the data itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click


def check_place(
    out: Path | None, paths: Iterable[Path | str], option: str = "--output-file", read: dict[str, Any] | None = None
) -> None:
    """Raise `click.UsageError` where ``out`` is in no folder, or is a file of the datasets at ``paths``: it would be
    replaced. ``read`` says how these are read (`read_words`)."""
    if out is None:
        return
    if not out.absolute().parent.is_dir():
        raise click.UsageError(f"{option}: there is no folder {out.absolute().parent}")
    if out.is_file() and any(out.samefile(file) for file in _files(out, map(Path, paths), read or {}) if file.exists()):
        raise click.UsageError(f"{option}: {out} is a file of the data itself")


def _files(out: Path, paths: Iterable[Path], read: dict[str, Any]) -> Iterator[Path]:
    """The files of the datasets which the output may be one of."""
    from ragdatakit.api.arguments import reading_options
    from ragdatakit.api.sources import find_datasets
    from ragdatakit.converters.run import files_read
    from ragdatakit.schemas.errors import RagdataError

    place = out.resolve()
    for path in paths:
        if path.is_file():
            yield path
        is_config = path.suffix in (".yaml", ".yml")
        if not is_config and not (path.is_dir() and place.is_relative_to(path.resolve())):
            continue
        try:
            found = find_datasets(
                [path], reading_options(**{name: value for name, value in read.items() if name != "dataset"})
            )
        except (RagdataError, OSError):
            continue  # the command itself says what is wrong
        for each in found:
            yield from (file for _, file in files_read(each.source))
