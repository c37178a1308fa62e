"""Fetched files on this machine: each once, by what it is; and the folders in which they lie as in their store.

```text
remote/
  files/DIGEST            a whole file; the digest is of its URL, its version and its size
  files/DIGEST.part       the first bytes of one
  trees/DIGEST/…          a listing as a tree: whole files (links to those in files/), and of others the beginning
```

Files of a run are locked by its tree. What no run uses is removed, the oldest first, where room is needed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ragdatakit.files.paths.folder_locks import lock_folder, remove_unlocked
from ragdatakit.remote.stores import Listing, StoredFile
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.texts import many, size

_SPARE = 64 << 20
"""Bytes that stay free on the disk."""
IN_USE: set[int] = set()
"""Locks of the trees of this process."""


class Cache:
    """The cache in one folder."""

    def __init__(self, folder: Path) -> None:
        self._files, self._trees = folder / "remote" / "files", folder / "remote" / "trees"
        self._folder = folder

    def tree(self, url: str, listing: Listing) -> Path:
        """The folder for what is listed, locked for as long as this process lives."""
        facts = (f"{file.name}\0{file.version}\0{file.bytes}" for file in listing.files)
        folder = self._trees / _digest(url, listing.revision, *facts)[:20]
        try:
            for each in (self._files, folder):
                each.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
        except OSError as error:
            raise RagdataError(f"{error.filename}: {error.strerror}; --cache-dir names another folder") from None
        IN_USE.add(lock_folder(folder, shared=True))
        return folder

    def file(self, url: str, file: StoredFile) -> Path:
        """Where a file is kept when it is whole."""
        return self._files / _digest(f"{url}/{file.name}".rstrip("/"), file.version, str(file.bytes))

    def forget(self, url: str, file: StoredFile) -> None:
        """Fetch a file anew, as nothing says whether it is what it was."""
        whole = self.file(url, file)
        for path in (whole, whole.with_suffix(".part")):
            path.unlink(missing_ok=True)

    def make_room(self, needed: int, url: str) -> None:
        """Remove what no run uses until there is room for so many bytes. Raises `RagdataError` where there is none."""
        if self._free() >= needed:
            return
        for tree in sorted(self._trees.iterdir(), key=_age):
            remove_unlocked(tree)
        for path in sorted(self._files.iterdir(), key=_age):
            with suppress(OSError):
                if path.stat().st_nlink == 1 and path.suffix != ".part":
                    path.unlink()
            if self._free() >= needed:
                return
        if (free := self._free()) < needed:
            raise RagdataError(
                f"{url}: {size(needed)} have to be fetched, and {self._folder} has room for {size(free)};"
                f" --cache-dir names another folder"
            )

    def _free(self) -> int:
        return max(shutil.disk_usage(self._files).free - _SPARE, 0)


def put(whole: Path, place: Path) -> None:
    """Let a whole file lie in its tree: by a link, or where the disk has none, as a copy."""
    with _replacing(place) as new:
        try:
            os.link(whole, new)
        except OSError:
            shutil.copyfile(whole, new)


def put_beginning(part: Path, place: Path, length: int) -> None:
    """Let a file of which only the beginning is here lie in its tree, with its size; what follows takes no room."""
    with _replacing(place) as new, new.open("wb") as out:
        if part.is_file():
            with part.open("rb") as data:
                shutil.copyfileobj(data, out)
        out.truncate(length)


@contextmanager
def _replacing(place: Path) -> Iterator[Path]:
    """A file that then takes its place: what lies there may be the whole file, or be read by another run."""
    new = place.with_name(f".{_digest(place.name)[:20]}.{os.getpid()}")
    try:
        yield new
        new.replace(place)
    finally:
        with suppress(OSError):
            new.unlink()


def fetching_words(files: Iterable[StoredFile], all_files: int, missing: int, url: str) -> str:
    """What is about to be fetched, in words."""
    count = len(list(files))
    of = f" of {all_files:,}" if all_files != count else ""
    return f"fetching {size(missing)} of {url}: {many(count, 'file')}{of}"


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _digest(*words: str) -> str:
    return hashlib.sha256("\n".join(words).encode("utf-8", "surrogateescape")).hexdigest()
