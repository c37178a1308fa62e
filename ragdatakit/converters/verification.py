"""Compare a folder with the manifest that says how it was made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ragdatakit.files.detection.find import detect
from ragdatakit.files.paths.boundary import boundary_of
from ragdatakit.files.paths.folders import is_regular
from ragdatakit.files.paths.manifest import Difference, Manifest, compare, read_manifest, source_digest
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
    found: list[Difference] = []
    for place in places:
        manifest = read_manifest(place, boundary)
        assert manifest is not None
        below = place.relative_to(folder).as_posix()
        prefix = "" if below == "." else f"{below}/"
        inner = tuple(f"{p.relative_to(place).as_posix()}/" for p in places if p != place and p.is_relative_to(place))
        found += [
            replace(difference, path=prefix + difference.path)
            for difference in compare(place, manifest, boundary, progress)
            if not inner or not difference.path.startswith(inner)
        ]
        if source is not None and manifest.source.get("files"):
            found += _source_differences(source, manifest, follow_links)
    return found


def _source_differences(source: Path, manifest: Manifest, follow_links: bool) -> list[Difference]:
    """The source's files, by the digests that the manifest has of them."""
    if not source.exists():
        raise RagdataError(f"no such file or folder: {source}")
    expected = {entry["path"]: entry["sha256"] for entry in manifest.source["files"]}
    name = str(manifest.source.get("format", ""))
    try:
        files = {encodable(f.name): f.path for d in detect(source, name, follow_links).datasets for f in d.files}
    except RagdataError:  # plain texts and tables have no declared format
        below = [source] if source.is_file() else [p for p in source.rglob("*") if p.is_file()]
        top = source.parent if source.is_file() else source
        files = {encodable(p.relative_to(top).as_posix()): p for p in below}
    boundary = boundary_of(source, follow_links)
    kept = ((n, p) for n, p in files.items() if n in expected and is_regular(p, boundary))
    listed = source_digest(kept, boundary)["files"]
    have = {entry["path"]: entry["sha256"] for entry in listed}
    found: list[Difference] = []
    for path, digest in expected.items():
        shown = str((source.parent if source.is_file() else source) / path)
        if path not in have:
            found.append(Difference(shown, "missing"))
        elif have[path] != digest:
            found.append(Difference(shown, "changed", f"sha256 {digest[:16]}…", f"sha256 {have[path][:16]}…"))
    return found
