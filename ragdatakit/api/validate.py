"""The Python interface of `ragdata validate`."""

from __future__ import annotations

from collections.abc import Iterable

from ragdatakit.api.keywords import takes
from ragdatakit.api.validating.check import check
from ragdatakit.schemas.options import PathLike, ValidateOptions
from ragdatakit.schemas.results import Report


@takes(ValidateOptions)
def validate(options: ValidateOptions, path: PathLike | Iterable[PathLike]) -> Report:
    """Say what a framework would reject, drop or misread in the datasets at ``path`` (one path, or several).

    Raises `RagdataError` if a path is missing or holds nothing recognised or a number is out of range, and
    `UnknownNameError` for unknown names. Faults of the data are never raised.
    """
    report, findings = check(path, options)
    report.findings += findings
    findings.close()
    return report
