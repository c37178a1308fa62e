"""What a run of fixes did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ragdatakit.schemas.results import Report


@dataclass(frozen=True, slots=True)
class NotFixed:
    """A file that was left as it is although a fix was known, and why."""

    path: str
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"path": self.path, "reason": self.reason}


@dataclass(slots=True)
class FixResult:
    """What `ragdatakit.fix` did.

    ``fixed`` counts the fixes by file and code of the rule; ``not_fixed`` are files that were left as they are, and
    why. ``removed`` counts what unsafe fixes removed, which is in the file ``removed_to``. ``report`` is what
    `ragdatakit.validate` says of the data now. Of a run that only shows what it would do (``diff``), ``difference``
    has the lines of a unified diff, and nothing was written.
    """

    report: Report = field(default_factory=Report)
    fixed: dict[str, Counter[str]] = field(default_factory=dict)
    not_fixed: list[NotFixed] = field(default_factory=list)
    removed: int = 0
    removed_to: str = ""
    difference: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether any file was changed, or would be."""
        return bool(self.fixed)

    @property
    def number(self) -> int:
        """How many findings were repaired."""
        return sum(counts.total() for counts in self.fixed.values())

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "fixed": {path: dict(sorted(counts.items())) for path, counts in self.fixed.items()},
            "not_fixed": [each.as_dict() for each in self.not_fixed],
            "removed": self.removed,
            "removed_to": self.removed_to,
        }
