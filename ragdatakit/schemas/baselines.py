"""Findings that a project has accepted for now: the entries of a baseline, and what a run had to do with them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from ragdatakit.late_dataclasses import dataclass

if TYPE_CHECKING:
    from datetime import date

BASELINE_NAME = "ragdata-baseline.jsonl"


@dataclass(frozen=True, slots=True)
class BaselineEntry:
    """One line of a baseline: a finding that is accepted, or (``count`` above 0) so many of one rule in one file.

    ``path`` is relative to the file of the baseline, with ``/``. ``key`` identifies the record, ``at`` is the JSON
    Pointer into it without the numbers in lists, ``value`` the value or a digest of it, ``nth`` counts equal ones. It
    holds up to the day ``until`` (in UTC, None: always); ``reason`` is the user's, and so are ``others``, fields that
    are not known.
    """

    path: str
    rule: str
    key: str = ""
    at: str = ""
    value: Any = None
    nth: int = 1
    count: int = 0
    until: date | None = None
    reason: str = ""
    others: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def bucket(self) -> tuple[str, str]:
        """The file and the rule."""
        return self.path, self.rule

    @property
    def accepts(self) -> int:
        """How many it accepts: without a number one finding, which stands for one record."""
        return self.count or 1

    @property
    def words(self) -> str:
        """Which finding it is, for people."""
        record = f" {self.key}" if self.key else ""
        return f"{self.rule} {self.path}{record}" + (f" ({self.nth})" if self.nth > 1 else "")

    def as_dict(self) -> dict[str, Any]:
        """The JSON form, as it is written."""
        found: dict[str, Any] = {"path": self.path, "rule": self.rule}
        if self.count:
            found["count"] = self.count
        for name in ("key", "at"):
            if text := getattr(self, name):
                found[name] = text
        if self.value is not None:
            found["value"] = self.value
        if self.nth > 1:
            found["nth"] = self.nth
        if self.until is not None:
            found["until"] = self.until.isoformat()
        if self.reason:
            found["reason"] = self.reason
        return {**found, **{name: value for name, value in self.others.items() if name not in found}}


@dataclass(frozen=True, slots=True)
class BaselineUse:
    """What a run had to do with one baseline, ``file``.

    ``stale`` are entries of what was checked that no finding has; ``lower`` counts of which fewer were found, and
    ``exceeded`` entries of which more were, with the number found; ``expired`` entries whose day is over, though the
    finding is still there, ``ending`` those whose day comes within two weeks. ``powerless`` are entries of rules that
    cannot be accepted. ``written`` is how many entries the file has since, if it was written; if that was to accept
    all, ``refused`` are the codes of findings that cannot be accepted, and how many of each there are.
    """

    file: str
    stale: tuple[BaselineEntry, ...] = ()
    lower: tuple[tuple[BaselineEntry, int], ...] = ()
    exceeded: tuple[tuple[BaselineEntry, int], ...] = ()
    expired: tuple[BaselineEntry, ...] = ()
    ending: tuple[BaselineEntry, ...] = ()
    powerless: tuple[BaselineEntry, ...] = ()
    written: int | None = None
    refused: tuple[tuple[str, int], ...] = ()
