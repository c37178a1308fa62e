"""Checks and repairs in turns, until nothing is left that could be repaired."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.api.validating.check import check
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import FixOptions, PathLike
from ragdatakit.schemas.results import FixResult

if TYPE_CHECKING:
    from ragdatakit.validators.baselines.new_findings import Findings

_MOST_RUNS = 3


def repair(
    path: PathLike | Iterable[PathLike], options: FixOptions, refused: Callable[[RagdataError], None] | None = None
) -> tuple[FixResult, Findings]:
    """As `ragdatakit.fix`, but the findings come beside the report, as those of `check`."""
    from ragdatakit.fixes.removed import RemovedFile
    from ragdatakit.fixes.rounds import Repairing, Repairs

    result = FixResult()
    how = Repairing(
        unsafe=options.unsafe,
        write=not options.diff,
        most_shown=options.max_per_rule,
        removed=RemovedFile(Path(options.removed)),
    )
    left = _MOST_RUNS
    while True:
        repairs, left = Repairs(how, result), left - 1
        try:
            result.report, findings = check(path, options, refused, repairs)
        finally:
            repairs.close()
        if not repairs.rewrote or options.diff or not left:
            return result, findings
        findings.close()  # what a file is may be another thing now
