"""Work that takes longer than one waits for a page: it is done in the background, and the page asks again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any

from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.texts import many

_KEPT = 200
"""Results that stay; of more the oldest ones that are of one question are let go."""


class Waiting(Exception):
    """It is being done; the message says what is."""


class Jobs:
    """One piece of work after the other, each done once; its result stays. What fails is tried again when it is asked
    for the next time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._results: dict[Hashable, Any] = {}
        self._running: set[Hashable] = set()
        self._progress = ""

    def result(self, key: Hashable, what: str, work: Callable[[], Any]) -> Any:
        """The result of the work. Raises `Waiting` while it is being done, and the error with which it ended."""
        with self._lock:
            if key in self._results:
                done = self._results[key]
                if isinstance(done, Exception):
                    del self._results[key]
                    raise done
                return done
            if key not in self._running:
                self._running.add(key)
                threading.Thread(target=self._do, args=(key, work), daemon=True).start()
        raise Waiting(f"{what}{self._progress}")

    def tell(self, what: str, done: int, total: int) -> None:
        """Say how far the work is."""
        self._progress = f": {what}{f', {100 * done // total} %' if total else ''}"

    def tell_count(self, what: str, done: int, total: int) -> None:
        """Say how many of the questions are done."""
        self._progress = f": {what}, {done:,} of {many(total, 'question')}"

    def _do(self, key: Hashable, work: Callable[[], Any]) -> None:
        with self._turn:
            self._progress = ""
            done: Any
            try:
                done = work()
            except (RagdataError, OSError, ImportError) as error:
                done = error
            except Exception as error:  # noqa: BLE001 - a thread that ended would be waited for
                done = RagdataError(f"internal error: {type(error).__name__}: {error}")
        with self._lock:
            self._results[key] = done
            self._running.discard(key)
            while len(self._results) > _KEPT:
                self._results.pop(next(each for each in self._results if isinstance(each, tuple)))
