"""Which files of a dataset repository a request means, at one commit: asked of the hub, or of its cache offline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.files.paths.own_files import MANIFEST
from ragdatakit.hub.client import DATASET, checked_repo, hub_api, is_offline, refusals
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.written_files import is_safe_name
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_SECONDS = 30
NEVER = (".gitattributes", ".gitignore")
"""What a repository has for itself: not loaded unless a pattern asks for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """What to load from a dataset repository.

    ``revision`` is a branch, a tag or a commit. ``include`` and ``exclude`` are patterns over paths, in which ``*``
    also stands for ``/``. ``sha256`` maps paths to digests that are known beforehand: these files have to be there.
    ``folder`` is left out at the beginning of the paths. ``name`` is that of a public dataset, else empty.
    """

    repo: str
    revision: str = "main"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    folder: str = ""
    sha256: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    max_bytes: int | None = None

    def source(self) -> dict[str, Any]:
        """What distinguishes this request from others, for the manifest."""
        return {
            "repo": self.repo,
            "requested": self.revision,
            "include": list(self.include),
            "exclude": list(self.exclude),
            **({"dataset": self.name} if self.name else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """A file to load: its path in the repository, its name below the target, and how it is known to be whole.

    ``blob`` is its git id (that of its pointer where ``sha256`` is given: it is then in large file storage); ``copy``
    is where it lies on this machine already.
    """

    path: str
    name: str
    bytes: int
    sha256: str | None = None
    blob: str | None = None
    copy: Path | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a request at one commit; ``left_out`` are paths of the repository that are not loaded."""

    revision: str
    files: tuple[RemoteFile, ...]
    left_out: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(f.bytes for f in self.files)


def list_files(request: FetchRequest, api: HfApi | None = None) -> Listing:
    """Ask the hub which files the request means; offline: look into its cache on this machine."""
    api = api or hub_api()
    checked_repo(request.repo)
    with refusals(request.repo, request.revision):
        revision, found = files_at(api, request)
    listing = _selected(request, revision, found)
    if request.max_bytes is not None and listing.bytes > request.max_bytes:
        raise RagdataError(
            f"{request.repo}: {len(listing.files):,} files have {listing.bytes:,} bytes, more than --max-size allows"
            f" ({request.max_bytes:,}); choose with --include and --exclude"
        )
    return listing


def files_at(api: HfApi, request: FetchRequest) -> tuple[str, list[RemoteFile]]:
    """The commit that a request means, and all files of it; offline: what the hub's cache has of it."""
    return _cached(request) if is_offline() else _listed(api, request)


def _listed(api: HfApi, request: FetchRequest) -> tuple[str, list[RemoteFile]]:
    from huggingface_hub.hf_api import RepoFile

    info = api.repo_info(request.repo, repo_type=DATASET, revision=request.revision, timeout=_SECONDS)
    revision = str(info.sha)
    tree = api.list_repo_tree(request.repo, repo_type=DATASET, revision=revision, recursive=True)
    return revision, [
        RemoteFile(path=f.path, name=f.path, bytes=f.size, sha256=f.lfs.sha256 if f.lfs else None, blob=f.blob_id)
        for f in tree
        if isinstance(f, RepoFile)
    ]


def _cached(request: FetchRequest) -> tuple[str, list[RemoteFile]]:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        snapshot = Path(
            snapshot_download(
                request.repo,
                repo_type=DATASET,
                revision=request.revision,
                allow_patterns=list(request.include) or None,
                ignore_patterns=list(request.exclude) or None,
                local_files_only=True,
            )
        )
    except LocalEntryNotFoundError:
        raise RagdataError(
            f"HF_HUB_OFFLINE is set, and {request.repo} at {request.revision} is not whole in the hub's cache"
        ) from None
    return snapshot.name, [
        RemoteFile(path=name, name=name, bytes=path.stat().st_size, copy=path)
        for path in sorted(snapshot.rglob("*"))
        if path.is_file() and (name := path.relative_to(snapshot).as_posix())
    ]


def _selected(request: FetchRequest, revision: str, found: list[RemoteFile]) -> Listing:
    from huggingface_hub.utils import filter_repo_objects  # type: ignore[attr-defined] # exported without saying so

    kept = list(
        filter_repo_objects(
            found,
            allow_patterns=list(request.include) or None,
            ignore_patterns=[*request.exclude, *(n for n in NEVER if n not in request.include)],
            key=lambda file: file.path,
        )
    )
    absent = set(request.sha256) - {f.path for f in kept}
    if absent:
        raise RagdataError(f"{request.repo} at {revision[:12]} has no {min(absent)}")
    left_out = [f.path for f in kept if f.path == MANIFEST]  # that of the target is at its place
    files = [_named(request, f) for f in kept if f.path != MANIFEST]
    if not files:
        patterns = f" that fits {', '.join(request.include)}" if request.include else ""
        raise RagdataError(f"{request.repo} at {revision[:12]} has no file{patterns}")
    names: dict[str, str] = {}
    for file in files:
        if not file.name.isprintable() or not is_safe_name(file.name):
            raise RagdataError(f"{request.repo}: {file.path!r} is not a file name that can be written; --exclude it")
        if names.setdefault(file.name.lower(), file.path) != file.path:
            raise RagdataError(f"{request.repo}: {names[file.name.lower()]!r} and {file.path!r} are one name here")
    return Listing(revision, tuple(files), tuple(left_out))


def _named(request: FetchRequest, file: RemoteFile) -> RemoteFile:
    known = request.sha256.get(file.path)
    if known is not None and file.sha256 is not None and known != file.sha256:
        raise not_as_expected(file.path, f"sha256 {file.sha256}", f"sha256 {known}")
    name = file.path.removeprefix(f"{request.folder}/") if request.folder else file.path
    return RemoteFile(
        path=file.path, name=name, bytes=file.bytes, sha256=known or file.sha256, blob=file.blob, copy=file.copy
    )


def not_as_expected(name: str, found: str, expected: str) -> RagdataError:
    """An error: what is loaded of a file is something else."""
    return RagdataError(f"{name} is not what it should be: {found}, expected {expected}; nothing was put in place")
