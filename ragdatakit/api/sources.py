"""Which dataset a path means, for the functions that take one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.converters.run import ConvertOptions, Source

_MOST_SHOWN = 5


def only_source(path: Path, wanted: ConvertOptions) -> Source:
    """The one dataset at ``path``. Raises `RagdataError` where there is none, or several, or for unknown options."""
    from ragdatakit.converters.run import find_sources, refuse_unknown_options

    found = find_sources(path, wanted)
    if len(found) > 1:  # a folder that is one of them itself has been chosen by its name
        own = [source for source in found if source.root.resolve() == path.resolve()]
        if len(own) != 1:
            raise RagdataError(_several(path, found))
        found = own
    refuse_unknown_options(wanted.values, (found[0].format,))
    return found[0]


def _several(path: Path, found: list[Source]) -> str:
    places = ", ".join(source.display for source in found[:_MOST_SHOWN])
    more = f" and {len(found) - _MOST_SHOWN:,} more" if len(found) > _MOST_SHOWN else ""
    return f"{path} holds {len(found):,} datasets; give one of them: {places}{more}"
