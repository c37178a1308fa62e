"""Compare a folder with the manifest that says how it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from pathlib import Path

from ragdatakit.files.paths.boundary import boundary_of
from ragdatakit.files.paths.digests import file_digest
from ragdatakit.files.paths.folders import is_regular
from ragdatakit.files.paths.manifest import Difference, Manifest, compare, read_manifest
from ragdatakit.files.paths.own_files import MANIFEST as NAME
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.texts import encodable


def verify_folder(
    folder: Path,
    source: Path | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    follow_links: bool = False,
) -> list[Difference]:
    """Every difference below ``folder``; paths are relative to it. Raises `RagdataError` where there is no manifest."""
    if not folder.is_dir():
        raise RagdataError(f"no such folder: {folder}")
    boundary = boundary_of(folder, follow_links)
    places = sorted(p.parent for p in folder.rglob(NAME) if p.is_file())
    if not places:
        raise RagdataError(f"no {NAME} below {folder}: ragdata convert and ragdata fetch write one")
    manifests = {place: manifest for place in places if (manifest := read_manifest(place, boundary)) is not None}
    several = sum(bool(manifest.source.get("files")) for manifest in manifests.values()) > 1
    sources = _SourceFiles(source, follow_links, several) if source is not None else None
    found: list[Difference] = []
    for place, manifest in manifests.items():
        below = place.relative_to(folder).as_posix()
        prefix = "" if below == "." else f"{below}/"
        inner = tuple(f"{p.relative_to(place).as_posix()}/" for p in places if p != place and p.is_relative_to(place))
        found += [
            replace(difference, path=prefix + difference.path)
            for difference in compare(place, manifest, boundary, progress)
            if not inner or not difference.path.startswith(inner)
        ]
        if sources is not None and manifest.source.get("files"):
            found += sources.differences(manifest)
    return found


class _SourceFiles:
    """The files below a source, by name, each digested once at most; ``several``: there may be several datasets."""

    def __init__(self, source: Path, follow_links: bool, several: bool) -> None:
        if not source.exists():
            raise RagdataError(f"no such file or folder: {source}")
        self._several = several
        self._top = source.parent if source.is_file() else source
        self._boundary = boundary_of(source, follow_links)
        below = [source] if source.is_file() else source.rglob("*")
        named = {encodable(p.relative_to(self._top).as_posix()): p for p in below}
        self._files = {name: path for name, path in named.items() if is_regular(path, self._boundary)}
        self._digests: dict[str, str] = {}

    def differences(self, manifest: Manifest) -> list[Difference]:
        """How they differ from those that the manifest names: in the folder itself where it has half of them, as an old
        copy may lie below it, else in the folder that most looks like the source: it has its name, and most of its
        files, as they were."""
        expected = {entry["path"]: entry["sha256"] for entry in manifest.source["files"]}
        held = Counter(prefix for name in self._files for prefix in _prefixes(name, expected)) or Counter([""])
        if not self._several and 2 * held[""] >= len(expected):
            return self._below("", expected)
        name = str(manifest.source.get("name", ""))
        alike = {prefix: ((self._top / prefix).name == name, count) for prefix, count in held.items()}
        best = max(alike.values())
        return min((self._below(prefix, expected) for prefix in sorted(alike) if alike[prefix] == best), key=len)

    def _below(self, prefix: str, expected: dict[str, str]) -> list[Difference]:
        found: list[Difference] = []
        for name, digest in expected.items():
            shown = str(self._top / (prefix + name))
            if prefix + name not in self._files:
                found.append(Difference(shown, "missing"))
            elif (actual := self._digest(prefix + name)) != digest:
                found.append(Difference(shown, "changed", f"sha256 {digest[:16]}…", f"sha256 {actual[:16]}…"))
        return found

    def _digest(self, name: str) -> str:
        if name not in self._digests:
            self._digests[name] = file_digest(self._files[name], self._boundary)
        return self._digests[name]


def _prefixes(name: str, expected: Container[str]) -> Iterator[str]:
    """What is before each end of the name, cut at ``/``, that is expected."""
    start = 0
    while True:
        if name[start:] in expected:
            yield name[:start]
        start = name.find("/", start) + 1
        if not start:
            return
