"""Repairs of what any format may have."""

from __future__ import annotations

from collections.abc import Mapping

from ragdatakit.files.containers.sources import BOM
from ragdatakit.fixes.edits import rewritten, safe
from ragdatakit.fixes.find import Repair
from ragdatakit.schemas.fixes import Edit, Fix
from ragdatakit.validators.faults import Fault


def _without_mark(fault: Fault) -> Fix | None:
    return safe(Edit(0, len(BOM)))


def _with_one_line_end(fault: Fault) -> Fix | None:
    return rewritten("line-feeds")


REPAIRS: Mapping[str, Repair] = {"byte-order-mark": _without_mark, "mixed-line-endings": _with_one_line_end}
