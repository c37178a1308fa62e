"""Formats as they are sent to workers: one that is known by its name goes by it."""

from __future__ import annotations

import copyreg
import pickle
from typing import Any

from ragdatakit.schemas import FORMATS, get_format
from ragdatakit.schemas.declarations import Format


def _reduced(fmt: Format) -> Any:
    """A format that is known by its name goes by it; that of named tables, say, goes as it is."""
    if fmt.name in FORMATS and get_format(fmt.name) is fmt:
        return get_format, (fmt.name,)
    return fmt.__reduce_ex__(pickle.HIGHEST_PROTOCOL)


def send_by_name() -> None:
    """Have formats pickled so from now on."""
    copyreg.pickle(Format, _reduced)
