"""What a validation run returns: the datasets it found, their findings, and the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, TypedDict

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.baselines import BaselineUse
from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.findings import SEVERITIES, Finding, Severity
from ragdatakit.schemas.notebooks.tabular import Tabular
from ragdatakit.schemas.texts import many


@dataclass(frozen=True, slots=True)
class FileSummary:
    """One file that was checked; ``bytes`` are uncompressed, ``records`` None where it has no records."""

    path: str
    kind: str
    records: int | None
    bytes: int

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"path": self.path, "kind": self.kind, "records": self.records, "bytes": self.bytes}


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    """One dataset, or one split of it; ``profile`` names the loaders it was checked for."""

    path: str
    format: str
    profile: str | None
    split: str | None
    files: tuple[FileSummary, ...]
    errors: int
    warnings: int

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "path": self.path,
            "format": self.format,
            "profile": self.profile,
            "split": self.split,
            "files": [f.as_dict() for f in self.files],
            "errors": self.errors,
            "warnings": self.warnings,
        }


@dataclass(frozen=True, slots=True)
class Budget:
    """How many findings of some rules pass in the dataset at ``path``: up to ``allowed``; ``found`` is how many there
    are. ``rule`` is a code, the beginning of codes, or a name."""

    path: str
    rule: str
    found: int
    allowed: int

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"path": self.path, "rule": self.rule, "found": self.found, "allowed": self.allowed}


RemoteSource = TypedDict(  # noqa: UP013 - of a class Python compiles the types, for which it first makes its tree's
    "RemoteSource", {"url": str, "revision": str | None, "files": dict[str, str]}
)
RemoteSource.__doc__ = """What a URL stood for: ``revision`` is the commit (null where the store has none), ``files``
are those that were read, by their paths below the URL, each with its version: its ETag, its generation or the digest of
its content."""


@dataclass(slots=True, repr=False)
class Report(Tabular):
    """The result of `ragdatakit.validate`.

    ``counts`` has every finding that was wanted, by severity; ``by_rule`` by code. ``findings`` are those that were
    kept (20 per rule unless set otherwise), ordered by file and line. ``unrecognised`` are data files below the given
    paths that belong to no dataset. ``quality_only``: the data are plain texts and tables, of which nothing is
    declared, so that quality alone was checked. ``selected`` are the rules that alone were checked, as they were asked
    for; empty: all. ``strict_files``: data files that were not checked count as a failure, too. ``baselined`` counts
    the findings that a baseline accepts, ``older`` those that were there at the revision ``since``; they are in none of
    the other counts. ``baselines`` says what of them is stale, exceeded or over; ``strict_baseline``: what is stale
    counts as a failure. ``notes`` are sentences about what could not be taken of the revision, what selected rules do
    not check, and settings that were not used. ``unchanged`` has the datasets that were not checked, as they are what
    they were when they were valid, with the time of that. ``budgets`` are the findings that may be there by the
    configuration. ``passing`` of the errors are no failure, as a budget allows them or errors do not fail; ``failing``
    findings are one, though they are no errors. ``own_rules`` are the rules of the configuration, by code.
    ``unsure_fixes``: faults that were not looked at may forbid some of the fixes. ``ok`` is true when nothing fails.
    ``sources`` say of each URL which state of it was checked: the commit, and the version of each file.
    """

    datasets: list[DatasetSummary] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    counts: dict[Severity, int] = field(default_factory=lambda: dict.fromkeys(SEVERITIES, 0))
    by_rule: dict[str, int] = field(default_factory=dict)
    unrecognised: list[str] = field(default_factory=list)
    quality_only: bool = False
    strict_files: bool = False
    strict_baseline: bool = False
    baselined: dict[Severity, int] = field(default_factory=lambda: dict.fromkeys(SEVERITIES, 0))
    baselines: list[BaselineUse] = field(default_factory=list)
    older: dict[Severity, int] = field(default_factory=lambda: dict.fromkeys(SEVERITIES, 0))
    since: str = ""
    notes: list[str] = field(default_factory=list)
    unchanged: dict[str, str] = field(default_factory=dict)
    selected: tuple[str, ...] = ()
    budgets: list[Budget] = field(default_factory=list)
    passing: int = 0
    failing: int = 0
    own_rules: dict[str, Rule] = field(default_factory=dict)
    unsure_fixes: bool = False
    seconds: float = 0.0
    sources: list[RemoteSource] = field(default_factory=list)
    _COLUMNS: ClassVar[Mapping[str, type]] = {
        **dict.fromkeys(("severity", "code", "rule", "path"), str),
        **dict.fromkeys(("line", "column"), int),
        **dict.fromkeys(("key", "pointer", "message", "consequence", "hint"), str),
        "fixable": bool,
        "fingerprint": str,
    }
    _IN_NOTEBOOKS: ClassVar[Sequence[str]] = ("severity", "code", "path", "line", "column", "message", "hint")

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """Its findings."""
        for f in self.findings:
            place = f.path, f.line, f.column, f.key, f.pointer
            yield f.severity, f.code, f.rule, *place, f.fault, f.consequence, f.hint, f.fixable, f.fingerprint

    def __repr__(self) -> str:
        """One line: the datasets, and how many findings of each severity there are."""
        named = list(dict.fromkeys(f"{dataset.path!r} ({dataset.format})" for dataset in self.datasets))
        more = f" and {len(named) - 3:,} more" if len(named) > 3 else ""
        counts = ", ".join(f"{name} {count:,}" for name, count in self.counts.items())
        return f"<Report on {', '.join(named[:3]) or 'nothing'}{more}: {counts}>"

    @property
    def ok(self) -> bool:
        """Whether the frameworks read everything well, except for what the configuration lets pass."""
        if self.strict_baseline and any(use.stale or use.lower for use in self.baselines):
            return False
        fails = self.counts["error"] > self.passing or self.failing
        return not fails and not (self.strict_files and self.unrecognised)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form, version 1 (docs/output-schema.json describes it)."""
        return {
            "version": 1,
            "datasets": [d.as_dict() for d in self.datasets],
            "findings": [f.as_dict() for f in self.findings],
            "counts": dict(self.counts),
            "by_rule": dict(sorted(self.by_rule.items())),
            "shown": len(self.findings),
            "unrecognised": self.unrecognised,
            "baselined": dict(self.baselined),
            "older": dict(self.older),
            "unchanged": self.unchanged,
            "budgets": [b.as_dict() for b in self.budgets],
            "ok": self.ok,
            **({"sources": self.sources} if self.sources else {}),
        }


