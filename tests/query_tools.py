"""Queries answered in the process of the tests: a process for each takes half a second, most of it for imports."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

from ragdatakit.api import query_process
from ragdatakit.database.memory_bound import MemoryBound
from ragdatakit.engines.side_process import SideStream

if TYPE_CHECKING:
    import pytest


class InThisProcess:
    """As `SideStream`, for answers that end: all pieces are there before the first is taken."""

    code = 0

    def __init__(self, function: Callable[..., None], *args: Any, environment: object = None) -> None:
        self._sent: list[bytes] = []
        self._job = pickle.dumps((function, args))

    def __enter__(self) -> Self:
        function, args = pickle.loads(self._job)
        function(lambda piece: self._sent.append(pickle.dumps(piece)), *args)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        return map(pickle.loads, self._sent)

    def kill(self) -> None:
        """Nothing is left to be ended."""


class _Unbounded(MemoryBound):
    """The memory of the tests has no bound."""

    @staticmethod
    def _limit(most: int | None) -> None:
        pass


def answer_in_this_process(patch: pytest.MonkeyPatch) -> None:
    """Until ``patch`` is undone, queries start no process."""
    patch.setattr(query_process, "SideStream", InThisProcess)
    patch.setattr(query_process, "MemoryBound", _Unbounded)


def answer_in_processes(patch: pytest.MonkeyPatch) -> None:
    """Until ``patch`` is undone, each query is answered in a process of its own, as users have it."""
    patch.setattr(query_process, "SideStream", SideStream)
    patch.setattr(query_process, "MemoryBound", MemoryBound)
