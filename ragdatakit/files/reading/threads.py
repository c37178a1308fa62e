"""Blocks of a file read and worked on in threads, and given in order."""

from __future__ import annotations

import threading
from _queue import SimpleQueue
from _thread import allocate_lock
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Self, TypeVar

from ragdatakit.files.machine import usual_jobs

Cut = TypeVar("Cut")
Made = TypeVar("Made")

_WORTH_THREADS = 8 << 20
"""Bytes of a file from which on a thread pays."""


def ahead(
    blocks: Iterable[Cut], work: Callable[[Cut], Made], size: int, is_alone: Callable[[Cut], bool] = lambda _: False
) -> Iterator[tuple[Cut, Made]]:
    """Blocks of a file of so many bytes with what ``work`` makes of them, in order: of a large file read in a thread,
    and worked on in another one, ahead of whoever takes them, where there is a processor for that. ``is_alone`` as in
    `InThreads`."""
    if size < _WORTH_THREADS or usual_jobs() < 2:
        return ((block, work(block)) for block in blocks)
    read = InThreads(blocks, lambda _: None, 1, is_alone, waiting=0).results()
    return InThreads((block for block, _ in read), work, 1, is_alone).results()


def in_order(blocks: Iterable[Cut], work: Callable[[Cut], Made], jobs: int) -> Iterator[tuple[Cut, Made]]:
    """Blocks with what ``work`` makes of them, in order; where there are several ``jobs``, in as many threads."""
    return ((block, work(block)) for block in blocks) if jobs < 2 else InThreads(blocks, work, jobs).results()


class _Place(Generic[Cut, Made]):
    """Where the result of one block is put: the block, what was made of it, who waits until it is done with. Python's
    own futures would have its logging imported."""

    def __init__(self) -> None:
        self._ready = allocate_lock()
        self._ready.acquire()
        self._found: tuple[Cut, Made, threading.Event | None] | None = None
        self._error: BaseException | None = None

    def put(self, found: tuple[Cut, Made, threading.Event | None] | None) -> None:
        """The result; None behind the last block."""
        self._found = found
        self._ready.release()

    def fail(self, error: BaseException) -> None:
        """What is raised where the result is taken."""
        self._error = error
        self._ready.release()

    def take(self) -> tuple[Cut, Made, threading.Event | None] | None:
        """The result, once it is there."""
        with self._ready:
            found, self._found = self._found, None
        if self._error is not None:
            raise self._error
        return found


class Aside(Generic[Made]):
    """Work that is done in a thread. Leaving its ``with`` block waits for the end of it."""

    def __init__(self, work: Callable[[], Made]) -> None:
        self._work = work
        self._made: list[Made] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._do)
        self._thread.start()

    def _do(self) -> None:
        try:
            self._made.append(self._work())
        except BaseException as error:  # noqa: BLE001  # raised where the result is taken
            self._error = error

    def result(self) -> Made:
        """What it gave, once it is there, or raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._made[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()


class InThreads(Generic[Cut, Made]):
    """``work`` is called of each block, in one of so many threads (``jobs``).

    Whichever thread is idle reads the next block, so that the one which takes the results does neither. Of a block
    that ``is_alone`` nothing is read or held until it was taken and done with: it is very long. Whoever takes results
    gets what ``kept`` keeps of a block: the memory of the rest, which is in the cache, has the next one. ``waiting`` is
    how many results may wait, beside those that are worked on.
    """

    def __init__(
        self,
        blocks: Iterable[Cut],
        work: Callable[[Cut], Made],
        jobs: int,
        is_alone: Callable[[Cut], bool] = lambda _: False,
        kept: Callable[[Cut], Cut] = lambda block: block,
        waiting: int = 1,
    ) -> None:
        self._blocks = iter(blocks)
        self._work = work
        self._jobs = jobs
        self._is_alone = is_alone
        self._kept = kept
        self._waiting = waiting
        self._reading = allocate_lock()
        self._asked: SimpleQueue[_Place[Cut, Made] | None] = SimpleQueue()
        self._alone: threading.Event | None = None
        self._is_over = False

    def results(self) -> Iterator[tuple[Cut, Made]]:
        """Blocks with what was made of them, in order."""
        waiting: deque[_Place[Cut, Made]] = deque()
        threads: list[threading.Thread] = []
        try:
            for _ in range(self._jobs + self._waiting):
                waiting.append(self._ask())
            for _ in range(self._jobs):
                # no process waits for them that ends while results are left
                thread = threading.Thread(target=self._serve, daemon=True)
                thread.start()
                threads.append(thread)
            while (result := waiting.popleft().take()) is not None:
                waiting.append(self._ask())
                block, made, alone = result
                yield block, made
                del block, made, result  # before another one that is as long is read
                if alone is not None:
                    alone.set()
        finally:
            self._is_over = True
            if self._alone is not None:
                self._alone.set()
            for _ in threads:
                self._asked.put(None)
            for thread in threads:
                thread.join()

    def _ask(self) -> _Place[Cut, Made]:
        place = _Place[Cut, Made]()
        self._asked.put(place)
        return place

    def _serve(self) -> None:
        """In a thread: read a block, and work on it while others read, until there is nothing to be done."""
        while self._one():
            pass

    def _one(self) -> bool:
        with self._reading:
            place = self._asked.get()
            if place is None:
                return False
            try:
                block = None if self._is_over else next(self._blocks, None)
            except BaseException as error:  # noqa: BLE001 - raised again where the results are taken
                place.fail(error)
                return True
            if block is None:
                place.put(None)
                return True
            if self._is_alone(block):
                self._alone = threading.Event()
                self._finish(place, block, self._alone)
                alone = self._alone
                del block, place
                if not self._is_over:
                    alone.wait()
                return True
        self._finish(place, block, None)
        return True

    def _finish(self, place: _Place[Cut, Made], block: Cut, alone: threading.Event | None) -> None:
        try:
            made = self._work(block)
            place.put((self._kept(block), made, alone))
        except BaseException as error:  # noqa: BLE001 - as above
            place.fail(error)