@dataclass(frozen=True, slots=True)
class NotFixed:
    """A file that was left as it is although a fix was known, and why; or, with the ``code`` of a rule, in which only
    fixes of this rule were not made."""

    path: str
    reason: str
    code: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"path": self.path, "code": self.code, "reason": self.reason}


@dataclass(slots=True, repr=False)
class FixResult(Tabular):
    """What `ragdatakit.fix` did.

    ``fixed`` counts the fixes by file and code of the rule; ``not_fixed`` are files that were left as they are, and
    fixes that were not made, with the reasons. ``removed`` counts what unsafe fixes removed, which is in the file
    ``removed_to``. ``report`` is what `ragdatakit.validate` says of the data now. Of a run that only shows what it
    would do (``diff``), ``difference`` has the lines of a unified diff, and nothing was written.
    """

    report: Report = field(default_factory=Report)
    fixed: dict[str, Counter[str]] = field(default_factory=dict)
    not_fixed: list[NotFixed] = field(default_factory=list)
    removed: int = 0
    removed_to: str = ""
    difference: list[str] = field(default_factory=list)
    _COLUMNS: ClassVar[Mapping[str, type]] = {"path": str, "code": str, "fixed": int, "reason": str}

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """The fixes by file and rule, then what was not fixed, with the reason."""
        for path, counts in self.fixed.items():
            for code, number in sorted(counts.items()):
                yield path, code, number, None
        for left in self.not_fixed:
            yield left.path, left.code or None, 0, left.reason

    def __repr__(self) -> str:
        """One line: how much was repaired."""
        alone = sum(not each.code for each in self.not_fixed)
        left = f", {many(alone, 'file')} left alone" if alone else ""
        return f"<FixResult: {many(self.number, 'finding')} in {many(len(self.fixed), 'file')}{left}>"

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
