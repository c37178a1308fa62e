"""The findings of the datasets that files in an editor belong to, and what repairs them."""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing
from dataclasses import field
from pathlib import Path

from ragdatakit.api.validate import validate
from ragdatakit.fixes.applying import PlainFile, resolved
from ragdatakit.fixes.groups import is_grouped, rests_on
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas import FORMATS
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.findings import Finding

_MOST = 1_000
"""Findings of a rule that an editor is given."""


class Kind(NamedTuple):
    """The format of a file, and its kind there."""

    format: str
    kind: str


@dataclass(slots=True)
class Checked:
    """What was found in one dataset or more: the findings of each of its files, also of those that have none.

    ``refused`` is why a file could not be checked; ``""`` where it was, or belongs to no dataset.
    """

    findings: dict[Path, list[Finding]] = field(default_factory=lambda: defaultdict(list))
    kinds: dict[Path, Kind] = field(default_factory=dict)
    refused: str = ""


def check(path: Path) -> Checked:
    """Check the dataset that a file belongs to, as the project's settings say."""
    checked = Checked()
    try:
        report = validate(path, whole_datasets=True, skip_unrecognised=True, config=True, max_per_rule=_MOST)
    except RagdataError as error:
        checked.refused = str(error)
        return checked
    for dataset in report.datasets:
        for file in dataset.files:
            place = Path(dataset.path, file.path)
            checked.findings[place] = []
            checked.kinds[place] = Kind(dataset.format, file.kind)
    for finding in report.findings:
        checked.findings[Path(finding.path)].append(finding)
    return checked


def is_safe_alone(kind: Kind | None, finding: Finding) -> bool:
    """Whether the fix of a finding is safe whatever is found elsewhere. ``--fix`` makes more of them: it sees all
    faults of a dataset, changes ids everywhere or nowhere, and withholds what other records speak against."""
    if kind is None or kind.format not in FORMATS or not finding.fixable:
        return False
    if finding.fix is None or finding.fix.applicability != "safe":
        return False
    return not is_grouped(kind.format, finding.rule) and not rests_on(kind.format, finding.rule, kind.kind)


def changes(path: Path, finding: Finding) -> list[tuple[int, int, str]]:
    """Which bytes of the file the fix of a finding replaces by which text; none where it has no such fix."""
    if finding.fix is None or not finding.fix.edits or finding.fix.path:
        return []
    with closing(PlainFile(path)) as source:
        return [
            (start, end, text.decode("utf-8", "replace"))
            for start, end, text in resolved(source, finding.fix.edits) or ()
        ]
