"""Buckets: S3 and what speaks its protocol, Google Cloud Storage; by fsspec, of the extras ``remote`` and ``gcs``.

Credentials are found as their libraries find them (AWS_PROFILE, AWS_ENDPOINT_URL, GOOGLE_APPLICATION_CREDENTIALS, …);
where there are none, a bucket is asked as anybody may ask it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from ragdatakit.remote.stores import CutError, Listing, StoredFile, changed
from ragdatakit.schemas.errors import MissingExtraError, RagdataError

_PIECE = 4 << 20
_SECONDS = 30
_WITHOUT_KEYS = ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "TokenRetrievalError")
_HINTS = {
    "s3": "credentials come from AWS_PROFILE, AWS_ACCESS_KEY_ID or the machine's role",
    "gs": "credentials come from GOOGLE_APPLICATION_CREDENTIALS or `gcloud auth application-default login`",
}


class ObjectStore:
    """What a URL of a bucket names: an object, or all whose keys begin so."""

    def __init__(self, scheme: str, url: str) -> None:
        self._kind = "s3" if scheme.startswith("s3") else "gs"
        path = url.split("://", 1)[1].strip("/")
        self.shown = f"{scheme}://{path}"
        self.place = tuple(part for part in path.split("/") if part)
        if not self.place:
            raise RagdataError(f"{url} names no bucket, expected {self._kind}://BUCKET/FOLDER")
        self._path = path
        self._files = self._system(anonymous=False)

    def _system(self, *, anonymous: bool) -> Any:
        try:
            if self._kind == "s3":
                from s3fs import S3FileSystem

                limits = {"connect_timeout": 10, "read_timeout": _SECONDS, "retries": {"total_max_attempts": 3}}
                found = S3FileSystem(anon=anonymous, config_kwargs=limits, skip_instance_cache=True)
                found.retries = 2  # we have our own, which go on where a file was cut
                return found
            from gcsfs.core import GCSFileSystem  # that of the package asks each bucket by gRPC what it is, aloud
        except ImportError:
            library, extra = ("s3fs", "remote") if self._kind == "s3" else ("gcsfs", "gcs")
            raise MissingExtraError(extra, library) from None
        logging.getLogger("gcsfs").addHandler(logging.NullHandler())  # what it fails at is raised, too
        return GCSFileSystem(token="anon" if anonymous else None, skip_instance_cache=True)

    def listed(self) -> Listing:
        """All objects below the URL, or the one that it names."""
        try:
            found = self._found()
        except _NoCredentialsError:
            self._files = self._system(anonymous=True)
            found = self._found()
        files = []
        for key, facts in sorted(found.items()):
            name = key[len(self._path) :].lstrip("/")
            if facts.get("type") != "directory" and not (key.endswith("/") or (not name and len(found) > 1)):
                files.append(StoredFile(name=name, key=key, bytes=int(facts["size"]), version=_version(facts)))
        if not files:
            raise RagdataError(f"no such file or folder: {self.shown}")
        return Listing(files=tuple(files), is_file=len(files) == 1 and not files[0].name)

    def _found(self) -> dict[str, Any]:
        try:
            with self._refusals():
                found: dict[str, Any] = self._files.find(self._path, detail=True)
                return found
        except CutError as error:
            raise RagdataError(f"{self.shown} cannot be listed: {error}") from None

    def read(self, file: StoredFile, start: int, end: int) -> Generator[bytes, None, None]:
        """As `Store` has it: S3 is asked for this ETag only, others are asked what it is before and after."""
        with self._refusals(file), self._files.open(file.key, "rb", block_size=_PIECE, cache_type="none") as stream:
            if _version(stream.details) != file.version:
                raise changed(self.shown, file.name)
            stream.seek(start)
            while start < end:
                data = stream.read(min(_PIECE, end - start))
                if not data:
                    raise CutError(f"only {start:,} of {file.bytes:,} bytes came")
                start += len(data)
                if start >= file.bytes and self._kind != "s3":
                    self._refuse_changed(file)
                yield data

    def _refuse_changed(self, file: StoredFile) -> None:
        self._files.invalidate_cache()
        if _version(self._files.info(file.key)) != file.version:
            raise changed(self.shown, file.name)

    @contextmanager
    def _refusals(self, file: StoredFile | None = None) -> Iterator[None]:
        """Turn what the libraries raise into `RagdataError` of one line, or `CutError` where asking again may help."""
        url = f"{self.shown}/{file.name}".rstrip("/") if file is not None else self.shown
        try:
            yield
        except (RagdataError, CutError):
            raise
        except Exception as error:
            kind = type(error).__name__
            if kind in _WITHOUT_KEYS:
                raise _NoCredentialsError(f"{url}: there are no credentials; {_HINTS[self._kind]}") from None
            if kind == "FileExpired" or "PreconditionFailed" in str(error):
                raise changed(url, "") from None
            if isinstance(error, FileNotFoundError):
                if file is not None:
                    raise RagdataError(f"{url} is not there any more; it was when the files were listed") from None
                raise RagdataError(f"no such file or folder: {url}") from None
            if isinstance(error, PermissionError) or getattr(error, "code", None) in (401, 403):
                raise RagdataError(f"{url}: access is denied; {_HINTS[self._kind]}") from None
            if not isinstance(error, OSError | asyncio.TimeoutError | TimeoutError) and not _is_of_network(error):
                raise
            raise CutError(_reason(error)) from None


class _NoCredentialsError(RagdataError):
    """There are none on this machine."""


def _is_of_network(error: Exception) -> bool:
    return type(error).__module__.split(".")[0] in ("aiohttp", "aiobotocore", "botocore", "gcsfs", "google", "requests")


def _reason(error: Exception) -> str:
    """The first line of what a library says, without the query of a URL, which may be signed."""
    text = " ".join(str(error).split("\n", 1)[0].split("?", 1)[0].split())[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _version(facts: dict[str, Any]) -> str:
    """What changes when an object does."""
    for name in ("ETag", "etag", "generation", "md5Hash", "crc32c", "LastModified", "mtime", "updated"):
        if facts.get(name):
            return str(facts[name]).strip('"')
    return ""
