"""Files of a dataset repository into a folder: pinned to a commit, resumed, checked, and only then put in place.

What is loaded lies next to the target, in ``.<name>.fetching``: an interrupted run continues from there. The target
gets all files in one step, when every one has the size and the digest that the hub (and, where known, the release)
names.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, suppress
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ragdatakit.files.paths.boundary import boundary_of
from ragdatakit.files.paths.manifest import Manifest, compare, read_manifest
from ragdatakit.hub.client import DATASET, endpoint, hub_api, is_offline, refusals
from ragdatakit.hub.listing import FetchRequest, Listing, RemoteFile, list_files, not_as_expected
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.staging import StagedFolder, refuse_target
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.version import __version__

if TYPE_CHECKING:
    import httpx2

Progress = Callable[[str, int, int], None]
_WORKERS = 4
_ATTEMPTS = 5
FIRST_WAIT = 0.5
"""Seconds before a connection that was cut is taken up again; twice as many after each time that brought nothing."""
_PIECE = 1 << 20
RETRIED = (408, 429, 500, 502, 503, 504)


@dataclass(slots=True, kw_only=True)
class Fetched:
    """What was loaded: the commit, and name, bytes and SHA-256 of each file. ``loaded``: bytes that came over the net.

    ``already``: everything was in place before.
    """

    folder: Path
    repo: str
    revision: str
    files: list[dict[str, Any]]
    loaded: int = 0
    already: bool = False
    left_out: list[str] = field(default_factory=list)


def fetch(request: FetchRequest, folder: Path, overwrite: bool = False, progress: Progress | None = None) -> Fetched:
    """Load the files of a request into ``folder``, with a manifest.

    Raises `RagdataError`: the hub refuses or cannot be reached, a file is not what it should be, or ``folder`` has
    something in it (another thing than this request, and ``overwrite`` is not set).
    """
    api = hub_api()
    before = _before(request, folder)
    if before is not None and not before.missing and (is_offline() or before.revision == request.revision):
        return before.result(folder, request)
    if before is None:
        refuse_target(folder, overwrite)
    listing = list_files(request, api)
    if before is not None:
        if before.revision == listing.revision and not before.missing:
            return before.result(folder, request)
        if before.revision != listing.revision and not overwrite:
            raise RagdataError(
                f"{folder} holds {request.repo} at {before.revision[:12]}, and {request.revision} is"
                f" {listing.revision[:12]} now; --overwrite replaces it"
            )
        overwrite = True  # the same files, some of which are missing: what is there is used
    return _Loading(request, listing, folder, progress).run(overwrite)


@dataclass(slots=True)
class _Before:
    """What an earlier run for the same request left in the target."""

    revision: str
    manifest: Manifest
    missing: bool

    def result(self, folder: Path, request: FetchRequest) -> Fetched:
        """All is there."""
        return Fetched(
            folder=folder, repo=request.repo, revision=self.revision, files=self.manifest.files, already=True
        )


def _before(request: FetchRequest, folder: Path) -> _Before | None:
    """None where the target holds anything but files that the same request loaded, unchanged."""
    if not folder.is_dir():
        return None
    try:
        manifest = read_manifest(folder)
    except RagdataError:
        return None
    if manifest is None or any(manifest.source.get(key) != value for key, value in request.source().items()):
        return None
    if manifest.source.get("hub") != endpoint():
        return None
    differences = compare(folder, manifest, boundary_of(folder))
    if any(d.state != "missing" for d in differences):
        return None
    return _Before(str(manifest.source.get("revision")), manifest, bool(differences))


class _Loading:
    """One run: the files of a listing into the folder next to the target, then into the target."""

    def __init__(self, request: FetchRequest, listing: Listing, folder: Path, progress: Progress | None) -> None:
        self._request = request
        self._listing = listing
        self._target = folder
        self._place = folder.resolve() if folder.exists() else folder.parent.resolve() / folder.name
        self._beside = self._place.parent / f".{self._place.name[:100]}.fetching"
        self._progress = progress
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._received = dict.fromkeys((f.path for f in listing.files), 0)
        self._done = 0
        self._loaded = 0

    def run(self, overwrite: bool) -> Fetched:
        from filelock import FileLock, Timeout

        missing = [p for p in (self._beside, *self._beside.parents) if not p.exists()]
        self._beside.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self._beside / "lock", timeout=0):
                try:
                    self._take_up()
                    entries = self._load_all()
                    self._put_in_place(entries, overwrite)
                except _WrongFile as error:
                    shutil.rmtree(self._beside, ignore_errors=True)  # there is nothing to continue from
                    raise error.error from None
        except Timeout:
            raise RagdataError(f"another run is loading into {self._target}") from None
        finally:
            if missing and not any(
                p.is_file() for name in ("files", "parts") for p in (self._beside / name).rglob("*")
            ):
                shutil.rmtree(self._beside, ignore_errors=True)
                for folder in missing:  # innermost first
                    with suppress(OSError):
                        folder.rmdir()
        return Fetched(
            folder=self._target,
            repo=self._request.repo,
            revision=self._listing.revision,
            files=entries,
            loaded=self._loaded,
            left_out=list(self._listing.left_out),
        )

    def _take_up(self) -> None:
        """Keep what an earlier run left for the same commit of the same repository; remove what is of another."""
        request = {"hub": endpoint(), "repo": self._request.repo, "revision": self._listing.revision}
        path = self._beside / "request.json"
        with suppress(OSError, ValueError):
            if orjson.loads(path.read_bytes()) == request:
                return
        for name in ("files", "parts"):
            shutil.rmtree(self._beside / name, ignore_errors=True)
        path.write_bytes(orjson.dumps(request))

    def _load_all(self) -> list[dict[str, Any]]:
        with ThreadPoolExecutor(_WORKERS) as pool:
            running = [pool.submit(self._load, file) for file in self._listing.files]
            try:
                for future in as_completed(running):
                    future.result()
            except BaseException:
                self._stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
            return [future.result() for future in running]

    def _load(self, file: RemoteFile) -> dict[str, Any]:
        """One file, whole and checked, into ``files``; gives its line of the manifest."""
        whole = self._beside / "files" / file.name
        sha256 = _fault(file, whole)[1] if whole.is_file() else ""
        if not sha256:
            part = self._beside / "parts" / hashlib.sha256(file.path.encode()).hexdigest()[:32]
            part.parent.mkdir(parents=True, exist_ok=True)
            if not self._copied(file, part):
                with refusals(self._request.repo, self._request.revision):
                    self._receive(file, part)
            fault, sha256 = _fault(file, part)
            if fault is not None:
                raise _WrongFile(fault)
            whole.parent.mkdir(parents=True, exist_ok=True)
            _flush(part)
            part.replace(whole)
        self._count(file, file.bytes - self._received[file.path], over_the_net=False)
        return {"path": file.name, "records": None, "bytes": file.bytes, "sha256": sha256}

    def _copied(self, file: RemoteFile, part: Path) -> bool:
        """Whether the file could be had from this machine: from the target as it is, or from the hub's cache."""
        from huggingface_hub import try_to_load_from_cache

        if file.copy is not None:  # offline, where only the cache says what the file is
            shutil.copyfile(file.copy, part)
            return True
        cached = try_to_load_from_cache(
            self._request.repo, file.path, revision=self._listing.revision, repo_type=DATASET
        )
        for path in (self._place / file.name, cached):
            if isinstance(path, str | os.PathLike) and Path(path).is_file():
                copy = part.with_suffix(".copy")
                shutil.copyfile(path, copy)
                if _fault(file, copy)[0] is None:
                    copy.replace(part)
                    return True
                copy.unlink()
        return False

    def _receive(self, file: RemoteFile, part: Path) -> None:
        """Load what is missing of a file; a connection that is cut is taken up again as long as bytes come."""
        import httpx2

        attempts, most = 0, 0
        while (have := part.stat().st_size if part.exists() else 0) != file.bytes or not part.exists():
            if self._stop.is_set():
                raise RagdataError("stopped")
            if have > file.bytes:
                part.unlink()
                continue
            attempts = 1 if have > most else attempts + 1
            most = max(most, have)
            try:
                self._receive_on(file, part, have)
                if attempts >= _ATTEMPTS:
                    raise RagdataError(f"{file.path}: only {part.stat().st_size:,} of {file.bytes:,} bytes came")
            except httpx2.TransportError:
                if attempts >= _ATTEMPTS or self._stop.is_set():
                    raise
                time.sleep(FIRST_WAIT * 2 ** (attempts - 1))

    def _receive_on(self, file: RemoteFile, part: Path, have: int) -> None:
        from huggingface_hub.utils import hf_raise_for_status  # type: ignore[attr-defined] # exported without saying so

        with opened_stream(self._request.repo, file.path, self._listing.revision, have) as response:
            if response.status_code == 416:
                raise _WrongFile(not_as_expected(file.path, f"at most {have:,} bytes", f"{file.bytes:,} bytes"))
            hf_raise_for_status(response)
            goes_on = have and response.status_code == 206
            size = have if goes_on else 0
            with part.open("ab" if goes_on else "wb", buffering=0) as out:
                for data in response.iter_bytes():
                    if self._stop.is_set():
                        return
                    size += len(data)
                    if size > file.bytes:
                        raise _WrongFile(not_as_expected(file.path, "more bytes come", f"{file.bytes:,} bytes"))
                    out.write(data)
                    self._count(file, len(data))

    def _count(self, file: RemoteFile, size: int, over_the_net: bool = True) -> None:
        """``size`` bytes more of a file are here."""
        with self._lock:
            self._received[file.path] += size
            self._done += size
            self._loaded += size if over_the_net else 0
            if self._progress is not None:
                self._progress(file.name, self._done, self._listing.bytes)

    def _put_in_place(self, entries: list[dict[str, Any]], overwrite: bool) -> None:
        source = {"hub": endpoint(), **self._request.source(), "revision": self._listing.revision}
        with StagedFolder(self._target, overwrite) as staged:
            for entry in entries:
                target = staged.folder / entry["path"]
                target.parent.mkdir(parents=True, exist_ok=True)
                (self._beside / "files" / entry["path"]).replace(target)
            Manifest(ragdata=__version__, source=source, files=entries).write(staged.folder)
            staged.commit()
        shutil.rmtree(self._beside, ignore_errors=True)


