"""The manifest ``ragdata.json`` of a folder that ragdata wrote: its source, how it was made, each file's digest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from ragdatakit.files.paths.boundary import ANYWHERE, Boundary, boundary_of
from ragdatakit.files.paths.own_files import MANIFEST as NAME
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.texts import encodable

VERSION = 1
_MOST_BYTES = 1 << 26
_MOST_NAME = 255


@dataclass(slots=True)
class Manifest:
    """What made a folder.

    ``source`` gives the format, the digest over all its files and the files; ``target`` format and profile; ``options``
    all that had an influence; ``counts`` the rows of each canonical table; ``files`` what was written. There is no
    date in it: the same conversion gives the same manifest.
    """

    ragdata: str
    source: dict[str, Any] = field(default_factory=dict)
    target: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    losses: list[dict[str, Any]] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        """Write it to ``folder``."""
        import orjson

        from ragdatakit.files.paths.writing import write_whole

        document = {"version": VERSION, **{name: getattr(self, name) for name in self.__slots__}}
        write_whole(folder / NAME, orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")


def read_manifest(folder: Path, boundary: Boundary | None = None) -> Manifest | None:
    """The manifest of a folder; None where it has none. Raises `RagdataError` where it cannot be read, as where a link
    leads to it out of ``boundary`` (default: the folder)."""
    path = folder / NAME
    if not _is_file(path):
        return None
    import msgspec
    import orjson

    from ragdatakit.files.paths.manifest_document import decoded, source_files  # its decoder is not for every report

    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError("it is too large")
        text = (boundary or boundary_of(folder)).read_bytes(path)
        orjson.loads(text)  # of what the declaration leaves open, too, all is to be such that it can be shown
        document = decoded(text)
        for name in [f.path for f in document.files] + [f.path for f in source_files(document)]:
            _check_path(name)
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise RagdataError(f"{path} cannot be read: {error}") from None
    values = {name: getattr(document, name) for name in Manifest.__slots__ if name != "files"}
    return Manifest(**values, files=[msgspec.structs.asdict(entry) for entry in document.files])


def _check_path(name: str) -> None:
    """Raise `ValueError` for a path that is not below the folder, or that no disk has."""
    parts = name.split("/")
    above = ".." in name.replace("\\", "/").split("/")
    if above or "\0" in name or any(part in ("", ".") or len(part.encode()) > _MOST_NAME for part in parts):
        raise ValueError(f"no path below the folder: {name[:100]!r}")


@dataclass(frozen=True, slots=True)
class Difference:
    """A file that is not what the manifest says; ``expected`` and ``found`` are bytes or digests."""

    path: str
    state: Literal["missing", "changed", "unlisted"]
    expected: str = ""
    found: str = ""


def compare(
    folder: Path, manifest: Manifest, boundary: Boundary, progress: Callable[[str, int, int], None] | None = None
) -> list[Difference]:
    """How the files of a folder differ from its manifest: all of them, in order of the path."""
    from ragdatakit.files.paths.digests import file_digest

    found = []
    listed = set()
    for entry in manifest.files:
        name = entry["path"]
        listed.add(name)
        path = folder / name
        if not _is_file(path):
            found.append(Difference(name, "missing"))
            continue
        if not boundary.holds(path):
            found.append(Difference(name, "changed", "a file in the folder", "a link that leads out of it"))
            continue
        size = path.stat().st_size
        if size != entry["bytes"]:
            found.append(Difference(name, "changed", f"{entry['bytes']:,} bytes", f"{size:,} bytes"))
            continue
        digest = file_digest(path, boundary)
        if progress is not None:
            progress(name, size, size)
        if digest != entry["sha256"]:
            found.append(Difference(name, "changed", f"sha256 {entry['sha256'][:16]}…", f"sha256 {digest[:16]}…"))
    found += [Difference(n, "unlisted") for n in _names_below(folder) if n not in listed and Path(n).name != NAME]
    return sorted(found, key=lambda d: d.path)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a path that is too long
        return False


def _names_below(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix()


def source_digest(files: Iterable[tuple[str, Path]], boundary: Boundary = ANYWHERE) -> dict[str, Any]:
    """The digest over all files of a source (names and contents), and each file's own."""
    from hashlib import sha256  # see `file_digest`

    from ragdatakit.files.paths.digests import file_digest

    listed, whole = [], sha256()
    for name, path in sorted(files):
        digest = file_digest(path, boundary)
        listed.append({"path": encodable(name), "bytes": path.stat().st_size, "sha256": digest})
        whole.update(f"{digest}  {name}\n".encode("utf-8", "surrogateescape"))
    return {"sha256": whole.hexdigest(), "files": listed}
