"""The files of keys of a dataset, and what ranges are asked to write there."""

from __future__ import annotations

import errno
import platform
from pathlib import Path

from ragdatakit.engines import Engine
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.scratch import ScratchFolder
from ragdatakit.schemas.errors import EngineError
from ragdatakit.validators.partitions.key_runs import KeylessRows, PackedKeys, Run, RunPlan
from ragdatakit.validators.partitions.known_keys import KnownIndex, KnownKeys, bytes_of_keys, forget, written
from ragdatakit.validators.sets import SetChecks

PARTITION_BYTES = 128 << 20
"""Of files whose keys are in one partition, about: who compares them needs some memory for each."""
MOST_PARTITIONS = 1 << 12
_PART_KNOWN = 4
"""Of the memory limit, the part that keys which all workers know may take."""
_SENT_BYTES = 32 << 20
"""The most that they take where they are sent along with the work."""


@dataclass(frozen=True, slots=True)
class WantedKeys:
    """Which keys of a range are to be written, and where: into ``folder``, or (empty) sent to who asked; and those that
    it is looked up in at once. ``alone``: nobody else wants its key columns. ``together``: the
    keys of several ranges may be in one run."""

    split: str | None
    kinds: frozenset[str]
    plan: RunPlan
    known: KnownKeys
    folder: str
    name: str
    alone: bool
    together: bool

    def checks(self) -> SetChecks:
        """Set checks that look keys up in those that are known."""
        return self.known.checks(self.split, self.kinds)

    def kept(self, packed: PackedKeys, key: tuple[int, ...]) -> tuple[Run | PackedKeys, KeylessRows]:
        """The keys of a range, written where they are wanted. Raises `EngineError` where that is not possible."""
        keyless, packed.keyless = packed.keyless, KeylessRows()
        if not self.folder:
            return packed, keyless
        return _written(packed, Path(self.folder) / "-".join((self.name, *map(str, key)))), keyless


def _written(packed: PackedKeys, path: Path) -> Run:
    try:
        return packed.write(path)
    except OSError as error:
        raise _not_written(path.parent, error) from None


def _not_written(folder: Path, error: OSError) -> EngineError:
    advice = "the folder that `scratch` names has to be there for all workers"
    if error.errno in _FULL:
        advice = "free some space, or name a folder with more in TMPDIR, of a cluster in `scratch`"
    return EngineError(f"{folder} on {platform.node()} cannot be written ({error.strerror}); {advice}")


_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}


class KeyStore:
    """The files of keys of a dataset. ``engine`` is who compares them: its workers where they see the folder, else
    processes of this machine."""

    def __init__(self, engine: Engine, total_bytes: int, memory_limit: int) -> None:
        wanted = min(max(total_bytes // PARTITION_BYTES, 1), MOST_PARTITIONS)
        self.partitions: int = 1 << (wanted - 1).bit_length()
        try:
            self._scratch = ScratchFolder(engine.shared)
        except OSError as error:
            raise EngineError(
                f"no folder for keys can be made ({error.strerror}); set TMPDIR to one that can be written to"
            ) from None
        self.is_shared = engine.shared is not None
        self.engine = engine if self.is_shared else engine.here
        self.folder = self._scratch.path
        self._runs = self._indexes = 0
        self.late: set[str] = set()
        self._room = memory_limit // _PART_KNOWN if self.is_shared else min(memory_limit // _PART_KNOWN, _SENT_BYTES)

    def has_room(self, keys: int) -> bool:
        """Whether so many more keys may be known everywhere, as far as can be told before they are there."""
        return bytes_of_keys(keys) <= self._room

    def takes(self, index: KnownIndex) -> bool:
        """Whether an index may be known everywhere; then it is."""
        if index.bytes > self._room:
            return False
        self._room -= index.bytes
        return True

    def for_others(self, index: KnownIndex) -> KnownIndex | str:
        """An index as workers get it."""
        if not self.is_shared:
            return index.to_others()
        self._indexes += 1
        try:
            return written(index, self.folder / f"known-{self._indexes}")
        except OSError as error:
            raise _not_written(self.folder, error) from None

    def put(self, keys: PackedKeys) -> Run:
        """Write a run of this process, or of one that could not."""
        self._runs += 1
        return _written(keys, self.folder / f"run-{self._runs}")

    def remove(self) -> None:
        """They are needed no more."""
        forget()
        self._scratch.remove()
        if not self.is_shared:
            self.engine.close()
