"""Folders that ragdata itself wrote: their manifests name the format, whatever the content looks like."""

from __future__ import annotations

from pathlib import Path

from ragdatakit.files.paths.folders import Tree, is_regular
from ragdatakit.files.paths.own_files import MANIFEST
from ragdatakit.schemas.errors import skip_unreadable


class WrittenFolders:
    """What ragdata itself wrote in a tree: its manifest shows the format, whatever the content looks like."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._known: dict[Path, str] = {}

    def format_of(self, folder: Path) -> str:
        """The format in which a folder, or one around it, was written; empty where none was."""
        if folder not in self._known:
            written, boundary = "", self._tree.boundary
            # not `is_file`, which fails in a folder that nobody may look into
            if self._tree.may_have(folder, MANIFEST) and is_regular(folder / MANIFEST, boundary):
                from ragdatakit.files.paths.manifest import read_manifest  # its decoder is not for every small check

                with skip_unreadable():
                    manifest = read_manifest(folder, boundary)
                    written = str(manifest.target.get("format") or "") if manifest is not None else ""
            above = self.format_of(folder.parent) if not written and folder != self._tree.root else ""
            self._known[folder] = written or above
        return self._known[folder]
