"""What every kind of store can do: list the files at a URL, pinned to a version each, and give bytes of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError


class CutError(Exception):
    """Bytes did not come, and may come when they are asked for once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file of a store: ``name`` is its path below what was listed, ``key`` what the store calls it.

    ``version`` is its ETag, its generation or the digest of its content; ``copy`` is where it lies on this machine
    already. ``fault`` says, in words, what is wrong with a file that was fetched (empty: nothing).
    """

    name: str
    key: str
    bytes: int
    version: str
    copy: Path | None = None
    fault: Callable[[Path], str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What is at a URL: ``revision`` is the commit, where the store has such; ``is_file``: it is a file itself."""

    files: tuple[StoredFile, ...]
    revision: str = ""
    is_file: bool = False


class Store(Protocol):
    """Where a URL leads. ``place`` are the folders and, last, the name of what it names; ``shown`` is the URL without
    anything that is secret."""

    @property
    def shown(self) -> str:
        """The URL as it is printed."""

    @property
    def place(self) -> tuple[str, ...]:
        """Where it lies, from the bucket, repository or server on."""

    def listed(self) -> Listing:
        """The files. Raises `RagdataError` where there is nothing, or the store refuses."""

    def read(self, file: StoredFile, start: int, end: int) -> Generator[bytes, None, None]:
        """The bytes of a file from ``start`` up to ``end`` or beyond, in pieces. Raises `CutError`, and `RagdataError`
        where the file is another one by now or the store refuses."""


def shown_url(url: str) -> str:
    """A URL without user, password, query and fragment, where secrets may be. Raises `RagdataError` for a text that is
    no URL."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        scheme, _, rest = url.partition("://")
        host = re.split(r"[/?#]", rest)[0].rpartition("@")[2]
        raise RagdataError(f"{scheme}://{host} is not a URL: {error}") from None
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")).rstrip("/")


def changed(url: str, name: str) -> RagdataError:
    """That a file is not what it was when it was listed."""
    where = f"{url}/{name}" if name and not url.endswith(name) else url
    return RagdataError(f"{where} changed while it was fetched; run the command again for its new state")


def from_byte(pieces: Iterable[bytes], start: int) -> Iterator[bytes]:
    """The pieces without the first bytes: a server that knows no ranges sends them again."""
    for data in pieces:
        skipped = min(start, len(data))
        start -= skipped
        if len(data) > skipped:
            yield data[skipped:]
