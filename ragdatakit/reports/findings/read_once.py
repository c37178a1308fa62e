"""Findings that several writers take, read once: each writer runs in a thread, and none gets far ahead of the others.

Where there are a million of them, they lie in a scratch file, and reading them costs as much as writing an output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from queue import Queue
from threading import Thread

from ragdatakit.schemas.findings import Finding

_TOGETHER = 256
_AHEAD = 4
"""Batches that may wait for a writer."""
_Taker = Callable[[Iterable[Finding]], None]
_Batch = list[Finding] | None


def read_once(findings: Iterable[Finding], takers: Sequence[_Taker]) -> None:
    """Call each with the findings. Raises what the first of them raised that failed; the others go on to the end."""
    if len(takers) == 1:
        takers[0](findings)
        return
    lanes = [_Lane(take) for take in takers]
    try:
        given = iter(findings)
        while batch := list(islice(given, _TOGETHER)):
            for lane in lanes:
                lane.queue.put(batch)
    except BaseException as error:
        for lane in lanes:
            lane.end(error)
        raise
    for lane in lanes:
        lane.end()
    for lane in lanes:
        if lane.raised is not None:
            raise lane.raised


class _Lane:
    """One of the writers, and what waits for it."""

    def __init__(self, take: _Taker) -> None:
        self.queue: Queue[_Batch] = Queue(_AHEAD)
        self.raised: BaseException | None = None
        self._broken: BaseException | None = None
        self._read = False
        self._thread = Thread(target=self._run, args=(take,), daemon=True)
        self._thread.start()

    def end(self, broken: BaseException | None = None) -> None:
        """There are no more, or (``broken``) they cannot be read: wait for the writer."""
        self._broken = broken
        self.queue.put(None)
        self._thread.join()

    def _run(self, take: _Taker) -> None:
        try:
            take(self._findings())
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            self.raised = error
        while not self._read:  # what it did not take
            self._read = self.queue.get() is None

    def _findings(self) -> Iterator[Finding]:
        while (batch := self.queue.get()) is not None:
            yield from batch
        self._read = True
        if self._broken is not None:
            raise self._broken
