"""Files of a store into the cache: several at a time, taken up where they were cut, checked before they count."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO

from ragdatakit.remote.cache import Cache
from ragdatakit.remote.stores import CutError, Store, StoredFile
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import Progress

FIRST_WAIT = 0.5
"""Seconds before a file that was cut is taken up again; twice as many after each time that brought nothing."""
_ATTEMPTS = 5
_WORKERS = 4


class Loading:
    """One run over the files of a store."""

    def __init__(self, store: Store, cache: Cache, progress: Progress | None) -> None:
        self._store, self._cache, self._progress = store, cache, progress
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._done = self._total = 0

    def have(self, file: StoredFile) -> int:
        """How many of the first bytes of a file are here."""
        whole = self._cache.file(self._store.shown, file)
        for path in (whole, whole.with_suffix(".part")):
            with suppress(OSError):
                return path.stat().st_size
        return 0

    def load(self, wanted: Iterable[tuple[StoredFile, int]]) -> None:
        """Have so many of the first bytes of each of these files. Raises `RagdataError` as `fetched` does."""
        wanted = list(wanted)
        self._done, self._total = 0, sum(max(end - self.have(file), 0) for file, end in wanted)
        with ThreadPoolExecutor(_WORKERS) as pool:
            running = [pool.submit(self._load, file, end) for file, end in wanted]
            try:
                for future in as_completed(running):
                    future.result()
            except BaseException:
                self._stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _load(self, file: StoredFile, end: int) -> None:
        whole = self._cache.file(self._store.shown, file)
        part = whole.with_suffix(".part")
        with _alone(part) as out:
            if whole.is_file():  # another run has it by now
                return
            if file.copy is not None and file.copy.is_file():
                shutil.copyfile(file.copy, part)
            else:
                self._receive(file, end, part, out)
            if part.stat().st_size < file.bytes:
                return
            if file.fault is not None and (fault := file.fault(part)):
                part.unlink()
                raise RagdataError(f"{self._store.shown}: {fault}")
            os.fsync(out.fileno())
            part.chmod(0o444)
            part.replace(whole)

    def _receive(self, file: StoredFile, end: int, part: Path, out: IO[bytes]) -> None:
        """Bytes up to ``end``; a file that is cut is taken up again as long as bytes come."""
        attempts, most = 0, 0
        if (have := out.seek(0, os.SEEK_END)) > file.bytes:
            have = out.truncate(0)
        while have < end:
            attempts = 1 if have > most else attempts + 1
            most = max(most, have)
            try:
                have = self._receive_on(file, have, end, out)
                if have >= end:
                    break
                reason = f"only {have:,} of {file.bytes:,} bytes came"
            except CutError as error:
                have, reason = out.seek(0, os.SEEK_END), str(error)
            if self._stop.is_set():
                raise RagdataError("stopped")
            if attempts >= _ATTEMPTS and have <= most:
                name = f"{self._store.shown}/{file.name}".rstrip("/")
                raise RagdataError(f"{name} cannot be fetched: {reason}; run the command again to go on")
            time.sleep(FIRST_WAIT * 2 ** (attempts - 1))

    def _receive_on(self, file: StoredFile, have: int, end: int, out: IO[bytes]) -> int:
        with closing(self._store.read(file, have, end)) as pieces:
            for data in pieces:
                if self._stop.is_set():
                    break
                if have + len(data) > file.bytes:
                    raise RagdataError(
                        f"{self._store.shown}: more bytes come of {file.name} than it has; fetch it anew"
                    )
                out.write(data)
                have += len(data)
                self._count(file, len(data))
                if have >= end:
                    break
        return have

    def _count(self, file: StoredFile, size: int) -> None:
        with self._lock:
            self._done += size
            if self._progress is not None:
                name = file.name or self._store.place[-1]
                self._progress(f"fetching {name}", min(self._done, self._total), self._total)


@contextmanager
def _alone(part: Path) -> Iterator[IO[bytes]]:
    """The file, for this run only: another one that wants it waits."""
    with part.open("ab", buffering=0) as out:
        with suppress(ImportError):
            import fcntl

            fcntl.flock(out, fcntl.LOCK_EX)
        yield out
