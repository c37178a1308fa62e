"""Repairs of what any format may have."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ragdatakit.files.containers.beginnings import BOM
from ragdatakit.files.containers.sources import Source
from ragdatakit.fixes.edits import rewritten, safe
from ragdatakit.fixes.find import Repair
from ragdatakit.fixes.whole_files import as_lines
from ragdatakit.schemas.fixes import Edit, Fix
from ragdatakit.validators.faults import Fault

_LONE = re.compile(rb"\r[^\n]")


def _without_mark(fault: Fault) -> Fix | None:
    return safe(Edit(0, len(BOM)))


def _with_one_line_end(fault: Fault) -> Fix | None:
    """If no line ends in a carriage return alone: beside a line break that makes a blank line, or none."""
    path = fault.file.path
    source, last = Source(path, path.name.endswith(".gz"), boundary=fault.file.boundary), b""
    for piece in source.pieces():
        if _LONE.search(last + piece):
            return None
        last = piece[-1:]
    return rewritten("line-feeds")


REPAIRS: Mapping[str, Repair] = {
    "byte-order-mark": _without_mark,
    "mixed-line-endings": _with_one_line_end,
    "array-for-lines": as_lines,
}
