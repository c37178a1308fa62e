"""Dataset repositories of the Hugging Face hub, at one commit: ``datasets/OWNER/NAME[@REVISION][/PATH]``.

``@~parquet`` is the branch of Parquet files that the hub makes (``refs/convert/parquet``). The client's settings apply:
HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE, and its cache, in which a file that is there is not loaded again.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path

from ragdatakit.hub.client import checked_repo, hub_api, is_offline, refusals
from ragdatakit.hub.fetch import RETRIED, opened_stream, wrong_file
from ragdatakit.hub.listing import FetchRequest, RemoteFile, files_at
from ragdatakit.remote.stores import CutError, Listing, StoredFile, changed, from_byte
from ragdatakit.schemas.errors import RagdataError

_PATH = re.compile(r"datasets/([^/@]+/[^/@]+)(?:@(refs(?:(?:/|%2[Ff])[^/%]+){2}|[^/]+))?(?:/(.*))?")
_BRANCHES = {"~parquet": "refs/convert/parquet"}
_UNWANTED = (".gitattributes", ".gitignore")


class HubRepository:
    """What a URL of the hub names: a repository, a folder in it, or a file."""

    def __init__(self, path: str) -> None:
        self.shown = f"hf://{path}".rstrip("/")
        match = _PATH.fullmatch(path.strip("/"))
        if match is None:
            raise RagdataError(f"{self.shown} names no dataset, expected hf://datasets/OWNER/NAME[@REVISION][/PATH]")
        self._repo = checked_repo(match.group(1), needs_owner=True)
        revision = (match.group(2) or "main").replace("%2F", "/").replace("%2f", "/")
        self._revision = _BRANCHES.get(revision, revision)
        self._below = (match.group(3) or "").strip("/")
        self._commit = ""
        self.place = (*self._repo.split("/"), *(part for part in self._below.split("/") if part))

    def listed(self) -> Listing:
        """The files at the commit that the revision names now."""
        request = FetchRequest(repo=self._repo, revision=self._revision)
        api = hub_api()
        with refusals(self._repo, self._revision):
            self._commit, found = files_at(api, request)
        files = [self._stored(file) for file in found if file.path not in _UNWANTED]
        kept = [file for file in files if file is not None]
        if not kept:
            raise RagdataError(f"no such file or folder: {self.shown} (at {self._commit[:12]})")
        return Listing(files=tuple(kept), revision=self._commit, is_file=len(kept) == 1 and not kept[0].name)

    def _stored(self, file: RemoteFile) -> StoredFile | None:
        """A file, if it is at the path or below it."""
        if self._below and file.path != self._below and not file.path.startswith(f"{self._below}/"):
            return None
        return StoredFile(
            name=file.path[len(self._below) :].lstrip("/"),
            key=file.path,
            bytes=file.bytes,
            version=file.sha256 or file.blob or "",
            copy=file.copy or self._cached(file.path),
            fault=lambda path: wrong_file(file, path),
        )

    def _cached(self, path: str) -> Path | None:
        """Where the hub's own cache has a file of this commit."""
        from huggingface_hub import try_to_load_from_cache

        found = try_to_load_from_cache(self._repo, path, revision=self._commit, repo_type="dataset")
        return Path(found) if isinstance(found, str) else None

    def read(self, file: StoredFile, start: int, end: int) -> Generator[bytes, None, None]:
        """As `Store` has it: a commit does not change, so a file that is another one is the server's fault."""
        import httpx2
        from huggingface_hub.utils import hf_raise_for_status  # type: ignore[attr-defined] # exported without saying so

        if is_offline():
            raise RagdataError(f"HF_HUB_OFFLINE is set, and {self.shown}/{file.name} is not in the hub's cache")
        with refusals(self._repo, self._revision):
            try:
                with opened_stream(self._repo, file.key, self._commit, start, end % file.bytes) as response:
                    if response.status_code in RETRIED:
                        raise CutError(f"the hub answered {response.status_code}")
                    if response.status_code == 416:
                        raise changed(self.shown, file.name)
                    hf_raise_for_status(response)
                    yield from from_byte(response.iter_bytes(), start if response.status_code == 200 else 0)
            except httpx2.TransportError as error:
                raise CutError(str(error) or type(error).__name__) from None
