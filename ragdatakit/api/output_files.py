"""Files that commands and results write: whole or not at all, and never one of the data itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ragdatakit.api.arguments import reading
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import PathLike, SourceOptions


def write_file(path: PathLike, pieces: Iterable[bytes]) -> None:
    """Write the pieces to ``path`` as they are made; the file that was there stays until the last one is written.
    Raises `OSError`."""
    from ragdatakit.files.paths.writing import write_pieces

    write_pieces(Path(path), pieces)


def is_of_data(out: Path, paths: Iterable[Path], options: SourceOptions) -> bool:
    """Whether ``out`` is a file of the datasets at ``paths``, which are read as the options say."""
    return out.is_file() and any(out.samefile(file) for file in _files(out, paths, options) if file.exists())


def _files(out: Path, paths: Iterable[Path], options: SourceOptions) -> Iterator[Path]:
    """The files of the datasets which the output may be one of."""
    from ragdatakit.api.sources import find_datasets
    from ragdatakit.converters.sources import files_read

    place = out.resolve()
    for path in paths:
        if path.is_file():
            yield path  # and what it names, where it is a configuration file
        elif not (path.is_dir() and place.is_relative_to(path.resolve())):
            continue
        try:
            found = find_datasets([path], reading(options))
        except (RagdataError, OSError):
            continue  # the command itself says what is wrong
        for each in found:
            yield from (file for _, file in files_read(each.source))
