"""Which settings hold for a path, and where each comes from: what `ragdata config` prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


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
class AppliedSettings:
    """What holds for a path: the files, the nearest first; the settings of the top level; those of each dataset there.

    ``excluded``: the path is passed over; ``unused`` are sections that fit nothing there, by file and line.
    """

    path: str
    files: tuple[str, ...] = ()
    settings: tuple[Applied, ...] = ()
    datasets: tuple[AppliedToDataset, ...] = ()
    excluded: bool = False
    unused: tuple[str, ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "path": self.path,
            "files": list(self.files),
            "excluded": self.excluded,
            "settings": [one.as_dict() for one in self.settings],
            "datasets": [one.as_dict() for one in self.datasets],
            "unused": list(self.unused),
        }
