"""What the functions of the Python interface have in common: types, limits, and how a dataset is to be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.converters.run import ConvertOptions

PathLike = str | os.PathLike[str]
Progress = Callable[[str, int, int], None]

LEAST_MEMORY = 16 << 20


def given_paths(path: PathLike | Iterable[PathLike]) -> list[Path]:
    """One path or several as a list. Raises `RagdataError` where none is given, or an empty one."""
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not paths or any(not os.fspath(p) for p in paths):
        raise RagdataError("no path given" if not paths else "an empty path was given")
    return [Path(p) for p in paths]


def refuse_number(name: str, value: object, least: int, most: int | None = None, unit: str = "an integer") -> None:
    """Raise where an argument is no integer from ``least`` to ``most``."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise RagdataError(f"{name} is {value!r}, expected {unit}")
    if value < least or (most is not None and value > most):
        span = f"at least {least:,}" if most is None else f"{least:,} to {most:,}"
        raise RagdataError(f"{name} is {value:,}, expected {span}")


def refuse_memory(memory_limit: object) -> None:
    """Raise where a limit of memory is no number of bytes, or too little."""
    refuse_number("memory_limit", memory_limit, LEAST_MEMORY, unit="a number of bytes, such as 1 << 30")


def word(value: object) -> str:
    """The value of an option as the command line writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def reading_options(
    source_format: str = "",
    options: Mapping[str, object] | None = None,
    chunking: Mapping[str, object] | None = None,
    progress: Progress | None = None,
    name: str = "",
    follow_links: bool = False,
) -> ConvertOptions:
    """How a dataset is to be read, of the arguments that all functions share that read one."""
    from ragdatakit.converters.run import ConvertOptions

    return ConvertOptions(
        target_format="",
        source_format=source_format,
        name=name,
        values={key: word(value) for key, value in (options or {}).items()},
        chunking=dict(chunking or {}),
        follow_links=follow_links,
        progress=progress,
    )
