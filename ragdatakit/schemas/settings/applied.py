"""Which settings hold for a path, and where each comes from: what `ragdata config` prints."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ragdatakit.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Applied:
    """A setting that holds: its name (``severity.SP210``), its value, the file and line it comes from, the section
    there (empty: the top level)."""

    name: str
    value: Any
    place: str
    section: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"name": self.name, "value": self.value, "place": self.place, "section": self.section or None}


@dataclass(frozen=True, slots=True)
class AppliedToDataset:
    """A dataset, and the settings that hold for it."""

    path: str
    format: str
    settings: tuple[Applied, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"path": self.path, "format": self.format, "settings": [one.as_dict() for one in self.settings]}


@dataclass(frozen=True, slots=True)
class AppliedTable:
    """A ``[[table]]``: its paths, what a row is, the files that it names below the path, its other settings."""

    paths: tuple[str, ...]
    kind: str
    place: str
    files: tuple[str, ...]
    settings: tuple[Applied, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        settings = [one.as_dict() for one in self.settings]
        files = list(self.files)
        return {"paths": list(self.paths), "kind": self.kind, "place": self.place, "files": files, "settings": settings}


@dataclass(frozen=True, slots=True)
class AppliedRule:
    """A rule of the project, or of a plug-in: ``by`` is what it is (sql, schema, model, plug-in), ``format`` whose
    datasets it is for (empty: all)."""

    code: str
    name: str
    severity: str
    by: str
    format: str
    place: str

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        words = {"code": self.code, "name": self.name, "severity": self.severity, "by": self.by}
        return {**words, "format": self.format or None, "place": self.place}


@dataclass(frozen=True, slots=True)
class AppliedPlugin:
    """A plug-in that is loaded, and what it brings."""

    name: str
    version: str
    place: str
    rules: tuple[str, ...]
    formats: tuple[str, ...]
    models: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        brings = {"rules": list(self.rules), "formats": list(self.formats), "models": list(self.models)}
        return {"name": self.name, "version": self.version, "place": self.place, **brings}


@dataclass(frozen=True, slots=True)
class AppliedSettings:
    """What holds for a path: the files, the nearest first; the settings of the top level; those of each dataset there;
    the tables, rules and plug-ins.

    ``excluded``: the path is passed over; ``unused`` are sections that fit nothing there, by file and line.
    ``plugins_forbidden``: plug-ins are named, and not loaded. ``baseline`` is the file of known findings (empty: none);
    ``not_used`` are files further down with settings, and baselines, which hold for what is at or below their folders.
    """

    path: str
    files: tuple[str, ...] = ()
    settings: tuple[Applied, ...] = ()
    datasets: tuple[AppliedToDataset, ...] = ()
    excluded: bool = False
    unused: tuple[str, ...] = field(default=())
    tables: tuple[AppliedTable, ...] = ()
    rules: tuple[AppliedRule, ...] = ()
    plugins: tuple[AppliedPlugin, ...] = ()
    plugins_forbidden: bool = False
    baseline: str = ""
    not_used: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "path": self.path,
            "files": list(self.files),
            "excluded": self.excluded,
            "settings": [one.as_dict() for one in self.settings],
            "datasets": [one.as_dict() for one in self.datasets],
            "unused": list(self.unused),
            "tables": [table.as_dict() for table in self.tables],
            "rules": [rule.as_dict() for rule in self.rules],
            "plugins": [plugin.as_dict() for plugin in self.plugins],
            "plugins_forbidden": self.plugins_forbidden,
            "baseline": self.baseline or None,
            "not_used": list(self.not_used),
        }
