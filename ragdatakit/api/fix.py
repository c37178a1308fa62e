"""The Python interface of `ragdata validate --fix`."""

from __future__ import annotations

from collections.abc import Iterable

from ragdatakit.api.keywords import takes
from ragdatakit.api.validating.repair import repair
from ragdatakit.schemas.options import FixOptions, PathLike
from ragdatakit.schemas.results import FixResult


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
