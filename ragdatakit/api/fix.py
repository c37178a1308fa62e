"""The Python interface of `ragdata validate --fix`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.api.keywords import takes
from ragdatakit.api.validate import check
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import FixOptions, PathLike
from ragdatakit.schemas.results import FixResult

if TYPE_CHECKING:
    from ragdatakit.validators.baselines.new_findings import Findings

_MOST_RUNS = 3


@takes(FixOptions)
def fix(options: FixOptions, path: PathLike | Iterable[PathLike]) -> FixResult:
    """Repair the datasets at ``path`` (one path, or several) as far as that is safe; the result says what was done, and
    what is still wrong.

    Of a dataset all files get their new content, or none does. Raises as `ragdatakit.validate` does, and `OSError`
    where files cannot be written, which are then as they were.
    """
    result, findings = repair(path, options)
    result.report.findings += findings
    findings.close()
    return result


def repair(
    path: PathLike | Iterable[PathLike], options: FixOptions, refused: Callable[[RagdataError], None] | None = None
) -> tuple[FixResult, Findings]:
    """The same, but the findings come beside the report, as those of `ragdatakit.api.validate.check`."""
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
