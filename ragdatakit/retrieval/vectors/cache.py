"""Vectors of texts that were embedded before, on disk: a run that was killed continues, a changed dataset costs little.

One SQLite file for each model, under the hash of each text. A damaged file is started anew: it is only a cache.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.errors import RagdataError

_AT_ONCE = 500  # parameters of one query; older SQLite takes 999
_SECONDS = 60  # of waiting for another process that writes


class Kept(NamedTuple):
    """A vector as little-endian float32; ``cut`` says that it is that of the text's beginning only."""

    vector: bytes
    cut: bool


class VectorCache:
    """The vectors of one model, in ``file``; made with its folder when the first vector is kept."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @staticmethod
    def key(kind: str, text: str) -> bytes:
        """What a text goes by; ``kind`` distinguishes questions from passages."""
        data = f"{kind}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, digest_size=16).digest()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Kept]:
        """The vectors that are there."""
        if not self._file.exists():
            return {}
        try:
            return self._got(keys)
        except sqlite3.OperationalError:
            return {}
        except sqlite3.DatabaseError:
            self._remove()
            return {}

    def _got(self, keys: Sequence[bytes]) -> dict[bytes, Kept]:
        found: dict[bytes, Kept] = {}
        with closing(sqlite3.connect(self._file, timeout=_SECONDS)) as base:
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = base.execute(f"SELECT key, vector, cut FROM vectors WHERE key IN ({marks})", some)
                found.update((key, Kept(vector, bool(cut))) for key, vector, cut in rows if _is_sound(vector))
        return found

    def put(self, vectors: Mapping[bytes, Kept]) -> None:
        """Keep vectors. Raises `RagdataError` where they cannot be written."""
        rows = [(key, kept.vector, int(kept.cut)) for key, kept in vectors.items()]
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                self._put(rows)
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                self._remove()
                self._put(rows)
        except (OSError, sqlite3.Error) as error:
            raise RagdataError(f"vectors cannot be kept in {self._file}: {error}") from error

    def _put(self, rows: Iterable[tuple[bytes, bytes, int]]) -> None:
        with closing(sqlite3.connect(self._file, timeout=_SECONDS)) as base, base:
            base.execute("PRAGMA synchronous = NORMAL")
            base.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB, cut INTEGER)")
            base.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def _remove(self) -> None:
        try:
            self._file.unlink(missing_ok=True)
        except OSError as error:
            raise RagdataError(f"{self._file} is damaged and cannot be removed: {error.strerror}") from error


def _is_sound(vector: object) -> bool:
    return isinstance(vector, bytes) and len(vector) > 0 and len(vector) % 4 == 0
