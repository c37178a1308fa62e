"""Blocks of a file read and worked on in threads, and given in order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from ragdatakit.files.machine import usual_jobs

Cut = TypeVar("Cut")
Made = TypeVar("Made")
_Result = tuple[Cut, Made, threading.Event | None]


_WORTH_THREADS = 8 << 20
"""Bytes of a file from which on a thread pays."""


def ahead(
    blocks: Iterable[Cut], work: Callable[[Cut], Made], size: int, is_alone: Callable[[Cut], bool] = lambda _: False
) -> Iterator[tuple[Cut, Made]]:
    """Blocks of a file of so many bytes with what ``work`` makes of them, in order: of a large file read and worked on
    in a thread ahead of whoever takes them, where there is a processor for that. ``is_alone`` as in `InThreads`."""
    if size < _WORTH_THREADS or usual_jobs() < 2:
        return ((block, work(block)) for block in blocks)
    return InThreads(blocks, work, 1, is_alone).results()


class InThreads(Generic[Cut, Made]):
    """``work`` is called of each block, in one of so many threads (``jobs``).

    Whichever thread is idle reads the next block, so that the one which takes the results does neither. Of a block
    that ``is_alone`` nothing is read or held until it was taken and done with: it is very long. Whoever takes results
    gets what ``kept`` keeps of a block: the memory of the rest, which is in the cache, has the next one.
    """

    def __init__(
        self,
        blocks: Iterable[Cut],
        work: Callable[[Cut], Made],
        jobs: int,
        is_alone: Callable[[Cut], bool] = lambda _: False,
        kept: Callable[[Cut], Cut] = lambda block: block,
    ) -> None:
        self._blocks = iter(blocks)
        self._work = work
        self._jobs = jobs
        self._is_alone = is_alone
        self._kept = kept
        self._reading = threading.Lock()
        self._places: deque[Future[_Result[Cut, Made] | None]] = deque()
        self._alone: threading.Event | None = None
        self._is_over = False

    def results(self) -> Iterator[tuple[Cut, Made]]:
        """Blocks with what was made of them, in order; one more than there are threads waits at most."""
        waiting: deque[Future[_Result[Cut, Made] | None]] = deque()
        with ThreadPoolExecutor(self._jobs) as pool:
            try:
                for _ in range(self._jobs + 1):
                    waiting.append(self._ask(pool))
                while (result := waiting.popleft().result()) is not None:
                    waiting.append(self._ask(pool))
                    block, made, alone = result
                    yield block, made
                    del block, made, result  # before another one that is as long is read
                    if alone is not None:
                        alone.set()
            finally:
                self._is_over = True
                if self._alone is not None:
                    self._alone.set()

    def _ask(self, pool: ThreadPoolExecutor) -> Future[_Result[Cut, Made] | None]:
        place: Future[_Result[Cut, Made] | None] = Future()
        self._places.append(place)
        pool.submit(self._one)
        return place

    def _one(self) -> None:
        """In a thread: read a block, and work on it while others read."""
        with self._reading:
            place = self._places.popleft()
            try:
                block = None if self._is_over else next(self._blocks, None)
            except BaseException as error:  # noqa: BLE001 - raised again where the results are taken
                place.set_exception(error)
                return
            if block is None:
                place.set_result(None)
                return
            if self._is_alone(block):
                self._alone = threading.Event()
                self._finish(place, block, self._alone)
                alone = self._alone
                del block, place
                if not self._is_over:
                    alone.wait()
                return
        self._finish(place, block, None)

    def _finish(self, place: Future[_Result[Cut, Made] | None], block: Cut, alone: threading.Event | None) -> None:
        try:
            made = self._work(block)
            place.set_result((self._kept(block), made, alone))
        except BaseException as error:  # noqa: BLE001 - as above
            place.set_exception(error)
