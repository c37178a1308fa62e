"""What the functions of the Python interface do with their arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import PathLike, SourceOptions

if TYPE_CHECKING:
    from ragdatakit.converters.sources import ConversionSettings


def given_paths(path: PathLike | Iterable[PathLike]) -> list[PathLike]:
    """One path or several as a list. Raises `RagdataError` where none is given, or an empty one."""
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not paths or any(not os.fspath(p) for p in paths):
        raise RagdataError("no path given" if not paths else "an empty path was given")
    return paths


def several_words(words: str | Iterable[str]) -> tuple[str, ...]:
    """One word or several as a tuple; an empty one is none."""
    return tuple(w for w in ((words,) if isinstance(words, str) else words) if w)


def option_words(options: Mapping[str, object] | None) -> dict[str, str]:
    """The values of converters' options as the command line writes them."""
    return {name: str(v).lower() if isinstance(v, bool) else str(v) for name, v in (options or {}).items()}


def reading(options: SourceOptions, name: str = "") -> ConversionSettings:
    """How datasets are to be read; ``name`` is what they are to be called."""
    from ragdatakit.converters.sources import ConversionSettings

    return ConversionSettings(
        target_format="",
        source_format=options.source_format,
        name=name,
        values=option_words(options.options),
        chunking=dict(options.chunking or {}),
        follow_links=options.follow_links,
        config=options.config if isinstance(options.config, bool) else Path(options.config),
        progress=options.progress,
        tell=options.tell,
    )