def opened_stream(
    repo: str, path: str, revision: str, start: int, end: int = 0
) -> AbstractContextManager[httpx2.Response]:
    """The answer of the hub that has the bytes of a file from ``start`` on, up to ``end`` (0: all)."""
    from huggingface_hub import constants, hf_hub_url
    from huggingface_hub.utils import build_hf_headers, http_stream_backoff  # type: ignore[attr-defined] # exported without saying so

    headers = {**build_hf_headers(library_name="ragdatakit"), "Accept-Encoding": "identity"}
    if start or end:
        headers["Range"] = f"bytes={start}-{end - 1 if end else ''}"
    opened: AbstractContextManager[httpx2.Response] = http_stream_backoff(
        "GET",
        hf_hub_url(repo, path, repo_type=DATASET, revision=revision),
        headers=headers,
        timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT,
        retry_on_exceptions=(),
        retry_on_status_codes=RETRIED,
    )
    return opened


class _WrongFile(Exception):
    """A file is not what it should be: what is loaded of it is of no use."""

    def __init__(self, error: RagdataError) -> None:
        super().__init__(str(error))
        self.error = error


def _fault(file: RemoteFile, path: Path) -> tuple[RagdataError | None, str]:
    """What is wrong with a loaded file (None: nothing), and its SHA-256 (empty where something is wrong)."""
    size = path.stat().st_size
    if size != file.bytes:
        return not_as_expected(file.path, f"{size:,} bytes", f"{file.bytes:,} bytes"), ""
    sha256, blob = hashlib.sha256(), hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as data:
        while piece := data.read(_PIECE):
            sha256.update(piece)
            blob.update(piece)
    found = sha256.hexdigest()
    if file.sha256 is not None and found != file.sha256:
        return not_as_expected(file.path, f"sha256 {found}", f"sha256 {file.sha256}"), ""
    if file.sha256 is None and file.blob is not None and blob.hexdigest() != file.blob:
        return not_as_expected(file.path, f"git id {blob.hexdigest()}", f"git id {file.blob}"), ""
    return None, found


def wrong_file(file: RemoteFile, path: Path) -> str:
    """What is wrong with a loaded file, in words; empty where nothing is."""
    fault = _fault(file, path)[0]
    return str(fault) if fault is not None else ""


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
