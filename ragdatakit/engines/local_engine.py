"""Where ranges are judged: in processes on this machine; and what those on others have in common with it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from ragdatakit.engines.side_process import SideWorker, has_room
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import EngineError, RagdataError

K = TypeVar("K")
V = TypeVar("V")

_FEW = 8
"""For each process: where there are no more keys than that, who asks works along."""
RETRIES = 3
"""How often work is begun anew of processes that were ended."""


@dataclass(frozen=True, slots=True)
class Failed:
    """What a function ended with, in words."""

    words: str


def attempted(function: Callable[[K], V], key: K) -> V | Failed:
    """What a function gives for a key, or why it gives nothing: whatever it is, it must not be taken for no findings,
    and is not tried again."""
    try:
        return function(key)
    except Exception as error:  # noqa: BLE001
        return Failed(str(error) if isinstance(error, RagdataError) else f"{type(error).__name__}: {error}")


_CAUSE = re.compile(r"(Error|Exception)(: |$)")
_STACK = ("at ", "File ", "Traceback", "...", "ray::")


def cause_of(error: BaseException) -> str:
    """What an error of a cluster says, without the stacks of its workers: the last cause, else the first line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if not line.startswith(_STACK)]
    causes = [line for line in said if _CAUSE.search(line)]
    return (causes[-1:] or said or lines or [type(error).__name__])[0]


def given_by(found: V | Failed) -> V:
    """What was found. Raises `EngineError` where that failed."""
    if isinstance(found, Failed):
        raise EngineError(f"a part of the data could not be checked: {found.words}")
    return found


def shared_folder(settings: Mapping[str, str], is_here: bool) -> Path | None:
    """The folder that all workers can write to: the one that was said, or that of this machine's temporary files."""
    if "scratch" in settings:
        folder = Path(settings["scratch"]).absolute()
        if not folder.is_dir():
            raise EngineError(f"{folder} is not a folder; it has to be there, for all workers")
        return folder
    try:
        return Path(tempfile.gettempdir()) if is_here else None
    except OSError as error:
        raise EngineError(f"{error.strerror}; set TMPDIR to a folder that can be written to") from None


class ClusterEngine:
    """What the engines of clusters have in common: their settings, and this machine with so many processes."""

    elsewhere = True

    def __init__(self, settings: Mapping[str, str], jobs: int) -> None:
        self._settings, self._jobs = settings, jobs
        self._ours = False

    @property
    def shared(self) -> Path | None:
        """As `Engine` has it."""
        return shared_folder(self._settings, self._is_here())

    @property
    def here(self) -> LocalEngine:
        """As `Engine` has it."""
        return LocalEngine(self._jobs)

    def _is_here(self) -> bool:
        """Whether all its workers are on this machine."""
        raise NotImplementedError


class LocalEngine:
    """Processes on this machine, at most this many at a time; each holds one result that nobody has taken yet. They are
    begun when they are needed first, and work until the engine is closed. To start one takes as long as to check some
    50 MB: of few keys the process that asks works off its part, too; of many it has enough to do with the results."""

    elsewhere = False

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._idle: list[SideWorker] = []

    @property
    def shared(self) -> Path | None:
        """As `Engine` has it."""
        return shared_folder({}, True)

    @property
    def here(self) -> LocalEngine:
        """As `Engine` has it."""
        return self

    def close(self) -> None:
        """The processes end."""
        while self._idle:
            self._idle.pop().end()

    def map(self, function: Callable[[K], V], keys: Sequence[K], /) -> Iterator[V]:
        """As `Engine` has it."""
        workers = min(self._jobs, len(keys))
        if workers < 2 or not has_room():
            yield from map(function, keys)
            return
        own = int(len(keys) <= _FEW * workers)
        with suppress(OSError):  # as many as can be started
            while len(self._idle) < workers - own:
                self._idle.append(SideWorker.begun())
        if not self._idle:
            yield from map(function, keys)
            return
        workers = min(workers, len(self._idle) + own)
        streams = [self._begun(function, keys[first::workers]) for first in range(own, workers)]
        try:
            begun = 0
            for number, key in enumerate(keys):
                which = number % workers - own
                if which < 0:
                    yield given_by(attempted(function, key))
                    continue
                while (found := next(iter(streams[which]), None)) is None:
                    streams[which].end()
                    begun += 1
                    if begun > RETRIES:
                        raise EngineError(f"processes that check a part of the data were ended {begun} times")
                    streams[which] = self._begun(function, keys[number::workers])
                yield given_by(found)
            self._idle += streams  # they have nothing left to send, and wait for more
            streams = []
        finally:
            for worker in streams:
                worker.end()

    def _begun(self, function: Callable[[K], V], keys: Sequence[K]) -> SideWorker:
        """Who works off these keys."""
        try:
            worker = self._idle.pop() if self._idle else SideWorker.begun()
        except OSError as error:
            raise EngineError(f"no process can be started ({error.strerror})") from None
        worker.ask(partial(attempted, function), keys)
        return worker
