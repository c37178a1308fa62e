"""Where functions of ours run that depend on nothing but their argument: processes here, the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Engine(Protocol):
    """Where functions of ours run that depend on nothing but their argument. ``elsewhere``: on other machines, maybe,
    which have to read the same files. ``shared`` is a folder that all of them can write to, if there is one. ``here``
    runs functions on this machine."""

    elsewhere: bool

    @property
    def shared(self) -> Path | None: ...
    @property
    def here(self) -> Engine: ...

    def map(self, function: Callable[[K], V], keys: Sequence[K], /) -> Iterator[V]:
        """What the function gives for each key, in their order. The function, keys and results are pickled. Raises
        `EngineError` where one cannot be had."""

    def close(self) -> None:
        """Let go of what was begun for it."""
