"""Where findings are, and how severe, in the terms of those that read other forms than ours."""

from __future__ import annotations

import os
import re
from dataclasses import field
from pathlib import Path
from urllib.parse import quote

from ragdatakit.files.paths.project import path_within
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.findings import Finding

_DRIVE = re.compile(r"[A-Za-z]:/")


@dataclass(slots=True)
class Paths:
    """What files are called from a folder; each is looked up once."""

    root: Path
    _known: dict[str, str] = field(default_factory=dict)

    def name(self, path: str) -> str:
        """The path of a file as a finding has it, from the folder, with ``/``."""
        if path not in self._known:
            self._known[path] = path_within(self.root, path)
        return self._known[path]


def is_relative(path: str) -> bool:
    """Whether a path with ``/`` is one within the folder."""
    return not path.startswith("/") and not _DRIVE.match(path)


def uri_of(path: str) -> str:
    """A path with ``/`` as a URI: relative, or ``file://`` for one that begins with a root, a drive or a server."""
    encoded = quote(os.fsencode(path), safe="/")
    if path.startswith("//"):
        return f"file:{encoded}"
    if path.startswith("/"):
        return f"file://{encoded}"
    return f"file:///{path[:2]}{encoded[4:]}" if _DRIVE.match(path) else encoded


def region(finding: Finding) -> tuple[int, int, int, int]:
    """First line and column, last line and the column behind the end, of any finding: 1:1 to 1:2 for a whole file."""
    line, column = finding.line or 1, finding.column or 1
    if finding.end_line and finding.end_column and (finding.end_line, finding.end_column) > (line, column):
        return line, column, finding.end_line, finding.end_column
    return line, column, line, column + 1


def unicode_text(text: str) -> str:
    """The text with what UTF-8 cannot hold, as in paths that are not Unicode, as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
